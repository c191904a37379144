"""Finding the header row; the forms in which headers are compared and shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from fairimport.sheets.cells import Cell, SheetRow, letter, raw, trimmed

__all__ = ["LOOKED_AT", "find_header", "header_text", "labels", "normal_form"]

LOOKED_AT = 50
"""Rows that are not blank among which the header is looked for."""

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u061c\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff]")


def normal_form(header: str) -> str:
    """Return the header as it is compared: NFKC, casefolded, without invisible characters,
    runs of blanks and line breaks as one space."""
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", header))
    return " ".join(visible.casefold().split())


def header_text(cell: Cell) -> str:
    """Return a header as pages show it; also of numbers and dates; empty when it is blank."""
    return trimmed(unicodedata.normalize("NFC", raw(cell)))


def find_header(rows: Sequence[SheetRow], known: frozenset[str]) -> int:
    """Return the index of the header among the first rows of a sheet that are not blank.

    The row with most headers that the importer knows wins; without any, the first row that is
    at least half as wide as the table, unless a wider one of only texts follows closely.
    """
    matches = [_known(row, known) for row in rows]
    best = max(matches, default=0)
    if best > 1 or (best == 1 and _alone(rows[matches.index(1)])):
        return matches.index(best)
    widths = [_width(row) for row in rows]
    needed = max(_usual_width(widths) / 2, 1)
    wide = [index for index, width in enumerate(widths) if width >= needed]
    texts = [index for index in wide if _only_texts(rows[index])]
    if best == 1 and matches.index(1) in wide:
        return matches.index(1)
    first = wide[0] if wide else 0
    wider = [i for i in texts if widths[i] > widths[first] and i - first <= _TITLE_ROWS]
    complete = first in texts and widths[first] >= _usual_width(widths)
    return wider[0] if wider and not complete else first


_TITLE_ROWS = 5


def _usual_width(widths: Sequence[int]) -> int:
    """Return the width that most rows reach: the upper quartile, so that titles do not count."""
    ordered = sorted(widths)
    return ordered[len(ordered) * 3 // 4] if ordered else 0


def _filled(row: SheetRow) -> list[str]:
    return [text for text in map(header_text, row.cells) if text]


def _known(row: SheetRow, known: frozenset[str]) -> int:
    if not known:
        return 0
    return len(known.intersection(normal_form(text) for text in _filled(row)))


def _alone(row: SheetRow) -> bool:
    return _width(row) == 1


def _width(row: SheetRow) -> int:
    return len(_filled(row))


def _only_texts(row: SheetRow) -> bool:
    return all(
        cell is None or (isinstance(cell, str) and not _looks_like_number(cell))
        for cell in row.cells
    )


def _looks_like_number(text: str) -> bool:
    bare = trimmed(text)
    return bool(bare) and not any(char.isalpha() for char in bare)


def labels(headers: Sequence[tuple[int, str]]) -> list[str]:
    """Return how pages name columns, given (position, text): `Column B`, `Phone`, `Phone (2)`."""
    seen: dict[str, int] = {}
    named = []
    for position, text in headers:
        if not text:
            named.append(f"Column {letter(position)}")
            continue
        form = normal_form(text)
        seen[form] = seen.get(form, 0) + 1
        named.append(text if seen[form] == 1 else f"{text} ({seen[form]})")
    return named
