"""What is measured while a world runs: waits, worker-seconds, runs of claims."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from bench.simulation.world import SECOND, Claim, Job

__all__ = ["Watch", "jain", "quantile"]


def jain(shares: Iterable[float]) -> float:
    """Jain's index of fairness: 1 when all are equal, 1/n when one has everything."""
    values = list(shares)
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0


def quantile(values: Sequence[float], share: float) -> float | None:
    """The nearest-rank quantile; None of nothing."""
    if not values:
        return None
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


@dataclass(slots=True)
class Watch:
    """An observer that measures; waits are kept of the tenants that `small` says yes to."""

    cap: Callable[[str], int]
    small: Callable[[str], bool] = lambda tenant: True
    waits: list[float] = field(default_factory=list)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    turns: Counter[str] = field(default_factory=Counter)
    longest_turn: float = 0.0
    longest_run: int = 0
    longest_run_contended: int = 0
    most_live: int = 0
    _waiting: Counter[str] = field(default_factory=Counter)
    _live: Counter[str] = field(default_factory=Counter)
    _eligible: set[str] = field(default_factory=set)
    _started: dict[Claim, int] = field(default_factory=dict)
    _last: str | None = None
    _raw: int = 0
    _contended: int = 0

    def pushed(self, now: int, job: Job) -> None:
        """One more waits."""
        self._change(job.tenant, waiting=1)

    def claimed(self, now: int, claim: Claim) -> None:
        """Note the wait, and how many claims in a row this tenant had."""
        tenant = claim.job.tenant
        if self.small(tenant):
            self.waits.append((now - claim.job.waiting_since) / SECOND)
        same = tenant == self._last
        self._raw = self._raw + 1 if same else 1
        others = len(self._eligible) > (tenant in self._eligible)
        self._contended = (self._contended if same else 0) + 1 if others else 0
        self._last = tenant
        self.longest_run = max(self.longest_run, self._raw)
        self.longest_run_contended = max(self.longest_run_contended, self._contended)
        self._change(tenant, waiting=-1, live=1)
        self.turns[tenant] += 1
        self._started[claim] = now
        self.most_live = max(self.most_live, self._live[tenant])

    def ended(self, now: int, claim: Claim, *, again: bool) -> None:
        """Note the time used."""
        used = (now - self._started.pop(claim)) / SECOND
        self.seconds[claim.job.tenant] += used
        self.longest_turn = max(self.longest_turn, used)
        self._change(claim.job.tenant, waiting=int(again), live=-1)

    def used_until(self, now: int) -> dict[str, float]:
        """Worker-seconds of each tenant, those of claims that are not over included."""
        used = dict(self.seconds)
        for claim, started in self._started.items():
            used[claim.job.tenant] = used.get(claim.job.tenant, 0) + (now - started) / SECOND
        return used

    def _change(self, tenant: str, *, waiting: int = 0, live: int = 0) -> None:
        self._waiting[tenant] += waiting
        self._live[tenant] += live
        if self._waiting[tenant] and self._live[tenant] < self.cap(tenant):
            self._eligible.add(tenant)
        else:
            self._eligible.discard(tenant)
