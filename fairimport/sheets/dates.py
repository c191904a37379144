"""Days and times as people write them, by a stated order of day and month, never by language."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone

from django.utils.dateparse import parse_duration as parse_iso_duration

__all__ = ["ORDERS", "parse_datetime", "parse_day", "parse_duration", "parse_time"]

#: Position of year, month and day in the numbers of a date, by its order.
ORDERS = {"DMY": (2, 1, 0), "MDY": (2, 0, 1), "YMD": (0, 1, 2)}

_NAMES = (
    "jan january januar janvier janv enero ene gennaio gen januari janeiro",
    "feb february februar février févr fevrier fevr febrero febbraio februari fevereiro fev",
    "mar march märz maerz mär mrz mars marzo maart mrt março marco",
    "apr april avril avr abril abr aprile",
    "may mai mayo maggio mag mei maio",
    "jun june juni juin junio giugno giu junho",
    "jul july juli juillet juil julio luglio lug julho",
    "aug august août aout agosto ago augustus",
    "sep september sept septembre septiembre settembre set setembro",
    "oct october oktober okt octobre octubre ottobre ott outubro out",
    "nov november novembre noviembre novembro",
    "dec december dezember dez décembre déc decembre diciembre dic dicembre dezembro",
)
_MONTHS = {name: month for month, names in enumerate(_NAMES, 1) for name in names.split()}

_COMPACT = re.compile(r"((?:19|20)[0-9]{2})([0-9]{2})([0-9]{2})")
_YEAR_FIRST = re.compile(r"([0-9]{4})([-./])([0-9]{1,2})\2([0-9]{1,2})")
_NUMBERS = re.compile(r"([0-9]{1,2})([-./ ]) ?([0-9]{1,2})\2 ?([0-9]{4}|[0-9]{2})[.]?")
_NAMED = re.compile(r"([0-9]{1,2})[-./ ]{1,2}([^\W\d_]{3,10})[-./, ]{1,2}([0-9]{4}|[0-9]{2})")
_NAME_FIRST = re.compile(r"([^\W\d_]{3,10})[-./ ]{1,2}([0-9]{1,2})[-./, ]{1,2}([0-9]{4})")
_TIME = re.compile(
    r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?(?: ?([ap])[.]?m[.]?)?",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"(?P<day>.+?)(?:[T ]+|, )(?P<time>[0-9]{1,2}:[0-9:.,]+(?: ?[ap][.]?m[.]?)?)"
    r"(?P<zone> ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2}))?",
    re.IGNORECASE,
)
_HOURS = re.compile(r"(-?)([0-9]{1,6}):([0-5][0-9])(?::([0-5][0-9])(?:[.,]([0-9]{1,9}))?)?")
_LONGEST = 60
#: Hyphens and dashes that people and programs write for a hyphen.
_DASHES = re.compile("[\u2010-\u2015\u2212]")


def parse_day(text: str, order: str = "") -> date | None:
    """The day that trimmed `text` names, alone or before a time; None when it names none.

    Without an `order` (DMY, MDY, YMD) only those are days that every order reads alike.
    """
    if len(text) > _LONGEST:
        return None
    text = _DASHES.sub("-", text)
    if match := _SPLIT.fullmatch(text):
        text = match["day"].rstrip(",")
    if match := _COMPACT.fullmatch(text):
        return _day(*match.groups())
    if match := _YEAR_FIRST.fullmatch(text):
        return _day(match[1], match[3], match[4])
    if match := _NAMED.fullmatch(text):
        return _named(match[3], match[2], match[1])
    if match := _NAME_FIRST.fullmatch(text):
        return _named(match[3], match[1], match[2])
    if match := _NUMBERS.fullmatch(text):
        return _ordered((match[1], match[3], match[4]), order)
    return None


def _ordered(numbers: tuple[str, str, str], order: str) -> date | None:
    if order:
        year, month, day = (numbers[place] for place in ORDERS[order])
        return _day(year, month, day)
    days = {_ordered(numbers, known) for known in ("DMY", "MDY")}
    return days.pop() if len(days) == 1 else None


def _named(year: str, name: str, day: str) -> date | None:
    month = _MONTHS.get(name.casefold())
    return _day(year, str(month), day) if month else None


def _day(year: str, month: str, day: str) -> date | None:
    number = int(year)
    if len(year) <= 2:  # as POSIX and Python's strptime do
        number += 2000 if number < 69 else 1900
    try:
        return date(number, int(month), int(day))
    except ValueError:
        return None


def parse_time(text: str) -> time | None:
    """The time of day that trimmed `text` names (8:30, 08:30:00, 8:30 pm); None when none."""
    match = _TIME.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    hours, minutes, seconds, fraction, half = match.groups()
    hour = int(hours)
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half in "pP" else 0)
    micros = int((fraction or "0").ljust(6, "0")[:6])
    try:
        return time(hour, int(minutes), int(seconds or 0), micros)
    except ValueError:
        return None


def parse_datetime(text: str, order: str = "") -> datetime | None:
    """The moment that trimmed `text` names; aware only when it names an offset from UTC."""
    match = _SPLIT.fullmatch(_DASHES.sub("-", text)) if len(text) <= _LONGEST else None
    day = parse_day(text, order)
    if match is None or day is None:
        return datetime.combine(day, time()) if day else None
    clock = parse_time(match["time"])
    if clock is None:
        return None
    try:
        return datetime.combine(day, clock, _zone(match["zone"]))
    except ValueError:  # no place is that far ahead
        return None


def _zone(text: str | None) -> timezone | None:
    text = (text or "").strip().upper()
    if not text:
        return None
    if text in ("Z", "UTC", "GMT"):
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if text[0] == "-" else offset)


def parse_duration(text: str) -> timedelta | None:
    """The duration that trimmed `text` names: 26:15, 26:15:00 or PT26H15M; None when none."""
    if len(text) > _LONGEST:
        return None
    if match := _HOURS.fullmatch(text):
        minus, hours, minutes, seconds, fraction = match.groups()
        length = timedelta(
            hours=int(hours),
            minutes=int(minutes),
            seconds=int(seconds or 0),
            microseconds=int((fraction or "0").ljust(6, "0")[:6]),
        )
        return -length if minus else length
    return parse_iso_duration(text) if text.lstrip("+-").startswith("P") else None
