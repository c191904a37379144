"""Signals that a host may listen to."""

from __future__ import annotations

from django.dispatch import Signal

__all__ = ["run_moved"]

run_moved = Signal()
"""Sent after commit with `run`, `source` and `target` (states) whenever a run changes its state.

A receiver that raises is logged and does not disturb the run.
"""
