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
_SAMPLE_CHARS = 100


class ColumnTally:
    """Counts kinds of cells and evidence in one column, in batches of cells."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.serials = 0
        self.longest = 0
        self._evidence = TextEvidence()
        self._samples: dict[str, None] = {}

    def add(self, cells: Sequence[Cell], numbers: Sequence[int]) -> None:
        """Count the cells of some rows; `numbers` are the rows' numbers."""
        types = set(map(type, cells))
        types.discard(type(None))
        if not types:
            return
        if types == {str}:
            self._texts(cells, numbers)
        elif str in types:
            texts = [(c, n) for c, n in zip(cells, numbers, strict=True) if type(c) is str]
            self._texts([c for c, _ in texts], [n for _, n in texts])
        if types - {str}:
            self._others([c for c in cells if c is not None and type(c) is not str])
        if len(self._samples) < _SAMPLES:
            self._sample(cells)

    def _texts(self, cells: Sequence[Cell], numbers: Sequence[int]) -> None:
        texts = [(c, n) for c, n in zip(cells, numbers, strict=True) if isinstance(c, str) and c]
        filled = [(c, n) for c, n in texts if not c.isspace() and trimmed(c)]
        if not filled:
            return
        self.kinds["text"] += len(filled)
        self.longest = max(self.longest, max(len(c) for c, _ in filled))
        self._evidence.add((c, n) for c, n in filled if c[0] not in _LETTERS)

    def _others(self, cells: Sequence[Cell]) -> None:
        for kind, count in Counter(map(type, cells)).items():
            if kind is Moment:
                self.kinds.update(c.kind for c in cells if isinstance(c, Moment))
            elif kind is not float:
                self.kinds[_KINDS[kind]] += count
        floats = [c for c in cells if type(c) is float]
        if floats:
            whole = sum(map(float.is_integer, floats))
            self.kinds["integer"] += whole
            self.kinds["decimal"] += len(floats) - whole
        self.serials += sum(
            1 for c in cells if (type(c) is int or type(c) is float) and 0 <= c <= LAST_DAY
        )

    def _sample(self, cells: Sequence[Cell]) -> None:
        for cell in cells:
            text = trimmed(raw(cell))[:_SAMPLE_CHARS]
            if text:
                self._samples[text] = None
                if len(self._samples) >= _SAMPLES:
                    return

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
    int: "integer",
    bool: "bool",
    Number: "long_number",
    CellError: "error",
    Formula: "formula",
}
