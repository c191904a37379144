"""A slice: what one claim works through, chunk after chunk, until its time is used."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

from django.db import transaction

from fairimport.conf import settings
from fairimport.errors import FileRefused, LeaseLost
from fairimport.importers import Outcome
from fairimport.models import Chunk, ImportRun
from fairimport.runs import claiming, feeding, finishing, ledger, session, suspects
from fairimport.runs.claiming import Held, Refusal
from fairimport.runs.payloads import lines_of
from fairimport.runs.rowwork import Item, RowWork, crashed, where
from fairimport.sheets import SheetRow, decode
from fairimport.states import State

__all__ = ["Turn", "work"]

log = logging.getLogger(__name__)
COMMIT_S = 0.1
"""Seconds that a transaction is open before it is committed and the next begun."""
MOST_TOGETHER = 200
"""Rows that are cleaned at a time, when they are fast."""


class Turn(StrEnum):
    """How a slice ended."""

    DONE = "done"  # this ticket has nothing more to do
    MORE = "more"  # rows are left: the ticket goes to the back of its lane
    WAIT = "wait"  # rows are left, but not for now


def work(
    pk: Any,
    ticket: str,
    *,
    budget: float | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Turn:
    """Work on a run's rows for `budget` seconds (default: `SLICE`); 0 is one row.

    Never raises for what a row, a file or an importer does. Whatever happens to this process, each
    row's effects, outcome and cursor are committed together or not at all.
    """
    run = ImportRun.objects.filter(pk=pk).first()
    if run is None:
        return Turn.DONE
    try:
        with session.as_uploader(run):
            return _Slice(run, ticket, budget, should_stop).work()
    except FileRefused as refused:
        finishing.fail(pk, refused.code, **refused.facts)
        return Turn.DONE


class _Slice:
    def __init__(
        self, run: ImportRun, ticket: str, budget: float | None, should_stop: Callable[[], bool]
    ) -> None:
        self.run = run
        self.ticket = ticket
        self.budget = settings.slice if budget is None else budget
        self.should_stop = should_stop
        self.began = time.monotonic()
        self.stamp = self.began
        self.stopped = False
        self.together = 1
        self.rows: RowWork | None = None

    def work(self) -> Turn:
        while True:
            held = claiming.take(self.run, self.ticket)
            match held:
                case Refusal.AT_CAP:
                    return Turn.WAIT
                case Refusal.STOPPED | Refusal.NOTHING:
                    finishing.conclude(self.run.pk)
                    return Turn.DONE
            try:
                if not self._work_on(held):
                    return self._leave(held)
            except LeaseLost:
                return Turn.DONE  # whoever took the chunk has this ticket, or one of its own
            except FileRefused:
                raise
            except Exception as error:  # a ticket never fails: the rows' own counts decide
                return self._give_up(held, error)
            finishing.conclude(self.run.pk)
            if self._is_over():
                return self._what_is_left()

    def _leave(self, held: Held) -> Turn:
        claiming.let_go(held)
        if self.stopped:
            finishing.conclude(self.run.pk)
        return self._what_is_left()

    def _what_is_left(self) -> Turn:
        """Whether this ticket is still needed; other chunks that wait get tickets of their own."""
        state = ImportRun.objects.filter(pk=self.run.pk).values_list("state", flat=True).first()
        if state not in (State.CHECKING, State.RUNNING):
            return Turn.DONE
        waiting = Chunk.objects.filter(run=self.run).left_in(State(state)).takeable().count()
        if waiting > 1:
            feeding.soon(self.run)
        return Turn.MORE if waiting else Turn.DONE

    def _give_up(self, held: Held, error: Exception) -> Turn:
        """The database is away, or something broke: rows go back, and are tried one by one."""
        log.warning("slice.given_up run=%s %s", self.run.pk, where(error))
        suspects.count_lapse(self.ticket)
        claiming.let_go(held)
        return Turn.WAIT

    def _work_on(self, held: Held) -> bool:
        """Work through the chunk; False when the slice ends before the chunk does."""
        if suspects.never_opens(held):
            raise FileRefused("importer_broke")
        if self.rows is None:
            self.rows = session.open_work(self.run)
        left = lines_of(held.chunk.payload)[held.position :]
        if len(left) != held.chunk.size - held.position:
            raise FileRefused("rows_gone")
        while left:
            began = time.monotonic()
            made = self._make(held, [decode(line) for line in left[: self.together]])
            # By the rows' own time: a commit that waits for others must not make the next smaller.
            quick = time.monotonic() - began < COMMIT_S / 2 and not held.chunk.suspect
            self.together = min(self.together * 2, MOST_TOGETHER) if quick else 1
            del left[: len(made)]
            self._commit(held, made)
            if self._is_over():
                return not left
        return True

    def _is_over(self) -> bool:
        used = time.monotonic() - self.began >= self.budget
        return used or self.stopped or self.should_stop()

    def _make(self, held: Held, rows: Sequence[SheetRow]) -> list[Item]:
        """Clean and prepare rows outside of any transaction, for about as long as one is open."""
        assert self.rows is not None  # noqa: S101  (opened with the chunk)
        if held.chunk.suspect:
            rows = rows[:1]
            if suspects.condemned(held):
                return [self._condemn(held, rows[0])]
            suspects.mark(held)
        step = self.rows.check if held.checks else self.rows.prepare
        made: list[Item] = []
        began = time.monotonic()
        for item in self.rows.clean(rows):
            step(item)
            made.append(item)
            if time.monotonic() - began >= COMMIT_S or (made and self._is_over()):
                break
        return made

    def _condemn(self, held: Held, row: SheetRow) -> Item:
        chunk = held.chunk
        reason = crashed(max(chunk.deaths, chunk.lapses))
        chunk.deaths, chunk.died_at = 0, None
        log.error("row.condemned run=%s row=%d", self.run.pk, row.number)
        return Item(row, None, Outcome.REJECTED, (reason,))

    def _commit(self, held: Held, items: list[Item]) -> None:
        """Save rows in transactions that are open for a tenth of a second each."""
        while items:
            with transaction.atomic():
                chunk = claiming.fenced(held)
                self.stopped = chunk.run_state != held.state  # type: ignore[attr-defined]
                chunk.deaths, chunk.died_at = held.chunk.deaths, held.chunk.died_at
                part = self._save(held, items)
                seconds = time.monotonic() - self.stamp
                write = ledger.write_checked if held.checks else ledger.write_outcomes
                write(chunk, part, seconds)
            del items[: len(part)]
            self.stamp += seconds
            self._advance(held, chunk)

    def _save(self, held: Held, items: list[Item]) -> list[Item]:
        """The rows that were saved before the transaction was open for too long."""
        if held.checks:
            return list(items)
        assert self.rows is not None  # noqa: S101  (opened with the chunk)
        if self.rows.importer.bulk and len(items) > 1 and self.rows.save_together(items):
            return list(items)
        began = time.monotonic()
        for done, item in enumerate(items, start=1):
            self.rows.save(item)
            if time.monotonic() - began >= COMMIT_S:
                return items[:done]
        return list(items)

    def _advance(self, held: Held, chunk: Chunk) -> None:
        held.chunk.next_row, held.chunk.checked = chunk.next_row, chunk.checked
        held.chunk.marked = None
        held.chunk.deaths, held.chunk.died_at = chunk.deaths, chunk.died_at
