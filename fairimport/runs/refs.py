"""Names in cells made records of the tenant."""

from __future__ import annotations

import unicodedata
from functools import cached_property
from typing import Any

from fairimport.importers import RefColumn
from fairimport.sheets.cells import trimmed
from fairimport.sheets.headers import normal_form
from fairimport.sheets.values import CellRejected

__all__ = ["RefIndex"]

_SEVERAL = object()


class RefIndex:
    """The records that one reference column may mean, read when the first name is looked up."""

    def __init__(self, column: RefColumn, run: Any) -> None:
        self._column = column
        self._run = run

    def find(self, name: str) -> Any:
        """The record of this name; raises `CellRejected` when there is none or are several."""
        exact, folded = self._records
        record = exact.get(name) or folded.get(normal_form(name))
        if record is None:
            raise CellRejected("unknown_reference", name)
        if record is _SEVERAL:
            raise CellRejected("ambiguous_reference", name)
        return record

    def name_of(self, record: Any) -> str:
        """How a cell names this record."""
        value = record
        for attribute in self._column.lookup.split("__"):
            value = getattr(value, attribute)
        return str(value)

    @cached_property
    def _records(self) -> tuple[dict[str, Any], dict[str, Any]]:
        exact: dict[str, Any] = {}
        folded: dict[str, Any] = {}
        for record in self._column.queryset(self._run).iterator():
            name = self.name_of(record)
            for index, key in ((exact, _composed(name)), (folded, normal_form(name))):
                index[key] = _SEVERAL if key in index else record
        return exact, folded


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", trimmed(name))
