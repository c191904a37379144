"""What one pass over a file found out; everything that later choices need, so no second pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from fairimport.sheets.cells import printable

__all__ = ["ColumnFacts", "DateEvidence", "DecimalEvidence", "ReadOptions", "SheetName", "Survey"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What the customer chose about reading; `headers` are the names that the importer knows.

    `headers` (labels, field names, aliases; any form) help to find the header row and the sheet.
    """

    sheet: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    header_row: int | None = None
    fill_merged: bool = False
    skip_hidden: bool = False
    headers: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Take the reader's options out of a run's options; others are ignored."""
        known = {f.name for f in fields(cls)}
        chosen = {k: v for k, v in data.items() if k in known and v is not None}
        if "headers" in chosen:
            chosen["headers"] = tuple(chosen["headers"])
        return cls(**chosen)

    def to_json(self) -> dict[str, Any]:
        """Return the options that differ from nothing chosen."""
        return {k: v for k, v in asdict(self).items() if v}


@dataclass(frozen=True, slots=True, kw_only=True)
class DateEvidence:
    """How many date-like texts of a column fit which order of day, month and year.

    `dmy`: only day first fits (26/06/2026); `mdy`: only month first; `either`: both, and they
    mean different days; `same`: both, and they mean the same day (03/03/2026); `ymd`: year first.
    `first_dmy` and `first_mdy` are the first rows that settle it.
    """

    dmy: int = 0
    mdy: int = 0
    ymd: int = 0
    either: int = 0
    same: int = 0
    first_dmy: int | None = None
    first_mdy: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalEvidence:
    """How many number-like texts of a column use which decimal mark.

    `either` counts one mark with three digits after it (1,234 or 1.234).
    """

    comma: int = 0
    point: int = 0
    either: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnFacts:
    """One column of the chosen sheet, over all rows below the header.

    `header` is the text in the file ("" when blank), `label` how pages name it ("Column B",
    "Phone (2)"), `match` its normal form (`assume.header_match`).
    `kinds` counts cells: text, integer, decimal, long_number, bool, date, datetime, time,
    duration, error, formula. `serials` counts plain numbers that a date column would read as
    days (1 to 2958465); `error_texts` counts texts such as "#N/A"; `samples` are a few different
    values as shown.
    """

    position: int
    letter: str
    header: str
    label: str
    match: str
    hidden: bool = False
    kinds: dict[str, int] = field(default_factory=dict)
    dates: DateEvidence = DateEvidence()
    decimals: DecimalEvidence = DecimalEvidence()
    serials: int = 0
    error_texts: int = 0
    longest: int = 0
    samples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetName:
    """A sheet of a workbook. `rows` counts rows below its header; None when it was not counted.

    `kind` is `worksheet` or what else it is (`chartsheet`); `header_row` is None when it is empty.
    """

    name: str
    visible: bool = True
    kind: str = "worksheet"
    rows: int | None = None
    header_row: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What is known about a file after reading it once; stored as JSON with the run.

    `format` is xlsx, xls, xlsb, ods, csv or text. `warnings` are `code` or `code:argument`;
    `needs` are the questions that only concern the file: `sheet`, `encoding`. `sample` holds the
    first rows as shown, each `[number, text, ...]`. `encodings` are those that fit best first;
    `bad_line` is the first line that is not UTF-8.
    """

    format: str
    sheets: tuple[SheetName, ...] = ()
    sheet: str | None = None
    header_row: int | None = None
    columns: tuple[ColumnFacts, ...] = ()
    row_count: int = 0
    sample: tuple[tuple[Any, ...], ...] = ()
    warnings: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    encoding: str | None = None
    encodings: tuple[str, ...] = ()
    bad_line: int | None = None
    delimiter: str | None = None
    date1904: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON that every database can hold (no NUL, no lone surrogates)."""
        plain = _plain(asdict(self))
        assert isinstance(plain, dict)  # noqa: S101  (for the type checker)
        return plain

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the survey that `to_json` wrote."""
        given = dict(data)
        given["sheets"] = tuple(SheetName(**s) for s in given.get("sheets", ()))
        given["columns"] = tuple(_column(c) for c in given.get("columns", ()))
        given["sample"] = tuple(tuple(row) for row in given.get("sample", ()))
        for name in ("warnings", "needs", "encodings"):
            given[name] = tuple(given.get(name, ()))
        return cls(**given)

    def column(self, position: int) -> ColumnFacts | None:
        """Return the column at the 1-based `position`, or None when the sheet has none there."""
        return next((c for c in self.columns if c.position == position), None)


def _column(data: Mapping[str, Any]) -> ColumnFacts:
    given = dict(data)
    given["dates"] = DateEvidence(**given["dates"])
    given["decimals"] = DecimalEvidence(**given["decimals"])
    given["samples"] = tuple(given["samples"])
    return ColumnFacts(**given)


def _plain(value: Any) -> Any:
    match value:
        case str():
            return printable(value)
        case dict():
            return {k: _plain(v) for k, v in value.items()}
        case list() | tuple():
            return [_plain(v) for v in value]
    return value
