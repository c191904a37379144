"""Holds every wait against the bound that the product itself states for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.simulation.lanes import LanesPolicy
from bench.simulation.world import SECOND, Claim, Job, World
from fairimport.lanes.bounds import Contest, Contestant, contest, wait_bound

__all__ = ["Promises", "Waited"]

ROUNDED = 0.001  # seconds: scores are whole microseconds, each claim rounds once


@dataclass(frozen=True, slots=True, kw_only=True)
class Waited:
    """One wait of an eligible tenant, and what it was promised when it began."""

    tenant: str
    began: float
    wait: float
    bound: float
    newcomers: int
    """Tenants that passed a tenant which was ahead of the clock; each has its part in `bound`."""

    @property
    def kept(self) -> bool:
        """Whether the promise was kept."""
        return self.wait <= self.bound + ROUNDED


@dataclass(slots=True)
class _Promise:
    began: int
    bound: float
    rivals: set[str]
    newcomer: float
    """What the bound grows by for each newcomer; 0 for who is not ahead of the clock."""
    newcomers: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Promises:
    """An observer. `turn` is the longest that a turn can be, `over` the same beyond its guess."""

    policy: LanesPolicy
    workers: int
    tenants: Sequence[str]
    turn: int
    over: int
    waited: list[Waited] = field(default_factory=list)
    _open: dict[str, _Promise] = field(default_factory=dict)

    def watch(self, world: World) -> None:
        """Look at the lanes after each event of this world."""
        world.after = lambda: self.look(world.now)

    def pushed(self, now: int, job: Job) -> None:
        """Seen at the next look."""

    def ended(self, now: int, claim: Claim, *, again: bool) -> None:
        """Seen at the next look."""

    def claimed(self, now: int, claim: Claim) -> None:
        """A wait is over; others have been passed."""
        tenant = claim.job.tenant
        promise = self._open.pop(tenant, None)
        if promise is not None:
            self.waited.append(_waited(tenant, promise, now))
        for other in self._open.values():
            if other.newcomer and tenant not in other.rivals:
                other.newcomers.add(tenant)

    def look(self, now: int) -> None:
        """Note a promise for each tenant that has become eligible; forget who is not any more."""
        self.policy.declare(now, workers=self.workers, turn=self.turn, over=self.over)
        raw = self.policy.snapshot(now, self.tenants)
        of = contest(raw)
        rows = {tenant: raw["tenants"][tenant] for tenant in self.tenants}
        for tenant, row in rows.items():
            if row.get("ahead") is None:
                self._open.pop(tenant, None)
            elif tenant not in self._open:
                self._open[tenant] = _promise(now, of, _contestant(tenant, row), raw)


def _promise(now: int, of: Contest, one: Contestant, raw: dict[str, Any]) -> _Promise:
    reach, clock = one.reach(of), raw["clock"] / SECOND
    bound = wait_bound(of, one)
    assert bound is not None
    working = {name for name, it in of.working.items() if it.account <= reach}
    ready = {name for name, row in raw["tenants"].items() if _is_before(row, reach)}
    newcomer = 0.0
    if reach > clock and not of.turns:
        at_once = max(min(of.widest, of.workers) - 1, 0)
        work = of.heaviest * (reach - clock) + of.turn + at_once * of.over
        newcomer = work / of.workers
    return _Promise(now, bound, working | ready, newcomer)


def _is_before(row: dict[str, Any], reach: float) -> bool:
    return row.get("ahead") is not None and row["v"] / SECOND <= reach


def _contestant(tenant: str, row: dict[str, Any]) -> Contestant:
    return Contestant(
        tenant=tenant,
        virtual=row["v"] / SECOND,
        weight=float(row["weight"]),
        rivals=int(row["rivals"]),
    )


def _waited(tenant: str, promise: _Promise, now: int) -> Waited:
    return Waited(
        tenant=tenant,
        began=promise.began / SECOND,
        wait=(now - promise.began) / SECOND,
        bound=promise.bound + promise.newcomer * len(promise.newcomers),
        newcomers=len(promise.newcomers),
    )
