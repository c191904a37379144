"""An importer that writes one model: columns from its fields, rows found by key, bulk writing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar, Literal

from django import forms
from django.core.exceptions import ImproperlyConfigured
from django.db import models

from fairimport.importers.base import Importer
from fairimport.importers.columns import Column
from fairimport.importers.outcomes import Outcome
from fairimport.importers.rows import Row

__all__ = ["ModelImporter"]


class ModelImporter(Importer):
    """Creates records of `model`, or updates those that have the row's `key`, in bulk.

    Names in `fields` become columns with the model's form fields; a `Column` or `RefColumn`
    declared under the same name takes its place, and must for relations. Neither `Model.save` nor
    signals are called. Give the model a unique constraint over tenant and key: it is what keeps
    two imports at the same moment from creating a record twice.
    """

    model: ClassVar[type[models.Model]]
    fields: ClassVar[Sequence[str]] = ()
    key: ClassVar[str | Sequence[str]] = ()
    tenant_field: ClassVar[str | None] = "tenant"
    """The model's field for the tenant's key; None for a model that all tenants share."""
    blank: ClassVar[Literal["clear", "keep"]] = "clear"
    """What a blank cell does to an existing record's value. A missing column never changes it."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "model"):
            return
        _check(cls)
        made = {name: cls.columns.get(name) or _column(cls, name) for name in cls.fields}
        cls.columns = {**made, **{n: c for n, c in cls.columns.items() if n not in made}}
        for name, column in cls.columns.items():
            column.name = name
            column.key = column.key or name in cls.key_fields()

    @classmethod
    def key_fields(cls) -> tuple[str, ...]:
        """The names of the fields that make a row's identity within the tenant."""
        return (cls.key,) if isinstance(cls.key, str) else tuple(cls.key)

    @property
    def bulk(self) -> bool:
        cls = type(self)
        rewritten = cls.save_row is not ModelImporter.save_row
        return not rewritten or cls.save_rows is not ModelImporter.save_rows

    def scope(self, run: Any) -> dict[str, Any]:
        """Field values that every record of the run's tenant has, and new ones get."""
        return {self.tenant_field: run.tenant} if self.tenant_field else {}

    def queryset(self, run: Any) -> models.QuerySet[Any]:
        """The records that this run may see."""
        return self.model._default_manager.filter(**self.scope(run))

    def existing(self, field: str, values: Collection[Any], run: Any) -> Collection[Any]:
        found = self.queryset(run).filter(**{f"{field}__in": list(values)})
        return set(found.values_list(field, flat=True))

    def save_row(self, row: Row, run: Any) -> Outcome | None:
        return self.save_rows([row], run)[0]

    def save_rows(self, rows: Sequence[Row], run: Any) -> Sequence[Outcome | None]:
        records = self._records(rows, run)
        new: list[models.Model] = []
        changed: dict[int, models.Model] = {}
        names: set[str] = set()
        outcomes: list[Outcome | None] = []
        for row in rows:
            record = records.get(self._key(row))
            if record is None:
                record = self.model(**self.scope(run), **self._values(row, new=True))
                new.append(record)
                records[self._key(row)] = record
                outcomes.append(Outcome.CREATED)
            elif differing := self._change(record, row):
                names |= differing
                changed[id(record)] = record
                outcomes.append(Outcome.UPDATED)
            else:
                outcomes.append(Outcome.UNCHANGED)
        self._write(new, [r for r in changed.values() if r.pk is not None], names)
        return outcomes

    def _write(self, new: list[Any], changed: list[Any], names: set[str]) -> None:
        manager = self.model._default_manager
        manager.bulk_create(new)
        if changed:
            stamps = {
                field.name for field in self.model._meta.fields if getattr(field, "auto_now", False)
            }
            for record in changed:
                for name in stamps:
                    self.model._meta.get_field(name).pre_save(record, add=False)  # type: ignore[union-attr]
            manager.bulk_update(changed, sorted(names | stamps))

    def _key(self, row: Row) -> Any:
        """The row's identity; without a key every row is a new one."""
        names = self.key_fields()
        return tuple(_plain(row[name]) for name in names) if names else row.number

    def _records(self, rows: Sequence[Row], run: Any) -> dict[Any, models.Model]:
        """The records that have one of the rows' keys, by key."""
        names = self.key_fields()
        if not names:
            return {}
        first = {row[names[0]] for row in rows}
        found = self.queryset(run).filter(**{f"{names[0]}__in": first})
        attributes = [_attname(self.model, name) for name in names]
        return {tuple(getattr(record, a) for a in attributes): record for record in found}

    def _values(self, row: Row, *, new: bool) -> dict[str, Any]:
        """What the row says about the model's fields; blank cells as `blank` has it."""
        values = {}
        for name, value in row.given().items():
            if name not in self.fields:
                continue
            if value is not None:
                values[name] = value
            elif new or self.blank == "clear":
                values.update(_emptied(self.model, name))
        return values

    def _change(self, record: models.Model, row: Row) -> set[str]:
        """Set what the row says; return the names of fields that differ from it."""
        differing = set()
        for name, value in self._values(row, new=False).items():
            if getattr(record, _attname(self.model, name)) != _plain(value):
                setattr(record, name, value)
                differing.add(name)
        return differing


def _check(cls: type[ModelImporter]) -> None:
    known = {field.name for field in cls.model._meta.get_fields()}
    named = [*cls.fields, *cls.key_fields(), *([cls.tenant_field] if cls.tenant_field else [])]
    if unknown := [name for name in named if name not in known]:
        raise ImproperlyConfigured(f"{cls.__name__}: no field {', '.join(unknown)} in the model")
    if cls.tenant_field in cls.fields:
        raise ImproperlyConfigured(f"{cls.__name__}: a file must not say whose its rows are")
    if strangers := set(cls.key_fields()) - set(cls.fields):
        raise ImproperlyConfigured(f"{cls.__name__}: {', '.join(strangers)} must be in fields")


def _column(cls: type[ModelImporter], name: str) -> Column:
    """A column with the form field of a model field, and with the model field's validators."""
    model_field = cls.model._meta.get_field(name)
    if not isinstance(model_field, models.Field) or model_field.is_relation:
        raise ImproperlyConfigured(f"{cls.__name__}: declare a RefColumn for {name}")
    field: forms.Field | None = model_field.formfield()
    if field is None:
        raise ImproperlyConfigured(f"{cls.__name__}: {name} cannot be imported")
    field.validators += _more_validators(model_field.validators, field.validators)
    optional = model_field.has_default() or not field.required
    field.required = name in cls.key_fields() or not optional
    return Column(field)


def _more_validators(given: Iterable[Any], known: Sequence[Any]) -> list[Any]:
    return [validator for validator in given if validator not in known]


def _emptied(model: type[models.Model], name: str) -> dict[str, Any]:
    """The value of a field whose cell is blank, or nothing when only the default will do."""
    field = model._meta.get_field(name)
    assert isinstance(field, models.Field)  # noqa: S101  (relations back are no fields of a file)
    if field.null:
        return {name: None}
    if field.has_default():
        return {name: field.get_default()}
    return {name: ""} if field.empty_strings_allowed else {}


def _attname(model: type[models.Model], name: str) -> str:
    return str(getattr(model._meta.get_field(name), "attname", name))


def _plain(value: Any) -> Any:
    return value.pk if isinstance(value, models.Model) else value
