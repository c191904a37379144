"""Numbers as people write them, by a stated decimal mark and never by the active language.

Lengths are checked before anything is converted, exponents are never expanded.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import cache

from fairimport.sheets.cells import Number, raw
from fairimport.sheets.rejected import CellRejected

__all__ = ["PRECISION", "from_cell", "is_scientific", "parse_number", "plain"]

#: Significant digits that a spreadsheet's number can hold.
PRECISION = 15
_FLOAT = Context(prec=PRECISION, rounding=ROUND_HALF_EVEN)

#: Longest text that is looked at as a number.
_LONGEST = 100
_SPACES = " \u00a0\u202f\u2009\u2007"
_GROUPS = {".": f",'\u2019{_SPACES}", ",": f".'\u2019{_SPACES}"}
_CODES = (
    "AED AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KES KRW "
    "MXN MYR NGN NOK NZD PEN PHP PKR PLN RON RSD RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR"
)
_SYMBOLS = "$\u00a2\u00a3\u00a4\u00a5\u20a0-\u20c0\ufdfc\uff04\uffe0\uffe1\uffe5\uffe6"
_CURRENCY = f"(?:[{_SYMBOLS}]|{_CODES.replace(' ', '|')}|R[$]|kr[.]?|z\u0142|K\u010d|Ft|Fr[.])"
_AMOUNT = re.compile(
    rf"(?P<before>{_CURRENCY}?)[{_SPACES}]*(?P<number>[^{_SPACES}].*?)[{_SPACES}]*"
    rf"(?P<after>(?:{_CURRENCY}|%)?)"
)
_SCIENTIFIC = re.compile(r"[+\-\u2212]?[0-9]+(?:[.,][0-9]*)?[eE][+\-\u2212]?[0-9]+")
_MANGLED = re.compile(r"[+-]?[0-9](?:[.,][0-9]+)?[eE][+-][0-9]{2,}")


@cache
def _pattern(decimal: str) -> re.Pattern[str]:
    mark = re.escape(decimal)
    groups = re.escape(_GROUPS[decimal])
    return re.compile(
        rf"(?P<whole>[0-9]+|[1-9][0-9]{{0,2}}(?P<group>[{groups}])[0-9]{{3}}"
        rf"(?:(?P=group)[0-9]{{3}})*)(?:{mark}(?P<part>[0-9]*))?|{mark}(?P<only>[0-9]+)"
    )


def is_scientific(text: str, *, mangled: bool = False) -> bool:
    """Whether text is a number with an exponent.

    `mangled` asks for the very form in which spreadsheet programs spoil long ids (1.23457E+12).
    """
    return bool((_MANGLED if mangled else _SCIENTIFIC).fullmatch(text))


def parse_number(text: str, decimal: str, *, amount: bool = False) -> Decimal | None:
    """The number that trimmed `text` writes with this decimal mark; None when it is none.

    Thousands may be grouped; a minus may lead, trail, or be brackets. With `amount` a currency
    may stand before or after, and a percent sign divides by 100.
    """
    if len(text) > _LONGEST:
        return None
    text, negative = _unsigned(text)
    percent = False
    if amount and (match := _AMOUNT.fullmatch(text)):
        percent = match["after"] == "%"
        if match["before"] and match["after"]:
            return None
        text, minus = _unsigned(match["number"]) if not negative else (match["number"], False)
        negative = negative or minus
    match = _pattern(decimal).fullmatch(text)
    if match is None:
        return None
    whole = re.sub("[^0-9]", "", match["whole"] or "0")
    part = match["part"] or match["only"]
    number = Decimal(f"{whole}.{part}" if part else whole)
    number = number.scaleb(-2) if percent else number
    return -number if negative and number else number


def _unsigned(text: str) -> tuple[str, bool]:
    """The text without its sign, and whether it was a minus."""
    text = text.replace("\u2212", "-")
    if text.startswith("(") and text.endswith(")"):
        return text[1:-1].strip(_SPACES), True
    if text.startswith("-"):
        return text[1:].strip(_SPACES), True
    if text.endswith("-"):
        return text[:-1].strip(_SPACES), True
    return text.removeprefix("+").strip(_SPACES), False


def from_cell(cell: int | float | Number) -> Decimal:
    """The number of a cell, at the 15 digits that spreadsheets keep.

    Raises `CellRejected`: `number_precision_lost` when digits before the point are gone.
    """
    text = cell.raw if isinstance(cell, Number) else repr(cell)
    number = Decimal(text) if len(text) <= _LONGEST else Decimal("NaN")
    if not number.is_finite() or number.adjusted() >= PRECISION:
        raise CellRejected("number_precision_lost", raw(cell))
    return Decimal(plain(_FLOAT.plus(number)))


def plain(number: Decimal) -> str:
    """The number without exponent and without zeros at its end: 423.0 is '423'."""
    if number == number.to_integral_value():
        return str(int(number))
    return format(number.normalize(), "f")
