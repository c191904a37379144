"""Reading the spreadsheets that people upload.

`read` parses a file once, in a child process with hard limits, and returns what it found out;
`rows` then goes through the spooled rows. The calling process never parses a customer's file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fairimport.sheets.cells import Cell, Problem, SheetRow, decode, encode
from fairimport.sheets.headers import normal_form
from fairimport.sheets.parent import read
from fairimport.sheets.survey import ColumnFacts, ReadOptions, SheetName, Survey

__all__ = [
    "Cell",
    "ColumnFacts",
    "Problem",
    "ReadOptions",
    "SheetName",
    "SheetRow",
    "Survey",
    "decode",
    "encode",
    "normal_form",
    "read",
    "rows",
]


def rows(spool: Path | str, offset: int = 0) -> Iterator[tuple[int, SheetRow]]:
    """Yield `(next_offset, row)` of a spool that `read` wrote, from the byte `offset` on.

    Keep `next_offset` to go on there later.
    """
    with open(spool, "rb") as lines:
        lines.seek(offset)
        for line in lines:
            offset += len(line)
            yield offset, decode(line)
