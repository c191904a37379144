"""What a number format makes of a number: a date, a time, a duration, leading zeros."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["builtin", "kind_of"]

_BUILTIN = {
    **dict.fromkeys((14, 15, 16, 17, 27, 28, 29, 30, 31, 34, 35, 36), "date"),
    **dict.fromkeys((50, 51, 52, 53, 54, 55, 56, 57, 58), "date"),
    **dict.fromkeys((18, 19, 20, 21, 32, 33, 45, 47), "time"),
    22: "datetime",
    46: "duration",
}
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.')
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_BRACKETS = re.compile(r"\[[^\]]*\]")
_NOT_DATE = re.compile(r"general|e[+-]", re.IGNORECASE)
_HALF_DAY = re.compile(r"am/pm|a/p", re.IGNORECASE)
_ZEROS = re.compile(r"0{2,}")


def builtin(number: int) -> str:
    """Return the kind of a built-in number format; empty for numbers and text."""
    return _BUILTIN.get(number, "")


@lru_cache(maxsize=1024)
def kind_of(code: str) -> str:
    """Return `date`, `datetime`, `time`, `duration`, zeros such as `00000`, or an empty text."""
    section = _LITERAL.sub("", code[:256]).split(";")[0]
    if _ELAPSED.search(section):
        return "duration"
    bare = _NOT_DATE.sub("", _BRACKETS.sub("", section)).strip()
    if _ZEROS.fullmatch(bare):
        return bare
    half_day = _HALF_DAY.search(bare)
    letters = set(_HALF_DAY.sub("", bare).casefold())
    clock = bool(letters & {"h", "s"}) or bool(half_day)
    day = bool(letters & {"d", "y", "e"}) or (letters & {"m"} and not clock)
    if day:
        return "datetime" if clock else "date"
    return "time" if clock else ""
