"""The parts of a workbook around its sheets: names, relations, styles, shared strings."""

from __future__ import annotations

from dataclasses import dataclass, field

from fairimport.errors import FileRefused
from fairimport.sheets.archive import Archive
from fairimport.sheets.formats import builtin, kind_of
from fairimport.sheets.limits import Limits
from fairimport.sheets.relations import relations
from fairimport.sheets.safexml import parse
from fairimport.sheets.source import SheetInfo
from fairimport.sheets.xlsx.sheet import XlsxSheet
from fairimport.sheets.xlsx.strings import read_strings

__all__ = ["XlsxBook"]


@dataclass(slots=True)
class _Workbook:
    root: str = ""
    sheets: list[tuple[str, str, str]] = field(default_factory=list)
    active: int = 0
    date1904: bool = False

    def start(self, name: str, attrs: dict[str, str]) -> None:
        self.root = self.root or name
        match name:
            case "sheet":
                entry = (attrs.get("name", ""), attrs.get("id", ""), attrs.get("state", "visible"))
                self.sheets.append(entry)
            case "workbookPr":
                self.date1904 = attrs.get("date1904", "0") in ("1", "true")
            case "workbookView" if attrs.get("activeTab", "").isdecimal():
                self.active = int(attrs["activeTab"][:9])

    def end(self, name: str) -> None:
        pass

    def text(self, data: str) -> None:
        pass


@dataclass(slots=True)
class _Styles:
    """Collects the kind of number format of each cell style."""

    kinds: list[str] = field(default_factory=list)
    codes: dict[str, str] = field(default_factory=dict)
    inside: bool = False

    def start(self, name: str, attrs: dict[str, str]) -> None:
        if name == "numFmt":
            self.codes[attrs.get("numFmtId", "")] = attrs.get("formatCode", "")
        elif name == "cellXfs":
            self.inside = True
        elif name == "xf" and self.inside:
            self.kinds.append(self._kind(attrs.get("numFmtId", "0")))

    def _kind(self, number: str) -> str:
        if number in self.codes:
            return kind_of(self.codes[number])
        return builtin(int(number[:9])) if number.isdecimal() else ""

    def end(self, name: str) -> None:
        if name == "cellXfs":
            self.inside = False

    def text(self, data: str) -> None:
        pass


class XlsxBook:
    """An xlsx file that was opened: its sheets are known, no row was read."""

    def __init__(self, archive: Archive, part: str, limits: Limits) -> None:
        self._archive = archive
        self._limits = limits
        workbook = _Workbook()
        parse(archive.chunks(part), workbook)
        if workbook.root != "workbook":
            raise FileRefused("not_a_spreadsheet", content="office")
        self._relations = relations(archive, part)
        self.date1904 = workbook.date1904
        self.sheets = [self._sheet(*entry) for entry in workbook.sheets]
        if not self.sheets:
            raise FileRefused("damaged_file", reason="no_sheets")
        self.active = workbook.active if workbook.active < len(self.sheets) else 0
        self._strings: list[str] | None = None
        self._kinds = self._styles()

    def _sheet(self, name: str, key: str, state: str) -> SheetInfo:
        relation = self._relations.get(key)
        kind = relation.kind if relation else "missing"
        return SheetInfo(name, key, visible=state == "visible", kind=kind)

    def _part(self, kind: str) -> str:
        return next((r.target for r in self._relations.values() if r.kind == kind), "")

    def _styles(self) -> list[str]:
        part = self._part("styles")
        styles = _Styles()
        if part in self._archive:
            parse(self._archive.chunks(part), styles)
        return styles.kinds

    def _shared_strings(self) -> list[str]:
        part = self._part("sharedStrings")
        if not part:
            return []
        return read_strings(self._archive.chunks(part), self._limits)

    def open(self, sheet: SheetInfo, *, any_order: bool = False) -> XlsxSheet:
        """Begin a pass over a worksheet; reads the shared strings before the first."""
        relation = self._relations.get(sheet.key)
        if relation is None:
            raise FileRefused("damaged_file", reason="part_missing", part=sheet.name)
        if self._strings is None:
            self._strings = self._shared_strings()
        return XlsxSheet(
            self._archive.chunks(relation.target),
            strings=self._strings,
            kinds=self._kinds,
            date1904=self.date1904,
            limits=self._limits,
            any_order=any_order,
        )
