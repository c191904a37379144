"""OpenDocument spreadsheets: one stream of content.xml, whose runs of equal cells are short."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fairimport.errors import FileRefused
from fairimport.sheets.archive import Archive
from fairimport.sheets.cells import Cell
from fairimport.sheets.limits import Limits
from fairimport.sheets.ods.cell import OdsCell
from fairimport.sheets.safexml import SafeParser, parse
from fairimport.sheets.source import Batch, SheetFacts, SheetInfo, refuse_column

__all__ = ["OdsBook"]

_CONTENT = "content.xml"
_HIDDEN = ("collapse", "filter")
_FAR = 2_000_000
"""More repetitions than any program has rows; larger numbers are not believed."""


def _times(attrs: dict[str, str], name: str) -> int:
    given = attrs.get(name, "1")
    return min(int(given[:9]), _FAR) if given.isdecimal() else 1


class OdsBook:
    """An ods file that was opened: its sheets are known."""

    date1904 = False

    def __init__(self, archive: Archive, limits: Limits) -> None:
        self._archive = archive
        self._limits = limits
        if "META-INF/manifest.xml" in archive:
            manifest = archive.read("META-INF/manifest.xml")
            if b"encryption-data" in manifest:
                raise FileRefused("password_protected")
        tables = _Tables()
        parse(archive.chunks(_CONTENT), tables)
        self.sheets = tables.sheets()
        if not self.sheets:
            raise FileRefused("damaged_file", reason="no_sheets")
        active = self._active_name()
        self.active = next((i for i, s in enumerate(self.sheets) if s.name == active), 0)

    def _active_name(self) -> str:
        settings = _Settings()
        if "settings.xml" in self._archive:
            parse(self._archive.chunks("settings.xml"), settings)
        return settings.active

    def open(self, sheet: SheetInfo, *, any_order: bool = False) -> OdsSheet:
        """Begin a pass over a sheet."""
        return OdsSheet(self._archive, int(sheet.key), self._limits)


@dataclass(slots=True)
class _Tables:
    """Collects the names of the tables and which styles hide them."""

    names: list[tuple[str, str]] = field(default_factory=list)
    hidden_styles: set[str] = field(default_factory=set)
    style: str = ""
    depth: int = 0

    def start(self, name: str, attrs: dict[str, str]) -> None:
        match name:
            case "style":
                self.style = attrs.get("name", "")
            case "table-properties" if attrs.get("display") == "false":
                self.hidden_styles.add(self.style)
            case "table":
                self.depth += 1
                if self.depth == 1:
                    self.names.append((attrs.get("name", ""), attrs.get("style-name", "")))

    def end(self, name: str) -> None:
        if name == "table":
            self.depth -= 1

    def text(self, data: str) -> None:
        pass

    def sheets(self) -> list[SheetInfo]:
        return [
            SheetInfo(name, str(index), visible=style not in self.hidden_styles)
            for index, (name, style) in enumerate(self.names)
        ]


@dataclass(slots=True)
class _Settings:
    """Finds the name of the table that was open when the file was saved."""

    active: str = ""
    inside: bool = False

    def start(self, name: str, attrs: dict[str, str]) -> None:
        self.inside = name == "config-item" and attrs.get("name") == "ActiveTable"

    def end(self, name: str) -> None:
        self.inside = False

    def text(self, data: str) -> None:
        if self.inside:
            self.active += data


class OdsSheet:
    """One pass over one table of content.xml."""

    def __init__(self, archive: Archive, index: int, limits: Limits) -> None:
        self.facts = SheetFacts()
        self._chunks = archive.chunks(_CONTENT)
        self._handler = _TableHandler(index, self.facts, limits)

    def batches(self) -> Iterator[Batch]:
        """Yield rows; stops reading where the table ends."""
        parser = SafeParser(self._handler)
        for chunk in self._chunks:
            parser.feed(chunk)
            yield self._handler.take()
            if self._handler.done:
                return
        parser.feed(b"", last=True)
        yield self._handler.take()


class _TableHandler:
    """Turns the elements of one table into rows; expat calls it."""

    def __init__(self, index: int, facts: SheetFacts, limits: Limits) -> None:
        self._wanted = index
        self._facts = facts
        self._limits = limits
        self._table = -1
        self._depth = 0
        self._rows: Batch = []
        self._number = 0
        self._rows_given = 0
        self._columns_seen = 0
        self._cells: list[Cell] = []
        self._column = 0
        self._repeat = 1
        self._hidden = False
        self._cell: OdsCell | None = None
        self.done = False

    @property
    def _inside(self) -> bool:
        return self._table == self._wanted and self._depth == 1

    def start(self, name: str, attrs: dict[str, str]) -> None:
        if name == "table":
            self._depth += 1
            self._table += self._depth == 1
        elif not self._inside or self.done:
            return
        elif self._cell is not None:
            self._cell.start(name, attrs)
        elif name == "table-row":
            self._begin_row(attrs)
        elif name in ("table-cell", "covered-table-cell"):
            self._cell = OdsCell(attrs, _times(attrs, "number-columns-repeated"))
        elif name == "table-column":
            self._count_columns(attrs)

    def end(self, name: str) -> None:
        if name == "table":
            self.done |= self._inside
            self._depth -= 1
        elif not self._inside or self.done:
            return
        elif name in ("table-cell", "covered-table-cell") and self._cell is not None:
            self._end_cell(self._cell)
            self._cell = None
        elif self._cell is not None:
            self._cell.end(name)
        elif name == "table-row":
            self._end_row()

    def text(self, data: str) -> None:
        if self._cell is not None:
            self._cell.text(data)

    def _count_columns(self, attrs: dict[str, str]) -> None:
        first = self._columns_seen + 1
        self._columns_seen += _times(attrs, "number-columns-repeated")
        if attrs.get("visibility") in _HIDDEN:
            last = min(self._columns_seen, self._limits.max_columns)
            self._facts.hidden_columns.update(range(first, last + 1))

    def _begin_row(self, attrs: dict[str, str]) -> None:
        self._cells = []
        self._column = 0
        self._repeat = _times(attrs, "number-rows-repeated")
        self._hidden = attrs.get("visibility") in _HIDDEN

    def _end_cell(self, cell: OdsCell) -> None:
        value = cell.value()
        if box := cell.spans(self._number + 1, self._column + 1):
            self._facts.merged.append(box)
        if value is not None and value != "":
            refuse_column(self._column + cell.repeat, self._limits.max_columns)
            self._cells.extend([None] * (self._column - len(self._cells)))
            self._cells.extend([value] * cell.repeat)
        self._column += cell.repeat

    def _end_row(self) -> None:
        if self._cells:
            self._rows_given += self._repeat
            if self._rows_given > 2 * self._limits.max_rows + 1000:
                limit = self._limits.max_rows
                raise FileRefused("too_many_rows", rows=self._rows_given, limit=limit)
            for offset in range(1, self._repeat + 1):
                self._rows.append((self._number + offset, list(self._cells), self._hidden))
        self._number += self._repeat

    def take(self) -> Batch:
        rows, self._rows = self._rows, []
        return rows
