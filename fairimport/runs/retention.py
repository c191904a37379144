"""Files and rows are somebody's data: they are dropped `KEEP_DAYS` after a run's end."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from fairimport.conf import settings
from fairimport.models import ImportRun, KeyIndex, RejectedRow
from fairimport.runs import files, finishing
from fairimport.states import ENDED, State

__all__ = ["purge", "sweep"]

log = logging.getLogger(__name__)
MOST = 50
"""Runs of one call, so that nobody waits for it long."""
ORPHAN_AGE = timedelta(days=1)
"""A file younger than this may belong to an upload that is still on its way."""


def purge(most: int = MOST) -> int:
    """Drop what ended runs keep, and cancel runs that nobody came back to; return how many.

    The run itself stays, with its counts and who made it.
    """
    before = timezone.now() - timedelta(days=settings.keep_days)
    waiting = ImportRun.objects.in_state(State.MAPPING, State.READY, State.PAUSED)
    left = waiting.filter(state_changed_at__lt=before).values_list("pk", flat=True)
    old = ImportRun.objects.filter(state__in=ENDED, finished_at__lt=before, purged_at=None)
    cancelled = sum(_cancel(pk) for pk in list(left[:most]))
    return cancelled + sum(_purge(run) for run in list(old[:most]))


def _cancel(pk: object) -> bool:
    with transaction.atomic():
        run = ImportRun.objects.locked(pk)
        return run is not None and finishing.close(run)


def _purge(run: ImportRun) -> bool:
    with transaction.atomic():
        fresh = ImportRun.objects.locked(run.pk)
        if fresh is None or fresh.state not in ENDED or fresh.purged_at is not None:
            return False
        RejectedRow.objects.filter(run=fresh).delete()
        KeyIndex.objects.filter(run=fresh).delete()
        fresh.chunks.update(payload=None)
        names = (fresh.source, fresh.spool, fresh.correction.get("source", ""))
        facts = {k: v for k, v in fresh.facts.items() if k != "sample"}
        ImportRun.objects.filter(pk=fresh.pk).update(
            purged_at=Now(), source="", spool="", correction={}, facts=_without_samples(facts)
        )
        transaction.on_commit(lambda: files.delete(*names), robust=True)
    log.info("run.purged run=%s", run.pk)
    return True


def _without_samples(facts: dict[str, object]) -> dict[str, object]:
    columns = facts.get("columns")
    if isinstance(columns, list):
        facts["columns"] = [{**column, "samples": []} for column in columns]
    return facts


def sweep() -> int:
    """Drop files that no run knows: their process died after storing, before the run was made."""
    return sum(_drop_unknown(names) for names in files.older_than(ORPHAN_AGE))


def _drop_unknown(names: set[str]) -> int:
    """Ask for one folder of files at a time, so that no list grows with the storage."""
    kept: set[str] = set()
    for field in ("source", "spool", "correction__source"):
        known = ImportRun.objects.filter(**{f"{field}__in": names})
        kept.update(known.values_list(field, flat=True))
    files.delete(*(names - kept))
    return len(names - kept)
