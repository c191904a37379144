"""Row error codes in words: what is wrong, what was found, what to write instead.

Codes are stable and for programs; these sentences are for people, in the active language.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _t
from django.utils.translation import gettext_lazy as _

__all__ = ["DJANGO_CODES", "example", "row_message"]

#: Codes of Django's validation errors that are row error codes of ours, by kind where it matters.
#: Any other code of a field or a validator is kept as it is.
DJANGO_CODES: dict[str, str | dict[str, str]] = {
    "required": "required",
    "max_length": "field_too_long",
    "null_characters_not_allowed": "control_character",
    "max_decimal_places": "too_many_decimal_places",
    "max_digits": "invalid_decimal",
    "max_whole_digits": "invalid_decimal",
    "invalid": {
        "int": "not_an_integer",
        "decimal": "invalid_decimal",
        "bool": "invalid_boolean",
        "date": "invalid_date",
        "datetime": "invalid_date",
        "time": "invalid_date",
        "duration": "invalid_date",
    },
}

_MESSAGES: dict[str, str | Promise] = {
    "required": _("This cell is empty. Write a value, for example %(example)s."),
    "invalid_date": _("\u201c%(raw)s\u201d is not a date here. Write for example %(example)s."),
    "invalid_time": _("\u201c%(raw)s\u201d is not a time here. Write for example %(example)s."),
    "invalid_decimal": _("\u201c%(raw)s\u201d is not a number. Write for example %(example)s."),
    "not_an_integer": _(
        "\u201c%(raw)s\u201d is not a whole number. Write for example %(example)s."
    ),
    "invalid_boolean": _("\u201c%(raw)s\u201d is neither yes nor no. Write yes or no."),
    "number_precision_lost": _(
        "The number %(raw)s has more than 15 digits, and spreadsheets lose the last ones. "
        "Format the cell as text and write it again."
    ),
    "scientific_notation": _(
        "\u201c%(raw)s\u201d is a shortened number whose last digits are lost. "
        "Write it with all its digits, in a cell formatted as text."
    ),
    "too_many_decimal_places": _(
        "\u201c%(raw)s\u201d has more than %(places)s decimal places. Round it."
    ),
    "cell_error": _(
        "This cell shows the error %(raw)s. Correct its formula or write the value itself."
    ),
    "formula_without_result": _(
        "The formula %(raw)s was never calculated. Open the file once in a spreadsheet program, "
        "save it there and upload it again."
    ),
    "control_character": _(
        "The text contains the invisible control character %(raw)s. Write it again."
    ),
    "invalid_character": _(
        "The text contains %(raw)s, which is no character: it was damaged before. Write it again."
    ),
    "too_many_cells": _(
        "There is \u201c%(raw)s\u201d beyond the last column. Move it or delete it; "
        "a separator in a text must stand in quotation marks."
    ),
    "duplicate_in_file": _(
        "\u201c%(raw)s\u201d is the same as in row %(first)s. Keep one of them."
    ),
    "already_exists": _("\u201c%(raw)s\u201d exists already. Delete this row or change the value."),
    "unknown_reference": _(
        "\u201c%(raw)s\u201d is not known. Write the name exactly as it is stored, or add it first."
    ),
    "ambiguous_reference": _(
        "\u201c%(raw)s\u201d is the name of several records. Give them different names first."
    ),
    "nonexistent_local_time": _(
        "%(raw)s never was on the clock in %(zone)s: it was put forward. "
        "Write another time, or one with its offset, for example 2024-03-31T02:30:00+01:00."
    ),
    "ambiguous_local_time": _(
        "%(raw)s was twice on the clock in %(zone)s: it was put back. "
        "Write it with its offset, for example 2024-10-27T02:30:00+02:00."
    ),
    "mixed_date_order": _(
        "In this column some dates have the day first and some the month first, so "
        "\u201c%(raw)s\u201d can mean two days. Write dates as 2026-12-31, or choose the order."
    ),
    "field_too_long": _("This text is too long. Shorten it."),
}

_UNKNOWN = _("\u201c%(raw)s\u201d cannot be read here.")

_EXAMPLES = {
    "text": "ABC",
    "ref": "ABC",
    "int": "12",
    "bool": "yes",
    "time": "08:30",
    "duration": "26:15:00",
    "datetime": "2026-12-31 08:30",
}
_DAYS = {"DMY": "31/12/2026", "MDY": "12/31/2026"}


def example(kind: str, options: Mapping[str, Any]) -> str:
    """A value of this kind as the run's options read it."""
    if kind == "decimal":
        return "1234,50" if options.get("decimal") == "," else "1234.50"
    if kind == "date":
        return _DAYS.get(str(options.get("date_order")), "2026-12-31")
    return _t(_EXAMPLES[kind]) if kind == "bool" else _EXAMPLES[kind]


def row_message(code: str, kind: str, facts: Mapping[str, Any]) -> str:
    """The sentence for a row error code; `facts` has `raw`, `example` and what the code needs."""
    if code == "invalid_date" and kind in ("time", "duration"):
        code = "invalid_time"
    return str(_MESSAGES.get(code, _UNKNOWN)) % facts
