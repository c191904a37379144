"""Cells made values of a column's kind, by the options of a run and never by the active language.

`convert` answers a Python value, or None for a blank cell, or raises `CellRejected` with a code of
the vocabulary. What a form field checks beyond that is not decided here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any

from fairimport.sheets.cells import Cell, CellError, Formula, Number, raw, trimmed
from fairimport.sheets.moments import to_date, to_datetime, to_duration, to_time
from fairimport.sheets.numbers import from_cell, is_scientific, parse_number, plain
from fairimport.sheets.rejected import CellRejected
from fairimport.sheets.zones import Zone

__all__ = ["CellRejected", "Spec", "ValueOptions", "clean_text", "convert", "typed"]

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_INVALID = re.compile("[\ud800-\udfff\ufdd0-\ufdef\ufffd-\uffff]")
_YES = "true t yes y on 1 ja wahr oui vrai sí si verdadero vero sim verdadeiro tak ano"
_NO = "false f no n off 0 nein falsch non faux falso não nao nee nej nei nie ne"
_TRUE, _FALSE = frozenset(_YES.split()), frozenset(_NO.split())
_EXACT = Context(prec=200)
_SETTINGS_ZONE = Zone()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What one column takes: its kind, and what its texts settled about dates and decimals.

    `decimal` is the decimal mark of this column, or "" for that of the options. `date_order` is
    DMY, MDY, YMD, "" (not known: only texts that every order reads alike) or "mixed" (the column
    holds several orders: texts that depend on it are refused).
    """

    kind: str
    decimal_places: int | None = None
    decimal: str = ""
    date_order: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueOptions:
    """What the customer chose about values, and what the file says about its serial numbers."""

    decimal: str = "."
    zone: Zone = _SETTINGS_ZONE
    date1904: bool = False

    @classmethod
    def from_json(cls, options: Mapping[str, Any], *, date1904: bool = False) -> ValueOptions:
        """Take `decimal` and `timezone` out of a run's options; others are ignored."""
        decimal = "," if options.get("decimal") == "," else "."
        return cls(decimal=decimal, zone=Zone(options.get("timezone") or ""), date1904=date1904)


def convert(cell: Cell, spec: Spec, options: ValueOptions) -> Any:
    """The cell's value in the column's kind, or None for a blank; raises `CellRejected`."""
    match cell:
        case None:
            return None
        case CellError(text=text):
            raise CellRejected("cell_error", text)
        case Formula(text=text):
            raise CellRejected("formula_without_result", text)
        case str():
            text = clean_text(cell)
            return _CONVERTERS[spec.kind](text, spec, options) if text else None
    return _CONVERTERS[spec.kind](cell, spec, options)


def clean_text(text: str) -> str:
    """Text trimmed and in NFC; raises `CellRejected` for characters that no text should hold."""
    text = trimmed(text)
    if text.isascii() and text.isprintable():
        return text
    for pattern, code in ((_CONTROL, "control_character"), (_INVALID, "invalid_character")):
        if match := pattern.search(text):
            raise CellRejected(code, f"U+{ord(match[0]):04X}")
    return unicodedata.normalize("NFC", text)


def _text(cell: Cell, spec: Spec, options: ValueOptions) -> str:
    if isinstance(cell, str):
        if spec.kind == "text" and is_scientific(cell, mangled=True):
            raise CellRejected("scientific_notation", cell)
        return cell
    padded = isinstance(cell, Number) and cell.shown
    if isinstance(cell, int | float | Number) and not isinstance(cell, bool) and not padded:
        return plain(from_cell(cell))
    return raw(cell)


def _number(cell: Cell, code: str, mark: str, *, amount: bool) -> Decimal:
    if isinstance(cell, int | float | Number) and not isinstance(cell, bool):
        return from_cell(cell)
    if isinstance(cell, str):
        number = parse_number(cell, mark, amount=amount)
        if number is not None:
            return number
        if is_scientific(cell):
            raise CellRejected("scientific_notation", cell)
    raise CellRejected(code, raw(cell))


def _int(cell: Cell, spec: Spec, options: ValueOptions) -> int:
    number = _number(cell, "not_an_integer", spec.decimal or options.decimal, amount=False)
    grouped_otherwise = isinstance(cell, str) and re.search(r"[.,][0-9]{3}$", cell)
    exact = number.as_tuple().exponent
    if number != number.to_integral_value(context=_EXACT) or (grouped_otherwise and exact):
        raise CellRejected("not_an_integer", raw(cell))
    return int(number)


def _decimal(cell: Cell, spec: Spec, options: ValueOptions) -> Decimal:
    number = _number(cell, "invalid_decimal", spec.decimal or options.decimal, amount=True)
    if spec.decimal_places is None:
        return number
    rounded = number.quantize(Decimal(1).scaleb(-spec.decimal_places), context=_EXACT)
    if rounded != number:
        raise CellRejected("too_many_decimal_places", raw(cell), places=spec.decimal_places)
    return rounded


def _bool(cell: Cell, spec: Spec, options: ValueOptions) -> bool:
    if isinstance(cell, bool):
        return cell
    word = cell.casefold() if isinstance(cell, str) else raw(cell)
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise CellRejected("invalid_boolean", raw(cell))


_CONVERTERS: dict[str, Callable[[Any, Spec, ValueOptions], Any]] = {
    "text": _text,
    "ref": _text,
    "int": _int,
    "decimal": _decimal,
    "bool": _bool,
    "date": lambda cell, spec, options: to_date(cell, spec.date_order, options.date1904),
    "datetime": lambda cell, spec, options: to_datetime(
        cell, spec.date_order, options.date1904, options.zone
    ),
    "time": lambda cell, spec, options: to_time(cell),
    "duration": lambda cell, spec, options: to_duration(cell),
}


def typed(value: Any, kind: str) -> list[str] | None:
    """The value as `[kind, text]`, the form in which `fairimport_read` states values.

    A moment that is in the zone of the settings (see `Zone`) is stated as its wall time.
    """
    return None if value is None else [kind, _stated(value)]


def _stated(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal():
            return format(value, "f")
        case timedelta():
            return _hours(value)
        case datetime(tzinfo=zone) if zone is not None:
            wall_time = value.replace(tzinfo=None).isoformat()
            return f"{wall_time}Z" if zone is UTC else wall_time
        case date() | time():
            return value.isoformat()
    return str(value)


def _hours(length: timedelta) -> str:
    sign = "-" if length < timedelta() else ""
    length = abs(length)
    minutes, seconds = divmod(length.days * 86400 + length.seconds, 60)
    micros = f".{length.microseconds:06}" if length.microseconds else ""
    return f"{sign}{minutes // 60}:{minutes % 60:02}:{seconds:02}{micros}"
