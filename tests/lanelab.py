"""Lanes on a real Redis whose time stands still until a test moves it."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

from redis import Redis

from fairimport.lanes.lanes import Claimed, Lanes
from fairimport.lanes.scripts import CLOCK_LINE

BEGIN = 1_700_000_000_000_000
CLOCK = 'local now = tonumber(call("GET", OWN .. "test-clock"))'


class Lab:
    """One queue's lanes with jobs that are only hashes, and a clock in a key."""

    def __init__(self, connection: Redis, queue: str = "imports") -> None:
        assert CLOCK_LINE == "local now = clock()"
        self.redis = connection
        self.lanes = Lanes.of(queue, connection, clock=CLOCK)
        self.now = BEGIN
        self._names = (f"lease-{number:05d}" for number in itertools.count())
        self.sleep(0)

    def sleep(self, seconds: float) -> None:
        """Let Redis' time pass."""
        self.now += round(seconds * 1_000_000)
        self.redis.set(self.lanes.keys.prefix + "test-clock", self.now)

    def push(self, job: str, tenant: str, **fields: Any) -> str:
        """Push a job as RQ does: a hash, and its id at the end of the list."""
        given = {"status": "queued", "tenant": tenant, "data": "x", **fields}
        self.redis.hset(f"rq:job:{job}", mapping=given)
        self.redis.rpush(self.lanes.keys.inbox, job)
        return job

    def claim(self, request: str | None = None) -> Claimed:
        """Claim, and insist on getting something."""
        found = self.lanes.claim("worker", request or next(self._names))
        assert isinstance(found, Claimed), found
        return found

    def work(self, seconds: float) -> str:
        """Claim, work, settle as done; return the tenant served."""
        claimed = self.claim()
        self.sleep(seconds)
        assert self.lanes.settle(claimed.lease_id, "done")
        return claimed.tenant

    def lane(self, tenant: str) -> list[str]:
        """Waiting ids of a tenant."""
        return _texts(self.redis.lrange(self.lanes.keys.lane(tenant), 0, -1))

    def status(self, job: str) -> str | None:
        """What RQ calls the job."""
        status = self.redis.hget(f"rq:job:{job}", "status")
        return status.decode() if status is not None else None

    def virtual_time(self, tenant: str) -> float | None:
        """The tenant's score in the set where it is."""
        for name in ("ready", "parked", "resting"):
            score = self.redis.zscore(self.lanes.keys.prefix + name, tenant)
            if score is not None:
                return float(score)
        return None

    def mean(self, tenant: str) -> int | None:
        """Microseconds of the tenant's mean turn."""
        mean = self.redis.hget(f"{self.lanes.keys.prefix}tenant:{tenant}", "mean")
        return int(mean) if mean is not None else None

    def scores(self, name: str) -> dict[str, int]:
        """One of the sorted sets."""
        found = self.redis.zrange(self.lanes.keys.prefix + name, 0, -1, withscores=True)
        return {member.decode(): int(score) for member, score in found}

    def leases(self, tenant: str) -> list[str]:
        """Ids of the tenant's leases."""
        return _texts(self.redis.zrange(f"{self.lanes.keys.prefix}leases:{tenant}", 0, -1))

    def keys(self, *but: str) -> set[str]:
        """Names of our own keys, without those that begin with one of these words."""
        prefix = self.lanes.keys.prefix
        names = {key.decode().removeprefix(prefix) for key in self.redis.scan_iter(f"{prefix}*")}
        return {name for name in names if not name.startswith(("test-clock", *but))}


def _texts(values: Any) -> list[str]:
    return [value.decode() for value in values]


class Crowd:
    """Workers that claim, work for as long as the tenant's jobs take, and settle; in lab time."""

    def __init__(self, lab: Lab, workers: int, seconds: Callable[[str], float]) -> None:
        self.lab = lab
        self.seconds = seconds
        self.served: list[str] = []
        self.used: Counter[str] = Counter()
        self._idle = workers
        self._ends: list[tuple[int, str, str]] = []

    def run(self, claims: int, between: Callable[[], object] = lambda: None) -> None:
        """Make so many claims; `between` may push jobs before each of them."""
        until = len(self.served) + claims
        while len(self.served) < until:
            between()
            found = (
                self.lab.lanes.claim("worker", f"turn-{len(self.served)}") if self._idle else None
            )
            if isinstance(found, Claimed):
                self._begin(found)
            else:
                assert self._ends, "nobody is eligible and nobody works"
                self._end()

    def finish(self) -> None:
        """Let all running jobs end."""
        while self._ends:
            self._end()

    def _begin(self, found: Claimed) -> None:
        self._idle -= 1
        self.served.append(found.tenant)
        took = round(self.seconds(found.tenant) * 1_000_000)
        heapq.heappush(self._ends, (self.lab.now + took, found.lease_id, found.tenant))
        self.used[found.tenant] += took

    def _end(self) -> None:
        at, lease_id, _ = heapq.heappop(self._ends)
        self.lab.sleep((at - self.lab.now) / 1_000_000)
        assert self.lab.lanes.settle(lease_id, "done")
        self._idle += 1
