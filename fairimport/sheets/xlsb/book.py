"""Binary workbooks (xlsb), streamed record by record; the meaning of numbers as in xlsx."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from fairimport.errors import FileRefused
from fairimport.sheets.archive import Archive
from fairimport.sheets.cells import Cell, CellError
from fairimport.sheets.formats import builtin, kind_of
from fairimport.sheets.limits import Limits
from fairimport.sheets.numerals import shown_as
from fairimport.sheets.relations import Relation, relations
from fairimport.sheets.source import (
    LAST_COLUMN,
    LAST_ROW,
    Batch,
    RowsOutOfOrder,
    SheetFacts,
    SheetInfo,
    refuse_column,
)
from fairimport.sheets.xlsb.records import Record, records, rk_number, well_formed, wide_string

__all__ = ["XlsbBook"]

_U32, _F64, _TWO, _FOUR = Struct("<I"), Struct("<d"), Struct("<2I"), Struct("<4I")
_BATCH = 500


class _Type:
    """Record types (MS-XLSB 2.3.2) that matter here."""

    ROW, BLANK, RK, ERROR, BOOL, REAL, TEXT, SHARED = range(8)
    FORMULA_TEXT, FORMULA_NUMBER, FORMULA_BOOL, FORMULA_ERROR = range(8, 12)
    STRING_ITEM, FORMAT, STYLE, COLUMNS, RICH_TEXT = 19, 44, 47, 60, 62
    BOOK_PROPERTIES, SHEET, BOOK_VIEW = 153, 156, 158
    MERGED, BEGIN_STYLES, END_STYLES = 176, 617, 618


_ERRORS = {
    0x00: "#NULL!",
    0x07: "#DIV/0!",
    0x0F: "#VALUE!",
    0x17: "#REF!",
    0x1D: "#NAME?",
    0x24: "#NUM!",
    0x2A: "#N/A",
    0x2B: "#GETTING_DATA",
}


class XlsbBook:
    """An xlsb file that was opened: its sheets are known, no row was read."""

    def __init__(self, archive: Archive, part: str, limits: Limits) -> None:
        self._archive = archive
        self._limits = limits
        self._relations = relations(archive, part)
        self.sheets: list[SheetInfo] = []
        self.active = 0
        self.date1904 = False
        with well_formed():
            self._read_book(part)
        if not self.sheets:
            raise FileRefused("damaged_file", reason="no_sheets")
        self.active = self.active if self.active < len(self.sheets) else 0
        self._strings: list[str] | None = None
        with well_formed():
            self._kinds = self._styles()

    def _read_book(self, part: str) -> None:
        for kind, body in records(self._archive.chunks(part)):
            if kind == _Type.SHEET:
                self.sheets.append(self._sheet(body))
            elif kind == _Type.BOOK_VIEW:
                (self.active,) = _U32.unpack_from(body, 24)
            elif kind == _Type.BOOK_PROPERTIES:
                self.date1904 = bool(body[0] & 1)

    def _sheet(self, body: bytes) -> SheetInfo:
        (state,) = _U32.unpack_from(body, 0)
        key, at = wide_string(body, 8)
        name, _ = wide_string(body, at)
        known = self._relations.get(key, Relation("missing", ""))
        return SheetInfo(name, known.target, visible=state == 0, kind=known.kind)

    def _part(self, kind: str) -> str:
        return next((r.target for r in self._relations.values() if r.kind == kind), "")

    def _styles(self) -> list[str]:
        part = self._part("styles")
        kinds: list[str] = []
        codes: dict[int, str] = {}
        inside = False
        for kind, body in records(self._archive.chunks(part)) if part else ():
            if kind == _Type.FORMAT:
                codes[int.from_bytes(body[:2], "little")] = wide_string(body, 2)[0]
            elif kind in (_Type.BEGIN_STYLES, _Type.END_STYLES):
                inside = kind == _Type.BEGIN_STYLES
            elif kind == _Type.STYLE and inside:
                number = int.from_bytes(body[2:4], "little")
                kinds.append(kind_of(codes[number]) if number in codes else builtin(number))
        return kinds

    def _shared(self) -> list[str]:
        part = self._part("sharedStrings")
        found = records(self._archive.chunks(part)) if part else ()
        return [wide_string(body, 1)[0] for kind, body in found if kind == _Type.STRING_ITEM]

    def open(self, sheet: SheetInfo, *, any_order: bool = False) -> XlsbSheet:
        """Begin a pass over a worksheet; reads the shared strings before the first."""
        if self._strings is None:
            with well_formed():
                self._strings = self._shared()
        found = records(self._archive.chunks(sheet.key))
        rows = XlsbSheet(found, self._strings, self._kinds, self._limits, date1904=self.date1904)
        rows.any_order = any_order
        return rows


class XlsbSheet:
    """One pass over a worksheet part."""

    def __init__(
        self,
        found: Iterator[Record],
        strings: list[str],
        kinds: list[str],
        limits: Limits,
        *,
        date1904: bool,
    ) -> None:
        self.facts = SheetFacts()
        self._records = found
        self._strings = strings
        self._kinds = kinds
        self._limits = limits
        self._date1904 = date1904
        self.any_order = False

    def batches(self) -> Iterator[Batch]:
        """Yield the rows."""
        with well_formed():
            yield from self._batches()

    def _batches(self) -> Iterator[Batch]:
        batch: list[tuple[int, list[Cell], bool]] = []
        last = 0
        for kind, body in self._records:
            if kind == _Type.ROW:
                number = _U32.unpack_from(body, 0)[0] + 1
                if number > LAST_ROW:
                    raise FileRefused("too_many_rows", rows=number, limit=self._limits.max_rows)
                if number <= last and not self.any_order:
                    raise RowsOutOfOrder
                last = number
                if len(batch) >= _BATCH:
                    yield list(batch)
                    batch = []
                batch.append((number, [], bool(body[11] & 0x10)))
            elif kind <= _Type.FORMULA_ERROR or kind == _Type.RICH_TEXT:
                self._place(kind, body, batch)
            elif kind in (_Type.COLUMNS, _Type.MERGED):
                self._note(kind, body)
        yield list(batch)

    def _note(self, kind: int, body: bytes) -> None:
        if kind == _Type.MERGED:
            top, bottom, left, right = _FOUR.unpack_from(body, 0)
            self.facts.merged.append((top + 1, left + 1, bottom + 1, right + 1))
        elif body[16] & 1:
            first, last = _TWO.unpack_from(body, 0)
            self.facts.hidden_columns.update(range(first + 1, min(last + 1, LAST_COLUMN) + 1))

    def _place(self, kind: int, body: bytes, batch: list[tuple[int, list[Cell], bool]]) -> None:
        cell = self._cell(kind, body)
        if cell is None or cell == "":
            return
        if not batch:
            raise FileRefused("damaged_file", reason="record")
        (column,) = _U32.unpack_from(body, 0)
        refuse_column(column + 1, self._limits.max_columns)
        cells = batch[-1][1]
        cells.extend([None] * (column + 1 - len(cells)))
        cells[column] = cell

    def _cell(self, kind: int, body: bytes) -> Cell:
        match kind:
            case _Type.RK:
                return self._number(rk_number(_U32.unpack_from(body, 8)[0]), body)
            case _Type.REAL | _Type.FORMULA_NUMBER:
                return self._number(_F64.unpack_from(body, 8)[0], body)
            case _Type.ERROR | _Type.FORMULA_ERROR:
                return CellError(_ERRORS.get(body[8], "#ERROR!"))
            case _Type.BOOL | _Type.FORMULA_BOOL:
                return bool(body[8])
            case _Type.TEXT | _Type.FORMULA_TEXT:
                return wide_string(body, 8)[0]
            case _Type.RICH_TEXT:
                return wide_string(body, 9)[0]
            case _Type.SHARED:
                index: int = _U32.unpack_from(body, 8)[0]
                if index >= len(self._strings):
                    raise FileRefused("damaged_file", reason="shared_string", index=index)
                return self._strings[index]
        return None

    def _number(self, value: float, body: bytes) -> Cell:
        style = int.from_bytes(body[4:7], "little")
        kind = self._kinds[style] if style < len(self._kinds) else ""
        return shown_as(kind, value, date1904=self._date1904)
