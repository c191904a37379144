"""What every format offers to the surveyor: a book of sheets, each a stream of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from fairimport.errors import FileRefused
from fairimport.sheets.cells import Cell

__all__ = [
    "LAST_COLUMN",
    "LAST_ROW",
    "Batch",
    "Book",
    "RowsOutOfOrder",
    "Sheet",
    "SheetFacts",
    "SheetInfo",
    "refuse_column",
]

LAST_ROW = 1_048_576
LAST_COLUMN = 16_384

Batch: TypeAlias = list[tuple[int, Sequence[Cell], bool]]
"""Rows in order: number, cells from column A on, hidden. Rows without any cell may be left out."""


class RowsOutOfOrder(Exception):
    """A row has a number that is not above the one before; the sheet must be read sorted."""


@dataclass(frozen=True, slots=True)
class SheetInfo:
    """A sheet by its name; `key` is how its book finds it."""

    name: str
    key: str
    visible: bool = True
    kind: str = "worksheet"


@dataclass(slots=True)
class SheetFacts:
    """What a sheet tells about itself; complete when all its rows were read.

    `merged` holds (top, left, bottom, right) in the file's order, counted from 1.
    """

    hidden_columns: set[int] = field(default_factory=set)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)


class Sheet(Protocol):
    """One pass over the rows of one sheet."""

    facts: SheetFacts

    def batches(self) -> Iterator[Batch]:
        """Yield the rows; may raise `FileRefused` and `RowsOutOfOrder` on the way."""


class Book(Protocol):
    """A workbook that was opened but of which no row was read."""

    sheets: list[SheetInfo]
    active: int
    date1904: bool

    def open(self, sheet: SheetInfo, *, any_order: bool = False) -> Sheet:
        """Begin a pass over a sheet; with `any_order` it does not raise `RowsOutOfOrder`."""


def refuse_column(column: int, limit: int) -> None:
    """Refuse a sheet that has a value beyond the last allowed column."""
    if column > limit:
        raise FileRefused("too_many_columns", columns=column, limit=limit)
