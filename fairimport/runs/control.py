"""The customer's verbs. Each is safe to press twice and says what it may not do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from fairimport.errors import IllegalMove
from fairimport.models import ImportRun, RejectedRow
from fairimport.runs import binding, feeding, finishing, retrying
from fairimport.runs.intake import SAME_CONTENT
from fairimport.sheets import ReadOptions, Survey
from fairimport.states import Event, State

__all__ = ["cancel", "choose", "pause", "resume", "retry_rejected", "start"]

S = State


def start(run: ImportRun) -> bool:
    """Begin to write rows. A second start is harmless and answers False."""
    return _verb(run, Event.START, _start, done=(S.QUEUED, S.RUNNING))


def _start(run: ImportRun) -> bool:
    return run.move(S.QUEUED)


def pause(run: ImportRun, by: str = "") -> bool:
    """Stop after the rows in hand; `resume` goes on with the next one."""
    return _verb(run, Event.PAUSE, _pause, done=(S.PAUSING, S.PAUSED))


def _pause(run: ImportRun) -> bool:
    if run.state == S.QUEUED:
        return run.move(S.PAUSED)
    moved = run.move(S.PAUSING)
    finishing.conclude(run.pk)
    return moved


def resume(run: ImportRun) -> bool:
    """Go on where a pause stopped, or take back a pause that still drains."""
    return _verb(run, Event.RESUME, _resume, done=(S.QUEUED, S.RUNNING))


def _resume(run: ImportRun) -> bool:
    return run.move(S.RUNNING if run.state == S.PAUSING else S.QUEUED)


def cancel(run: ImportRun) -> bool:
    """End the run; rows that were written stay, the rows in hand are still committed."""
    return _verb(run, Event.CANCEL, _cancel, done=(S.CANCELLING, S.CANCELLED))


def _cancel(run: ImportRun) -> bool:
    if run.state not in (S.RUNNING, S.PAUSING):
        return finishing.close(run)
    moved = run.move(S.CANCELLING)
    finishing.conclude(run.pk)
    return moved


def retry_rejected(run: ImportRun) -> bool:
    """Try the rejected rows again (a failed run: all that is left); outcomes replace rejections."""
    return _verb(run, Event.RETRY, _retry, done=(S.QUEUED, S.RUNNING))


def _retry(run: ImportRun) -> bool:
    if not run.can(Event.RETRY):
        return False
    if run.state == S.FINISHED:
        rows = RejectedRow.objects.filter(run=run).order_by("number")
        retrying.add_chunks(run, (bytes(row.cells) for row in rows.iterator()))
    return run.move(S.QUEUED, finished_at=None, after_done_at=None, error_code="", error_facts={})


def choose(run: ImportRun, *, mapping: Mapping[str, int], options: Mapping[str, Any]) -> bool:
    """Take the customer's mapping and options; check all rows once nothing is left to ask.

    Another sheet, encoding and the like make a worker read the file again. With open questions
    the run stays in `mapping` and `run.questions` names them.
    """

    def take(run: ImportRun) -> bool:
        if run.state != S.MAPPING and not run.move(S.MAPPING):
            return False
        return _take_choice(run, dict(mapping), dict(options))

    return _verb(run, Event.CHOOSE, take, done=(), also=S.MAPPING)


def _take_choice(run: ImportRun, mapping: dict[str, int], options: dict[str, Any]) -> bool:
    retrying.drop_rows(run)
    again = ReadOptions.from_json(options) != ReadOptions.from_json(run.options)
    chosen: dict[str, Any] = {
        "mapping": mapping,
        "options": options,
        "check_result": {},
        "total": None,
        "attempts": 0,
        "split_offset": 0,
        "wants_reader_at": Now(),
    }
    if again:
        return run.move(S.READING, questions=[], **chosen)
    run.options = options
    importer, survey = run.get_importer()(), Survey.from_json(run.facts)
    bound = binding.bind(importer, survey, mapping, options, run, confirmed=True)
    questions = list(bound.needs)
    if bound.missing and "column_mapping" not in questions:
        questions.append("column_mapping")
    if questions:
        ImportRun.objects.filter(pk=run.pk).update(questions=questions, **chosen)
        return True
    noticed = [w for w in run.warnings if w == SAME_CONTENT]
    chosen["warnings"] = [*noticed, *bound.warnings]
    return run.move(S.CHECKING, questions=[], **chosen)


def _verb(
    run: ImportRun,
    event: Event,
    act: Callable[[ImportRun], bool],
    *,
    done: tuple[State, ...],
    also: State | None = None,
) -> bool:
    """Do what `event` means for the locked run and feed it; else raise `IllegalMove`.

    False says that the run is there already (`done`).
    """
    with transaction.atomic():
        fresh = ImportRun.objects.locked(run.pk)
        if fresh is None:
            raise IllegalMove("deleted", event)
        allowed = fresh.can(event) or fresh.state == also
        if not allowed and fresh.state not in done:
            raise IllegalMove(fresh.state, event)
        acted = allowed and act(fresh)
        if acted:
            feeding.soon(fresh)
    run.refresh_from_db()
    return acted
