"""An importer for a file that none was declared for: its columns are those of the file."""

from __future__ import annotations

from collections.abc import Iterable

from django import forms

from fairimport.importers import Column, Importer
from fairimport.sheets import ColumnFacts, Survey

__all__ = ["inferred"]

#: Kinds of cells that make a column one of this field; texts among them make it text.
_FIELDS: tuple[tuple[frozenset[str], type[forms.Field]], ...] = (
    (frozenset({"integer"}), forms.IntegerField),
    (frozenset({"integer", "decimal"}), forms.DecimalField),
    (frozenset({"bool"}), forms.BooleanField),
    (frozenset({"date"}), forms.DateField),
    (frozenset({"date", "datetime"}), forms.DateTimeField),
    (frozenset({"time"}), forms.TimeField),
    (frozenset({"time", "duration"}), forms.DurationField),
)
#: Cells that have no value, whatever the column is.
_VALUELESS = frozenset({"error", "formula"})


def inferred(survey: Survey) -> Importer:
    """An importer with an optional column for each one of the file, by position."""
    columns = {facts.label: _column(facts) for facts in survey.columns}
    made: type[Importer] = type("Inferred", (Importer,), {"columns": columns})
    return made()


def _column(facts: ColumnFacts) -> Column:
    field = _field(facts.kinds.keys())(required=False, label=facts.label)
    return Column(field, position=facts.position)


def _field(kinds: Iterable[str]) -> type[forms.Field]:
    found = frozenset(kinds) - _VALUELESS
    if not found:
        return forms.CharField
    return next((field for known, field in _FIELDS if found <= known), forms.CharField)
