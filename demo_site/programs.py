"""A long-running management command that cannot outlive the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from demo_site.servers.guard import die_with_parent

__all__ = ["MANAGE", "KeepsEnding", "Program"]

MANAGE = str(Path(__file__).resolve().parent.parent / "manage.py")
STOP_SECONDS = 15.0
MOST_STARTS_A_MINUTE = 5


class KeepsEnding(RuntimeError):
    """A program ends again and again; the message has the end of its log."""


@dataclass(kw_only=True)
class Program:
    """One long-running management command."""

    name: str
    arguments: list[str]
    env: dict[str, str]
    log: Path
    starts: list[float] = field(default_factory=list)
    running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it in a session of its own, so that Ctrl-C reaches it through us only.

        Call it from the main thread of a process without others; raise KeepsEnding.
        """
        self.starts = [at for at in self.starts if at > time.monotonic() - 60]
        if len(self.starts) >= MOST_STARTS_A_MINUTE:
            raise KeepsEnding(f"The {self.name} keeps ending; {self.log} ends with:\n{self.tail()}")
        self.starts.append(time.monotonic())
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(  # noqa: S603  (our own command)
                [sys.executable, MANAGE, *self.arguments],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=lambda: die_with_parent(signal.SIGKILL),  # safe: one thread here
            )

    def ended(self) -> bool:
        """Has it ended by itself?"""
        return self.running is not None and self.running.poll() is not None

    def stop(self) -> None:
        """Ask it to end; after `STOP_SECONDS` end it and what it started."""
        if self.running is None:
            return
        self.running.terminate()
        try:
            self.running.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()

    def tail(self) -> str:
        """The last lines of what it wrote."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-10:])
