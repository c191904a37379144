"""The values that a sheet can hold, and their compact JSON form for spool files and chunks.

A cell is `None` (blank), `str`, `bool`, `int`, `float`, or one of the frozen classes below.
Text is raw: neither trimmed nor normalised, but line ends inside it are always `\\n`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = [
    "TRIM",
    "Cell",
    "CellError",
    "Formula",
    "Moment",
    "Number",
    "Problem",
    "SheetRow",
    "decode",
    "encode",
    "is_blank",
    "letter",
    "printable",
    "raw",
    "trimmed",
]


@dataclass(frozen=True, slots=True)
class Number:
    """A number whose digits matter: from 1E15 on, not finite, or shown with leading zeros.

    `raw` is the text in the file; `shown` is what a person sees when the cell's number format
    pads with zeros ("00421"), else empty.
    """

    raw: str
    shown: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """A cell that its number format (or type) shows as a date, time or duration.

    `kind` is `date`, `datetime`, `time` or `duration`. `iso` is `2024-02-29T00:00:00` for the
    first two, `08:30:00` for a time below one day, `26:15:00` (hours may pass 24, a minus may
    lead) for a duration; empty when the calendar has no such day. `raw` is the serial number or
    ISO text in the file.
    """

    kind: str
    iso: str
    raw: str


@dataclass(frozen=True, slots=True)
class CellError:
    """An error value of the sheet, such as `#N/A`."""

    text: str


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula (`=5*5`) of which the file holds no result."""

    text: str


Cell: TypeAlias = str | bool | int | float | Number | Moment | CellError | Formula | None


@dataclass(frozen=True, slots=True)
class Problem:
    """What the reader found wrong in a row: a row error code, the text to show, where.

    `position` is the column (1-based), or None when the whole row is meant.
    """

    code: str
    raw: str
    position: int | None = None


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row that is not blank.

    `number` is what a person sees: the sheet's row, or the physical line on which a record of a
    text file starts. `cells[i]` is column `i + 1`; a row may be shorter than the sheet is wide.
    """

    number: int
    cells: tuple[Cell, ...]
    problems: tuple[Problem, ...] = ()

    def cell(self, position: int) -> Cell:
        """Return the cell of the 1-based column `position`; blank beyond the row's end."""
        return self.cells[position - 1] if position <= len(self.cells) else None


def _tagged(value: object) -> dict[str, Any]:
    match value:
        case Number(raw=raw, shown=shown):
            return {"n": [raw, shown] if shown else [raw]}
        case Moment(kind=kind, iso=iso, raw=raw):
            return {"m": [kind, iso, raw]}
        case CellError(text=text):
            return {"e": text}
        case Formula(text=text):
            return {"f": text}
    raise TypeError(f"not a cell: {type(value).__name__}")


def _untagged(tagged: dict[str, Any]) -> Any:
    ((tag, value),) = tagged.items()
    match tag:
        case "n":
            return Number(*value)
        case "m":
            return Moment(*value)
        case "e":
            return CellError(value)
        case "f":
            return Formula(value)
    raise ValueError(f"unknown cell tag {tag!r}")


_dumps = json.JSONEncoder(
    default=_tagged,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
).encode
_loads = json.JSONDecoder(object_hook=_untagged).decode


def encode(row: SheetRow) -> bytes:
    """Return the row as one line of JSON without its newline: `[number, cells, problems?]`."""
    parts: list[Any] = [row.number, row.cells]
    if row.problems:
        parts.append([[p.code, p.raw, p.position] for p in row.problems])
    return _dumps(parts).encode("utf-8", "surrogatepass")


def decode(line: bytes) -> SheetRow:
    """Return the row that `encode` wrote."""
    number, cells, *rest = _loads(line.decode("utf-8", "surrogatepass"))
    problems = tuple(Problem(*p) for p in rest[0]) if rest else ()
    return SheetRow(number, tuple(cells), problems)


def raw(cell: Cell) -> str:
    """Return the text of a cell as the file or its reader sees it, for messages and samples."""
    match cell:
        case None:
            return ""
        case str():
            return cell
        case bool():
            return "TRUE" if cell else "FALSE"
        case float():
            return str(int(cell)) if cell.is_integer() else repr(cell)
        case int():
            return str(cell)
        case Number():
            return cell.shown or cell.raw
        case Moment():
            return _moment_text(cell)
        case CellError() | Formula():
            return cell.text


def _moment_text(cell: Moment) -> str:
    if not cell.iso:
        return cell.raw
    if cell.kind == "date":
        return cell.iso.removesuffix("T00:00:00").replace("T", " ")
    return cell.iso.replace("T", " ")


def printable(text: str) -> str:
    """Return text that any database and page can hold: no NUL, no lone surrogates."""
    return text.replace("\0", "\u2400").encode("utf-8", "replace").decode("utf-8")


def letter(position: int) -> str:
    """Return the letters of the 1-based column `position`: 1 is A, 27 is AA."""
    letters = ""
    while position > 0:
        position, rest = divmod(position - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def is_blank(cells: Iterable[Cell]) -> bool:
    """Tell whether a row holds nothing that a person could see."""
    for cell in cells:
        if cell is not None and (not isinstance(cell, str) or trimmed(cell)):
            return False
    return True


# Blanks and marks that `assume.trim` takes off both ends of text: ASCII blanks, NBSP, zero-width
# and bidirectional marks, and the byte order mark.
TRIM = (
    " \t\n\r\x0b\x0c\u00a0\u200b\u200c\u200d\u2060\ufeff"
    "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


def trimmed(text: str) -> str:
    """Return text without blanks and invisible marks at both ends."""
    return text.strip(TRIM)
