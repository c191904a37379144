"""Which column of a file is meant by which column of an importer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rapidfuzz import fuzz, process

from fairimport.importers import BoundColumn, Importer
from fairimport.sheets import ColumnFacts, Survey, normal_form

__all__ = ["ambiguous_positions", "guess", "header_names", "suggest"]

#: Similarity, out of 100, from which a header is suggested for a field.
_SIMILAR = 75


def header_names(importer: Importer, run: Any = None) -> tuple[str, ...]:
    """Every name by which a file may call the importer's columns; they help to find the header."""
    names = (name for column in importer.bound_columns(run) for name in _names(column))
    return tuple(dict.fromkeys(names))


def _names(column: BoundColumn) -> list[str]:
    """The column's names, the most telling first."""
    declared = column.column
    return [column.label, column.name, column.name.replace("_", " "), *declared.aliases]


def guess(
    importer: Importer,
    survey: Survey,
    remembered: Mapping[str, str] | None = None,
    run: Any = None,
) -> dict[str, int]:
    """The mapping (field -> position from 1) that positions, memory, headers and aliases tell.

    `remembered` is what this tenant chose last time: field -> header. Headers are compared by
    their normal form; of several equal ones the first is taken, and `bind` asks.
    """
    columns = importer.bound_columns(run)
    found: dict[str, int] = {}
    _match_positions(columns, survey, found)
    _match_names(columns, survey, found, _remembered(remembered or {}))
    for rank in range(max((len(_names(column)) for column in columns), default=0)):
        _match_names(columns, survey, found, {c.name: n for c in columns if (n := _name(c, rank))})
    for column in columns:
        position = column.column.position
        if position and not column.column.header and survey.column(position):
            _take(found, column.name, position)
    return {column.name: found[column.name] for column in columns if column.name in found}


def _remembered(headers: Mapping[str, str]) -> dict[str, str]:
    return {field: normal_form(header) for field, header in headers.items() if header}


def _name(column: BoundColumn, rank: int) -> str:
    names = _names(column)
    return normal_form(names[rank]) if rank < len(names) else ""


def _take(found: dict[str, int], field: str, position: int) -> None:
    if field not in found and position not in found.values():
        found[field] = position


def _match_positions(columns: Sequence[BoundColumn], survey: Survey, found: dict[str, int]) -> None:
    """Take positions whose header is the declared one, or blank."""
    for column in columns:
        facts = survey.column(column.column.position or 0)
        if facts and (not facts.match or facts.match in map(normal_form, _names(column))):
            _take(found, column.name, facts.position)


def _match_names(
    columns: Sequence[BoundColumn], survey: Survey, found: dict[str, int], names: Mapping[str, str]
) -> None:
    for column in columns:
        wanted = names.get(column.name)
        for facts in survey.columns:
            if wanted and facts.match == wanted:
                _take(found, column.name, facts.position)


def ambiguous_positions(survey: Survey) -> set[int]:
    """Positions of columns whose header stands in the file more than once."""
    counts = Counter(facts.match for facts in survey.columns if facts.match)
    return {facts.position for facts in survey.columns if counts[facts.match] > 1}


def suggest(
    importer: Importer, survey: Survey, mapping: Mapping[str, int] | None = None, run: Any = None
) -> dict[str, list[int]]:
    """For fields that `mapping` (default: `guess`) leaves open: similar columns, best first."""
    taken = guess(importer, survey, run=run) if mapping is None else mapping
    free = [f for f in survey.columns if f.match and f.position not in taken.values()]
    similar = {
        column.name: _similar(column, free)
        for column in importer.bound_columns(run)
        if column.name not in taken
    }
    return {name: positions for name, positions in similar.items() if positions}


def _similar(column: BoundColumn, free: Sequence[ColumnFacts]) -> list[int]:
    scores: dict[int, float] = {}
    headers = {facts.position: _spaced(facts.match) for facts in free}
    for name in _names(column):
        query = _spaced(normal_form(name))
        hits = process.extract(query, headers, scorer=fuzz.ratio, score_cutoff=_SIMILAR)
        for _header, score, position in hits:
            scores[position] = max(score, scores.get(position, 0.0))
    return sorted(scores, key=lambda position: (-scores[position], position))


def _spaced(name: str) -> str:
    """The name without the marks between words that people write now this way, now that way."""
    return " ".join(name.replace("_", " ").replace("-", " ").replace(".", " ").split())
