"""How the failed-rows files that we write are known again when they come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from fairimport.sheets.cells import Cell, CellError, Number, SheetRow
from fairimport.sheets.evidence import ERROR_TEXTS
from fairimport.sheets.survey import Survey

__all__ = ["OwnColumns", "escaped", "is_own_header", "own_columns", "own_headers", "unescaped"]

#: Starts the headers of the two columns that we add, in whatever language they are.
_MARK = "\u00bb"
#: What makes a spreadsheet program take a text of a csv file for a formula (OWASP).
_EXECUTED = ("=", "+", "-", "@", "\t", "\r", "\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnColumns:
    """Positions of the columns that we added to a file: the row's number and the reasons."""

    number: int
    reasons: int
    is_text: bool
    """The file is csv, in which we wrote an apostrophe before what could be executed."""

    def original_number(self, row: SheetRow) -> int | None:
        """The number that the row had in the customer's first file; None when it was removed."""
        cell = row.cell(self.number)
        text = cell.raw if isinstance(cell, Number) else str(cell)
        text = text.strip().removesuffix(".0")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None

    def restored(self, row: SheetRow) -> SheetRow:
        """The row without our columns and our apostrophes."""
        cells = row.cells[: self.number - 1]
        if self.is_text:
            cells = tuple(unescaped(cell) for cell in cells)
        return replace(row, cells=cells)


def own_headers() -> tuple[str, str]:
    """The headers of our two columns, in the active language."""
    return f"{_MARK} {_('Row in your file')}", f"{_MARK} {_('What to correct')}"


def is_own_header(header: str) -> bool:
    return header.startswith(_MARK)


def own_columns(survey: Survey) -> OwnColumns | None:
    """Our columns in a file that came back; None when it is not one of ours."""
    last = survey.columns[-2:]
    if len(last) < 2 or not all(is_own_header(facts.header) for facts in last):
        return None
    number, reasons = (facts.position for facts in last)
    return OwnColumns(number=number, reasons=reasons, is_text=survey.format in ("csv", "text"))


def without_own(headers: Sequence[str]) -> Sequence[str]:
    """The customer's headers, without those that we added to an earlier file."""
    ours = len(headers) >= 2 and all(is_own_header(header) for header in headers[-2:])
    return headers[:-2] if ours else headers


def escaped(text: str) -> str:
    """Text of a csv file that no spreadsheet program executes.

    A text that looks like an error value gets an apostrophe too, which tells it from a real one.
    """
    return f"'{text}" if text.startswith((*_EXECUTED, "'")) or text in ERROR_TEXTS else text


def unescaped(cell: Cell) -> Cell:
    """The cell for which `escaped` text, or an error value, was written."""
    if not isinstance(cell, str):
        return cell
    if cell in ERROR_TEXTS:
        return CellError(cell)
    return cell[1:] if cell.startswith("'") and escaped(cell[1:]) == cell else cell
