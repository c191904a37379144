"""Several workers under one command: they die with it, and come back when they die alone."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable
from types import FrameType

from fairimport.lanes.children import die_with_parent

__all__ = ["Supervisor"]

logger = logging.getLogger("fairimport.lanes")

SIGNALS = (signal.SIGTERM, signal.SIGINT)
SHORTEST_LIFE = 1.0  # seconds; one that dies sooner is not started again at once


class Supervisor:
    """Forks `count` children that each run `work`. `restart=False` is for burst mode."""

    def __init__(self, count: int, work: Callable[[], object], *, restart: bool = True) -> None:
        self._count = count
        self._work = work
        self._restart = restart
        self._pid = os.getpid()
        self._children: dict[int, float] = {}
        self._stopping = False

    def run(self) -> None:
        """Start the children and wait until all have ended."""
        for signum in SIGNALS:
            signal.signal(signum, self._stop)
        for _ in range(self._count):
            self._start()
        while self._children:
            pid, status = os.wait()
            began = self._children.pop(pid, None)
            if began is None or self._stopping or not self._restart:
                continue
            logger.warning("worker.died pid=%s status=%s", pid, status)
            time.sleep(max(SHORTEST_LIFE - (time.monotonic() - began), 0))
            if not self._stopping:
                self._start()

    def _start(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        pid = os.fork()
        if pid == 0:
            self._be_a_child()
        self._children[pid] = time.monotonic()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def _be_a_child(self) -> None:
        status = 1
        try:
            for signum in SIGNALS:
                signal.signal(signum, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            die_with_parent(self._pid)
            self._work()
            status = 0
        except SystemExit:
            status = 0
        except BaseException:
            logger.exception("worker.failed pid=%s", os.getpid())
        finally:
            os._exit(status)

    def _stop(self, signum: int, frame: FrameType | None) -> None:
        """Pass it on; the children know what a first and a second signal mean."""
        self._stopping = True
        for pid in list(self._children):
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                continue
