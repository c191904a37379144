"""Records of a text file, each with the physical line on which it starts."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from fairimport.errors import FileRefused

__all__ = ["Record", "read_records"]

Record = tuple[int, list[str], str]
"""First line (from 1), fields, and how its last line ended."""

_SWALLOWED = 3
_SWALLOWED_OF_TWO = 10
"""Lines within a field from which on they are taken for records; one delimiter is a weaker sign."""


class _Lines:
    """Hands lines to the csv reader and keeps those of the record in hand."""

    def __init__(self, lines: Iterator[str], first: int) -> None:
        self._lines = lines
        self.number = first - 1
        self.held: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        self.held.append(line)
        return line


def read_records(
    lines: Iterator[str], *, delimiter: str, first: int, longest: int
) -> Iterator[Record]:
    """Yield the records of `lines`, whose first is the physical line `first`.

    Quotes are read strictly. A quote that is only misplaced within its line is text (inch marks);
    one that swallows lines is `unclosed_quote` with the line on which it opens. Fields may have
    `longest` characters; longer ones reach the caller only if they stand on one line.
    """
    csv.field_size_limit(longest)
    source = _Lines(lines, first)
    reader = _reader(source, delimiter)
    width = 0
    while True:
        start = source.number + 1
        source.held.clear()
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error:
            fields = _repaired(source, start, delimiter, longest)
            reader = _reader(source, delimiter)
        held = source.held
        if len(held) > 1:
            _refuse_swallowed(held, start, delimiter, width)
            fields = [field.replace("\r\n", "\n").replace("\r", "\n") for field in fields]
        width = len(fields) if len(fields) > 1 else width
        yield start, fields, _ending(held[-1])


def _reader(source: _Lines, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(source, delimiter=delimiter, skipinitialspace=True, strict=True)


def _ending(line: str) -> str:
    if line.endswith("\r\n"):
        return "\r\n"
    return line[-1:] if line[-1:] in ("\r", "\n") else ""


def _repaired(source: _Lines, start: int, delimiter: str, longest: int) -> list[str]:
    """Read a record that is no good csv, or refuse the file for its unclosed quote."""
    held = source.held
    if len(held) > 1:
        raise FileRefused("unclosed_quote", line=_opening(held, start, delimiter))
    line = held[0].rstrip("\r\n")
    fields = _lenient(line, delimiter)
    if fields is None:
        raise FileRefused("unclosed_quote", line=start)
    return fields


def _lenient(line: str, delimiter: str) -> list[str] | None:
    """Split one line; a quote counts only at a field's edges. None when one stays open."""
    edge = re.escape(delimiter)
    field = re.compile(rf' *"((?:[^"]|""|"(?!"| *(?:{edge}|$)))*)" *(?={edge}|$)|([^{edge}]*)')
    fields, at = [], 0
    while True:
        found = field.match(line, at)
        if found is None:
            return None
        quoted, plain = found.groups()
        if quoted is None and plain.lstrip().startswith('"') and '"' not in plain.lstrip()[1:]:
            return None
        fields.append(plain if quoted is None else quoted.replace('""', '"'))
        at = found.end() + 1
        if found.end() >= len(line):
            return fields


def _opening(held: list[str], start: int, delimiter: str) -> int:
    """Return the line on which the quote opens that is closed wrongly or never."""
    opened, inside = start, False
    for number, line in enumerate(held, start):
        for found in re.finditer('"', line):
            inside = not inside
            if inside:
                opened = number
            elif line[found.end() : found.end() + 1] not in (delimiter, '"', "\r", "\n", "", " "):
                return opened
    return opened


def _refuse_swallowed(held: list[str], start: int, delimiter: str, width: int) -> None:
    """Refuse a quoted field that holds lines which look like the file's own records."""
    inner = [line for line in held[1:-1] if line.strip()]
    like = sum(1 for line in inner if line.count(delimiter) == width - 1)
    enough = _SWALLOWED if width > 2 else _SWALLOWED_OF_TWO
    if width > 1 and len(inner) >= enough and like >= 0.9 * len(inner):
        raise FileRefused("unclosed_quote", line=_opening(held[:1], start, delimiter))
