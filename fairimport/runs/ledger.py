"""Writing down what became of rows: in the transaction of their effects, under the fence."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models.functions import Now

from fairimport.importers import Outcome
from fairimport.models import Chunk, RejectedRow
from fairimport.querysets import from_now
from fairimport.runs import pace
from fairimport.runs.checking import add_causes
from fairimport.runs.claiming import hold_seconds
from fairimport.runs.rowwork import Item
from fairimport.sheets import encode

__all__ = ["write_checked", "write_outcomes"]

SUCCESSES = (Outcome.CREATED, Outcome.UPDATED, Outcome.UNCHANGED, Outcome.SKIPPED)


def write_outcomes(chunk: Chunk, items: Sequence[Item], seconds: float) -> None:
    """Move the cursor over `items`, count their outcomes and keep the rejected ones."""
    counts = Counter(item.outcome for item in items)
    for outcome in SUCCESSES:
        setattr(chunk, outcome, getattr(chunk, outcome) + counts[outcome])
    successes = sum(counts[outcome] for outcome in SUCCESSES)
    chunk.rejected += -successes if chunk.retry else counts[Outcome.REJECTED]
    chunk.next_row += len(items)
    chunk.seconds += seconds
    _keep_rejected(chunk, items)
    done = chunk.next_row == chunk.size
    fields = [*SUCCESSES, "rejected", "next_row", "seconds"]
    if done:
        chunk.payload = None
        fields.append("payload")
    _write(chunk, fields, rows=len(items), done=done)


def write_checked(chunk: Chunk, items: Sequence[Item], seconds: float) -> None:
    """Move the check's cursor over `items` and count what was found."""
    bad = [item for item in items if item.outcome is Outcome.REJECTED]
    chunk.checked += len(items)
    chunk.bad += len(bad)
    chunk.good += len(items) - len(bad)
    chunk.causes = add_causes(chunk.causes, (cause for item in bad for cause in _causes(item)))
    fields = ["checked", "good", "bad", "causes"]
    _write(chunk, fields, rows=len(items), done=chunk.checked == chunk.size)


def _causes(item: Item) -> list[dict[str, Any]]:
    return [
        {
            "code": reason.code,
            "field": reason.field,
            "column": reason.column,
            "count": 1,
            "first_row": item.sheet_row.number,
            "message": reason.message,
        }
        for reason in item.reasons
    ]


def _write(chunk: Chunk, fields: list[str], *, rows: int, done: bool) -> None:
    """One UPDATE: cursors, counts, the pace, and the right to go on."""
    chunk.pace = pace.add(chunk.pace, rows, time.time())
    chunk.marked, chunk.lapses = None, 0
    values = {name: getattr(chunk, name) for name in fields}
    Chunk.objects.filter(pk=chunk.pk).update(
        **values,
        pace=chunk.pace,
        marked=None,
        lapses=0,
        deaths=chunk.deaths,
        died_at=chunk.died_at,
        worked_at=Now(),
        holder="" if done else chunk.holder,
        held_until=None if done else from_now(hold_seconds()),
    )


def _keep_rejected(chunk: Chunk, items: Sequence[Item]) -> None:
    """Rejected rows are kept with their cells; a retried row that got through is kept no more."""
    if chunk.retry:
        through = [i.sheet_row.number for i in items if i.outcome is not Outcome.REJECTED]
        RejectedRow.objects.filter(run_id=chunk.run_id, number__in=through).delete()
    RejectedRow.objects.bulk_create(
        (
            RejectedRow(
                run_id=chunk.run_id,
                number=item.sheet_row.number,
                cells=encode(item.sheet_row),
                reasons=[reason.to_json() for reason in item.reasons],
            )
            for item in items
            if item.outcome is Outcome.REJECTED
        ),
        update_conflicts=True,
        unique_fields=["run", "number"],
        update_fields=["cells", "reasons"],
    )
