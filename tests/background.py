"""Workers in forked processes: started within milliseconds, on the settings of the test."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairimport.lanes import LaneQueue
from fairimport.lanes.children import die_with_parent
from fairimport.lanes.worker import FairWorker
from tests.fairworkers import descendants

PATIENCE = 10.0


def until(condition: Callable[[], Any], seconds: float = PATIENCE, why: str = "") -> Any:
    """Wait until a condition holds, and return what it says."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {seconds} s: {why or condition}"
        time.sleep(0.01)
    return found


def runs(pid: int) -> bool:
    """Whether a process is there and not just waiting to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@dataclass
class Child:
    """A forked worker."""

    pid: int
    log: Path
    status: int | None = None

    def alive(self) -> bool:
        """Whether it still runs."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else None
        return self.status is None

    def wait(self, seconds: float = PATIENCE) -> int:
        """Wait for its end, and return its exit code."""
        until(lambda: not self.alive(), seconds, f"the end of a worker: {self.output()}")
        assert self.status is not None
        return os.waitstatus_to_exitcode(self.status)

    def send(self, signum: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, signum)

    def kill(self) -> None:
        """SIGKILL it alone; its horse has to notice by itself."""
        if self.alive():
            os.kill(self.pid, signal.SIGKILL)
            self.wait()

    def horses(self) -> list[int]:
        """The processes below it."""
        return descendants(self.pid)

    def output(self) -> str:
        """What it has logged so far."""
        return self.log.read_text(errors="replace")


class Background:
    """Starts workers, and leaves none behind."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._children: list[Child] = []

    def __call__(
        self, *names: str, kind: type[FairWorker] = FairWorker, name: str | None = None, **work: Any
    ) -> Child:
        """Fork a worker of these queues (`imports`) and wait until it is registered."""
        log = self._folder / f"worker-{len(self._children)}.log"
        log.touch()
        name = name or f"worker-{len(self._children)}"
        queues = [LaneQueue.named(each) for each in names or ("imports",)]
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _be_a_worker(parent, log, lambda: kind(queues, name=name), work)
        child = Child(pid, log)
        self._children.append(child)
        key, connection = f"rq:worker:{name}", queues[0].connection
        until(lambda: not child.alive() or connection.hget(key, "pid") == str(pid).encode())
        return child

    def kill_all(self) -> None:
        """SIGKILL every worker that is left, and its horses."""
        for child in self._children:
            horses = child.horses()
            child.kill()
            for horse in horses:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(horse, signal.SIGKILL)


def _be_a_worker(
    parent: int, log: Path, make: Callable[[], FairWorker], work: dict[str, Any]
) -> None:
    status = 1
    try:
        os.setpgid(0, 0)
        die_with_parent(parent)
        _let_go_of_pipes()
        output = os.open(log, os.O_WRONLY | os.O_APPEND)
        os.dup2(output, 1)
        os.dup2(output, 2)
        for name in ("fairimport", "rq"):
            logging.getLogger(name).addHandler(logging.FileHandler(log))
        make().work(**{"logging_level": "INFO", **work})
        status = 0
    except SystemExit:
        status = 0
    except BaseException:
        logging.getLogger("fairimport").exception("worker failed")
    finally:
        os._exit(status)


def _let_go_of_pipes() -> None:
    """The guard of a server waits for the end of one, which we must not hold open."""
    for handle in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if int(handle) > 2 and os.readlink(f"/proc/self/fd/{handle}").startswith("pipe:"):
                os.close(int(handle))
