"""One cell of an OpenDocument table: its typed value, its paragraphs, its errors."""

from __future__ import annotations

from fairimport.sheets.cells import Cell, CellError, Formula
from fairimport.sheets.evidence import ERROR_TEXTS
from fairimport.sheets.numerals import number
from fairimport.sheets.serials import from_iso

__all__ = ["OdsCell"]

_MOST_SPACES = 10_000
_NOT_TEXT = ("annotation", "ruby-text", "change-info", "shape", "frame", "g", "control")


class OdsCell:
    """Collects what a cell's elements say; `repeat` is how many equal cells it stands for."""

    def __init__(self, attrs: dict[str, str], repeat: int) -> None:
        self._attrs = attrs
        self.repeat = repeat
        self._paragraphs: list[list[str]] = []
        self._in_paragraph = 0
        self._ignored = 0

    def start(self, name: str, attrs: dict[str, str]) -> None:
        """Note an element inside the cell; notes and drawings are no part of its text."""
        if name in _NOT_TEXT:
            self._ignored += 1
        elif self._ignored:
            return
        elif name in ("p", "h"):
            self._in_paragraph += 1
            self._paragraphs.append([])
        elif name == "s":
            count = attrs.get("c", "1")
            self.text(" " * min(int(count[:6]) if count.isdecimal() else 1, _MOST_SPACES))
        elif name == "tab":
            self.text("\t")
        elif name == "line-break":
            self.text("\n")

    def end(self, name: str) -> None:
        """Note the end of an element inside the cell."""
        if name in _NOT_TEXT:
            self._ignored -= 1
        elif name in ("p", "h") and not self._ignored:
            self._in_paragraph -= 1

    def text(self, data: str) -> None:
        """Keep characters of paragraphs."""
        if self._in_paragraph > 0 and not self._ignored:
            self._paragraphs[-1].append(data)

    def spans(self, row: int, column: int) -> tuple[int, int, int, int] | None:
        """Return the merged range that begins with this cell, or None."""
        rows = self._attrs.get("number-rows-spanned", "1")
        columns = self._attrs.get("number-columns-spanned", "1")
        if not (rows.isdecimal() and columns.isdecimal()) or (rows, columns) == ("1", "1"):
            return None
        return (row, column, row + int(rows[:7]) - 1, column + int(columns[:7]) - 1)

    def value(self) -> Cell:
        """Return the cell's value."""
        attrs = self._attrs
        shown = "\n".join("".join(parts) for parts in self._paragraphs)
        formula = attrs.get("formula")
        kind = attrs.get("value-type", "")
        if self._is_error(shown):
            return CellError(shown)
        match kind:
            case "float" | "percentage" | "currency":
                value = number(attrs.get("value", "").strip())
                return shown or None if value is None else value
            case "date":
                return from_iso(attrs.get("date-value", ""))
            case "time":
                return from_iso(attrs.get("time-value", ""), "time")
            case "boolean":
                return attrs.get("boolean-value") == "true"
            case "string":
                return attrs.get("string-value", shown) or shown
        if formula is not None and not shown:
            return Formula(f"={formula.partition('=')[2]}")
        return shown or None

    def _is_error(self, shown: str) -> bool:
        if self._attrs.get("calcext:value-type") == "error":
            return True
        with_formula = "formula" in self._attrs
        return with_formula and (shown in ERROR_TEXTS or _libre_error(shown))


def _libre_error(shown: str) -> bool:
    """Tell LibreOffice's own errors: Err:502, and #N/A in the user's language is typed error."""
    return shown.startswith("Err:") and shown[4:].isdecimal()
