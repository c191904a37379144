"""Cells of workbooks as texts that a csv file can hold and the run's options read back alike."""

from __future__ import annotations

from fairimport.sheets.cells import Cell, CellError, Formula, Moment, Number, raw
from fairimport.sheets.moments import to_date, to_duration, to_moment, to_time
from fairimport.sheets.numbers import from_cell, plain
from fairimport.sheets.rejected import CellRejected
from fairimport.sheets.values import Spec, ValueOptions, typed

__all__ = ["as_text"]


def as_text(cell: Cell, spec: Spec | None, options: ValueOptions) -> str:
    """The cell as text; `spec` is that of its column, None when nothing is mapped to it.

    What was refused stays refusable: digits that are lost show as lost, and a formula without a
    result is an error value, because its text would be taken for a value.
    """
    match cell:
        case None | str() | bool() | CellError():
            return raw(cell)
        case Formula():
            return "#N/A"
    try:
        return _typed(cell, spec, options)
    except CellRejected:
        shown = cell.shown if isinstance(cell, Number) else ""
        return _lossy(cell) if isinstance(cell, Number) and not shown else raw(cell)


def _typed(cell: int | float | Number | Moment, spec: Spec | None, options: ValueOptions) -> str:
    kind = spec.kind if spec else ""
    if isinstance(cell, Moment) and not cell.iso:  # its number would be taken for a value
        return raw(cell) if kind in ("", "text", "ref") else "#NUM!"
    if kind == "duration":
        stated = typed(to_duration(cell), kind)
        return stated[1] if stated else ""
    if isinstance(cell, Moment) or (isinstance(cell, Number) and cell.shown):
        return raw(cell)
    if kind == "date":
        return to_date(cell, "", options.date1904).isoformat()
    if kind == "datetime":
        return to_moment(cell, options.date1904).isoformat(" ")
    if kind == "time":
        return to_time(cell).isoformat()
    text = plain(from_cell(cell))
    if spec is None or kind not in ("int", "decimal"):
        return text
    return text.replace(".", spec.decimal or options.decimal)


def _lossy(cell: Number) -> str:
    """The number in the form that says that digits are lost."""
    try:
        return f"{float(cell.raw):.14E}"
    except (ValueError, OverflowError):
        return cell.raw
