"""The read model: how far a run is, how fast it goes, and why it does not when it does not.

`of` costs at most three queries and one round trip to Redis, and answers without Redis too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, Q, Sum
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from redis.exceptions import RedisError

from fairimport.lanes import LaneState, Snapshot, get_lanes
from fairimport.models import Chunk, ImportRun, TenantLimit
from fairimport.querysets import from_now
from fairimport.runs import pace, waiting
from fairimport.runs.costs import Cost, cost
from fairimport.runs.waiting import Reason
from fairimport.states import STOPPING, WORKING, State

__all__ = ["Cost", "Progress", "Reason", "cost", "of"]

OUTCOMES = ("created", "updated", "unchanged", "skipped", "rejected")
FRESH_S = 5.0
"""A run whose last row is younger than this moves: there is nothing to explain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A run at one moment. `total` is the sum of the outcomes and `not_tried`, always.

    None stands for what nobody knows: `total` before the rows are stored, `slots_used` without
    Redis, `eta` (seconds, from and to) until it can be trusted.
    """

    state: State
    total: int | None
    created: int
    updated: int
    unchanged: int
    skipped: int
    rejected: int
    not_tried: int | None
    checked: int
    retry_left: int
    """Rejected rows that are being tried again; until then they count as rejected."""
    in_flight: int
    slots_used: int | None
    cap: int
    rate_per_s: float | None
    eta: tuple[float, float] | None
    basis: str
    reason: Reason | None
    updated_at: datetime | None

    @property
    def done(self) -> int:
        """Rows that have an outcome."""
        return self.created + self.updated + self.unchanged + self.skipped + self.rejected

    @property
    def percent(self) -> float | None:
        """Rounded down to a tenth, so that 100 means all; None while the total is unknown."""
        if not self.total:
            return None
        return self.done * 1000 // self.total / 10


def of(run: ImportRun) -> Progress:
    """How far this run is now."""
    counts = _counts(run)
    lanes = _lanes(run.tenant)
    state = State(run.state)
    left = _left(run, counts)
    paces = _paces(run) if state in WORKING | STOPPING else []
    reason = _reason(run, counts, lanes)
    guess = pace.estimate(paces, time.time(), left) if reason is None and left else None
    since = run.started_at.timestamp() if run.started_at else None
    own = _lane(lanes, run.tenant)
    done = sum(counts[name] for name in OUTCOMES)
    return Progress(
        state=state,
        total=run.total,
        **{name: counts[name] for name in OUTCOMES},
        not_tried=None if run.total is None else run.total - done,
        checked=counts["checked"],
        retry_left=counts["retry_left"],
        in_flight=counts["held"],
        slots_used=own.in_flight if own else None,
        cap=own.cap if own else TenantLimit.objects.cap_of(run.tenant),
        rate_per_s=pace.rate(paces, time.time(), since),
        eta=(guess.low_s, guess.high_s) if guess else None,
        basis=_basis(guess, left, reason),
        reason=reason,
        updated_at=counts["worked_at"],
    )


def _counts(run: ImportRun) -> Mapping[str, Any]:
    """Sums over the run's chunks: the only source of every number of rows."""
    return Chunk.objects.filter(run=run).aggregate(
        **{name: Sum(name, default=0) for name in OUTCOMES},
        checked=Sum("checked", default=0),
        left=Sum(F("size") - F("next_row"), default=0),
        retry_left=Sum(F("size") - F("next_row"), default=0, filter=Q(retry=True)),
        held=Count("pk", filter=Q(held_until__gt=Now())),
        worked_at=Max("worked_at"),
    )


def _left(run: ImportRun, counts: Mapping[str, Any]) -> int:
    """Rows to go in the pass that the run makes."""
    if run.state == State.CHECKING:
        return (run.total or 0) - int(counts["checked"])
    return int(counts["left"])


def _paces(run: ImportRun) -> list[pace.Pace]:
    lately = Chunk.objects.filter(run=run, worked_at__gt=from_now(-pace.WINDOW_S))
    return list(lately.values_list("pace", flat=True))


def _lanes(tenant: str) -> Snapshot | None:
    """The lanes as they are; None when Redis does not answer."""
    try:
        return get_lanes().snapshot([tenant])
    except (RedisError, OSError):
        return None


def _lane(lanes: Snapshot | None, tenant: str) -> LaneState | None:
    return lanes.tenants.get(tenant) if lanes else None


def _reason(run: ImportRun, counts: Mapping[str, Any], lanes: Snapshot | None) -> Reason | None:
    """Why the run does not move; None when it does, or when it is the customer's turn."""
    state = State(run.state)
    if state in STOPPING:
        return waiting.closing(state)
    if state not in WORKING:
        return None
    if lanes is None:
        return waiting.redis_down()
    in_hand = counts["held"] or (run.total is None and lanes.tenants[run.tenant].in_flight)
    fresh = waiting.is_fresh(counts["worked_at"], FRESH_S)
    return waiting.why(run, lanes, moves=fresh or bool(lanes.workers and in_hand))


def _basis(guess: pace.Estimate | None, left: int, reason: Reason | None) -> str:
    if not left:
        return ""
    if reason is not None:
        return _("known again when its rows go on")
    if guess is None:
        return _("known after the first rows, about 20 seconds of them")
    return _("from the last %(seconds)d seconds") % {"seconds": guess.seen_s}
