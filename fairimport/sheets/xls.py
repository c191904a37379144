"""Old workbooks (BIFF 2 to 8), read by xlrd: it knows error cells, formats, hidden rows."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xlrd
from xlrd.biffh import error_text_from_code

from fairimport.errors import FileRefused
from fairimport.sheets.cells import Cell, CellError
from fairimport.sheets.formats import kind_of
from fairimport.sheets.limits import Limits
from fairimport.sheets.numerals import shown_as
from fairimport.sheets.source import Batch, SheetFacts, SheetInfo, refuse_column

__all__ = ["XlsBook"]

_BATCH = 500


class XlsBook:
    """An xls file that was loaded: xlrd has no streams, so the limits of the process hold."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self._limits = limits
        self._book = _load(path)
        self.date1904 = bool(self._book.datemode)
        self.sheets = [
            SheetInfo(sheet.name, str(index), visible=sheet.visibility == 0)
            for index, sheet in enumerate(self._book.sheets())
        ]
        self.active = 0
        for index, sheet in enumerate(self._book.sheets()):
            if sheet.sheet_visible:
                self.active = index

    def open(self, sheet: SheetInfo, *, any_order: bool = False) -> XlsSheet:
        """Begin a pass over a sheet."""
        return XlsSheet(self._book, int(sheet.key), self._limits)


def _load(path: Path) -> Any:
    """Load all sheets. xlrd checks little, so a damaged file may raise anything at all."""
    content = path.read_bytes()
    try:
        return _opened(content, formatting_info=True)
    except NotImplementedError:  # BIFF 2 to 4 have no formatting that xlrd reads
        return _opened(content, formatting_info=False)


def _opened(content: bytes, *, formatting_info: bool) -> Any:
    try:
        return xlrd.open_workbook(
            file_contents=content,
            formatting_info=formatting_info,
            ragged_rows=True,
            logfile=io.StringIO(),
        )
    except (NotImplementedError, MemoryError):
        raise
    except Exception as error:
        code = "password_protected" if "encrypted" in str(error).lower() else "damaged_file"
        raise FileRefused(code, reason="xls") from error


class XlsSheet:
    """One pass over a loaded sheet."""

    def __init__(self, book: Any, index: int, limits: Limits) -> None:
        self._book = book
        self._sheet = book.sheet_by_index(index)
        self._limits = limits
        self._kinds: dict[int, str] = {}
        self.facts = SheetFacts()
        for top, bottom, left, right in self._sheet.merged_cells:
            self.facts.merged.append((top + 1, left + 1, bottom, right))
        hidden = (i for i, column in self._sheet.colinfo_map.items() if column.hidden)
        self.facts.hidden_columns.update(index + 1 for index in hidden)

    def batches(self) -> Iterator[Batch]:
        """Yield the rows."""
        for start in range(0, self._sheet.nrows, _BATCH):
            end = min(start + _BATCH, self._sheet.nrows)
            yield [(row + 1, self._cells(row), self._hidden(row)) for row in range(start, end)]

    def _hidden(self, row: int) -> bool:
        known = self._sheet.rowinfo_map.get(row)
        return bool(known and known.hidden)

    def _cells(self, row: int) -> list[Cell]:
        cells = [self._cell(cell) for cell in self._sheet.row(row)]
        while cells and cells[-1] is None:
            cells.pop()
        refuse_column(len(cells), self._limits.max_columns)
        return cells

    def _cell(self, cell: Any) -> Cell:
        match cell.ctype:
            case 1:
                return str(cell.value).replace("\r\n", "\n").replace("\r", "\n") or None
            case 2 | 3:
                kind = self._kind(cell.xf_index)
                return shown_as(kind, cell.value, date1904=bool(self._book.datemode))
            case 4:
                return bool(cell.value)
            case 5:
                return CellError(error_text_from_code.get(cell.value, "#ERROR!"))
        return None

    def _kind(self, index: int | None) -> str:
        """Return the kind of a cell's number format; empty in files that keep none."""
        if index is None or index >= len(self._book.xf_list):
            return ""
        if index not in self._kinds:
            known = self._book.format_map.get(self._book.xf_list[index].format_key)
            self._kinds[index] = kind_of(known.format_str) if known else ""
        return self._kinds[index]
