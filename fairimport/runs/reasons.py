"""Why a row is refused, with the words for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.core.exceptions import ValidationError

from fairimport.runs.mapped import MappedColumn
from fairimport.runs.messages import DJANGO_CODES, row_message
from fairimport.sheets.cells import Cell, printable
from fairimport.sheets.cells import raw as shown
from fairimport.sheets.values import CellRejected

__all__ = ["Reason", "Rejected", "invalid", "of_row", "reason", "refused"]

#: Most characters of a cell that a reason repeats.
_LONGEST = 200
_HIDDEN = "\u2022\u2022\u2022"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a row is refused: `field` is None when the whole row is meant.

    `column` is the file's header, `code` is stable, `raw` is what the cell shows, `message` is for
    people and in the language that was active.
    """

    field: str | None
    column: str
    code: str
    raw: str
    message: str

    def to_json(self) -> dict[str, Any]:
        """The reason as plain JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that is refused, with every reason there is."""

    number: int
    reasons: tuple[Reason, ...]


def of_row(code: str, raw: str) -> Reason:
    """A reason that concerns the whole row."""
    raw = _repeatable(raw)
    message = row_message(code, "text", {"raw": raw})
    return Reason(field=None, column="", code=code, raw=raw, message=message)


def reason(
    column: MappedColumn, code: str, raw: str, facts: Mapping[str, Any], message: str = ""
) -> Reason:
    """A reason that concerns a cell; without a message it is worded by its code and facts.

    The cells of sensitive columns are not repeated.
    """
    raw = _repeatable(raw)
    if column.bound.column.sensitive and raw:
        message = message.replace(raw, _HIDDEN)
        raw = _HIDDEN
    known = {"raw": raw, "example": column.example, **facts}
    return Reason(
        field=column.bound.name,
        column=column.header,
        code=code,
        raw=raw,
        message=message or row_message(code, column.spec.kind, known),
    )


def refused(column: MappedColumn, refusal: CellRejected) -> Reason:
    """The reason for a cell that cannot be of the column's kind."""
    return reason(column, refusal.code, refusal.raw, refusal.facts)


def invalid(column: MappedColumn, cell: Cell, error: ValidationError) -> Iterator[Reason]:
    """The reasons of a form field: Django's words, and our code where we have one."""
    raw = _repeatable(shown(cell))
    for one in error.error_list:
        code = DJANGO_CODES.get(one.code or "", one.code or "invalid")
        if isinstance(code, dict):
            code = code.get(column.spec.kind, one.code or "invalid")
        yield reason(column, code, raw, {}, f"\u201c{raw}\u201d: {' '.join(one.messages)}")


def _repeatable(raw: str) -> str:
    return printable(raw if len(raw) <= _LONGEST else f"{raw[:_LONGEST]}\u2026")
