"""The lanes' copy of the tenants' limits; the table is the truth."""

from __future__ import annotations

import logging
from functools import partial

from django.db import transaction
from redis.exceptions import RedisError

from fairimport.lanes import Lanes, Limit, get_lanes
from fairimport.models import ImportRun, TenantLimit
from fairimport.runs import feeding
from fairimport.states import WORKING

__all__ = ["load", "push_all", "push_soon"]

log = logging.getLogger(__name__)


def push_soon(limit: TenantLimit) -> None:
    """Copy a changed limit on commit and feed the tenant's runs: a greater cap takes more tickets.

    A deleted one is the default again.
    """
    transaction.on_commit(partial(_push, limit.tenant), robust=True)


def _push(tenant: str) -> None:
    try:
        limit = TenantLimit.objects.filter(tenant=tenant).first() or TenantLimit(tenant=tenant)
        get_lanes().set_limits({tenant: _as_lane_limit(limit)})
        working = ImportRun.objects.for_tenant(tenant).in_state(*WORKING)
        for pk in working.values_list("pk", flat=True):
            feeding.feed(pk)
    except RedisError as error:  # the reconciler pushes it when Redis is back
        log.warning("limit.not_pushed error=%s", type(error).__name__)


def load(lanes: Lanes) -> None:
    """Open lanes that have lost everything: all limits, then the epoch."""
    lanes.load_limits(_all())


def push_all(lanes: Lanes) -> None:
    """Copy every limit again, in case a push was lost."""
    lanes.set_limits(_all())


def _all() -> dict[str, Limit]:
    return {limit.tenant: _as_lane_limit(limit) for limit in TenantLimit.objects.iterator()}


def _as_lane_limit(limit: TenantLimit) -> Limit:
    return Limit(
        cap=limit.cap,
        weight=limit.weight,
        paused=limit.paused,
        paused_by=limit.paused_by,
        paused_at=limit.paused_at.timestamp() if limit.paused_at else None,
    )
