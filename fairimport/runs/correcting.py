"""The failed-rows file comes back: its rows are matched by their number and tried again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from fairimport.errors import FileRefused
from fairimport.models import ImportRun, KeyIndex, RejectedRow, TenantLimit
from fairimport.runs import feeding, files, retrying, session
from fairimport.runs.binding import DuplicateFinder
from fairimport.runs.reading import MOST_ATTEMPTS, read_file
from fairimport.sheets import SheetRow, Survey, encode
from fairimport.sheets import rows as spooled
from fairimport.sheets.own_files import OwnColumns, own_columns
from fairimport.states import State

__all__ = ["correct"]


def correct(pk: Any) -> None:
    """Read a run's corrected file and queue its rows; the run finishes again when there are none.

    Rows are matched by the number that they had in the first file. Only rejected ones are taken: a
    good row that was changed is counted as left alone, and not touched.
    """
    run = ImportRun.objects.filter(pk=pk, state=State.QUEUED).first()
    if run is None or not run.correction.get("source"):
        return
    ImportRun.objects.filter(pk=pk).update(attempts=F("attempts") + 1)
    if run.attempts >= MOST_ATTEMPTS:
        _queue(run, {}, {"code": "reader_died"})
        return
    try:
        with session.as_uploader(run):
            rows, alone = _read(run)
            lines = _marked(run, rows)
        _queue(run, lines, {"rows": len(lines), "left_alone": alone})
    except FileRefused as refused:
        _queue(run, {}, {"code": refused.code, "facts": refused.facts})


def _read(run: ImportRun) -> tuple[dict[int, SheetRow], int]:
    """Corrected rows by their number, and how many rows of the file are none of the rejected."""
    rejected = set(RejectedRow.objects.filter(run=run).values_list("number", flat=True))
    correction = run.correction
    found: dict[int, SheetRow] = {}
    alone = 0
    with read_file(correction["source"], correction["filename"], {"header_row": 1}) as (
        survey,
        spool,
    ):
        for number, row in _numbered(spool, _ours(run, survey)):
            if number in rejected and number not in found:
                found[number] = row
            else:
                alone += 1
    return dict(sorted(found.items())), alone


def _ours(run: ImportRun, survey: Survey) -> OwnColumns:
    """Our columns in the file, when its others are those of the run's first file."""
    ours = own_columns(survey)
    first = Survey.from_json(run.facts)
    if ours is None:
        raise FileRefused("not_the_failed_rows")
    theirs = [c.match for c in survey.columns if c.position < ours.number]
    if theirs != [c.match for c in first.columns][: len(theirs)]:
        raise FileRefused("not_the_failed_rows")
    return ours


def _numbered(spool: Path, ours: OwnColumns) -> Iterator[tuple[int | None, SheetRow]]:
    for _, row in spooled(spool):
        number = ours.original_number(row)
        restored = ours.restored(row)
        yield number, SheetRow(number or row.number, restored.cells, restored.problems)


def _marked(run: ImportRun, rows: dict[int, SheetRow]) -> dict[int, bytes]:
    """The rows encoded, marked where their key is that of another row of the run."""
    keys, _ = KeyIndex.objects.get_or_create(run=run)
    finder = DuplicateFinder(session.open_binding(run), bytes(keys.digests))
    finder.forget(rows.keys())
    lines = {number: encode(finder.mark(row)) for number, row in rows.items()}
    keys.digests = finder.to_bytes()
    keys.save(update_fields=["digests"])
    return lines


def _queue(run: ImportRun, lines: dict[int, bytes], outcome: dict[str, Any]) -> None:
    """Store the rows as retry chunks, unless another job was faster; say what came of the file."""
    with transaction.atomic():
        TenantLimit.objects.locked(run.tenant)
        fresh = ImportRun.objects.locked(run.pk)
        if fresh is None or fresh.state != State.QUEUED or fresh.correction != run.correction:
            return
        correction = {k: v for k, v in run.correction.items() if k != "source"} | outcome
        fresh.correction, fresh.attempts = correction, 0
        fresh.save(update_fields=["correction", "attempts"])
        retrying.add_chunks(fresh, lines.values())
        if not lines:
            fresh.move(State.FINISHED, finished_at=Now(), after_done_at=Now())
        feeding.soon(fresh)
        transaction.on_commit(lambda: files.delete(run.correction["source"]), robust=True)
