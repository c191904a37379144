"""What a host declares about the columns of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ImproperlyConfigured
from django.db.models import QuerySet
from django.forms.utils import pretty_name

__all__ = ["BoundColumn", "Column", "RefColumn", "columns_from_form", "kind_of"]

#: Kinds by the form field's class; the first that fits wins, anything else is text.
KINDS: tuple[tuple[type[forms.Field], str], ...] = (
    (forms.BooleanField, "bool"),
    (forms.DateTimeField, "datetime"),
    (forms.DateField, "date"),
    (forms.TimeField, "time"),
    (forms.DurationField, "duration"),
    (forms.DecimalField, "decimal"),
    (forms.FloatField, "decimal"),
    (forms.IntegerField, "int"),
)


def kind_of(field: forms.Field) -> str:
    """The kind of value that this field takes; `ref` is only what a `RefColumn` is."""
    return next((kind for cls, kind in KINDS if isinstance(field, cls)), "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundColumn:
    """A column as one run sees it, with its field made."""

    name: str
    label: str
    kind: str
    required: bool
    field: forms.Field
    column: Column

    @property
    def help_text(self) -> str:
        return str(self.field.help_text)


class Column:
    """A column of the file and the form field that validates its cells.

    `field` may be a `callable(run)` that makes the field. `header` is how the file names it
    (default: the field's label), `aliases` are other names. `position` (from 1) says which column
    it is where headers are equal or blank. `key` is the row's identity within the tenant (several
    make one key); `unique` refuses records that exist. `sensitive` keeps the values out of pages
    and samples.
    """

    def __init__(
        self,
        field: forms.Field | Callable[[Any], forms.Field],
        *,
        header: str = "",
        aliases: Sequence[str] = (),
        position: int | None = None,
        example: str = "",
        key: bool = False,
        unique: bool = False,
        sensitive: bool = False,
    ) -> None:
        if isinstance(field, forms.ModelChoiceField):
            raise ImproperlyConfigured("use RefColumn for references to records")
        self.name = ""
        self.field = field
        self.header = header
        self.aliases = tuple(aliases)
        self.position = position
        self.example = example
        self.key = key
        self.unique = unique
        self.sensitive = sensitive

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = self.name or name

    def bind(self, run: Any) -> BoundColumn:
        """This column for one run; fields are made once for a run and clean cell after cell."""
        field = self.field if isinstance(self.field, forms.Field) else self.field(run)
        return BoundColumn(
            name=self.name,
            label=str(self.header or field.label or pretty_name(self.name)),
            kind=self._kind(field),
            required=field.required,
            field=field,
            column=self,
        )

    def _kind(self, field: forms.Field) -> str:
        return kind_of(field)


class RefColumn(Column):
    """A column that names a record by the value of its `lookup` field.

    `queryset(run)` must stay inside the run's tenant; it is read once for a slice.
    Case and blanks around the name do not matter; an exact match wins over others.
    """

    def __init__(
        self,
        queryset: Callable[[Any], QuerySet[Any]],
        *,
        lookup: str,
        required: bool = True,
        label: str | None = None,
        help_text: str = "",
        **kwargs: Any,
    ) -> None:
        super().__init__(forms.Field(required=required, label=label, help_text=help_text), **kwargs)
        self.queryset = queryset
        self.lookup = lookup

    def _kind(self, field: forms.Field) -> str:
        return "ref"


def columns_from_form(
    form: type[forms.Form | forms.ModelForm[Any]], **options: dict[str, Any]
) -> dict[str, Column]:
    """A column for each field of a form; `options` give further arguments of `Column` by field.

    Fields that refer to records are refused: only a `RefColumn` knows the tenant.
    """
    fields: dict[str, forms.Field] = form.base_fields
    unknown = set(options) - set(fields)
    if unknown:
        raise ImproperlyConfigured(f"{form.__name__} has no field {', '.join(sorted(unknown))}")
    return {name: Column(field, **options.get(name, {})) for name, field in fields.items()}
