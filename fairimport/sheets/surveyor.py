"""One pass over the rows of a sheet: header, facts of columns, counts, and the spool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import BinaryIO

from fairimport.errors import FileRefused
from fairimport.sheets.cells import Cell, Problem, SheetRow, encode, is_blank, letter, raw
from fairimport.sheets.columns import ColumnTally
from fairimport.sheets.headers import LOOKED_AT, find_header, header_text, labels, normal_form
from fairimport.sheets.limits import Limits
from fairimport.sheets.source import Batch, SheetFacts, refuse_column
from fairimport.sheets.survey import ColumnFacts, ReadOptions

__all__ = ["Surveyor"]

_SAMPLE_ROWS = 20
_SAMPLE_CHARS = 200


class Surveyor:
    """Takes the batches of one sheet; `text` says that its rows are records of a text file.

    The rows of a text file are numbered by physical lines, so only records count as blank rows,
    and a filled cell beyond the header is a row's fault. A worksheet leaves blank rows out, so
    gaps between numbers count, and any filled cell makes a column.
    """

    def __init__(
        self, options: ReadOptions, limits: Limits, spool: BinaryIO | None, *, text: bool
    ) -> None:
        self._options = options
        self._limits = limits
        self._spool = spool
        self._text = text
        self._known = frozenset(normal_form(h) for h in options.headers) - {""}
        self._waiting: Batch = []
        self._seen = 0
        self._header: SheetRow | None = None
        self._columns: dict[int, ColumnTally] = {}
        self._last_number = 0
        self._empty_lines = 0
        self.above = 0
        self.rows = 0
        self.blank_rows = 0
        self.hidden_rows = 0
        self.sample: list[tuple[object, ...]] = []
        self.merged: list[tuple[int, int, int, int]] = []

    @property
    def header_row(self) -> int | None:
        """The number of the header row, once it was found."""
        return self._header.number if self._header else None

    def take(self, batch: Batch) -> None:
        """Survey some rows."""
        if self._header is not None:
            self._take_data(batch)
            return
        chosen = self._options.header_row
        for index, row in enumerate(batch):
            self._waiting.append(row)
            self._seen += not is_blank(row[1])
            reached = chosen is not None and row[0] >= chosen
            if reached or self._seen >= LOOKED_AT:
                self._decide()
                self._take_data(batch[index + 1 :])
                return

    def finish(self) -> None:
        """Settle what waits for more rows."""
        if self._header is None:
            self._decide()

    def _decide(self) -> None:
        """Choose the header among the rows seen so far; the rows below it are data."""
        waiting, self._waiting = self._waiting, []
        filled = [at for at, (_, cells, _) in enumerate(waiting) if not is_blank(cells)]
        if not filled:
            return
        rows = [SheetRow(waiting[at][0], tuple(waiting[at][1])) for at in filled]
        chosen = self._options.header_row
        if chosen is None:
            found = find_header(rows, self._known)
        else:
            found = next((i for i, r in enumerate(rows) if r.number >= chosen), len(rows) - 1)
        self._header = rows[found]
        self.above = found
        self._last_number = rows[found].number
        refuse_column(_width(rows[found].cells), self._limits.max_columns)
        self._take_data(waiting[filled[found] + 1 :])

    def _take_data(self, batch: Batch) -> None:
        kept: list[SheetRow] = []
        for number, cells, hidden in batch:
            if is_blank(cells):
                self._count_blank(cells)
                continue
            self._count_gap(number)
            if hidden:
                if self._options.skip_hidden:
                    continue
                self.hidden_rows += 1
            kept.append(self._row(number, cells))
        if kept:
            self._keep(kept)

    def _count_blank(self, cells: Sequence[Cell]) -> None:
        if self._text:
            self._empty_lines += 1
            if cells:
                self.blank_rows += self._empty_lines
                self._empty_lines = 0

    def _count_gap(self, number: int) -> None:
        if self._text:
            self.blank_rows += self._empty_lines
            self._empty_lines = 0
        else:
            self.blank_rows += number - self._last_number - 1
        self._last_number = number

    def _row(self, number: int, cells: Sequence[Cell]) -> SheetRow:
        if not self._text or self._header is None or len(cells) <= len(self._header.cells):
            return SheetRow(number, tuple(cells))
        width = len(self._header.cells)
        extra = [cell for cell in cells[width:] if not is_blank((cell,))]
        refuse_column(_width(cells), self._limits.max_columns)
        problems = (Problem("too_many_cells", raw(extra[0])),) if extra else ()
        return SheetRow(number, tuple(cells[:width]), problems)

    def _keep(self, rows: list[SheetRow]) -> None:
        self.rows += len(rows)
        if self.rows > self._limits.max_rows:
            raise FileRefused("too_many_rows", rows=self.rows, limit=self._limits.max_rows)
        numbers = [row.number for row in rows]
        columns = zip_longest(*(row.cells for row in rows))
        too_long = False
        for position, cells in enumerate(columns, 1):
            tally = self._columns.setdefault(position, ColumnTally())
            tally.add(cells, numbers)
            too_long |= tally.longest > self._limits.max_field_chars
        if too_long:
            rows = [_cut(row, self._limits.max_field_chars) for row in rows]
        for row in rows[: _SAMPLE_ROWS - len(self.sample)]:
            texts = (raw(cell)[:_SAMPLE_CHARS] for cell in row.cells)
            self.sample.append((row.number, *texts))
        if self._spool is not None:
            self._spool.write(b"".join([encode(row) + b"\n" for row in rows]))

    def columns(self, facts: SheetFacts) -> list[ColumnFacts]:
        """Return the columns that have a header or any value, without hidden ones if so chosen."""
        header = self._header.cells if self._header else ()
        width = max(len(header), max(self._columns, default=0))
        texts = [
            (position, header_text(header[position - 1]) if position <= len(header) else "")
            for position in range(1, width + 1)
        ]
        texts = [(p, text) for p, text in texts if text or self._filled(p)]
        found = []
        for (position, text), label in zip(texts, labels(texts), strict=True):
            tally = self._columns.get(position) or ColumnTally()
            hidden = position in facts.hidden_columns
            if hidden and self._options.skip_hidden:
                continue
            column = tally.facts(position, letter(position), text, label, normal_form(text))
            found.append(replace(column, hidden=hidden))
        return found

    def _filled(self, position: int) -> bool:
        tally = self._columns.get(position)
        return tally is not None and any(tally.kinds.values())


def _width(cells: Iterable[Cell]) -> int:
    """Return the position of the last cell that is not blank."""
    return max((i for i, cell in enumerate(cells, 1) if not is_blank((cell,))), default=0)


def _cut(row: SheetRow, longest: int) -> SheetRow:
    """Cut texts over the limit off and say so; the row keeps its other cells."""
    long = [i for i, c in enumerate(row.cells, 1) if isinstance(c, str) and len(c) > longest]
    if not long:
        return row
    cells = tuple(c[:longest] if isinstance(c, str) else c for c in row.cells)
    problems = tuple(Problem("field_too_long", raw(cells[i - 1])[:100], i) for i in long)
    return SheetRow(row.number, cells, (*row.problems, *problems))
