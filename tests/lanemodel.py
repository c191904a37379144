"""The lanes in plain Python: what the scripts must do, written a second time to be compared.

Times are whole microseconds; `now` is given, never read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

CAP, WEIGHT = 2, 1.0


@dataclass
class Job:
    """A job's hash, as far as lanes look at it."""

    tenant: str
    status: str = "queued"
    front: bool = False
    ticket: bool = False
    lapses: int = 0
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lease:
    """What a claim promised."""

    tenant: str
    job: str
    started: int
    guess: int
    weight: float


@dataclass
class Model:
    """All state of one queue; the methods are named after the scripts and their functions."""

    guess: int
    term: int
    max_lapses: int
    turns: bool = False
    open: bool = False
    suspended: bool = False
    seen: int | None = None
    clock: int = 0
    inbox: list[str] = field(default_factory=list)
    jobs: dict[str, Job] = field(default_factory=dict)
    lanes: dict[str, list[str]] = field(default_factory=dict)
    limits: dict[str, tuple[int, float, bool]] = field(default_factory=dict)
    leases: dict[str, Lease] = field(default_factory=dict)
    deadlines: dict[str, int] = field(default_factory=dict)
    means: dict[str, int] = field(default_factory=dict)
    ready: dict[str, int] = field(default_factory=dict)
    parked: dict[str, int] = field(default_factory=dict)
    resting: dict[str, int] = field(default_factory=dict)

    def cap(self, tenant: str) -> int:
        """The cap that is set."""
        return self.limits.get(tenant, (CAP, WEIGHT, False))[0]

    def is_paused(self, tenant: str) -> bool:
        """Whether the operator has said so."""
        return self.limits.get(tenant, (CAP, WEIGHT, False))[2]

    def ceiling(self, tenant: str) -> int:
        """The cap that counts: 0 when paused."""
        return 0 if self.is_paused(tenant) else self.cap(tenant)

    def weight(self, tenant: str) -> float:
        """The tenant's share."""
        return self.limits.get(tenant, (CAP, WEIGHT, False))[1]

    def live(self, tenant: str) -> int:
        """Leases that the tenant holds."""
        return sum(lease.tenant == tenant for lease in self.leases.values())

    def stand(self, tenant: str) -> int:
        """Virtual time; a forgotten tenant has none."""
        for where in (self.ready, self.parked, self.resting):
            if tenant in where:
                return where[tenant]
        return 0

    def place(self, tenant: str, v: int) -> None:
        """Eligible tenants are ready; others with jobs or leases parked; others ahead rest."""
        was_ready = tenant in self.ready
        for where in (self.ready, self.parked, self.resting):
            where.pop(tenant, None)
        waiting = bool(self.lanes.get(tenant))
        if waiting and self.live(tenant) < self.ceiling(tenant):
            if not was_ready and v <= self.clock:
                self.clock += 1
                v = self.clock
            self.ready[tenant] = v
        elif waiting or self.live(tenant):
            self.parked[tenant] = v
        elif v > self.clock:
            self.resting[tenant] = v

    def route(self) -> None:
        """Everything in the inbox goes to its lane, dead ids nowhere, the front ones last."""
        alive = [
            job_id
            for job_id in self.inbox
            if job_id in self.jobs and self.jobs[job_id].status == "queued"
        ]
        fronts = [job_id for job_id in alive if self.jobs[job_id].front]
        for job_id in [*(each for each in alive if each not in fronts), *reversed(fronts)]:
            job = self.jobs[job_id]
            lane = self.lanes.setdefault(job.tenant, [])
            lane.insert(0 if job.front else len(lane), job_id)
            job.front = False
            if job.tenant not in self.ready:
                self.place(job.tenant, self.stand(job.tenant))
        self.inbox.clear()

    def claim(self, lease_id: str, now: int) -> str | None:
        """The job that is claimed; None when nobody is eligible or lanes are closed."""
        self.seen = now
        if lease_id in self.leases:
            return self.leases[lease_id].job
        if not self.open:
            return None
        self.reap(now, 16)
        self.forget(16)
        while self.ready:
            tenant = min(self.ready, key=lambda name: (self.ready[name], name.encode()))
            job_id = self._pop(tenant) if self.live(tenant) < self.ceiling(tenant) else None
            if job_id is not None:
                self._take(tenant, job_id, lease_id, now)
                return job_id
            self.place(tenant, self.ready[tenant])
        if not self.leases:
            self.clock = max(self.clock, *self.resting.values(), 0)
        return None

    def renew(self, lease_id: str, now: int) -> str:
        """Charge what passed beyond the guess."""
        self.seen = now
        lease = self.leases.get(lease_id)
        if lease is None:
            return "lost"
        before = self._charged(lease_id)
        self.deadlines[lease_id] = now + self.term
        more = _round((self._charged(lease_id) - before) / lease.weight)
        for where in (self.ready, self.parked, self.resting):
            if lease.tenant in where:
                where[lease.tenant] += more
        return "stop" if self.ceiling(lease.tenant) == 0 else "renewed"

    def settle(self, lease_id: str, how: str, now: int) -> bool:
        """End a lease; False when it is gone."""
        lease = self.leases.get(lease_id)
        if lease is None:
            return False
        used = now - lease.started
        if how != "released":
            mean = self.means.get(lease.tenant, used)
            self.means[lease.tenant] = _round(mean + (used - mean) / 8)
            if lease.job in self.jobs:
                self.jobs[lease.job].lapses = 0
        self._finish(lease_id, now, {"yielded": "back", "released": "front"}.get(how))
        return True

    def reap(self, now: int, most: int) -> list[str]:
        """Take lapsed leases back, the earliest first; return their jobs."""
        due = sorted((at, lease_id) for lease_id, at in self.deadlines.items() if at <= now)[:most]
        jobs = []
        for _, lease_id in due:
            job_id = self.leases[lease_id].job
            job, back = self.jobs.get(job_id), "front"
            if job is not None:
                job.lapses += 1
                lost = job.lapses >= self.max_lapses and not job.ticket
                if job.status == "started" and lost:
                    job.status, back = "failed", ""
            self._finish(lease_id, now, back)
            jobs.append(job_id)
        return jobs

    def forget(self, most: int) -> None:
        """Who rests and is not ahead any more has no state."""
        passed = sorted((v, t.encode(), t) for t, v in self.resting.items() if v <= self.clock)
        for _, _, tenant in passed[:most]:
            del self.resting[tenant]

    def set_limit(self, tenant: str, cap: int, weight: float, paused: bool) -> None:
        """A new limit counts at once."""
        self.limits[tenant] = (cap, weight, paused)
        if tenant in self.ready or tenant in self.parked:
            self.place(tenant, self.stand(tenant))

    def _take(self, tenant: str, job_id: str, lease_id: str, now: int) -> None:
        competitors, v = len(self.ready), self.ready[tenant]
        guess = self.means.get(tenant, self.guess)
        price = _round(guess / self.weight(tenant))
        self.leases[lease_id] = Lease(tenant, job_id, now, guess, self.weight(tenant))
        self.deadlines[lease_id] = now + self.term
        self.jobs[job_id].status = "started"
        if self.turns:
            self.clock = max(self.clock, *self.ready.values()) + 1
            self.place(tenant, self.clock)
            return
        self.place(tenant, v + price)
        time = max(self.clock, v)
        if competitors > 1:
            last = max(self.ready.values())
            time = max(time, min(time, last) + math.ceil(price / competitors))
        self.clock = time

    def _pop(self, tenant: str) -> str | None:
        lane = self.lanes[tenant]
        while lane:
            job_id = lane.pop(0)
            job = self.jobs.get(job_id)
            if job is not None and job.status == "queued":
                return job_id
        return None

    def _charged(self, lease_id: str) -> int:
        lease = self.leases[lease_id]
        if self.turns:
            return lease.guess
        return max(lease.guess, self.deadlines[lease_id] - self.term - lease.started)

    def _finish(self, lease_id: str, now: int, back: str | None) -> None:
        charged, lease = self._charged(lease_id), self.leases.pop(lease_id)
        del self.deadlines[lease_id]
        job = self.jobs.get(lease.job)
        if back and job is not None and job.status in ("queued", "started"):
            job.status = "queued"
            lane = self.lanes.setdefault(lease.tenant, [])
            lane.insert(0 if back == "front" else len(lane), lease.job)
        v = self.stand(lease.tenant)
        if not self.turns:
            v += _round((now - lease.started - charged) / lease.weight)
        self.place(lease.tenant, v)


def _round(number: float) -> int:
    return math.floor(number + 0.5)
