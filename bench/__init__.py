"""Benchmarks, one file a question: `python -m bench NAME [--json]`."""
