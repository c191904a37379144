"""Functions that test jobs call."""

from __future__ import annotations

import time

from fairimport.lanes import current_claim


def noop(*args: object) -> None:
    """Do nothing."""


def fail() -> None:
    """Raise."""
    raise ValueError("on purpose")


def hang(seconds: float) -> str:
    """Sleep in short bits, and end early when asked to stop."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        claim = current_claim()
        if claim is not None and claim.should_stop():
            return "stopped"
        time.sleep(0.02)
    return "done"
