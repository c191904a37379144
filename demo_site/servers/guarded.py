"""What the private servers share: a guard process, a lock, and waiting until they answer."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from demo_site.servers import guard
from demo_site.servers.errors import AlreadyRunning, NoServer

__all__ = ["Guarded"]

START_SECONDS = 20.0


class Guarded:
    """One server process under a guard; start and stop it as often as you like."""

    name = "server"
    stop_signal = 15
    grace = 5.0

    def __init__(self, folder: Path, *, user: str | None = None) -> None:
        self.folder = folder
        self.user = user
        self.log = folder / f"{self.name}.log"
        self._guard: subprocess.Popen[bytes] | None = None

    def launch(self, command: list[str], *, answers: Callable[[], bool]) -> None:
        """Start `command` and return once `answers()`; raise NoServer with the log's end.

        Call it from the main thread: Linux ties the guard to the thread that starts it.
        """
        lock = self._lock()
        options = {
            "signal": self.stop_signal,
            "grace": self.grace,
            "user": self.user,
            "lock": lock,
        }
        try:
            with self.log.open("ab") as log:
                self._guard = subprocess.Popen(  # noqa: S603  (our own script)
                    [sys.executable, guard.__file__, json.dumps(options), *command],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    pass_fds=[lock],
                    start_new_session=True,
                )
        finally:
            os.close(lock)
        self._wait(answers)

    def halt(self) -> None:
        """End the server and return when it is gone; harmless when it is not there."""
        guarded, self._guard = self._guard, None
        if guarded is None:
            return
        assert guarded.stdin is not None  # noqa: S101  (it was opened as a pipe above)
        guarded.stdin.close()
        guarded.wait(timeout=self.grace + 10)

    def _lock(self) -> int:
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise AlreadyRunning(f"a {self.name} already runs in {self.folder}") from None
        return handle

    def _wait(self, answers: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not answers():
            ended = self._guard is not None and self._guard.poll() is not None
            if ended or time.monotonic() > deadline:
                self.halt()
                raise NoServer(
                    f"the {self.name} did not come up; its log ends with:\n{self.tail()}"
                )
            time.sleep(0.01)

    def tail(self, lines: int = 15) -> str:
        """The last lines of the server's log."""
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])
