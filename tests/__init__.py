"""Tests, in tiers by what they may use; see docs/architecture.md."""
