"""How runs end, pause and are cancelled: here and nowhere else."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction
from django.db.models import F, Sum
from django.db.models.functions import Now

from fairimport.models import ImportRun, KeyIndex
from fairimport.runs import checking, feeding, files, session
from fairimport.states import ENDED, State

__all__ = ["after", "before", "close", "conclude", "fail"]

log = logging.getLogger(__name__)
MOST_ATTEMPTS = 10
"""How often a hook of an importer may break, or end its worker, before it is given up."""
S = State


def conclude(pk: Any) -> State | None:
    """Make the move that is due when rows are done or slices let go; return the run's state.

    Call it after a last commit, after a verb, and whenever in doubt: it moves only what is true.
    """
    with transaction.atomic():
        run = ImportRun.objects.locked(pk)
        if run is None:
            return None
        target = _due(run)
        if target == S.READY:
            checking.complete(run)
        elif target == S.PAUSED:
            run.move(S.PAUSED)
        elif target is not None:
            _end(run, target)
        return State(run.state)


def _due(run: ImportRun) -> State | None:
    """Where the run's chunks say that it belongs, if that is not where it is."""
    state = State(run.state)
    if run.total is None or state not in (S.CHECKING, S.RUNNING, S.PAUSING, S.CANCELLING):
        return None
    left = run.chunks.left_in(state).count()
    if not left:
        return S.READY if state == S.CHECKING else S.FINISHED
    if state in (S.PAUSING, S.CANCELLING) and not run.chunks.held().exists():
        return S.PAUSED if state == S.PAUSING else S.CANCELLED
    return None


def close(run: ImportRun, target: State = S.CANCELLED) -> bool:
    """End a locked run that has nothing to drain: its chunks accept no further write."""
    return _end(run, target)


def fail(pk: Any, code: str, **facts: Any) -> bool:
    """End a run that cannot go on, with a stable code; rows that have an outcome keep it."""
    with transaction.atomic():
        run = ImportRun.objects.locked(pk)
        if run is None or run.state in ENDED:
            return False
        log.warning("run.failed run=%s code=%s", run.pk, code)
        return _end(run, S.FAILED, error_code=code, error_facts=facts)


def _end(run: ImportRun, target: State, **values: Any) -> bool:
    values |= {"finished_at": Now(), "row_seconds": _row_seconds(run), "attempts": 0}
    if not feeding.has_hook(run, "after_run"):
        values["after_done_at"] = Now()
    if not run.move(target, **values):
        return False
    run.chunks.unfinished().update(token=F("token") + 1, holder="", held_until=None)
    if target != S.FAILED:  # a failed run may go on, so it keeps what is left
        run.chunks.update(payload=None)
    if target == S.CANCELLED:
        KeyIndex.objects.filter(run=run).delete()
    _drop_spool(run)
    feeding.forget(run)
    feeding.soon(run)
    feeding.reader_soon(run.tenant)
    return True


def _drop_spool(run: ImportRun) -> None:
    spool, run.spool = run.spool, ""
    run.save(update_fields=["spool"])
    transaction.on_commit(lambda: files.delete(spool), robust=True)


def _row_seconds(run: ImportRun) -> float | None:
    """Worker-seconds that a good row cost, as a first guess for the importer's next run."""
    good = F("created") + F("updated") + F("unchanged") + F("skipped")
    sums = run.chunks.aggregate(seconds=Sum("seconds", default=0.0), rows=Sum(good, default=0))
    return sums["seconds"] / sums["rows"] if sums["rows"] else None


def before(pk: Any) -> None:
    """Call the importer's `before_run` once before the first row, then let slices begin."""
    run = ImportRun.objects.filter(pk=pk, before_done_at=None, state=S.QUEUED).first()
    if run is None:
        return
    if _gives_up(run):
        fail(pk, "importer_broke")
        return
    with session.as_uploader(run):
        session.importer_of(run).before_run(run)
    ImportRun.objects.filter(pk=pk).update(before_done_at=Now(), attempts=0)
    feeding.soon(run)


def after(pk: Any) -> None:
    """Call the importer's `after_run` for a finished run that has not had it."""
    run = ImportRun.objects.filter(pk=pk, after_done_at=None, state=S.FINISHED).first()
    if run is None:
        return
    if _gives_up(run):
        log.error("run.after_given_up run=%s", run.pk)
    else:
        with session.as_uploader(run):
            session.importer_of(run).after_run(run)
    ImportRun.objects.filter(pk=pk).update(after_done_at=Now(), attempts=0)


def _gives_up(run: ImportRun) -> bool:
    """Whether a hook has broken too often to be called once more."""
    ImportRun.objects.filter(pk=run.pk).update(attempts=F("attempts") + 1)
    return run.attempts >= MOST_ATTEMPTS
