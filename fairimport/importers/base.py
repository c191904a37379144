"""The class that a host writes: which columns, and what to do with one row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.apps import apps
from django.utils.functional import Promise

from fairimport.importers.columns import BoundColumn, Column
from fairimport.importers.outcomes import Outcome
from fairimport.importers.rows import Row

__all__ = ["Importer"]


class Importer:
    """Base of all importers; `save_row` is the one method that must be written.

    One instance lives as long as one slice of a run; `run` has `tenant`, `pk` and `options`.
    """

    title: ClassVar[str | Promise] = ""
    """What is imported, for people; default: the class's name."""
    description: ClassVar[str | Promise] = ""
    """One sentence for the upload page."""
    row_seconds: ClassVar[float | None] = None
    """A first guess of what a row costs, until runs have shown it."""
    Options: ClassVar[type[forms.Form] | None] = None
    """A form that is asked once, beside the mapping; its answers are in `run.options`."""
    columns: ClassVar[Mapping[str, Column]] = {}
    """Columns by name; those declared as attributes are added in the order of declaration."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Column)}
        listed = dict(vars(cls).get("columns", {}))
        inherited = {} if listed else next((dict(b.columns) for b in _bases(cls)), {})
        cls.columns = {**inherited, **listed, **own}
        for name, column in cls.columns.items():
            column.name = name

    @classmethod
    def get_name(cls) -> str:
        """The stable name that a run stores: `app_label.ClassName`."""
        config = apps.get_containing_app_config(cls.__module__)
        label = config.label if config else cls.__module__.partition(".")[0]
        return f"{label}.{cls.__name__}"

    @classmethod
    def get_title(cls) -> str:
        return str(cls.title or cls.__name__)

    @property
    def bulk(self) -> bool:
        """Whether this importer writes rows in bulk."""
        return type(self).save_rows is not Importer.save_rows

    def bound_columns(self, run: Any) -> list[BoundColumn]:
        """The columns for one run, in the order of declaration."""
        return [column.bind(run) for column in self.columns.values()]

    def before_run(self, run: Any) -> None:
        """Called once before the first row of a run."""

    def after_run(self, run: Any) -> None:
        """Called once after the last row of a run."""

    def prepare_row(self, row: Row, run: Any) -> None:
        """Slow work that writes nothing here (an HTTP call); called outside of transactions."""

    def check_row(self, row: Row, run: Any) -> None:
        """Look at a valid row and raise `Reject` or `Skip`; must not write."""

    def save_row(self, row: Row, run: Any) -> Outcome | None:
        """Do the row's work; None counts as created. May raise `Reject` or `Skip`."""
        raise TypeError(f"{type(self).__name__} must define save_row or save_rows")

    def save_rows(self, rows: Sequence[Row], run: Any) -> Sequence[Outcome | None]:
        """Do the work of several rows at once; the answer has one outcome for each, in their order.

        When it raises, its effects are undone and the rows are repeated one by one.
        """
        return [self.save_row(row, run) for row in rows]

    def existing(self, field: str, values: Collection[Any], run: Any) -> Collection[Any]:
        """Those of `values` that the tenant's records already have in this key or unique column."""
        return ()


def _bases(cls: type[Importer]) -> list[type[Importer]]:
    return [base for base in cls.__mro__[1:] if issubclass(base, Importer)]
