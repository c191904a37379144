"""Which sheet of a workbook to read: the chosen one, the only one with rows, or ask."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fairimport.errors import FileRefused
from fairimport.sheets.cells import SheetRow, is_blank
from fairimport.sheets.headers import LOOKED_AT, find_header, header_text, normal_form
from fairimport.sheets.limits import Limits
from fairimport.sheets.source import Book, SheetInfo
from fairimport.sheets.survey import ReadOptions, SheetName

__all__ = ["Choice", "choose_sheet"]

_MOST_PEEKED = 60
_MOST_NAMED = 1000


@dataclass(frozen=True, slots=True)
class Choice:
    """The sheet to read (None: only hidden ones have rows), whether to ask, and all sheets."""

    sheet: SheetInfo | None
    ask: bool
    names: tuple[SheetName, ...]


@dataclass(frozen=True, slots=True)
class _Peek:
    """The first rows of a sheet: where its header is, how many of its names are known."""

    sheet: SheetInfo
    header_row: int | None = None
    matches: int = 0
    rows: int = 0


def choose_sheet(book: Book, options: ReadOptions, limits: Limits) -> Choice:
    """Choose by name, else the only visible worksheet with rows; with several, ask.

    The one shown while asking is that whose header the importer knows best, else the active one,
    else the first. A chart or dialogue sheet never counts. Raises `empty_file` or `no_rows`.
    """
    sheets = [sheet for sheet in book.sheets if sheet.kind == "worksheet"]
    named = next((s for s in sheets if s.name == options.sheet), None)
    if named is not None:
        return Choice(named, ask=False, names=_names(book, {}))
    known = frozenset(normal_form(header) for header in options.headers)
    visible = [sheet for sheet in sheets if sheet.visible]
    peeks = {s.name: _peek(book, s, known) for s in visible[:_MOST_PEEKED]}
    full = [peek for peek in peeks.values() if peek.rows]
    if len(full) > 1:
        active = book.sheets[book.active].name
        best = max(full, key=lambda peek: (peek.matches, peek.sheet.name == active))
        counted = {p.sheet.name: _count(book, p, limits) for p in full}
        return Choice(best.sheet, ask=True, names=_names(book, {**peeks, **counted}))
    if full:
        return Choice(full[0].sheet, ask=False, names=_names(book, peeks))
    return _nothing_visible(book, sheets, peeks, known)


def _nothing_visible(
    book: Book, sheets: list[SheetInfo], peeks: dict[str, _Peek], known: frozenset[str]
) -> Choice:
    """Ask when only hidden sheets have rows; else refuse the file."""
    hidden = [sheet for sheet in sheets if not sheet.visible]
    unseen = {s.name: _peek(book, s, known) for s in hidden[:_MOST_PEEKED]}
    if any(peek.rows for peek in unseen.values()):
        return Choice(None, ask=True, names=_names(book, {**peeks, **unseen}))
    if any(peek.header_row for peek in peeks.values()):
        raise FileRefused("no_rows")
    raise FileRefused("empty_file")


def _names(book: Book, peeks: dict[str, _Peek]) -> tuple[SheetName, ...]:
    found = []
    for sheet in book.sheets[:_MOST_NAMED]:
        name = SheetName(name=sheet.name, visible=sheet.visible, kind=sheet.kind)
        if peek := peeks.get(sheet.name):
            name = replace(name, rows=peek.rows, header_row=peek.header_row)
        found.append(name)
    return tuple(found)


def _peek(book: Book, sheet: SheetInfo, known: frozenset[str]) -> _Peek:
    """Read the first rows only; their count is the least that the sheet has."""
    rows: list[SheetRow] = []
    for batch in book.open(sheet, any_order=True).batches():
        rows.extend(SheetRow(n, tuple(c)) for n, c, _ in batch if not is_blank(c))
        if len(rows) >= LOOKED_AT:
            break
    rows.sort(key=lambda row: row.number)
    if not rows:
        return _Peek(sheet)
    rows = rows[:LOOKED_AT]
    at = find_header(rows, known)
    names = {normal_form(header_text(cell)) for cell in rows[at].cells}
    return _Peek(sheet, rows[at].number, len(known & names), len(rows) - at - 1)


def _count(book: Book, peek: _Peek, limits: Limits) -> _Peek:
    """Count all rows below the header of a sheet that is offered."""
    count = 0
    header = peek.header_row or 0
    for batch in book.open(peek.sheet, any_order=True).batches():
        count += sum(1 for n, cells, _ in batch if n > header and not is_blank(cells))
        if count > limits.max_rows:
            break
    return replace(peek, rows=count)
