"""What others do, as policies: one list; the naive scan; shuffle sharding."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bench import naive
from bench.simulation.world import SECOND, Claim, Job

if TYPE_CHECKING:
    from redis import Redis

__all__ = ["Fifo", "Scan", "Shuffle", "hand_of"]


class _Leaseless:
    """What policies without leases answer."""

    renewal: int | None = None

    def renew(self, now: int, claim: Claim) -> None:
        """Nothing to move on."""

    def next_lapse(self) -> int | None:
        """Nothing lapses."""
        return None


@dataclass
class Fifo(_Leaseless):
    """One list for all tenants, as RQ, Celery and most others have it."""

    waiting: deque[Job] = field(default_factory=deque)

    def push(self, now: int, job: Job) -> None:
        """To the back."""
        self.waiting.append(job)

    def take(self, now: int) -> Claim | None:
        """From the front."""
        return Claim(self.waiting.popleft(), "", now) if self.waiting else None

    def end(self, now: int, claim: Claim, *, again: bool) -> None:
        """To the back once more, when there is more to do."""
        if again:
            self.push(now, claim.job)


class Scan(_Leaseless):
    """Least recently served of the first 51, on a real Redis: `bench.naive`."""

    def __init__(self, redis: Redis, cap: int) -> None:
        self.redis, self.cap = redis, cap
        self._script = redis.register_script(naive.CLAIM)
        self._jobs: dict[str, Job] = {}
        self._leases = 0

    def push(self, now: int, job: Job) -> None:
        """To the back of its lane; a tenant that was away stands in front."""
        self._jobs[job.id] = job
        with self.redis.pipeline(transaction=False) as pipeline:
            pipeline.rpush(f"naive:lane:{job.tenant}", job.id)
            pipeline.zadd("naive:served", {job.tenant: 0}, nx=True)
            pipeline.execute()

    def take(self, now: int) -> Claim | None:
        """Look at 51 tenants and no further."""
        self._leases += 1
        lease = f"l{self._leases}"
        found = self._script(keys=["naive:"], args=[now, lease, now + 10_000 * SECOND, self.cap])
        return Claim(self._jobs[found[1].decode()], lease, now) if found else None

    def end(self, now: int, claim: Claim, *, again: bool) -> None:
        """Free the slot."""
        self.redis.zrem(f"naive:leases:{claim.job.tenant}", claim.lease)
        if again:
            self.push(now, claim.job)
        else:
            del self._jobs[claim.job.id]


def hand_of(tenant: str, queues: int, hand: int) -> list[int]:
    """The queues that a tenant is dealt; always the same ones."""
    return random.Random(tenant).sample(range(queues), hand)


@dataclass(slots=True)
class _Shard:
    jobs: deque[Job] = field(default_factory=deque)
    virtual: int = 0
    live: int = 0


class Shuffle(_Leaseless):
    """Shuffle sharding with fair queuing, as Kubernetes' API Priority and Fairness does it.

    A job goes to the shortest queue of its tenant's hand; the queue with the least virtual time is
    served; it is charged a guess, which the time used replaces at the end. There is no cap.
    """

    def __init__(self, queues: int = 512, hand: int = 6, guess: int = SECOND) -> None:
        self._shards = [_Shard() for _ in range(queues)]
        self._hand = hand
        self._guess = guess
        self._clock = 0
        self._busy: set[int] = set()
        self._of: dict[int, int] = {}

    def push(self, now: int, job: Job) -> None:
        """To the shortest queue of the hand; an empty queue starts at the clock."""
        hand = hand_of(job.tenant, len(self._shards), self._hand)
        chosen = min(hand, key=lambda number: len(self._shards[number].jobs))
        shard = self._shards[chosen]
        if not shard.jobs and not shard.live:
            shard.virtual = max(shard.virtual, self._clock)
        shard.jobs.append(job)
        self._busy.add(chosen)

    def take(self, now: int) -> Claim | None:
        """From the waiting queue with the least virtual time."""
        if not self._busy:
            return None
        chosen = min(self._busy, key=lambda number: (self._shards[number].virtual, number))
        shard = self._shards[chosen]
        self._clock = max(self._clock, shard.virtual)
        job = shard.jobs.popleft()
        shard.virtual += self._guess
        shard.live += 1
        if not shard.jobs:
            self._busy.discard(chosen)
        self._of[id(job)] = chosen
        return Claim(job, "", now)

    def end(self, now: int, claim: Claim, *, again: bool) -> None:
        """Replace the guess by what was used."""
        shard = self._shards[self._of.pop(id(claim.job))]
        shard.live -= 1
        shard.virtual += now - claim.started - self._guess
        if again:
            self.push(now, claim.job)
