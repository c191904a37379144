"""A file's columns bound to an importer's: what is asked, what is missing, and rows made typed.

Nothing in here writes to the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairimport.importers import BoundColumn, Importer, Row

if TYPE_CHECKING:
    from fairimport.sheets import SheetRow, Survey

__all__ = ["Binding", "DuplicateFinder", "Reason", "Rejected", "Row", "bind", "guess", "suggest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a row is refused: `field` is None when the whole row is meant.

    `column` is the file's header, `code` is stable, `raw` is what the cell shows, `message` is for
    people and in the active language.
    """

    field: str | None
    column: str
    code: str
    raw: str
    message: str

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that is refused, with every reason there is."""

    number: int
    reasons: tuple[Reason, ...]


class Binding:
    """An importer, a survey, a mapping and options: turns sheet rows into rows or rejections."""

    importer: Importer
    columns: Sequence[BoundColumn]
    mapping: Mapping[str, int]
    """Field name -> column position from 1."""
    missing: Sequence[BoundColumn]
    """Required columns that are not mapped; the run cannot start (file error `missing_column`)."""
    needs: Sequence[str]
    """Open questions: sheet, encoding, column_mapping, date_order."""
    warnings: Sequence[str]
    """The survey's warnings and those that depend on the mapping, as `code` or `code:argument`."""
    unmapped: Sequence[int]
    """Positions of columns of the file that nothing is mapped to."""

    def clean(self, row: SheetRow) -> Row | Rejected:
        """The typed row, or all reasons why not; `clean_all` is faster for many."""
        ...

    def clean_all(self, rows: Sequence[SheetRow]) -> list[Row | Rejected]:
        """As `clean` for each; existing records are looked up once for all of them."""
        ...

    def keys(self, row: SheetRow) -> dict[str, Any]:
        """The values that may occur once in a file, by field name; keys of several columns as one."""
        ...


class DuplicateFinder:
    """Marks rows whose key or unique value stands in an earlier row of the same file.

    Feed it all rows of a file in order (while splitting); `clean` then reports the marks.
    """

    def __init__(self, binding: Binding) -> None: ...

    def mark(self, row: SheetRow) -> SheetRow:
        """The row itself, or the row with a `duplicate_in_file` error that names the first."""
        ...


def guess(
    importer: Importer, survey: Survey, remembered: Mapping[str, str] | None = None
) -> dict[str, int]:
    """The mapping (field -> position from 1) that headers, aliases and positions tell.

    `remembered` is what this tenant chose last time: field -> header.
    """
    ...


def suggest(importer: Importer, survey: Survey) -> dict[str, list[int]]:
    """For fields that `guess` leaves open: positions with a similar header, best first."""
    ...


def bind(
    importer: Importer,
    survey: Survey,
    mapping: Mapping[str, int],
    options: Mapping[str, Any],
    run: Any,
) -> Binding:
    """Bind the columns of a file to those of an importer; reads no row."""
    ...
