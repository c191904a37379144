"""A text file as a book of one sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO

from fairimport.errors import FileRefused
from fairimport.sheets.cells import Cell, trimmed
from fairimport.sheets.headers import normal_form
from fairimport.sheets.limits import Limits
from fairimport.sheets.source import Batch, SheetFacts, SheetInfo
from fairimport.sheets.survey import ReadOptions
from fairimport.sheets.text.dialect import NONE, find_delimiter, sep_line
from fairimport.sheets.text.encoding import MARKED, Encoding, detect
from fairimport.sheets.text.records import Record, read_records

__all__ = ["TextBook"]

_BATCH = 1000
_LOOKED_AT = 25


class TextBook:
    """A csv, tsv or txt file; its one sheet has no name."""

    active = 0
    date1904 = False

    def __init__(self, path: Path, options: ReadOptions, limits: Limits) -> None:
        self._path = path
        self._limits = limits
        self.encoding: Encoding = detect(path, options.encoding)
        self.sheets = [SheetInfo("", "text")]
        self._open: list[IO[str]] = []
        self.skipped = 0
        self.delimiter = self._find_delimiter(options)

    def close(self) -> None:
        """Close the file as often as it was opened."""
        for file in self._open:
            file.close()

    def _lines(self) -> Iterator[str]:
        file = self._path.open(encoding=self.encoding.codec, errors=MARKED, newline="")
        self._open.append(file)
        # A DOS end-of-file mark is no row.
        return (line for line in file if line != "\x1a")

    def _find_delimiter(self, options: ReadOptions) -> str:
        lines = self._lines()
        first = next(lines, "")
        named = sep_line(first)
        if named:
            self.skipped = 1
        if options.delimiter and len(options.delimiter) == 1:
            return options.delimiter
        if named:
            return named
        filled = (line.rstrip("\r\n") for line in chain([first], lines) if trimmed(line))
        known = frozenset(normal_form(header) for header in options.headers)
        return find_delimiter(list(islice(filled, _LOOKED_AT)), known)

    @property
    def format(self) -> str:
        """Return `csv`, or `text` when tabs or nothing divide the columns."""
        return "text" if self.delimiter in ("\t", NONE) else "csv"

    def open(self, sheet: SheetInfo, *, any_order: bool = False) -> TextSheet:
        """Begin a pass over the records."""
        lines = self._lines()
        for _ in range(self.skipped):
            next(lines, None)
        return TextSheet(lines, self.delimiter, self.skipped + 1, self._limits)


class TextSheet:
    """One pass over the records of a text file.

    A record of only delimiters is a row of blanks; an empty line is no row, and counts as blank
    only when more rows follow. One that ends otherwise than the line before it is left over from
    a conversion of line ends and counts as nothing.
    """

    def __init__(self, lines: Iterator[str], delimiter: str, first: int, limits: Limits) -> None:
        self.facts = SheetFacts()
        self.empty_lines = 0
        self._lines = lines
        self._delimiter = delimiter
        self._first = first
        self._limits = limits

    def batches(self) -> Iterator[Batch]:
        """Yield records; numbers are physical lines."""
        records = read_records(
            self._lines,
            delimiter=self._delimiter,
            first=self._first,
            longest=self._limits.max_field_chars,
        )
        try:
            while batch := list(islice(self._rows(records), _BATCH)):
                yield batch
        except UnicodeError as error:
            raise FileRefused("damaged_file", reason="encoding") from error

    def _rows(self, records: Iterator[Record]) -> Iterator[tuple[int, Sequence[Cell], bool]]:
        before = ""
        for number, fields, ending in records:
            if fields:
                yield number, fields, False
            elif not before or ending in (before, ""):
                yield number, [], False
            before = ending
