"""What the lanes and Django tell the runs."""

from __future__ import annotations

from typing import Any

from django.db.models.signals import post_save

from fairimport.lanes import LaneJob, hooks
from fairimport.models import TenantLimit
from fairimport.runs import limits, reconcile, suspects

__all__ = ["connect"]


def connect() -> None:
    """Hear of maintenance, deaths and lapses, and of saved limits."""
    hooks.on_maintenance(reconcile.maintain)
    hooks.on_horse_death(_horse_died)
    hooks.on_lapse(_lapsed)
    post_save.connect(_limit_saved, sender=TenantLimit, dispatch_uid="fairimport.limits")


def _horse_died(job: LaneJob, lease_id: str, parent_saw: bool) -> None:
    if parent_saw:
        suspects.count_death(job.id)
    else:
        suspects.count_lapse(job.id)


def _lapsed(job_id: str, tenant: str) -> None:
    suspects.count_lapse(job_id)


def _limit_saved(instance: TenantLimit, **_: Any) -> None:
    limits.push_soon(instance)
