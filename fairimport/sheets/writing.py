"""Failed-rows files: the customer's own columns in their order, then the row's number and reasons.

They are made to be corrected and uploaded again, and nothing in them is ever executed: texts are
typed as texts in xlsx, and stand behind an apostrophe in csv where a program would calculate them.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, BinaryIO, TypeAlias

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font

from fairimport.sheets.cells import Cell, CellError, Formula, Moment, Number, SheetRow, raw
from fairimport.sheets.own_files import escaped, own_headers, without_own

__all__ = ["RejectedRows", "rejected_csv", "rejected_xlsx"]

#: Rows as the customer sent them, each with the reasons for which it was refused.
RejectedRows: TypeAlias = Iterable[tuple[SheetRow, Sequence[str]]]

_FORMATS = {
    "date": "yyyy-mm-dd",
    "datetime": "yyyy-mm-dd hh:mm:ss",
    "time": "hh:mm:ss",
    "duration": "[h]:mm:ss",
}
#: Most characters that a cell of a workbook may hold.
_LONGEST = 32_767
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|_x(?=[0-9A-Fa-f]{4}_)")
_DIGITS = re.compile("[+-]?[0-9]{1,40}(?:[.][0-9]{0,40})?(?:[eE][+-]?[0-9]{1,4})?")
_BATCH = 500


def rejected_xlsx(target: BinaryIO, headers: Sequence[str], rows: RejectedRows) -> None:
    """Write a workbook to `target`, row after row, with little memory.

    `headers` are those of the customer's file, blank ones too. A text beyond 32,767 characters is
    cut there, because no spreadsheet program would open the file.
    """
    headers = without_own(headers)
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title="Rows")
    sheet.freeze_panes = "A2"
    header = [_text(sheet, text) for text in (*headers, *own_headers())]
    for cell in header:
        cell.font = Font(bold=True)
    sheet.append(header)
    for row, reasons in rows:
        cells = [_cell(sheet, row.cell(position)) for position in range(1, len(headers) + 1)]
        note = _text(sheet, "\n".join(reasons))
        note.alignment = Alignment(wrap_text=True, vertical="top")
        sheet.append([*cells, row.number, note])
    book.save(target)


def _cell(sheet: Any, cell: Cell) -> Any:
    """What openpyxl writes for a cell: a plain value, or a typed cell of its own."""
    match cell:
        case str():
            return _text(sheet, cell)
        case Number(raw=digits, shown=shown):
            as_number = not shown and _finite(digits) is not None
            return _typed(sheet, digits, "n") if as_number else _text(sheet, shown or digits)
        case Moment():
            return _moment(sheet, cell)
        case CellError(text=text):
            return _typed(sheet, text, "e")
        case Formula():  # its text could be taken for a value, its formula could be executed
            return _typed(sheet, "#N/A", "e")
    return cell


def _typed(sheet: Any, value: Any, data_type: str, number_format: str = "General") -> Any:
    cell = WriteOnlyCell(sheet)
    cell._value = value  # the setter would make a formula of "=..."
    cell.data_type = data_type
    cell.number_format = number_format
    return cell


def _text(sheet: Any, text: str) -> Any:
    text = _NOT_XML.sub(lambda match: f"_x{ord(match[0][0]):04X}_{match[0][1:]}", text[:_LONGEST])
    return _typed(sheet, text, "s", "@")


def _finite(digits: str) -> float | None:
    """The number as a spreadsheet holds it; None when it could not."""
    number = float(digits) if _DIGITS.fullmatch(digits) else math.inf
    return number if abs(number) < 1e300 else None


def _moment(sheet: Any, cell: Moment) -> Any:
    serial = _serial(cell)
    if serial is None:
        return _text(sheet, raw(cell))
    return _typed(sheet, serial, "n", _FORMATS[cell.kind])


def _serial(cell: Moment) -> float | None:
    """The moment as days of the 1900 system; None when it has none."""
    if not cell.iso:
        return _finite(cell.raw)
    if cell.kind in ("time", "duration"):
        sign = -1 if cell.iso.startswith("-") else 1
        hours, minutes, seconds = (float(part) for part in cell.iso.lstrip("-").split(":"))
        return sign * (hours * 3600 + minutes * 60 + seconds) / 86400
    moment = datetime.fromisoformat(cell.iso)
    days = (moment - datetime(1899, 12, 30)) / timedelta(days=1)  # noqa: DTZ001
    if days < 2:
        return None
    return days if days >= 61 else days - 1  # the 1900 system counts a 29 February 1900


def rejected_csv(
    headers: Sequence[str],
    rows: RejectedRows,
    *,
    delimiter: str = ",",
    as_text: Callable[[int, Cell], str] | None = None,
) -> Iterator[bytes]:
    """Yield a csv file, UTF-8 with BOM, every field quoted.

    `as_text(position, cell)` writes cells of workbooks as the run's options read them.
    """
    headers = without_own(headers)
    lines: list[str] = []
    writer = csv.writer(_Lines(lines), delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow([escaped(text) for text in (*headers, *own_headers())])
    show = as_text or _as_it_is
    yield b"\xef\xbb\xbf"
    for row, reasons in rows:
        cells = (_csv_text(n, row.cell(n), show) for n in range(1, len(headers) + 1))
        writer.writerow([*cells, row.number, escaped("\n".join(reasons))])
        if len(lines) >= _BATCH:
            yield _encoded(lines)
    yield _encoded(lines)


def _as_it_is(_position: int, cell: Cell) -> str:
    return "#N/A" if isinstance(cell, Formula) else raw(cell)


def _csv_text(position: int, cell: Cell, show: Callable[[int, Cell], str]) -> str:
    shown = show(position, cell)
    return shown if isinstance(cell, CellError | Formula) else escaped(shown)


class _Lines:
    """A file that keeps what the csv writer writes until it is taken."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def write(self, line: str) -> None:
        self._lines.append(line)


def _encoded(lines: list[str]) -> bytes:
    text = re.sub("[\ud800-\udfff]", "\ufffd", "".join(lines))
    lines.clear()
    return text.encode()
