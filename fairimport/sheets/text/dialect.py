"""Which delimiter a text file uses; the header decides, then what makes rows equally wide."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence

from fairimport.sheets.headers import normal_form

__all__ = ["DELIMITERS", "NONE", "find_delimiter", "sep_line"]

DELIMITERS = ("\t", ";", ",", "|")
NONE = "\uffff"
"""Delimits nothing: a file of one column."""

_SEP = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


def sep_line(line: str) -> str | None:
    """Return the delimiter that a first line such as `sep=;` names."""
    found = _SEP.fullmatch(line)
    return found[1] if found else None


def find_delimiter(lines: Sequence[str], headers: frozenset[str]) -> str:
    """Choose by the first lines; `headers` are the normal forms that the importer knows."""
    shapes = {d: [_split(line, d) for line in lines] for d in DELIMITERS}
    matched = {d: max((_known(r, headers) for r in rows), default=0) for d, rows in shapes.items()}
    whole = any(normal_form(line.strip().strip('"')) in headers for line in lines)
    best = max(matched.values(), default=0)
    if best > 1:
        return max(DELIMITERS, key=lambda d: matched[d])
    if whole:
        return NONE
    return max((*DELIMITERS, NONE), key=lambda d: _evenness(shapes.get(d, ()), d))


def _split(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return line.split(delimiter)


def _known(record: list[str], headers: frozenset[str]) -> int:
    return len(headers.intersection(normal_form(field) for field in record))


def _evenness(records: Sequence[list[str]], delimiter: str) -> tuple[float, int]:
    """Rate a delimiter: the share of lines with the usual width, then the header's width."""
    if not records:
        return (0.01, 0)
    header = len(records[0])
    if header == 1 and delimiter == "," and all(_only_prose(record) for record in records):
        return (0.0, 0)
    wide = [len(record) for record in records if len(record) > 1]
    if not wide:
        return (0.0, 0)
    width, count = Counter(wide).most_common(1)[0]
    if header > 1:
        # What divides the header divides the table, however ragged its rows are.
        return (1 + len(wide) / len(records) + (width == header), header)
    return (count / len(records), width) if count * 2 > len(records) else (0.0, 0)


def _only_prose(record: list[str]) -> bool:
    """Commas that are followed by a blank belong to sentences (blanks were skipped: test width)."""
    return len(record) <= 1 or all(" " in field.strip() or field.isalpha() for field in record)
