"""Runs as lines of a list, with their numbers from one query for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Sum

from fairimport.models import Chunk, ImportRun
from fairimport.states import State
from fairimport.templatetags.fairimport import importer_title
from fairimport.views.faces import FACES, Face

__all__ = ["Line", "lines_of"]

OUTCOMES = ("created", "updated", "unchanged", "skipped", "rejected")
COUNTED = frozenset(
    {
        State.QUEUED,
        State.RUNNING,
        State.PAUSING,
        State.PAUSED,
        State.CANCELLING,
    }
)
"""States in which a bar says something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One run in the list."""

    run: ImportRun
    face: Face
    importer_title: str
    done: int
    rejected: int

    @property
    def total(self) -> int | None:
        """Rows of the file, once they are counted."""
        return self.run.total

    @property
    def percent(self) -> int | None:
        """Of the rows, rounded down; None in states in which nothing is counted."""
        if self.run.state not in COUNTED or not self.total:
            return None
        return self.done * 100 // self.total


def lines_of(runs: Iterable[ImportRun]) -> list[Line]:
    """The lines of these runs, in their order."""
    listed = list(runs)
    sums = _sums(listed)
    return [_line(run, sums.get(run.pk, {})) for run in listed]


def _sums(runs: list[ImportRun]) -> Mapping[Any, Mapping[str, int]]:
    chunks = Chunk.objects.filter(run__in=runs).order_by().values("run")
    sums = chunks.annotate(**{f"all_{name}": Sum(name) for name in OUTCOMES})
    rows = sums.values_list("run", *(f"all_{name}" for name in OUTCOMES))
    return {run: dict(zip(OUTCOMES, numbers, strict=True)) for run, *numbers in rows}


def _line(run: ImportRun, sums: Mapping[str, int]) -> Line:
    return Line(
        run=run,
        face=FACES[State(run.state)],
        importer_title=importer_title(run.importer),
        done=sum(sums.values()),
        rejected=sums.get("rejected", 0),
    )
