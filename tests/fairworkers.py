"""Real `manage.py fairworker` processes for acceptance tests."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo_site.servers import RedisServer

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 30.0


@dataclass
class WorkerProcess:
    """One `fairworker` command; `pid` is its process (and process group)."""

    popen: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        return self.popen.pid

    def alive(self) -> bool:
        """Is the command still running?"""
        return self.popen.poll() is None

    def children(self) -> list[int]:
        """Every process below it, horses included."""
        return descendants(self.pid)

    def send(self, signum: int) -> None:
        """Send a signal to the command's own process only."""
        os.kill(self.pid, signum)

    def kill(self) -> None:
        """SIGKILL the command (not its children: they have to notice by themselves)."""
        self.popen.kill()
        self.popen.wait(timeout=10)

    def terminate(self, timeout: float = 15.0) -> int:
        """Ask it to end (SIGTERM) and return its exit code."""
        self.popen.terminate()
        return self.popen.wait(timeout=timeout)

    def output(self) -> str:
        """What it has logged so far."""
        return self.log.read_text(errors="replace")


class FairWorkers:
    """Starts worker processes and makes sure that none is left."""

    def __init__(self, redis: RedisServer, folder: Path) -> None:
        self.redis = redis
        self.folder = folder
        self.started: list[WorkerProcess] = []

    def __call__(
        self,
        count: int = 1,
        *arguments: str,
        command: str = "fairworker",
        wait: bool = True,
        env: dict[str, str] | None = None,
        **fairimport: Any,
    ) -> list[WorkerProcess]:
        """Start `count` commands with one worker each and wait until they are registered.

        `arguments` follow the command (`"--simple"`, a queue's name), which may be another one of
        `manage.py`; `env` is added to the environment, keywords change keys of `FAIRIMPORT`
        (`SLICE=0, LEASE=1.5`).
        """
        before = self._registered() if wait else 0
        batch = [self._start((command, *arguments), env or {}, fairimport) for _ in range(count)]
        deadline = time.monotonic() + START_SECONDS
        while wait and self._registered() < before + count:
            dead = next((worker for worker in batch if not worker.alive()), None)
            if dead or time.monotonic() > deadline:
                raise RuntimeError(f"workers did not start:\n{(dead or batch[0]).output()[-3000:]}")
            time.sleep(0.05)
        return batch

    def kill_all(self) -> None:
        """SIGKILL everything that was started, and its children."""
        for worker in self.started:
            for pid in [worker.pid, *worker.children()]:
                _kill(pid)
            worker.popen.wait(timeout=10)

    def _start(
        self, arguments: tuple[str, ...], env: dict[str, str], fairimport: dict[str, Any]
    ) -> WorkerProcess:
        log = self.folder / f"fairworker-{len(self.started)}.log"
        with log.open("wb") as output:
            popen = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), *arguments],
                cwd=ROOT,
                env={
                    **os.environ,
                    "DJANGO_SETTINGS_MODULE": "tests.settings",
                    "FAIRIMPORT_OVERRIDES": json.dumps(fairimport),
                    **env,
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        worker = WorkerProcess(popen, log)
        self.started.append(worker)
        return worker

    def _registered(self) -> int:
        with self.redis.client() as client:
            return int(client.scard("rq:workers"))


def descendants(pid: int) -> list[int]:
    """Process ids of all children of `pid` and of theirs (Linux)."""
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [each for child in map(int, found) for each in (child, *descendants(child))]


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
