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
        self.dates: Counter[str] = Counter()
        self.decimals: Counter[str] = Counter()
        self.errors = 0
        self.first: dict[str, int] = {}

    def add(self, texts: Iterable[tuple[str, int]]) -> None:
        """Judge texts; each comes with its row number."""
        for text, row in texts:
            if len(text) > _LONGEST:
                continue
            bare = trimmed(text)
            first = bare[:1]
            if first == "#":
                self.errors += bare in ERROR_TEXTS
            elif order := _date_order(bare):
                self.dates[order] += 1
                self.first.setdefault(order, row)
            elif mark := _decimal_mark(bare):
                self.decimals[mark] += 1

    def date_evidence(self) -> DateEvidence:
        """Return what the dates say."""
        return DateEvidence(
            **{name: self.dates[name] for name in ("dmy", "mdy", "ymd", "either", "same")},
            first_dmy=self.first.get("dmy"),
            first_mdy=self.first.get("mdy"),
        )

    def decimal_evidence(self) -> DecimalEvidence:
        """Return what the numbers say."""
        marks = self.decimals
        return DecimalEvidence(comma=marks[","], point=marks["."], either=marks["either"])


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
    """Return the decimal mark that the text must mean, `either`, or empty."""
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
        return "," if last == "." else "."
    after = len(rest) - rest.rindex(last) - 1
    if after != _GROUP or len(found["whole"]) > _GROUP or found["whole"] == "0":
        return last
    return "either"
