"""Fuzzing the reader of files: `python -m tests.fuzz [--files N] [--seconds S] [--seed N]`."""
