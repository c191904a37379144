"""What the lanes and Django tell the runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import close_old_connections, connections
from django.db.models.signals import post_delete, post_save

from fairimport.lanes import LaneJob, hooks
from fairimport.models import TenantLimit
from fairimport.runs import limits, reconcile, suspects

__all__ = ["connect"]


def connect() -> None:
    """Hear of maintenance, deaths and lapses, and of changed limits."""
    hooks.on_maintenance(reconcile.maintain)
    hooks.on_horse_death(_horse_died)
    hooks.on_lapse(_lapsed)
    for changed in (post_save, post_delete):
        changed.connect(_limit_changed, sender=TenantLimit, dispatch_uid="fairimport.limits")


def _horse_died(job: LaneJob, lease_id: str, parent_saw: bool) -> None:
    _count(suspects.count_death if parent_saw else suspects.count_lapse, job.id)


def _lapsed(job_id: str, tenant: str) -> None:
    _count(suspects.count_lapse, job_id)


def _count(count: Callable[[str], None], ticket: str) -> None:
    """Count in the worker's parent, which forks: its socket must not be shared."""
    close_old_connections()
    try:
        count(ticket)
    finally:
        connections.close_all()


def _limit_changed(instance: TenantLimit, **_: Any) -> None:
    limits.push_soon(instance)
