"""Rows of a sheet made typed rows of an importer, or refused with every reason there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError

from fairimport.importers import BoundColumn, Importer, RefColumn, Row
from fairimport.runs.mapped import MappedColumn
from fairimport.runs.reasons import (
    Reason,
    Rejected,
    invalid,
    of_row,
    reason,
    refused,
)
from fairimport.runs.refs import RefIndex
from fairimport.sheets import Problem, SheetRow, Survey
from fairimport.sheets.cells import Cell
from fairimport.sheets.own_files import own_columns
from fairimport.sheets.portable import as_text
from fairimport.sheets.values import CellRejected, Spec, ValueOptions, convert, typed

__all__ = ["Reason", "Rejected", "RowCleaner"]


class RowCleaner:
    """Cleans the rows of one slice; fields are shared by all of them, records looked up once."""

    def __init__(
        self,
        importer: Importer,
        survey: Survey,
        mapping: Mapping[str, int],
        columns: Sequence[tuple[BoundColumn, Spec]],
        options: Mapping[str, Any],
        run: Any,
    ) -> None:
        self._importer = importer
        self._run = run
        self._options = options
        self._values = ValueOptions.from_json(options, date1904=survey.date1904)
        self._names = [bound.name for bound, _spec in columns]
        self._missing = frozenset(self._names) - set(mapping)
        self._columns = [
            self._column(survey, mapping[bound.name], bound, spec)
            for bound, spec in columns
            if bound.name in mapping
        ]
        self._by_position = {column.position: column for column in self._columns}
        self._ours = own_columns(survey)
        self._key = [c for c in self._columns if c.bound.column.key]
        self._unique = [c for c in self._columns if c.bound.column.unique]

    def _column(
        self, survey: Survey, position: int, bound: BoundColumn, spec: Spec
    ) -> MappedColumn:
        facts = survey.column(position)
        refs = RefIndex(bound.column, self._run) if isinstance(bound.column, RefColumn) else None
        header = facts.label if facts else bound.label
        return MappedColumn.of(bound, position, header, spec, refs, self._options)

    def clean_all(self, rows: Sequence[SheetRow]) -> list[Row | Rejected]:
        """Clean each row; ask once for all of them which unique values exist."""
        cleaned = [self._clean(row) for row in rows]
        for column in self._unique:
            self._refuse_existing(column, cleaned)
        return [self._result(row, *result) for row, result in zip(rows, cleaned, strict=True)]

    def _result(
        self, row: SheetRow, values: dict[str, Any], reasons: list[Reason]
    ) -> Row | Rejected:
        if reasons:
            return Rejected(row.number, tuple(reasons))
        key = f"{getattr(self._run, 'pk', None)}:{row.number}"
        return Row(values, number=row.number, key=key, missing=self._missing)

    def _theirs(self, row: SheetRow) -> SheetRow:
        """The row as the customer wrote it, when the file is one of failed rows that we made."""
        return self._ours.restored(row) if self._ours else row

    def _clean(self, row: SheetRow) -> tuple[dict[str, Any], list[Reason]]:
        row = self._theirs(row)
        values: dict[str, Any] = dict.fromkeys(self._names)
        reasons = [self._problem(problem) for problem in row.problems if self._concerns(problem)]
        blamed = {found.field for found in reasons}
        for column in self._columns:
            if column.bound.name in blamed:
                continue
            cell = row.cell(column.position)
            try:
                values[column.bound.name] = self._value(column, cell)
            except CellRejected as refusal:
                reasons.append(refused(column, refusal))
            except ValidationError as error:
                reasons.extend(invalid(column, cell, error))
        if blamed:
            reasons.sort(key=self._place)
        return values, reasons

    def _place(self, found: Reason) -> int:
        """Reasons about the whole row come first, then those of one column after another."""
        return self._names.index(found.field) if found.field else -1

    def _problem(self, problem: Problem) -> Reason:
        code, _colon, argument = problem.code.partition(":")
        if problem.position is None:
            return of_row(code, problem.raw)
        return reason(self._by_position[problem.position], code, problem.raw, {"first": argument})

    def _value(self, column: MappedColumn, cell: Cell) -> Any:
        value = convert(cell, column.spec, self._values)
        if value is None:
            if column.bound.required:
                raise CellRejected("required", "")
            return None
        if column.refs is not None:
            return column.refs.find(value)
        value = column.field.clean(column.chosen(value))
        return None if value == "" else value

    def _concerns(self, problem: Problem) -> bool:
        return problem.position is None or problem.position in self._by_position

    def _refuse_existing(
        self, column: MappedColumn, cleaned: list[tuple[dict[str, Any], list[Reason]]]
    ) -> None:
        name = column.bound.name
        values = {v[name] for v, _reasons in cleaned if v[name] is not None}
        existing = set(self._importer.existing(name, values, self._run)) if values else set()
        for value, reasons in ((v[name], r) for v, r in cleaned if existing):
            if value is not None and value in existing:
                reasons.append(reason(column, "already_exists", self._text(column, value), {}))

    def keys(self, row: SheetRow) -> dict[str, Any]:
        """The values that may occur once in a file, by field; see `Binding.keys`."""
        row = self._theirs(row)
        found = {c.bound.name: self._key_value(c, row) for c in self._unique}
        if self._key:
            parts = [self._key_value(column, row) for column in self._key]
            found[self._key[0].bound.name] = parts[0] if len(parts) == 1 else tuple(parts)
        return {
            name: value
            for name, value in found.items()
            if value is not None and value != (None,) * len(self._key)
        }

    def _key_value(self, column: MappedColumn, row: SheetRow) -> Any:
        try:
            value = self._value(column, row.cell(column.position))
        except (CellRejected, ValidationError):
            return None
        return getattr(value, "pk", value) if column.refs else value

    def _text(self, column: MappedColumn, value: Any) -> str:
        return column.refs.name_of(value) if column.refs else str(value)

    def as_text(self, position: int, cell: Cell) -> str:
        """The cell of this column as a csv file of failed rows holds it."""
        column = self._by_position.get(position)
        return as_text(cell, column.spec if column else None, self._values)

    def stated(self, row: Row) -> list[list[str] | None]:
        """The row's values as `[kind, text]` in the order of the importer's columns."""
        kinds = {column.bound.name: column for column in self._columns}
        return [self._stated(kinds.get(name), row[name]) for name in self._names]

    def _stated(self, column: MappedColumn | None, value: Any) -> list[str] | None:
        if column is None or value is None:
            return None
        return typed(self._text(column, value) if column.refs else value, column.spec.kind)
