"""How long an eligible tenant waits at most: the bound that `docs/scheduler.md` proves.

Times are seconds. Virtual times are worker-seconds over weight; with turns only their order counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairimport.conf import settings
from fairimport.lanes.values import MICRO

__all__ = ["Contest", "Contestant", "Working", "contest", "wait_bound"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """A tenant with live leases; its `account` is its virtual time less what is charged ahead."""

    virtual: float
    account: float
    live: int
    weight: float
    ready: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """Who competes at one moment, and the longest of everything that a bound rests on."""

    workers: int
    turn: float
    """Longest turn; a claim that comes to nothing until its lease lapses is one, too."""
    over: float
    """Longest time that a turn went on beyond its guess."""
    turns: bool
    first: float
    """Virtual time of the first of the ready set."""
    heaviest: float
    """Largest weight that any tenant has."""
    widest: int
    """Largest cap that any tenant has."""
    working: Mapping[str, Working]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """An eligible tenant."""

    tenant: str
    virtual: float
    weight: float
    rivals: int
    """Others in the ready set whose virtual time is at most this one's `reach`."""

    def reach(self, of: Contest) -> float:
        """Its virtual time once its own claims have cost all that they can cost."""
        own = of.working.get(self.tenant)
        return self.virtual + (own.live * of.over / self.weight if own else 0.0)


def wait_bound(of: Contest, one: Contestant) -> float | None:
    """Seconds until its next claim at most, from now on; None when no worker is alive.

    Holds while it stays eligible, the workers live, caps and weights stay, and no turn is longer
    than the longest known. Who is ahead of the clock also lets newcomers pass, who are not in it.
    """
    if not of.workers:
        return None
    if of.turns:
        return of.turn * -(-(one.rivals + 1) // of.workers)
    reach = one.reach(of)
    busy = [it for name, it in of.working.items() if name != one.tenant and it.account <= reach]
    waiting = one.rivals - sum(it.ready and it.virtual <= reach for it in busy)
    rooms = [it.weight * (reach - it.account) for it in busy]
    rooms += [of.heaviest * max(reach - of.first, 0.0)] * waiting
    return of.turn + sum(_work(of, room) for room in rooms) / of.workers


def _work(of: Contest, room: float) -> float:
    """Worker-seconds that a rival may take before its virtual time has passed."""
    at_once = min(of.widest, of.workers)
    return room + of.turn + max(at_once - 1, 0) * of.over


def contest(raw: Mapping[str, Any]) -> Contest:
    """Read the reply of the script `snapshot`."""
    longest = raw["all"]
    return Contest(
        workers=int(raw["workers"]),
        turn=longest.get("turn", 0) / MICRO,
        over=longest.get("over", 0) / MICRO,
        turns=bool(raw["turns"]),
        first=float(raw.get("first") or 0) / MICRO,
        heaviest=max(float(raw["weight"]), settings.weight),
        widest=max(int(raw["cap"]), settings.cap),
        working={
            tenant: Working(
                virtual=row["v"] / MICRO,
                account=row["account"] / MICRO,
                live=int(row["live"]),
                weight=float(row["weight"]),
                ready=bool(row["ready"]),
            )
            for tenant, row in (raw["working"] or {}).items()
        },
    )
