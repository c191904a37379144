"""A column of the importer at its place in the file, with all that its cells need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from dataclasses import field as default
from typing import Any

from django import forms

from fairimport.importers import BoundColumn
from fairimport.runs.messages import example
from fairimport.runs.refs import RefIndex
from fairimport.sheets import normal_form
from fairimport.sheets.values import Spec

__all__ = ["MappedColumn"]


@dataclass(frozen=True, slots=True)
class MappedColumn:
    """What turns the cells of one column into values, made once for a slice."""

    bound: BoundColumn
    position: int
    header: str
    spec: Spec
    refs: RefIndex | None
    example: str
    field: forms.Field
    """The form field, for which blanks are no question any more."""
    choices: Mapping[str, Any] = default(default_factory=dict)
    """The value of each choice, by the normal form of its label or value."""

    @classmethod
    def of(
        cls,
        bound: BoundColumn,
        position: int,
        header: str,
        spec: Spec,
        refs: RefIndex | None,
        options: Mapping[str, Any],
    ) -> MappedColumn:
        """The column with an example of its own, or one that the run's options read."""
        form_field = copy(bound.field)
        if spec.kind == "bool":
            form_field.required = False  # a required tick box would refuse an explicit no
        given = {**options, "decimal": spec.decimal or options.get("decimal")}
        shown = bound.column.example or example(spec.kind, given)
        choices = _choices(getattr(form_field, "choices", ())) if spec.kind == "text" else {}
        return cls(bound, position, header, spec, refs, shown, form_field, choices)

    def chosen(self, value: Any) -> Any:
        """The value that a choice stands for when the cell names it by its label."""
        return self.choices.get(normal_form(value), value) if self.choices else value


def _choices(choices: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """Choices by label, then by value, so that values win; two of one label mean neither."""
    flat = list(_flat(choices))
    labels = [normal_form(str(label)) for _value, label in flat]
    found = {
        name: value
        for name, (value, _label) in zip(labels, flat, strict=True)
        if labels.count(name) == 1
    }
    return found | {normal_form(str(value)): value for value, _label in flat}


def _flat(choices: Iterable[tuple[Any, Any]]) -> Iterable[tuple[Any, Any]]:
    for value, label in choices:
        if isinstance(label, list | tuple):
            yield from label
        else:
            yield value, label
