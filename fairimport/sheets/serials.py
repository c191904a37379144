"""Serial numbers of days, in the 1900 and the 1904 system, and what ISO cells say."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from fairimport.sheets.cells import Moment

__all__ = ["LAST_DAY", "from_iso", "from_serial", "moment"]

LAST_DAY = 2_958_465
"""9999-12-31 in the 1900 system."""

_1900 = datetime(1899, 12, 31)  # noqa: DTZ001  (sheets know no time zones)
_1904 = datetime(1904, 1, 1)  # noqa: DTZ001
_GAP_1904 = 1462
_LEAP_BUG = 60
_DAY_MS = 86_400_000


def from_serial(serial: float, *, date1904: bool = False) -> datetime | None:
    """Return the moment that a serial number means, rounded to a millisecond.

    The 1900 system counts a 29 February 1900 that never was: 60 is no day, later ones shift.
    None below 0 and after 9999-12-31.
    """
    last = LAST_DAY - _GAP_1904 if date1904 else LAST_DAY
    if not 0 <= serial < last + 1:
        return None
    days, ms = divmod(round(serial * _DAY_MS), _DAY_MS)
    if date1904:
        return _later(_1904, days, ms)
    if days == _LEAP_BUG:
        return None
    return _later(_1900, days if days < _LEAP_BUG else days - 1, ms)


def _later(start: datetime, days: int, ms: int) -> datetime | None:
    try:
        return start + timedelta(days=days, milliseconds=ms)
    except OverflowError:
        return None


def moment(kind: str, raw: str, serial: float, *, date1904: bool = False) -> Moment:
    """Return the cell that shows the serial number as `kind`."""
    if kind == "duration":
        return Moment(kind, _hours(serial), raw)
    if kind == "time" and 0 <= serial < 1:
        return Moment(kind, _hours(serial), raw)
    found = from_serial(serial, date1904=date1904)
    if found is None:
        return Moment(kind, "", raw)
    return Moment("datetime" if kind == "time" else kind, found.isoformat(), raw)


def _hours(serial: float) -> str:
    """Word a duration in days as hours, minutes, seconds (and milliseconds if any)."""
    if abs(serial) > LAST_DAY:
        return ""
    seconds, ms = divmod(round(abs(serial) * _DAY_MS), 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    text = f"{'-' if serial < 0 else ''}{hour:02d}:{minute:02d}:{second:02d}"
    return f"{text}.{ms:03d}" if ms else text


_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK = re.compile(r"T?(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)Z?")
_ISO_DURATION = re.compile(
    r"(-?)P(?:(\d{1,7})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,7})M)?(?:(\d{1,7}(?:\.\d{1,9})?)S)?)?"
)


def from_iso(text: str, kind: str = "") -> Moment:
    """Return the cell of an ISO date, datetime, time or duration text.

    `kind` is what the number format says; a date with a time is a datetime unless it says date.
    """
    if duration := _ISO_DURATION.fullmatch(text):
        return _from_duration(text, duration)
    if clock := _CLOCK.fullmatch(text):
        return Moment("time", clock[1] if clock[1].count(":") > 1 else f"{clock[1]}:00", text)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return Moment(kind or "date", "", text)
    if not kind or kind not in ("date", "datetime"):
        kind = "date" if _DAY.fullmatch(text) else "datetime"
    return Moment(kind, found.replace(tzinfo=None).isoformat(), text)


def _from_duration(text: str, match: re.Match[str]) -> Moment:
    sign, days, hours, minutes, seconds = match.groups()
    day = int(days or 0) + int(hours or 0) / 24 + int(minutes or 0) / 1440
    serial = day + float(seconds or 0) / 86400
    kind = "time" if not sign and serial < 1 else "duration"
    return Moment(kind, _hours(-serial if sign else serial), text)
