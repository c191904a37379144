"""The check of all rows: what it found, counted by cause. Nothing is written to host tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Sum

from fairimport.models import ImportRun
from fairimport.states import State

__all__ = ["add_causes", "complete", "summary"]

Cause = dict[str, Any]


def add_causes(known: Iterable[Cause], more: Iterable[Cause]) -> list[Cause]:
    """Merge counts by code and field; the first row of a cause gives its message."""
    merged: dict[tuple[str, str | None], Cause] = {}
    for cause in (*known, *more):
        place = (cause["code"], cause["field"])
        seen = merged.get(place)
        if seen is None:
            merged[place] = dict(cause)
            continue
        first = min(seen, cause, key=lambda c: c["first_row"])
        merged[place] = {**first, "count": seen["count"] + cause["count"]}
    return list(merged.values())


def summary(run: ImportRun) -> dict[str, Any]:
    """`good`, `bad` and `by_cause` so far, the most frequent cause first.

    Each cause has `code`, `field`, `column`, `count`, `first_row` and `message`.
    """
    if run.check_result:
        return dict(run.check_result)
    chunks = run.chunks.filter(retry=False)
    sums = chunks.aggregate(good=Sum("good", default=0), bad=Sum("bad", default=0))
    causes: list[Cause] = []
    for found in chunks.exclude(bad=0).values_list("causes", flat=True):
        causes = add_causes(causes, found)
    causes.sort(key=lambda c: (-c["count"], c["first_row"]))
    return {**sums, "by_cause": causes}


def complete(run: ImportRun) -> bool:
    """Keep what the check of a locked run found, and make its chunks fit for the import."""
    found = summary(run)
    if not run.move(State.READY, check_result=found):
        return False
    fresh_start = {"suspect": False, "marked": None, "deaths": 0, "lapses": 0, "worked_at": None}
    run.chunks.update(checked=0, good=0, bad=0, causes=[], pace=[], **fresh_start)
    return True
