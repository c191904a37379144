"""Numbers as workbook files spell them."""

from __future__ import annotations

import re
from math import isfinite

from fairimport.sheets.cells import Number

__all__ = ["from_float", "number"]

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 400
_EXACT = 10**15
"""From here on a sheet shows fewer digits than an id may have: the digits are kept as text."""


def number(text: str) -> int | float | Number | None:
    """Return the number that the text spells; None when it spells none."""
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    if len(text) < 16 and text.isdecimal():
        return int(text)
    value = float(text)
    if not isfinite(value) or not -_EXACT < value < _EXACT:
        return Number(text)
    return value


def from_float(value: float) -> int | float | Number | None:
    """Return a number that the file holds as eight bytes; None when it is none."""
    if not isfinite(value):
        return None
    if -_EXACT < value < _EXACT:
        return int(value) if value.is_integer() else value
    return Number(repr(value).replace("e+", "E+"))
