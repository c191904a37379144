"""From the type, style and text of a cell in the XML to a cell."""

from __future__ import annotations

from fairimport.sheets.cells import Cell, CellError, Formula, Number
from fairimport.sheets.numerals import number, padded
from fairimport.sheets.serials import from_iso, moment
from fairimport.sheets.xlsx.strings import shared, unescaped

__all__ = ["Converter"]


class Converter:
    """Turns what a `c` element says into a cell, for one workbook."""

    def __init__(self, strings: list[str], kinds: list[str], *, date1904: bool) -> None:
        self.strings = strings
        self.kinds = kinds
        self.date1904 = date1904

    def kind(self, style: str | None) -> str:
        """Return the kind of number format behind a style index."""
        if style is None or not style.isdecimal() or len(style) > 9:
            return self.kinds[0] if style is None and self.kinds else ""
        index = int(style)
        return self.kinds[index] if index < len(self.kinds) else ""

    def cell(self, type_: str, style: str | None, value: str | None, formula: str | None) -> Cell:
        """Return the cell; `value` is the text of `v` (None without one), `formula` that of `f`."""
        if value is None or (value == "" and type_ != "str"):
            return None if formula is None else Formula(f"={formula}")
        match type_:
            case "s":
                return shared(self.strings, value.strip())
            case "str" | "inlineStr":
                return unescaped(value)
            case "b":
                return value.strip() in ("1", "true")
            case "e":
                return CellError(value.strip())
            case "d":
                return from_iso(value.strip(), self.kind(style))
        return self.numeric(value.strip(), self.kind(style))

    def numeric(self, text: str, kind: str) -> Cell:
        """Return a number as its format shows it: plain, a moment, or with leading zeros."""
        value = number(text)
        if value is None:
            return unescaped(text) or None
        if not kind:
            return value
        if kind[0] == "0":
            return padded(value, text, len(kind))
        if isinstance(value, Number):
            return moment(kind, text, float("inf"), date1904=self.date1904)
        return moment(kind, text, value, date1904=self.date1904)
