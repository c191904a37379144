"""Many tenants with waiting jobs on one Redis, and batches of the three scripts measured on it.

A closed circle: who was served gets another job, so that every tenant has as many waiting in each
batch, and crowds of any size do the same work.
"""

from __future__ import annotations

from collections import deque
from itertools import count
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from bench import rig
from fairimport.conf import settings
from fairimport.lanes.lanes import Lanes

if TYPE_CHECKING:
    from redis import Redis

__all__ = ["Crowd"]

BATCH = 20
PIPELINE = 5_000
JOBS_AT_LEAST = 2
JOBS_IN_ALL = 4_000
OF_THE_QUEUE = ("clock", "epoch", "workers", "limits", "maintenance")


class Crowd:
    """`size` tenants, each with a job or more waiting; their cap lets `live` jobs be in flight."""

    def __init__(self, redis: Redis, size: int, *, live: int) -> None:
        self.redis, self.size = redis, size
        self.lanes = Lanes.of("bench", redis)
        self.cap = max(settings.cap, -(-2 * live // size))
        self._jobs = count()
        self._leases = count()
        self._held: deque[tuple[str, str]] = deque()
        self._served: deque[str] = deque(maxlen=BATCH)

    def fill(self) -> None:
        """Give every tenant its jobs, through RQ's list as everybody pushes."""
        with rig.fairimport(cap=self.cap, lease=3600.0):
            self.lanes.load_limits({}, wait=0)
            each = max(JOBS_AT_LEAST, JOBS_IN_ALL // self.size)
            for first in range(0, self.size * each, PIPELINE):
                numbers = range(first, min(first + PIPELINE, self.size * each))
                self._push([f"t{number % self.size}" for number in numbers])
                self.lanes.route()

    def hold(self, live: int) -> None:
        """Claim or settle until so many jobs are in flight."""
        with rig.fairimport(cap=self.cap, lease=3600.0):
            while len(self._held) < live:
                self.claim()
                self._push([self._served[-1]])
                self.lanes.route()
            while len(self._held) > live:
                self._settle()

    def claim(self) -> bool:
        """Claim a job and keep it; False when there was none."""
        args = (f"l{next(self._leases)}", "bench", "2026-01-01T00:00:00.000000Z")
        reply = self.lanes.scripts.run(self.redis, "claim", *args)
        while reply[0] == b"again":
            reply = self.lanes.scripts.run(self.redis, "claim", *args)
        if reply[0] != b"claimed":
            return False
        self._held.append((args[0], reply[2].decode()))
        self._served.append(reply[1].decode())
        return True

    def batch(self) -> dict[str, float]:
        """Route, claim and settle some jobs; microseconds of each, by the server and the client."""
        with rig.fairimport(cap=self.cap, lease=3600.0):
            return {
                **self._timed("claim", self.claim),
                **self._timed("settle", self._settle),
                **self._timed("route", self._route_one, before=self._push_again),
            }

    def drain(self) -> list[str]:
        """Claim and settle everything there is; return the keys of tenants that would stay."""
        with rig.fairimport(cap=self.cap, lease=3600.0):
            while self._held or self.claim():
                while len(self._held) < BATCH and self.claim():
                    pass
                while self._held:
                    self._settle()
        prefix = self.lanes.keys.prefix
        names = [key.decode() for key in self.redis.scan_iter(f"{prefix}*", count=1000)]
        left = [name for name in names if name[len(prefix) :].split(":")[0] not in OF_THE_QUEUE]
        jobs = [key.decode() for key in self.redis.scan_iter("rq:*", count=1000)]
        left += [name for name in jobs if not name.startswith("rq:worker")]
        return [name for name in left if self.redis.ttl(name) == -1]

    def expiring(self) -> int:
        """Keys with the fairness numbers, which have a time to live."""
        names = self.redis.scan_iter(f"{self.lanes.keys.prefix}*", count=1000)
        return sum(self.redis.ttl(name) >= 0 for name in names)

    def _timed(self, name: str, act: Any, before: Any = None) -> dict[str, float]:
        spent = []
        self.redis.config_resetstat()
        for _ in range(BATCH):
            if before:
                before()
            begun = perf_counter()
            act()
            spent.append(perf_counter() - begun)
        return {f"{name}_server_us": self._server_us(), f"{name}_client_us": median(spent) * 1e6}

    def _server_us(self) -> float:
        stats = self.redis.info("latencystats")
        return float(stats["latency_percentiles_usec_evalsha"]["p50"])

    def _push_again(self) -> None:
        self._push([self._served.popleft()])

    def _push(self, tenants: list[str]) -> None:
        with self.redis.pipeline(transaction=False) as pipeline:
            for tenant in tenants:
                job = f"j{next(self._jobs)}"
                key = f"{self.lanes.keys.rq}job:{job}"
                pipeline.hset(key, mapping={"status": "queued", "tenant": tenant, "since": 1})
                pipeline.rpush(self.lanes.keys.inbox, job)
            pipeline.execute()

    def _route_one(self) -> None:
        self.lanes.scripts.run(self.redis, "route", 1000)

    def _settle(self) -> None:
        lease, job = self._held.popleft()
        self.lanes.settle(lease, "done")
        self.redis.delete(f"{self.lanes.keys.rq}job:{job}")
