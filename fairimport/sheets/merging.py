"""Merged cells: the ranges in words, and their values in every cell when the customer asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeAlias

from fairimport.sheets.cells import Cell, letter
from fairimport.sheets.source import LAST_ROW, Batch

__all__ = ["Box", "filled_in", "in_words"]

Box: TypeAlias = tuple[int, int, int, int]
"""Top, left, bottom, right, counted from 1."""

_Row: TypeAlias = tuple[int, Sequence[Cell], bool]
_BATCH = 500


def in_words(boxes: Iterable[Box]) -> str:
    """Return ranges as people write them, comma-separated."""
    return ",".join(
        f"{letter(left)}{top}:{letter(right)}{bottom}" for top, left, bottom, right in boxes
    )


class _Filler:
    """Knows which ranges cover the row in hand; rows come in order."""

    def __init__(self, boxes: Iterable[Box], widest: int) -> None:
        self._ahead = sorted(boxes, reverse=True)
        self._widest = widest
        self._active: list[tuple[Box, Cell]] = []

    def covers(self, number: int) -> bool:
        """Tell whether a range with a value reaches down to this row."""
        self._active = [(box, value) for box, value in self._active if box[2] >= number]
        return bool(self._active)

    def row(self, number: int, cells: Sequence[Cell]) -> Sequence[Cell]:
        """Return the row with the values of the ranges that cover it."""
        while self._ahead and self._ahead[-1][0] <= number:
            box = self._ahead.pop()
            top, left, _, _ = box
            value = cells[left - 1] if top == number and left <= len(cells) else None
            if value is not None:
                self._active.append((box, value))
        if not self.covers(number):
            return cells
        cells = list(cells)
        for (_, left, _, right), value in self._active:
            right = min(right, self._widest)
            cells.extend([None] * (right - len(cells)))
            cells[left - 1 : right] = [value] * (right - left + 1)
        return cells


def filled_in(batches: Iterable[Batch], boxes: Iterable[Box], widest: int) -> Iterator[Batch]:
    """Repeat the top-left value of each range in all its cells, up to column `widest`.

    Rows that only exist inside a range come into being.
    """
    rows = _rows_with(_Filler(boxes, widest), chain.from_iterable(batches))
    while batch := list(islice(rows, _BATCH)):
        yield batch


def _rows_with(filler: _Filler, rows: Iterable[_Row]) -> Iterator[_Row]:
    last = 0
    for number, cells, hidden in rows:
        yield from _between(filler, last + 1, number)
        yield number, filler.row(number, cells), hidden
        last = number
    yield from _between(filler, last + 1, LAST_ROW + 1)


def _between(filler: _Filler, start: int, end: int) -> Iterator[_Row]:
    for number in range(start, end):
        if not filler.covers(number):
            return
        yield number, filler.row(number, []), False
