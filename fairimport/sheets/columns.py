"""The facts about one column, gathered batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fairimport.sheets.cells import Cell, CellError, Formula, Moment, Number, raw, trimmed
from fairimport.sheets.evidence import TextEvidence
from fairimport.sheets.serials import LAST_DAY
from fairimport.sheets.survey import ColumnFacts

__all__ = ["ColumnTally"]

_SAMPLES = 5
_SAMPLED = 3
"""Batches from which samples are taken."""
_SAMPLE_CHARS = 100


class ColumnTally:
    """Counts kinds of cells and evidence in one column, in batches of cells."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.serials = 0
        self.longest = 0
        self._evidence = TextEvidence()
        self._sampled = 0
        self._samples: dict[str, None] = {}

    def add(self, cells: Sequence[Cell], numbers: Sequence[int]) -> None:
        """Count the cells of some rows; `numbers` are the rows' numbers."""
        types = set(map(type, cells))
        types.discard(type(None))
        if not types:
            return
        if self._sampled < _SAMPLED:
            self._sample(cells)
        if str in types:
            texts = [(c, n) for c, n in zip(cells, numbers, strict=True) if isinstance(c, str)]
            self._texts(texts)
            types.discard(str)
        if types:
            self._others([c for c in cells if c is not None and type(c) is not str])

    def _texts(self, texts: list[tuple[str, int]]) -> None:
        """Count texts; only those that do not begin with a letter can be dates or numbers."""
        self.longest = max(self.longest, max(len(text) for text, _ in texts))
        others = [pair for pair in texts if pair[0][:1] not in _LETTERS]
        filled = [pair for pair in others if trimmed(pair[0])] if others else others
        self.kinds["text"] += len(texts) - len(others) + len(filled)
        self._evidence.add(filled)

    def _others(self, cells: Sequence[Cell]) -> None:
        for kind, count in Counter(map(type, cells)).items():
            if kind is Moment:
                self.kinds.update([c.kind for c in cells if isinstance(c, Moment)])
            elif kind is int or kind is float:
                self._numbers([c for c in cells if type(c) is kind])
            else:
                self.kinds[_KINDS[kind]] += count

    def _numbers(self, numbers: Sequence[int | float]) -> None:
        whole = sum(map(float.is_integer, map(float, numbers)))
        self.kinds["integer"] += whole
        self.kinds["decimal"] += len(numbers) - whole
        if min(numbers) >= 61 and max(numbers) <= LAST_DAY:
            self.serials += len(numbers)
        else:  # the 60th day of 1900 never was
            self.serials += sum(1 <= n < LAST_DAY + 1 and not 60 <= n < 61 for n in numbers)

    def _sample(self, cells: Sequence[Cell]) -> None:
        self._sampled += 1
        for cell in cells:
            if len(self._samples) >= _SAMPLES:
                return
            if text := trimmed(raw(cell))[:_SAMPLE_CHARS]:
                self._samples[text] = None

    def facts(self, position: int, letter: str, header: str, label: str, match: str) -> ColumnFacts:
        """Return what was counted, under the column's names."""
        return ColumnFacts(
            position=position,
            letter=letter,
            header=header,
            label=label,
            match=match,
            kinds={kind: count for kind, count in self.kinds.items() if count},
            dates=self._evidence.date_evidence(),
            decimals=self._evidence.decimal_evidence(),
            serials=self.serials,
            error_texts=self._evidence.errors,
            longest=self.longest,
            samples=tuple(self._samples),
        )


_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_KINDS: dict[type, str] = {
    bool: "bool",
    Number: "long_number",
    CellError: "error",
    Formula: "formula",
}
