"""A file's columns bound to an importer's: what is asked, what is missing, and rows made typed.

Nothing in here writes to the database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairimport.importers import BoundColumn, Importer, Row
from fairimport.runs.cleaning import Reason, Rejected, RowCleaner
from fairimport.runs.duplicates import DuplicateFinder
from fairimport.runs.mapping import ambiguous_positions, guess, header_names, suggest
from fairimport.runs.orders import MIXED, mark_of, order_of
from fairimport.sheets import SheetRow, Survey
from fairimport.sheets.cells import Cell
from fairimport.sheets.own_files import own_columns
from fairimport.sheets.values import Spec

__all__ = [
    "Binding",
    "DuplicateFinder",
    "Reason",
    "Rejected",
    "Row",
    "bind",
    "guess",
    "header_names",
    "suggest",
]

_DATES = ("date", "datetime")


class Binding:
    """An importer, a survey, a mapping and options: turns sheet rows into rows or rejections.

    Made once for a slice; reads the tenant's records once at most. Messages are in the language
    that is active while it cleans.
    """

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

    def __init__(
        self,
        importer: Importer,
        survey: Survey,
        mapping: Mapping[str, int],
        options: Mapping[str, Any],
        run: Any,
        *,
        confirmed: bool = False,
    ) -> None:
        self.importer = importer
        self.columns = importer.bound_columns(run)
        known = {column.name for column in self.columns}
        seen = _seen_positions(survey, options)
        self.mapping = {f: p for f, p in mapping.items() if f in known and p in seen}
        self.missing = [c for c in self.columns if c.required and c.name not in self.mapping]
        taken = {*self.mapping.values(), *_our_positions(survey)}
        self.unmapped = [c.position for c in survey.columns if c.position not in taken]
        self._survey, self._options = survey, options
        self._orders = dict(self._date_orders())
        self.needs = self._open_questions(run, confirmed)
        self.warnings = self._noticed()
        self._cleaner = RowCleaner(
            importer,
            survey,
            self.mapping,
            [(column, self._spec(column)) for column in self.columns],
            options,
            run,
        )

    def clean(self, row: SheetRow) -> Row | Rejected:
        """The typed row, or all reasons why not; `clean_all` is faster for many."""
        return self._cleaner.clean_all([row])[0]

    def clean_all(self, rows: Sequence[SheetRow]) -> list[Row | Rejected]:
        """As `clean` for each; existing records are looked up once for all of them."""
        return self._cleaner.clean_all(rows)

    def keys(self, row: SheetRow) -> dict[str, Any]:
        """The values that may occur once in a file: those of unique columns by their name, and
        under the first key column's name the value (of several: all values) of the key."""
        return self._cleaner.keys(row)

    def as_text(self, position: int, cell: Cell) -> str:
        """A cell of this column as text that the run's options read back alike; for csv files."""
        return self._cleaner.as_text(position, cell)

    def stated(self, row: Row) -> list[list[str] | None]:
        """The row's values as `[kind, text]` in the order of the columns, None for blanks."""
        return self._cleaner.stated(row)

    def _date_orders(self) -> Iterable[tuple[str, str | None]]:
        for column in self.columns:
            facts = self._survey.column(self.mapping.get(column.name, 0))
            if column.kind in _DATES and facts:
                yield column.name, order_of(facts.dates)

    def _spec(self, column: BoundColumn) -> Spec:
        facts = self._survey.column(self.mapping.get(column.name, 0))
        chosen = str(self._options.get("date_order") or "")
        settled = mark_of(facts.decimals) if facts and not self._options.get("decimal") else ""
        return Spec(
            kind=column.kind,
            decimal_places=getattr(column.field, "decimal_places", None),
            decimal=settled,
            date_order=chosen or self._orders.get(column.name) or "",
        )

    def _open_questions(self, run: Any, confirmed: bool) -> list[str]:
        if self._survey.needs:
            return list(self._survey.needs)
        needs = []
        if not confirmed and self._mapping_is_doubtful(run):
            needs.append("column_mapping")
        if None in self._orders.values() and not self._options.get("date_order"):
            needs.append("date_order")
        return needs

    def _mapping_is_doubtful(self, run: Any) -> bool:
        if ambiguous_positions(self._survey) & set(self.mapping.values()):
            return True
        similar = suggest(self.importer, self._survey, self.mapping, run)
        return any(column.name in similar for column in self.missing)

    def _noticed(self) -> list[str]:
        if self._survey.needs:  # what is noticed depends on the answer
            return []
        skipped = "hidden_columns" if self._options.get("skip_hidden") else None
        found = [w for w in self._survey.warnings if w.partition(":")[0] != skipped]
        mapped = [
            (column.kind, facts)
            for column in self.columns
            if (facts := self._survey.column(self.mapping.get(column.name, 0)))
        ]
        if not self._options.get("date_order"):
            found += [f"date_order_from_column:{order}" for order in self._settled()]
        if serials := sum(facts.serials for kind, facts in mapped if kind in _DATES):
            found.append(f"serial_number_read_as_date:{serials}")
        if texts := sum(facts.error_texts for kind, facts in mapped if kind == "text"):
            found.append(f"text_looks_like_cell_error:{texts}")
        return found

    def _settled(self) -> list[str]:
        """The orders that columns settled for dates that alone could be read in two ways."""
        settled = []
        for name, order in self._orders.items():
            facts = self._survey.column(self.mapping[name])
            if order and order != MIXED and facts and facts.dates.either:
                settled.append(order)
        return list(dict.fromkeys(settled))


def _seen_positions(survey: Survey, options: Mapping[str, Any]) -> set[int]:
    """All columns, but hidden ones when the customer leaves hidden things out."""
    skipped = bool(options.get("skip_hidden"))
    return {column.position for column in survey.columns if not (skipped and column.hidden)}


def _our_positions(survey: Survey) -> tuple[int, ...]:
    ours = own_columns(survey)
    return (ours.number, ours.reasons) if ours else ()


def bind(
    importer: Importer,
    survey: Survey,
    mapping: Mapping[str, int],
    options: Mapping[str, Any],
    run: Any,
    *,
    confirmed: bool = False,
) -> Binding:
    """Bind the columns of a file to those of an importer; reads no row.

    `confirmed` says that a person has seen the mapping, so that `column_mapping` is not asked.
    """
    return Binding(importer, survey, mapping, options, run, confirmed=confirmed)
