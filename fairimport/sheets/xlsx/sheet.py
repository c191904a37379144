"""The rows of one worksheet part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fairimport.errors import FileRefused
from fairimport.sheets.cells import Cell
from fairimport.sheets.lifting import LiftingParser
from fairimport.sheets.limits import Limits
from fairimport.sheets.source import (
    LAST_COLUMN,
    LAST_ROW,
    Batch,
    RowsOutOfOrder,
    SheetFacts,
    refuse_column,
)
from fairimport.sheets.xlsx.rowlift import RowLift
from fairimport.sheets.xlsx.strings import RichText
from fairimport.sheets.xlsx.values import Converter

__all__ = ["XlsxSheet"]

_REFERENCE = re.compile(r"\$?([A-Za-z]{1,7})\$?([0-9]{1,9})?")
_TRUE = ("1", "true")


def column_number(letters: str) -> int:
    """Return the 1-based number of a column: A is 1, XFD is 16384."""
    number = 0
    for char in letters.upper():
        number = number * 26 + ord(char) - 64
    return number


class RowHandler:
    """Turns the elements of a worksheet part into rows and facts; expat calls it."""

    def __init__(self, convert: Converter, facts: SheetFacts, limits: Limits) -> None:
        self._convert = convert
        self._facts = facts
        self._limits = limits
        self._columns: dict[str, int] = {}
        self._rich = RichText()
        self._collect: list[str] = []
        self.rows: Batch = []
        self.last_row = 0
        self.widest = 0
        self.any_order = False
        self.in_container = False
        self._begin_row({})
        self._begin_cell({})

    def start(self, name: str, attrs: dict[str, str]) -> None:
        match name:
            case "c":
                self._begin_cell(attrs)
            case "v" | "f":
                self._collect = self._value if name == "v" else self._formula
                self._collect.append("")
            case "row":
                self._begin_row(attrs)
            case "sheetData":
                self.in_container = True
            case "mergeCell":
                self._merge(attrs.get("ref", ""))
            case "col" if attrs.get("hidden") in _TRUE:
                self._hide(attrs)
            case _:
                self._rich.start(name)

    def end(self, name: str) -> None:
        match name:
            case "c":
                self._end_cell()
            case "v" | "f":
                self._collect = []
            case "row":
                self._end_row()
            case "sheetData":
                self.in_container = False
            case _:
                self._rich.end(name)

    def text(self, data: str) -> None:
        if self._collect:
            self._collect.append(data)
        else:
            self._rich.text(data)

    def _begin_row(self, attrs: dict[str, str]) -> None:
        self._cells: list[Cell] = []
        self._hidden = attrs.get("hidden") in _TRUE
        given = attrs.get("r", "")
        self._row = int(given) if given.isdecimal() and len(given) < 10 else 0
        if given and not self._row:
            raise FileRefused("damaged_file", reason="row", row=given[:20])
        self._column = 0

    def _end_row(self) -> None:
        row = self._row or self.last_row + 1
        self._row = 0
        if row > LAST_ROW:
            raise FileRefused("too_many_rows", rows=row, limit=self._limits.max_rows)
        if row <= self.last_row and not self.any_order:
            raise RowsOutOfOrder
        self.last_row = row
        if self._cells:
            self.widest = max(self.widest, len(self._cells))
            self.rows.append((row, self._cells, self._hidden))

    def _begin_cell(self, attrs: dict[str, str]) -> None:
        self._type = attrs.get("t", "n")
        self._style = attrs.get("s")
        self._value: list[str] = []
        self._formula: list[str] = []
        self._collect = []
        self._rich.take()
        if reference := attrs.get("r"):
            self._place(reference)
        elif attrs or self.in_container:
            self._column += 1

    def _place(self, reference: str) -> None:
        found = _REFERENCE.fullmatch(reference)
        if found is None:
            raise FileRefused("damaged_file", reason="reference", reference=reference[:20])
        letters, digits = found.groups()
        column = self._columns.get(letters)
        if column is None:
            column = self._columns[letters] = column_number(letters)
        self._column = column
        if not self._row and digits:
            self._row = int(digits)

    def _end_cell(self) -> None:
        value = "".join(self._value) if self._value else None
        if self._type == "inlineStr":
            value = self._rich.take() or value
        formula = "".join(self._formula) if self._formula else None
        cell = self._convert.cell(self._type, self._style, value, formula)
        self._collect = []
        if cell is None or cell == "":
            return
        refuse_column(self._column, self._limits.max_columns)
        cells = self._cells
        missing = self._column - 1 - len(cells)
        if missing < 0:
            cells[self._column - 1] = cell
        else:
            cells.extend([None] * missing)
            cells.append(cell)

    def _merge(self, reference: str) -> None:
        corners = [_REFERENCE.fullmatch(corner) for corner in reference.split(":")]
        if len(corners) == 2 and corners[0] and corners[1] and corners[0][2] and corners[1][2]:
            (left, top), (right, bottom) = (c.groups() for c in corners if c)
            box = (int(top), column_number(left), int(bottom), column_number(right))
            self._facts.merged.append(box)

    def _hide(self, attrs: dict[str, str]) -> None:
        first, last = attrs.get("min", ""), attrs.get("max", "")
        if first.isdecimal() and last.isdecimal():
            end = min(int(last[:9]), LAST_COLUMN)
            self._facts.hidden_columns.update(range(int(first[:9]), end + 1))

    def take(self) -> Batch:
        """Return the rows that are complete and forget them."""
        rows, self.rows = self.rows, []
        return rows


class XlsxSheet:
    """One pass over a worksheet part."""

    def __init__(
        self,
        chunks: Iterable[bytes],
        *,
        strings: list[str],
        kinds: list[str],
        date1904: bool,
        limits: Limits,
        any_order: bool,
    ) -> None:
        self.facts = SheetFacts()
        self._chunks = chunks
        convert = Converter(strings, kinds, date1904=date1904)
        self._handler = RowHandler(convert, self.facts, limits)
        self._handler.any_order = any_order
        lift = RowLift(convert, self._handler)
        self._parser = LiftingParser(self._handler, "sheetData", "row", lift)

    def batches(self) -> Iterator[Batch]:
        """Yield rows as the part is unpacked; raises when it ends before it is complete."""
        for chunk in self._chunks:
            self._parser.feed(chunk)
            if self._handler.rows:
                yield self._handler.take()
        self._parser.close()
        if self._handler.rows:
            yield self._handler.take()
