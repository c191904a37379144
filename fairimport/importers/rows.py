"""The row that an importer gets: typed values under the names of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Row"]


class Row(Mapping[str, Any]):
    """One row of a file: a mapping of every declared column to its value.

    A blank cell and a missing column both have the value None; `blank` and `missing` tell which.
    `key` is stable over retries and restarts: use it to make outside effects idempotent.
    `prepared` is for `prepare_row` to leave something for `save_row`.
    """

    __slots__ = ("_missing", "_values", "key", "number", "prepared")

    def __init__(
        self, values: dict[str, Any], *, number: int, key: str, missing: frozenset[str]
    ) -> None:
        self._values = values
        self._missing = missing
        self.number = number
        self.key = key
        self.prepared: Any = None

    def __getitem__(self, field: str) -> Any:
        return self._values[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<Row {self.number}>"  # no values: rows are somebody's data

    def missing(self, field: str) -> bool:
        """Whether the file has no column for this field."""
        return field in self._missing

    def blank(self, field: str) -> bool:
        """Whether the file has the column and this row's cell of it is blank."""
        return self._values[field] is None and field not in self._missing

    def given(self) -> dict[str, Any]:
        """The values of the columns that the file has, blank ones as None."""
        return {name: v for name, v in self._values.items() if name not in self._missing}
