"""What the texts of a column say about the order of its dates and its decimal mark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from fairimport.sheets.cells import trimmed
from fairimport.sheets.survey import DateEvidence, DecimalEvidence

__all__ = ["ERROR_TEXTS", "TextEvidence"]

ERROR_TEXTS = frozenset(
    (
        *("#N/A", "#DIV/0!", "#REF!", "#NAME?", "#VALUE!", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"),
        *("#GETTING_DATA", "#FIELD!", "#BLOCKED!", "#CONNECT!", "#UNKNOWN!", "#BUSY!", "#ERROR!"),
    )
)
_LONGEST = 40
_REMEMBERED = 10_000
_ORDERS = ("dmy", "mdy", "ymd", "either", "same")
_DATE = re.compile(
    r"(?P<a>\d{1,4})(?P<sep>[./\-\u2010-\u2015\u2212 ])\s?(?P<b>\d{1,2})(?P=sep)\s?"
    r"(?P<c>\d{2}|\d{4})"
    r"(?:[T ,]+\d{1,2}[:.]\d{2}.*)?"
)
_AMOUNT = re.compile(
    r"[^\d.,]{0,6}(?P<whole>\d{1,20})(?P<rest>(?:[.,'\u2019\u00a0\u202f ]\d{1,20})*)[^\d.,]{0,6}"
)
_GROUP = 3


class TextEvidence:
    """Gathers evidence from the texts of one column, batch by batch."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._known: dict[str, str] = {}
        self._first: dict[str, int] = {}

    def add(self, texts: Iterable[tuple[str, int]]) -> None:
        """Judge texts; each comes with its row number."""
        known, counts = self._known, self._counts
        for text, row in texts:
            if text.isdecimal():
                continue
            sign = known.get(text)
            if sign is None:
                sign = _sign(text)
                if len(known) < _REMEMBERED:
                    known[text] = sign
            if sign:
                counts[sign] += 1
                if sign in _ORDERS:
                    self._first.setdefault(sign, row)

    @property
    def errors(self) -> int:
        """How many texts look like error cells."""
        return self._counts["error"]

    def date_evidence(self) -> DateEvidence:
        """Return what the dates say."""
        return DateEvidence(
            **{order: self._counts[order] for order in _ORDERS},
            first_dmy=self._first.get("dmy"),
            first_mdy=self._first.get("mdy"),
        )

    def decimal_evidence(self) -> DecimalEvidence:
        """Return what the numbers say."""
        marks = self._counts
        return DecimalEvidence(comma=marks[","], point=marks["."], either=marks[",."])


def _sign(text: str) -> str:
    """Return what a text is a sign of: an order of dates, a decimal mark, `error`, or nothing."""
    if len(text) > _LONGEST:
        return ""
    whole, point, places = text.partition(".")
    if point and whole.isdecimal() and places.isdecimal() and len(places) != _GROUP:
        return "."
    bare = trimmed(text)
    if bare.startswith("#"):
        return "error" if bare in ERROR_TEXTS else ""
    return _date_order(bare) or _decimal_mark(bare)


def _date_order(text: str) -> str:
    """Return dmy, mdy, ymd, either, same; empty when the text is no numeric date."""
    found = _DATE.fullmatch(text)
    if found is None:
        return ""
    a, b, c = found["a"], int(found["b"]), found["c"]
    first = int(a)
    if len(a) == 4:
        return "ymd" if len(c) == 2 and 1 <= b <= 12 and 1 <= int(c) <= 31 else ""
    if len(a) > 2 or not first or not b or max(first, b) > 31:
        return ""
    if first > 12:
        return "dmy" if b <= 12 else ""
    if b > 12:
        return "mdy"
    return "same" if first == b else "either"


def _decimal_mark(text: str) -> str:
    """Return the decimal mark that the text must mean, `,.` for either, or empty."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return ""
    rest = found["rest"]
    marks = [char for char in rest if char in ".,"]
    if not marks:
        return ""
    last = marks[-1]
    if len(set(marks)) == 2:
        return last
    if len(marks) > 1:
        grouped = all(len(group) == _GROUP for group in re.split(r"\D", rest)[1:])
        return "" if not grouped else "," if last == "." else "."
    after = len(rest) - rest.rindex(last) - 1
    if after != _GROUP or len(found["whole"]) > _GROUP or found["whole"] == "0":
        return last
    return ",."
