"""Rows of a file whose key stands in an earlier row of it."""

from __future__ import annotations

import struct
from collections.abc import Container, Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from fairimport.sheets import Problem, SheetRow
from fairimport.sheets.cells import raw, trimmed

if TYPE_CHECKING:
    from fairimport.runs.binding import Binding

__all__ = ["DuplicateFinder"]

_ENTRY = struct.Struct(">16sI")


class DuplicateFinder:
    """Marks rows whose key or unique value stands in an earlier row of the same file.

    Feed it all rows of a file in order (while splitting); `clean` then reports the marks.
    It keeps 20 bytes for a key, so it can be stored (`to_bytes`) between two parts of a file and
    made again from that.
    """

    def __init__(self, binding: Binding, known: bytes = b"") -> None:
        self._binding = binding
        self._first = dict(_ENTRY.iter_unpack(known))

    def to_bytes(self) -> bytes:
        """What is known so far, for the next part of the file."""
        return b"".join(_ENTRY.pack(digest, row) for digest, row in self._first.items())

    def forget(self, rows: Container[int]) -> None:
        """Take out what these rows hold, because they come again with other values."""
        self._first = {d: row for d, row in self._first.items() if row not in rows}

    def mark(self, row: SheetRow) -> SheetRow:
        """The row itself, or the row with `duplicate_in_file` problems that name the first row."""
        problems = tuple(self._duplicates(row))
        return replace(row, problems=row.problems + problems) if problems else row

    def _duplicates(self, row: SheetRow) -> Iterator[Problem]:
        for field, value in self._binding.keys(row).items():
            first = self._first.setdefault(_digest(field, value), row.number)
            if first != row.number:
                position = self._binding.mapping[field]
                shown = trimmed(raw(row.cell(position)))
                yield Problem(f"duplicate_in_file:{first}", shown, position)


def _digest(field: str, value: Any) -> bytes:
    return blake2b(repr((field, value)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
