"""What is done with single rows: cleaned, checked, prepared, saved, and what became of them."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.utils.translation import gettext as _

from fairimport.conf import settings
from fairimport.importers import Importer, Outcome, Reject, Row, Skip
from fairimport.models import ImportRun
from fairimport.runs.binding import Binding, Reason, Rejected
from fairimport.runs.rowtimer import RowTimeout, row_timer
from fairimport.sheets import SheetRow, Survey
from fairimport.sheets.cells import printable, raw

__all__ = ["Item", "RowWork"]

log = logging.getLogger(__name__)
AWAY = (OperationalError, InterfaceError)
"""The database cannot answer now; that is no row's fault."""


@dataclass(slots=True)
class Item:
    """A row on its way; `outcome` is None as long as nobody knows."""

    sheet_row: SheetRow
    row: Row | None = None
    outcome: Outcome | None = None
    reasons: tuple[Reason, ...] = ()
    spent: float = 0.0
    """Seconds that the importer's code has used for it."""


class RowWork:
    """The importer of one slice, and its dealings with rows."""

    def __init__(self, run: ImportRun, importer: Importer, binding: Binding, survey: Survey):
        self.run = run
        self.importer = importer
        self.binding = binding
        self.survey = survey
        self.verdicts: dict[int, Reason] = {}
        """Rows that are refused without being tried (again), by number."""

    def clean(self, rows: Sequence[SheetRow]) -> list[Item]:
        """Typed rows, and rejections of those that cannot be typed."""
        cleaned = self.binding.clean_all(rows)
        return [self._cleaned(sheet, made) for sheet, made in zip(rows, cleaned, strict=True)]

    def _cleaned(self, sheet: SheetRow, made: Row | Rejected) -> Item:
        if isinstance(made, Rejected):
            return Item(sheet, None, Outcome.REJECTED, made.reasons)
        return Item(sheet, made)

    def check(self, item: Item) -> None:
        """Let the importer look at a row; it must not write."""
        self._ask(item, self.importer.check_row)

    def prepare(self, item: Item) -> None:
        """Do the slow work that needs no transaction."""
        self._ask(item, self.importer.check_row)
        self._ask(item, self.importer.prepare_row)

    def save(self, item: Item) -> None:
        """Do the row's work in a savepoint of the open transaction."""
        self._ask(item, self._save_row)

    def save_together(self, items: Sequence[Item]) -> bool:
        """Do several rows' work at once; False, with nothing done, when each must be done alone."""
        good = [item for item in items if item.outcome is None]
        rows = [item.row for item in good if item.row is not None]
        try:
            with transaction.atomic(), row_timer(settings.row_timeout):
                outcomes = [_known(outcome) for outcome in self.importer.save_rows(rows, self.run)]
                by_row = list(zip(good, outcomes, strict=True))
        except AWAY:
            raise
        except (Exception, RowTimeout) as error:
            log.info("rows.repeated_one_by_one run=%s %s", self.run.pk, where(error))
            return False
        for item, outcome in by_row:
            item.outcome = outcome
        return True

    def _save_row(self, row: Row, run: ImportRun) -> Outcome:
        with transaction.atomic():
            if type(self.importer).save_row is Importer.save_row:
                return _known(self.importer.save_rows([row], run)[0])
            return _known(self.importer.save_row(row, run))

    def _ask(self, item: Item, method: Callable[[Row, Any], Outcome | None]) -> None:
        """Call an importer's method for a row that has no outcome, and take what it says."""
        if item.outcome is not None or item.row is None:
            return
        number = item.sheet_row.number
        if number in self.verdicts:
            self._reject(item, self.verdicts[number])
            return
        began = time.monotonic()
        try:
            with row_timer(max(settings.row_timeout - item.spent, 0.001)):
                said = method(item.row, self.run)
            item.outcome = said if method == self._save_row else None
        except Skip:
            item.outcome = Outcome.SKIPPED
        except Reject as error:
            self._reject(item, self._worded(item, error))
        except RowTimeout:
            self.verdicts[number] = timed_out()
            self._reject(item, self.verdicts[number])
        except AWAY:
            raise
        except Exception as error:  # whatever a host's code raises costs one row, not the run
            self._reject(item, self._broken(item, error))
        item.spent += time.monotonic() - began

    def _reject(self, item: Item, reason: Reason) -> None:
        item.outcome, item.reasons = Outcome.REJECTED, (reason,)

    def _worded(self, item: Item, error: Reject) -> Reason:
        """An importer's own words for a cell, or for the row; sensitive cells are not repeated."""
        position = self.binding.mapping.get(error.field or "", 0)
        column = self.survey.column(position)
        shown = column and not self.importer.columns[str(error.field)].sensitive
        return Reason(
            field=error.field,
            column=column.header if column else "",
            code=error.code,
            raw=printable(raw(item.sheet_row.cell(position))) if shown else "",
            message=str(error.message),
        )

    def _broken(self, item: Item, error: Exception) -> Reason:
        log.error("row.broke run=%s row=%d %s", self.run.pk, item.sheet_row.number, where(error))
        if isinstance(error, DatabaseError):
            return _reason("not_saved", _("The database refused this row."))
        return _reason("importer_error", _("This row could not be worked on: the importer broke."))


def _known(outcome: Any) -> Outcome:
    """What `save_row` answered; None counts as created. To refuse a row it raises `Reject`."""
    if outcome is None:
        return Outcome.CREATED
    if outcome == Outcome.REJECTED:
        raise Reject(_("The importer refused this row."))
    return Outcome(outcome)


def where(error: BaseException) -> str:
    """An error's class and place for the log; its text may hold somebody's data."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "?"
    return f"error={type(error).__name__} at={place}"


def timed_out() -> Reason:
    return _reason(
        "timed_out",
        _("This row took longer than %(seconds)g seconds.") % {"seconds": settings.row_timeout},
    )


def crashed(times: int) -> Reason:
    return _reason(
        "crashed",
        _("Work on this row ended its worker %(times)d times.") % {"times": times},
    )


def _reason(code: str, message: str) -> Reason:
    return Reason(field=None, column="", code=code, raw="", message=message)
