"""The operator's page about fairness: three numbers first, then the tenants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from fairimport.lanes import LaneState, Snapshot, get_lanes
from fairimport.runs import waiting

__all__ = ["SILENT", "Seen", "ThreeNumbers", "fairness", "look", "three_numbers"]

WORST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The lanes at one moment; `snapshot` is None when Redis does not answer."""

    snapshot: Snapshot | None

    @property
    def answers(self) -> bool:
        """Whether Redis answered."""
        return self.snapshot is not None

    def of(self, tenant: str) -> LaneState | None:
        """The lane of this tenant; None when nothing is known of it."""
        return self.snapshot.tenants.get(tenant) if self.snapshot else None


SILENT = Seen(snapshot=None)


def look(tenants: Iterable[str] | None = None) -> Seen:
    """Look at the lanes of these tenants (default: of those with most to tell), once."""
    try:
        return Seen(snapshot=get_lanes().snapshot(tenants))
    except RedisError:
        return SILENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreeNumbers:
    """What tells at a glance whether it is fair; None where nobody knows yet."""

    worst: tuple[LaneState, ...]
    """Tenants with the longest p99 wait, the worst first."""
    drift: LaneState | None
    """The tenant whose share of worker-seconds is furthest above its share of jobs."""
    longest_run: int
    longest_run_contended: int


def three_numbers(snapshot: Snapshot) -> ThreeNumbers:
    """The three numbers of a snapshot."""
    lanes = snapshot.tenants.values()
    waited = [lane for lane in lanes if lane.wait_p99_s is not None]
    waited.sort(key=lambda lane: -(lane.wait_p99_s or 0))
    return ThreeNumbers(
        worst=tuple(waited[:WORST]),
        drift=max(_shared(lanes), key=drift_of, default=None),
        longest_run=snapshot.longest_run,
        longest_run_contended=snapshot.longest_run_contended,
    )


def drift_of(lane: LaneState) -> float:
    """Share of worker-seconds above the share of jobs, as a fraction of all."""
    return (lane.share_seconds or 0.0) - (lane.share_jobs or 0.0)


def _shared(lanes: Iterable[LaneState]) -> list[LaneState]:
    return [lane for lane in lanes if lane.share_seconds is not None]


@never_cache
@require_safe
def fairness(request: HttpRequest) -> HttpResponse:
    """Show it; also while Redis does not answer, which is said then."""
    if not request.user.has_perm("fairimport.view_tenantlimit"):
        raise PermissionDenied
    seen = look()
    facts = {**admin.site.each_context(request), "title": _("Fairness"), "seen": seen}
    if seen.snapshot is not None:
        lanes = sorted(seen.snapshot.tenants.values(), key=lambda lane: lane.tenant)
        rows = [(lane, waiting.in_short(lane)) for lane in lanes]
        facts |= {"numbers": three_numbers(seen.snapshot), "rows": rows}
    return TemplateResponse(request, "admin/fairimport/fairness.html", facts)
