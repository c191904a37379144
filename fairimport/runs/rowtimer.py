"""The time limit of one row, armed only around an importer's own code."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["RowTimeout", "row_timer"]


class RowTimeout(BaseException):
    """A row takes too long. No `Exception`, so that importers' handlers do not swallow it."""


def _expired(signum: int, frame: FrameType | None) -> None:
    raise RowTimeout


@contextmanager
def row_timer(seconds: float) -> Iterator[None]:
    """Raise `RowTimeout` in the body after `seconds`; a timer armed before goes on afterwards.

    RQ ends jobs by the same signal, so its handler and what is left of its time are restored.
    Without effect outside of a main thread, where no signal arrives.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGALRM, _expired)
    before, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    started = time.monotonic()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if before:
            left = before - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))
