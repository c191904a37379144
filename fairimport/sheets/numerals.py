"""Numbers as workbook files spell them."""

from __future__ import annotations

import re
from math import isfinite

from fairimport.sheets.cells import Cell, Number
from fairimport.sheets.serials import moment

__all__ = ["number", "padded", "shown_as"]

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


def shown_as(kind: str, value: float, *, date1904: bool) -> Cell:
    """Return a number that the file holds as eight bytes as its format shows it.

    `kind` is what `formats.kind_of` says; None when the bytes are no number.
    """
    if not isfinite(value):
        return None
    found: int | float | Number = value
    if not -_EXACT < value < _EXACT:
        found = Number(repr(value).replace("e+", "E+"))
    elif value.is_integer():
        found = int(value)
    if not kind:
        return found
    raw = found.raw if isinstance(found, Number) else repr(found)
    if kind[0] == "0":
        return padded(found, raw, len(kind))
    return moment(kind, raw, value, date1904=date1904)


def padded(value: int | float | Number, raw: str, width: int) -> Cell:
    """Return a whole number as a format of `width` zeros shows it."""
    if isinstance(value, Number) or value < 0 or value != int(value):
        return value
    digits = str(int(value))
    return Number(raw, digits.zfill(width)) if len(digits) < width else value
