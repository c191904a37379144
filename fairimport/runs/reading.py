"""The job that looks into a file: its columns, its questions, and its rows spooled for later."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import transaction

from fairimport.errors import FileRefused
from fairimport.models import ImportRun, TenantLimit
from fairimport.runs import feeding, files, finishing, session
from fairimport.runs.binding import bind, guess, header_names
from fairimport.runs.intake import SAME_CONTENT
from fairimport.sheets import ReadOptions, Survey
from fairimport.sheets import read as read_sheet
from fairimport.states import State

__all__ = ["begin", "read", "read_file"]

MOST_ATTEMPTS = 10
"""Reading or splitting jobs that may die, one after another, before the run fails."""


def read(pk: Any) -> None:
    """Read a run's file and ask what only the customer can answer; a bad file fails the run."""
    run = begin(pk)
    if run is None:
        return
    try:
        with session.as_uploader(run):
            survey, spool = _read(run)
            _keep(run, survey, spool)
    except FileRefused as refused:
        finishing.fail(pk, refused.code, **refused.facts)
    finally:
        feeding.reader_soon(run.tenant)


def begin(pk: Any) -> ImportRun | None:
    """The run, if it is its turn at the tenant's one reader; older jobs of it are fenced off."""
    with transaction.atomic():
        peek = ImportRun.objects.filter(pk=pk).first()
        if peek is None:
            return None
        TenantLimit.objects.locked(peek.tenant)
        queue = ImportRun.objects.for_tenant(peek.tenant).at_the_reader()
        first = queue.values_list("pk", flat=True).first()
        run = ImportRun.objects.locked(pk)
        if run is None or first != run.pk:
            return None
        if run.state == State.RECEIVED:
            run.move(State.READING)
        run.job_token += 1
        run.attempts += 1
        run.save(update_fields=["job_token", "attempts"])
    if run.attempts > MOST_ATTEMPTS:
        finishing.fail(run.pk, "reader_died")
        return None
    return run


def _read(run: ImportRun) -> tuple[Survey, str]:
    """The survey of the file and the stored spool of its rows."""
    importer = session.importer_of(run)
    given = {**run.options, "headers": header_names(importer, run)}
    with read_file(run.source, run.filename, given) as (survey, spool):
        return survey, files.save_path(spool, "rows")


@contextmanager
def read_file(source: str, filename: str, options: dict[str, Any]) -> Iterator[tuple[Survey, Path]]:
    """Read a stored file in a child process; the spool is there until the end of the block."""
    with files.local(source) as path, tempfile.TemporaryDirectory(prefix="fairimport-") as folder:
        spool = Path(folder) / "rows"
        spool.touch()
        chosen = ReadOptions.from_json(options)
        yield read_sheet(path, filename=filename, options=chosen, spool=spool), spool


def _keep(run: ImportRun, survey: Survey, spool: str) -> None:
    """Store what was found, unless a later job or the customer was faster."""
    importer = session.importer_of(run)
    mapping = run.mapping or guess(importer, survey, remembered(run), run)
    bound = bind(importer, survey, mapping, run.options, run)
    noticed = [w for w in run.warnings if w == SAME_CONTENT]
    questions = list(bound.needs)
    if bound.missing and "column_mapping" not in questions:
        questions.append("column_mapping")
    with transaction.atomic():
        fresh = ImportRun.objects.locked(run.pk)
        kept = False
        stale = spool
        if fresh is not None and fresh.job_token == run.job_token:
            stale = fresh.spool
            kept = fresh.move(
                State.MAPPING,
                facts=survey.to_json(),
                mapping=bound.mapping,
                questions=questions,
                warnings=[*noticed, *bound.warnings],
                spool=spool,
                attempts=0,
            )
    files.delete(stale if kept else spool)


def remembered(run: ImportRun) -> dict[str, str]:
    """Field to header, as this tenant chose when it last used this importer."""
    before = ImportRun.objects.for_tenant(run.tenant).exclude(pk=run.pk)
    last = before.filter(importer=run.importer, started_at__isnull=False).order_by("-started_at")
    chosen = last.values_list("mapping", "facts").first()
    if chosen is None:
        return {}
    mapping, facts = chosen
    headers = {c["position"]: c["header"] for c in facts.get("columns", [])}
    return {field: headers[p] for field, p in mapping.items() if headers.get(p)}
