"""Functions that test jobs call."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from fairimport.lanes import Yield, current_claim


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


def sleep(seconds: float) -> str:
    """Sleep, deaf to everything."""
    time.sleep(seconds)
    return "slept"


def write(path: str, line: str) -> None:
    """Append a line to a file: an effect that can be counted."""
    with Path(path).open("a") as file:
        file.write(line + "\n")


def write_slowly(path: str, line: str, seconds: float) -> None:
    """Say that it begins, work, say that it is done."""
    write(path, f"{line} begins")
    time.sleep(seconds)
    write(path, f"{line} done")


def yield_until(path: str, times: int) -> Yield | str:
    """Write a line a turn; finished after so many turns."""
    write(path, "turn")
    return Yield() if len(Path(path).read_text().splitlines()) < times else "finished"


def yield_when_asked(path: str) -> Yield:
    """Work until asked to stop, then yield."""
    write(path, "began")
    hang(30)
    write(path, "yielded")
    return Yield()


def die() -> None:
    """Take the process down."""
    os.kill(os.getpid(), signal.SIGKILL)


def whose() -> str | None:
    """The tenant for whom this runs."""
    claim = current_claim()
    return claim.tenant if claim else None
