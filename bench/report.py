"""What every benchmark prints: a table for people, one JSON object for machines."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["Goal", "Report"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A measured value against what was aimed at; `value` is None when it was not measured."""

    name: str
    value: float | None
    goal: str
    met: bool
    reason: str = ""

    def __str__(self) -> str:
        verdict = "met" if self.met else f"NOT met {self.reason}".strip()
        return f"{self.name}: {_cell(self.value)} (goal {self.goal}): {verdict}"

    def to_json(self) -> dict[str, Any]:
        """The goal as the contract words it; the reason only when there is one."""
        stated = {"name": self.name, "value": self.value, "goal": self.goal, "met": self.met}
        return stated | ({"reason": self.reason} if self.reason else {})


@dataclass(slots=True)
class Report:
    """The results of one benchmark: named rows of numbers, and the goals they are held against."""

    bench: str
    input: dict[str, Any]
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    goals: list[Goal] = field(default_factory=list)

    def at_most(self, name: str, value: float | None, limit: float, reason: str = "") -> None:
        """Hold `value` against an upper limit; an unmeasured value does not meet it."""
        self.goals.append(Goal(name, value, f"<= {limit:g}", _met(value, upper=limit), reason))

    def at_least(self, name: str, value: float | None, limit: float, reason: str = "") -> None:
        """Hold `value` against a lower limit; an unmeasured value does not meet it."""
        self.goals.append(Goal(name, value, f">= {limit:g}", _met(value, lower=limit), reason))

    def show(self, *, as_json: bool) -> int:
        """Print the report; return the exit code, 1 when a goal was not met."""
        if as_json:
            json.dump(self.stated(), sys.stdout, indent=1)
            sys.stdout.write("\n")
        else:
            self._print()
        return 0 if all(goal.met for goal in self.goals) else 1

    def stated(self) -> dict[str, Any]:
        """The object that the contract words."""
        return {
            "bench": self.bench,
            "machine": machine(),
            "input": self.input,
            "results": self.results,
            "goals": [goal.to_json() for goal in self.goals],
        }

    def _print(self) -> None:
        console = Console(width=max(150, Console().width))
        console.print(f"{self.bench}: {self.input}")
        for columns, rows in self._groups():
            table = Table("", *columns)
            for name, row in rows.items():
                table.add_row(name, *(_cell(row[column]) for column in columns))
            console.print(table)
        for goal in sorted(self.goals, key=lambda goal: goal.met, reverse=True):  # missed ones last
            console.print(str(goal), markup=False, highlight=False, soft_wrap=True)

    def _groups(self) -> Iterator[tuple[tuple[str, ...], dict[str, dict[str, Any]]]]:
        """The rows in tables of their own by the columns that they have."""
        groups: dict[tuple[str, ...], dict[str, dict[str, Any]]] = {}
        for name, row in self.results.items():
            groups.setdefault(tuple(row), {})[name] = row
        yield from groups.items()


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    return {
        "cpus": os.cpu_count(),
        "platform": platform.platform(),
        "python": platform.python_version(),
    }


def _met(value: float | None, *, lower: float | None = None, upper: float | None = None) -> bool:
    if value is None:
        return False
    return (lower is None or value >= lower) and (upper is None or value <= upper)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
