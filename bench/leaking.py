"""What `bench leak` runs and watches: workers in forks, jobs that say where they run."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from redis import Redis
from rq import get_current_job

from fairimport.lanes import LaneQueue, Yield, current_claim, lane
from fairimport.lanes.children import die_with_parent

__all__ = ["Herd", "Watch", "fill", "turn"]

RUNNING = "leak:running:"


def turn(seconds: float) -> Yield:
    """One turn of a job that never ends: say which process works for whom, and yield."""
    claim, job = current_claim(), get_current_job()
    assert claim is not None
    assert job is not None
    key = RUNNING + claim.tenant
    job.connection.sadd(key, os.getpid())
    until = time.monotonic() + seconds
    while time.monotonic() < until and not claim.should_stop():
        time.sleep(0.05)
    job.connection.srem(key, os.getpid())
    return Yield()


def fill(tenants: list[str], jobs: int, seconds: float) -> None:
    """Give each tenant so many jobs that never end, as tickets: no lapse gives them up."""
    for tenant in tenants:
        queue = lane(tenant)
        for _ in range(jobs):
            job = queue.create_job(turn, args=(seconds,), timeout=3600)
            job.ticket = True  # type: ignore[attr-defined]
            queue.enqueue_job(job)


def alive(pid: int) -> bool:
    """Whether a process is there and could still write; a stopped one could not just now."""
    with suppress(OSError, IndexError):
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state not in ("Z", "X", "T")
    return False


def children(pid: int) -> list[int]:
    """The horses of a worker."""
    with suppress(OSError):
        return [int(it) for it in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


@dataclass
class Herd:
    """Workers that are killed, frozen and replaced."""

    size: int
    chance: Random
    lease: float
    pids: list[int] = field(default_factory=list)
    frozen: dict[int, float] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)

    def keep(self) -> None:
        """Start what is missing; wake up what was frozen long enough."""
        for pid, until in list(self.frozen.items()):
            if time.monotonic() >= until:
                del self.frozen[pid]
                _send(pid, signal.SIGCONT)
        for pid in list(self.pids):
            if os.waitpid(pid, os.WNOHANG)[0]:
                self.pids.remove(pid)
                self.frozen.pop(pid, None)
        while len(self.pids) < self.size:
            self.pids.append(_start())

    def strike(self) -> None:
        """One fault, somewhere."""
        kind = self.chance.choice(["kill worker", "kill horse", "kill both", "freeze", "stop"])
        pid = self.chance.choice(self.pids)
        horses = children(pid)
        self.faults[kind] += 1
        if kind == "freeze":
            self.frozen[pid] = time.monotonic() + self.chance.uniform(0.3, 2.5) * self.lease
        numbers = {"freeze": signal.SIGSTOP, "stop": signal.SIGTERM}
        number = numbers.get(kind, signal.SIGKILL)
        for victim in [*([pid] * (kind != "kill horse")), *(horses * (kind in FOR_HORSES))]:
            _send(victim, number)

    def end(self) -> None:
        """Kill all of them."""
        for pid in self.pids:
            for victim in [*children(pid), pid]:
                _send(victim, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.pids.clear()


FOR_HORSES = ("kill horse", "kill both", "freeze")


@dataclass
class Watch:
    """Looks at leases in Redis and at processes on the machine, again and again."""

    redis: Redis
    tenants: list[str]
    cap: int
    looks: int = 0
    over_leases: int = 0
    over_since: dict[str, float] = field(default_factory=dict)
    over_processes_s: float = 0.0

    def look(self) -> None:
        """Count live leases above the cap at once, live processes when it lasts over a second."""
        self.looks += 1
        with self.redis.pipeline(transaction=False) as pipeline:
            for tenant in self.tenants:
                pipeline.zcard(f"fairimport:imports:leases:{tenant}")
                pipeline.smembers(RUNNING + tenant)
            replies = pipeline.execute()
        for tenant, leases, pids in zip(self.tenants, replies[::2], replies[1::2], strict=True):
            self.over_leases += max(leases - self.cap, 0)
            self._processes(tenant, sum(alive(int(pid)) for pid in pids))

    def _processes(self, tenant: str, running: int) -> None:
        if running <= self.cap:
            self.over_since.pop(tenant, None)
            return
        since = self.over_since.setdefault(tenant, time.monotonic())
        beyond = time.monotonic() - since - 1.0
        self.over_processes_s = max(self.over_processes_s, beyond)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _start() -> int:
    from fairimport.lanes.worker import FairWorker

    here = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    die_with_parent(here)
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    try:
        queue = LaneQueue.named("imports")
        FairWorker([queue], connection=queue.connection).work(logging_level="CRITICAL")
    finally:
        os._exit(0)
