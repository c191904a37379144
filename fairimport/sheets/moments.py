"""Cells made days, times and durations."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeVar

from fairimport.sheets.cells import Cell, Moment, Number, raw
from fairimport.sheets.dates import parse_datetime, parse_day, parse_duration, parse_time
from fairimport.sheets.rejected import CellRejected
from fairimport.sheets.zones import Zone

__all__ = ["to_date", "to_datetime", "to_duration", "to_moment", "to_time"]

T = TypeVar("T", date, datetime)

#: The last serial number that is a day: 9999-12-31.
_LAST_1900, _LAST_1904 = 2_958_465, 2_957_003
#: Day 0 of each system; that of 1900 counts a 29 February 1900, so one more before it.
_EPOCH_1900, _EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)  # noqa: DTZ001


def to_date(cell: Cell, order: str, date1904: bool) -> date:
    """The day of a cell; a time of day beside it is dropped, no zone ever moves it."""
    if isinstance(cell, str):
        return _from_text(cell, order, parse_day)
    return to_moment(cell, date1904).date()


def to_datetime(cell: Cell, order: str, date1904: bool, zone: Zone) -> datetime:
    """The moment of a cell; one without a zone is meant in `zone`."""
    if isinstance(cell, str):
        moment = _from_text(cell, order, parse_datetime)
    else:
        moment = to_moment(cell, date1904)
    try:
        return zone.localise(moment, raw(cell))
    except OverflowError:
        raise CellRejected("invalid_date", raw(cell)) from None


def _from_text(text: str, order: str, parse: Callable[[str, str], T | None]) -> T:
    mixed = order == "mixed"
    moment = parse(text, "" if mixed else order)
    if moment is not None:
        return moment
    if mixed and (parse(text, "DMY") or parse(text, "MDY")):
        raise CellRejected("mixed_date_order", text)
    raise CellRejected("invalid_date", text)


def to_moment(cell: Cell, date1904: bool) -> datetime:
    """The moment of a date cell, or of a plain number that lost its date format."""
    if isinstance(cell, Moment) and cell.kind in ("date", "datetime") and cell.iso:
        return datetime.fromisoformat(cell.iso)
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        moment = _from_serial(Decimal(repr(cell)), date1904) or _from_digits(cell)
        if moment is not None:
            return moment
    raise CellRejected("invalid_date", _shown(cell))


def _from_serial(serial: Decimal, date1904: bool) -> datetime | None:
    last, first = (_LAST_1904, 0) if date1904 else (_LAST_1900, 1)
    if not first <= serial < last + 1 or (not date1904 and 60 <= serial < 61):
        return None
    epoch = _EPOCH_1904 if date1904 else _EPOCH_1900 + timedelta(days=serial < 60)
    seconds = int((serial * 86400).to_integral_value())
    try:
        return epoch + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _from_digits(cell: int | float) -> datetime | None:
    """The day of a number such as 20240331, which is too large for a serial number."""
    day = parse_day(str(int(cell))) if cell == int(cell) and cell > _LAST_1900 else None
    return datetime.combine(day, time()) if day else None


def to_time(cell: Cell) -> time:
    """The time of day of a cell."""
    found: time | None = None
    if isinstance(cell, str):
        found = parse_time(cell)
    elif isinstance(cell, Moment) and cell.iso:
        found = parse_time(cell.iso.rpartition("T")[2])
    elif isinstance(cell, int | float) and not isinstance(cell, bool) and 0 <= cell < 1:
        seconds = round(cell * 86400) % 86400
        found = (_EPOCH_1904 + timedelta(seconds=seconds)).time()
    if found is None:
        raise CellRejected("invalid_date", _shown(cell))
    return found


def to_duration(cell: Cell) -> timedelta:
    """The duration of a cell; a plain number is refused, because its unit is not known."""
    found: timedelta | None = None
    if isinstance(cell, str):
        found = parse_duration(cell)
    elif isinstance(cell, Moment) and cell.kind in ("time", "duration"):
        found = parse_duration(cell.iso)
    elif isinstance(cell, Moment) and cell.iso:
        found = _days(cell.raw)
    if found is None:
        raise CellRejected("invalid_date", _shown(cell))
    return found


def _days(serial: str) -> timedelta | None:
    """A duration that was shown as a date: its serial number counts days."""
    try:
        return timedelta(seconds=round(float(serial) * 86400))
    except (ValueError, OverflowError):
        return None


def _shown(cell: Cell) -> str:
    return cell.raw if isinstance(cell, Moment | Number) else raw(cell)
