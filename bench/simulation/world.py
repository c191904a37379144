"""The simulated world: a clock of whole microseconds, workers, and what is to happen when."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

__all__ = ["SECOND", "Claim", "Job", "Observer", "Policy", "World"]

SECOND = 1_000_000


@dataclass(slots=True, eq=False)
class Job:
    """A job of a tenant. With more than one turn it goes to the back of its lane after each."""

    tenant: str
    length: int
    """Microseconds of a turn."""
    turns: int = 1
    dies: bool = False
    """Its worker dies halfway through the turn, without a word; another takes its place."""
    id: str = ""
    waiting_since: int = 0


@dataclass(slots=True, eq=False)
class Claim:
    """A job in the hands of a worker; `lease` is the policy's own name for it."""

    job: Job
    lease: str
    started: int


class Policy(Protocol):
    """Who is next. `now` is in microseconds and never falls."""

    renewal: int | None
    """Microseconds between two renewals of a claim, or None when the policy has no leases."""

    def push(self, now: int, job: Job) -> None:
        """A job begins to wait."""

    def take(self, now: int) -> Claim | None:
        """Hand out the next job, or None when there is none to be had."""

    def end(self, now: int, claim: Claim, *, again: bool) -> None:
        """A claim is over; the job is done, or goes to the back of its lane."""

    def renew(self, now: int, claim: Claim) -> None:
        """The claim's worker is alive."""

    def next_lapse(self) -> int | None:
        """When the policy wants to be asked again for the sake of a dead worker's job."""


class Observer(Protocol):
    """Sees what happens."""

    def pushed(self, now: int, job: Job) -> None:
        """Called after a push."""

    def claimed(self, now: int, claim: Claim) -> None:
        """Called after a claim."""

    def ended(self, now: int, claim: Claim, *, again: bool) -> None:
        """Called after the end of a claim, also after a worker's death (`again` is True then)."""


@dataclass(slots=True)
class World:
    """Runs a policy with so many workers; deterministic."""

    policy: Policy
    workers: int
    observer: Observer
    after: Callable[[], None] = lambda: None
    """Called when an event and all that followed at once is over."""
    now: int = 0
    claims: int = 0
    _events: list[tuple[int, int, Callable[[], None]]] = field(default_factory=list)
    _order: count[int] = field(default_factory=count)
    _ids: count[int] = field(default_factory=count)
    _idle: int = 0
    _look_at: int = -1

    def __post_init__(self) -> None:
        """All workers begin idle."""
        self._idle = self.workers

    def at(self, when: int, what: Callable[[], None]) -> None:
        """Let something happen at a time."""
        heapq.heappush(self._events, (when, next(self._order), what))

    def push(self, *jobs: Job) -> None:
        """Let jobs begin to wait now; then idle workers look for them."""
        for job in jobs:
            job.id = f"j{next(self._ids)}"
            job.waiting_since = self.now
            self.policy.push(self.now, job)
            self.observer.pushed(self.now, job)
        self.look()

    def look(self) -> None:
        """Let idle workers look for work, until one finds nothing."""
        while self._idle and self._take():
            self._idle -= 1
        lapse = self.policy.next_lapse()
        if lapse is not None and self.now < lapse != self._look_at:
            self._look_at = lapse
            self.at(lapse, self.look)

    def run(self, until: int, *, claims: int | None = None) -> None:
        """Let time pass until then, or until so many claims were made, or nothing is left."""
        while self._events and (claims is None or self.claims < claims):
            when, _, what = self._events[0]
            if when > until:
                break
            heapq.heappop(self._events)
            self.now = when
            what()
            self.after()

    def _take(self) -> bool:
        claim = self.policy.take(self.now)
        if claim is None:
            return False
        self.claims += 1
        self.observer.claimed(self.now, claim)
        self._work(claim)
        return True

    def _work(self, claim: Claim) -> None:
        length = claim.job.length // 2 if claim.job.dies else claim.job.length
        renewal = self.policy.renewal
        if renewal:
            for elapsed in range(renewal, length, renewal):
                self.at(self.now + elapsed, lambda: self.policy.renew(self.now, claim))
        self.at(self.now + length, lambda: self._finish(claim))

    def _finish(self, claim: Claim) -> None:
        job = claim.job
        died, job.dies = job.dies, False
        job.waiting_since = self.now
        if not died:
            job.turns -= 1
            self.policy.end(self.now, claim, again=job.turns > 0)
        self.observer.ended(self.now, claim, again=died or job.turns > 0)
        if not self._take():
            self._idle += 1
        self.look()
