"""What Linux says of processes: whether they can still do harm, and what they wait for."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

__all__ = ["can_write", "children", "parent", "starved_s"]

KILLED = 1 << (signal.SIGKILL - 1)


def can_write(pid: int) -> bool:
    """Whether a process could write: it is there, not stopped, and no SIGKILL waits for it."""
    of = _status(pid)
    if of.get("State", "X")[0] in "ZXT":
        return False
    return not any(int(of.get(name, "0"), 16) & KILLED for name in ("SigPnd", "ShdPnd"))


def parent(pid: int) -> int:
    """Its parent; 0 when it is gone."""
    return int(_status(pid).get("PPid", "0"))


def children(pid: int) -> list[int]:
    """The children of its main thread."""
    return [int(it) for it in _text(pid, f"task/{pid}/children").split()]


def starved_s(pid: int) -> float:
    """Seconds that it was ready to run and no processor was free; 0 where that is not counted."""
    fields = _text(pid, "schedstat").split()
    return int(fields[1]) / 1e9 if len(fields) == 3 else 0.0


def _status(pid: int) -> dict[str, str]:
    pairs = (line.partition(":") for line in _text(pid, "status").splitlines())
    return {name: value.strip() for name, _, value in pairs}


def _text(pid: int, name: str) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_text()
    return ""
