"""A child process: tied to its parent's life, and waited for with a time-out."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

__all__ = ["die_with_parent", "wait_for"]

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform.startswith("linux") else None
POLL = 0.02  # seconds, where the system has no pidfd


def die_with_parent(parent: int) -> None:
    """End this process with its parent, however that ends. Linux; elsewhere nothing happens."""
    if LIBC is None:
        return
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)  # the parent died before the call


def wait_for(pid: int, seconds: float) -> bool:
    """Wait for the end of a child without reaping it; return whether it has ended."""
    if not hasattr(os, "pidfd_open"):
        return _poll(pid, seconds)
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(max(seconds, 0) * 1000))
    finally:
        os.close(descriptor)


def _poll(pid: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() >= until:
            return False
        time.sleep(POLL)
    return True
