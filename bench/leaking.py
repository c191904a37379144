"""What `bench leak` runs and watches: workers in forks, jobs that say where they run."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from redis import Redis
from rq import get_current_job

from bench.processes import can_write, children, parent, starved_s
from fairimport.lanes import LaneQueue, Yield, current_claim, lane
from fairimport.lanes.children import die_with_parent

__all__ = ["Herd", "Watch", "fill", "turn"]

RUNNING = "leak:running:"
STEP = 0.05


def turn(seconds: float) -> Yield:
    """One turn of a job that never ends: say which process works for whom, and yield."""
    claim, job = current_claim(), get_current_job()
    assert claim is not None
    assert job is not None
    key, member = RUNNING + claim.tenant, f"{os.getpid()} {claim.lease_id}"
    job.connection.sadd(key, member)
    for _ in range(round(seconds / STEP)):  # one that was frozen has as many left as before
        if claim.should_stop():
            break
        time.sleep(STEP)
    job.connection.srem(key, member)
    return Yield()


def fill(tenants: list[str], jobs: int, seconds: float) -> None:
    """Give each tenant so many jobs that never end, as tickets: no lapse gives them up."""
    for tenant in tenants:
        queue = lane(tenant)
        for _ in range(jobs):
            job = queue.create_job(turn, args=(seconds,), timeout=3600)
            job.ticket = True  # type: ignore[attr-defined]
            queue.enqueue_job(job)


@dataclass
class Herd:
    """Workers that are killed, frozen and replaced."""

    size: int
    chance: Random
    lease: float
    pids: list[int] = field(default_factory=list)
    frozen: dict[int, tuple[float, list[int]]] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)

    def keep(self) -> None:
        """Start what is missing; wake up what was frozen long enough."""
        for pid, (until, horses) in list(self.frozen.items()):
            if time.monotonic() >= until:
                del self.frozen[pid]
                for frozen in [*horses, pid]:
                    _send(frozen, signal.SIGCONT)
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
            until = time.monotonic() + self.chance.uniform(0.3, 2.5) * self.lease
            self.frozen[pid] = (until, horses)
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


@dataclass(frozen=True, slots=True)
class Turn:
    """A process that works for a tenant, under a lease."""

    pid: int
    lease: bytes

    @classmethod
    def of(cls, member: bytes) -> Turn:
        """As the turn itself wrote it."""
        pid, lease = member.split()
        return cls(int(pid), lease)


@dataclass(frozen=True, slots=True)
class Excess:
    """A turn that goes on without its lease, beside the one that has it: since when."""

    at: float
    worker: int
    """The process that must end it."""
    starved_s: float

    @classmethod
    def seen(cls, turn: Turn) -> Excess:
        """It begins when it is seen."""
        worker = parent(turn.pid)
        return cls(time.monotonic(), worker, starved_s(worker))

    def lasts(self, until: float) -> float:
        """Seconds in which its worker could have ended it; waiting for a processor is none."""
        return until - self.at - max(starved_s(self.worker) - self.starved_s, 0.0)


@dataclass
class Watch:
    """Looks at leases in Redis and at processes on the machine, again and again."""

    redis: Redis
    tenants: list[str]
    cap: int
    looks: int = 0
    over_leases: int = 0
    excesses: dict[Turn, Excess] = field(default_factory=dict)
    excesses_seen: int = 0
    over_processes_s: float = 0.0

    def look(self) -> None:
        """Count live leases above the cap at once, live processes when it lasts over a second."""
        self.looks += 1
        began = time.monotonic()  # what delays us from here on is not theirs
        with self.redis.pipeline() as pipeline:
            for tenant in self.tenants:
                pipeline.zrange(f"fairimport:imports:leases:{tenant}", 0, -1)
                pipeline.smembers(RUNNING + tenant)
            replies = pipeline.execute()
        found: set[Turn] = set()
        for tenant, leases, members in zip(self.tenants, replies[::2], replies[1::2], strict=True):
            self.over_leases += max(len(leases) - self.cap, 0)
            running = self._running(tenant, members)
            if len(running) > self.cap:
                found |= {turn for turn in running if turn.lease not in leases}
        self._note(found, began)

    def _running(self, tenant: str, members: set[bytes]) -> list[Turn]:
        """Those that can write; who is gone for good is forgotten, as its pid may be used again."""
        gone = [member for member in members if not parent(Turn.of(member).pid)]
        if gone:
            self.redis.srem(RUNNING + tenant, *gone)
        turns = [Turn.of(member) for member in members.difference(gone)]
        return [turn for turn in turns if can_write(turn.pid)]

    def _note(self, found: set[Turn], began: float) -> None:
        lasting = {turn: it for turn, it in self.excesses.items() if turn in found}
        for it in lasting.values():
            self.over_processes_s = max(self.over_processes_s, it.lasts(began) - 1.0)
        begun = {turn: Excess.seen(turn) for turn in found - lasting.keys()}
        self.excesses_seen += len(begun)
        self.excesses = lasting | begun


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
