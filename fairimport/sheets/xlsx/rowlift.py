"""Rows of the usual form, whole columns at a time; see `fairimport.sheets.lifting`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol, TypeAlias

from fairimport.sheets.cells import Cell, letter
from fairimport.sheets.lifting import Odd, characters
from fairimport.sheets.source import LAST_ROW, Batch
from fairimport.sheets.xlsx.values import Converter

__all__ = ["RowLift"]

_BATCH = 1000
_WIDEST = 1024
_NARROWEST = 4
_ATTRIBUTE = r'\s(?:x14ac:)?\w+="[^"<&]*"'
_CELL_ATTRIBUTES = re.compile(r'(?:\s(?:s="([0-9]{1,9})"|t="(\w+)"|[cv]m="[0-9]+"|ph="[01]"))*')
_ROW_ATTRIBUTES = re.compile(rf"(?:{_ATTRIBUTE})*")
_NAME = re.compile(r'\s([\w:]+)="')
_HIDDEN = re.compile(r'\shidden="(?:1|true)"')
_INLINE = re.compile(r'<is><t(?: xml:space="preserve")?(?:/>|>([^<]*)</t>)</is>')
_FORMULA = re.compile(rf"<f(?:{_ATTRIBUTE})*(?:/>|>([^<]*)</f>)(?:(<v>)([^<]*)</v>|(<v ?/>))?")
_PLAIN_FLOATS = re.compile(r"[0-9.\-,]*")

Attributes: TypeAlias = tuple[str, str | None]
"""Type and style of a cell."""


class Target(Protocol):
    """Where rows go: also what expat found goes there."""

    rows: Batch
    last_row: int
    widest: int


class RowLift:
    """Matches rows whose cells stand in order, in columns up to the widest row seen so far."""

    def __init__(self, convert: Converter, target: Target) -> None:
        self._convert = convert
        self._target = target
        self._attributes: dict[str, Attributes] = {}
        self._hidden: dict[str, bool] = {}
        self._moments: dict[tuple[str, str], Cell] = {}
        self._width = 0
        self._widen(_NARROWEST)

    def _widen(self, width: int) -> None:
        """Match rows up to this column and, when that happens again, half as many more."""
        if self._width < width <= _WIDEST:
            self._width = max(width, min(self._width * 3 // 2, _WIDEST))
            width = self._width
            cells = "".join(_cell(letter(position)) for position in range(1, width + 1))
            self._row = re.compile(rf'\s*<row r="([0-9]{{1,7}})"([^>/]*+)>{cells}</row>')

    def __call__(self, text: str, at: int) -> tuple[int, bool]:
        """Lift up to a thousand rows; see `Lift`."""
        self._widen(self._target.widest)
        match, end = self._row.match, at
        found: list[tuple[str | None, ...]] = []
        while len(found) < _BATCH and (row := match(text, end)):
            found.append(row.groups())
            end = row.end()
        if not found:
            return at, False
        try:
            batch = self._batch(found)
        except Odd:
            return end, False
        self._target.rows.extend(batch)
        return end, True

    def _batch(self, found: list[tuple[str | None, ...]]) -> Batch:
        groups = list(zip(*found, strict=True))
        numbers = [int(number or 0) for number in groups[0]]
        if numbers[0] <= self._target.last_row or numbers[-1] > LAST_ROW:
            raise Odd
        if any(a >= b for a, b in pairwise(numbers)):
            raise Odd
        hidden = [self._is_hidden(attributes or "") for attributes in groups[1]]
        columns = [self._column(*groups[at : at + 3]) for at in range(2, len(groups), 3)]
        self._target.last_row = numbers[-1]
        rows = map(_without_tail, zip(*columns, strict=True))
        return [row for row in zip(numbers, rows, hidden, strict=True) if row[1]]

    def _is_hidden(self, attributes: str) -> bool:
        known = self._hidden.get(attributes)
        if known is None:
            names = _NAME.findall(attributes)
            if not _ROW_ATTRIBUTES.fullmatch(attributes) or len(names) != len(set(names)):
                raise Odd
            known = self._hidden[attributes] = bool(_HIDDEN.search(attributes))
        return known

    def _known(self, attributes: str) -> Attributes:
        known = self._attributes.get(attributes)
        if known is None:
            found = _CELL_ATTRIBUTES.fullmatch(attributes)
            if found is None or attributes.count(" t=") > 1 or attributes.count(" s=") > 1:
                raise Odd
            known = self._attributes[attributes] = (found[2] or "n", found[1])
        return known

    def _column(
        self,
        attributes: Sequence[str | None],
        values: Sequence[str | None],
        inner: Sequence[str | None],
    ) -> Sequence[Cell]:
        """Return one column's cells of all rows."""
        different = set(attributes)
        plain = not any(inner)
        if plain and not any(values):
            for given in different - {None}:
                self._known(given or "")
            return [None] * len(attributes)
        given = attributes[0]
        if plain and given is not None and len(different) == 1 and all(values):
            cells = self._uniform(*self._known(given), [value or "" for value in values])
            if cells is not None:
                return cells
        return [
            None if a is None else self._cell(*self._known(a), v, i)
            for a, v, i in zip(attributes, values, inner, strict=True)
        ]

    def _uniform(self, type_: str, style: str | None, values: list[str]) -> Sequence[Cell] | None:
        """Return cells of one type and style in one go; None when they need a closer look."""
        if type_ == "s":
            return self._shared(values)
        if type_ == "b":
            return [value.strip() in ("1", "true") for value in values]
        if type_ != "n":
            return None
        kind = self._convert.kind(style)
        if kind:
            return [self._moment(value, kind) for value in values]
        if max(map(len, values)) > 15 or not _PLAIN_FLOATS.fullmatch(",".join(values)):
            return None
        try:
            return [int(v) if v.isdecimal() else float(v) for v in values]
        except ValueError:
            return None

    def _shared(self, values: list[str]) -> Sequence[Cell] | None:
        joined = "".join(values)
        if not joined.isascii() or not joined.isdecimal():
            return None
        strings = self._convert.strings
        try:
            return [strings[int(value)] or None for value in values]
        except (ValueError, IndexError):
            return None

    def _moment(self, value: str, kind: str) -> Cell:
        known = self._moments.get((value, kind))
        if known is None:
            if len(self._moments) > 50_000:
                self._moments.clear()
            text = characters(value).strip()
            known = self._convert.numeric(text, kind) if text else None
            self._moments[value, kind] = known
        return known

    def _cell(self, type_: str, style: str | None, value: str | None, inner: str | None) -> Cell:
        """Return one cell of any form that the expression knows."""
        formula = None
        if inner is not None:
            if inline := _INLINE.fullmatch(inner):
                value = inline[1] or ""
                if type_ != "inlineStr":
                    raise Odd
            elif found := _FORMULA.fullmatch(inner):
                formula = characters(found[1] or "")
                value = found[3] if found[2] else "" if found[4] else None
            else:
                raise Odd
        elif type_ == "inlineStr" and value is not None:
            raise Odd
        text = None if value is None else characters(value)
        cell = self._convert.cell(type_, style, text, formula)
        return None if cell == "" else cell


def _cell(letters: str) -> str:
    """Return the expression for an optional cell: attributes, value, or what else it holds."""
    inner = r"(<[fi](?:[^<]++|<(?!/c>))*+)"
    content = rf"><v>([^<]*+)</v></c>|/>|>(?:<v ?/>|{inner})?</c>"
    return rf'(?:<c r="{letters}\1"([^>/]*+)(?:{content}))?+'


def _without_tail(cells: tuple[Cell, ...]) -> Sequence[Cell]:
    if cells[-1] is not None:
        return cells
    end = len(cells)
    while end and cells[end - 1] is None:
        end -= 1
    return cells[:end]
