"""Faults are planted in code, one a mutant, and have names that last."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

from bench.mutate import sample
from bench.mutation.mutants import LUA, mutants, text_with

KNOWN = Path(LUA).parents[2] / "bench" / "mutation" / "survivors.toml"
SCRIPTS = [it.script for it in mutants()]


def test_each_mutant_differs_in_its_line_alone() -> None:
    """And no two have the same name."""
    planted = mutants()
    assert len({it.id for it in planted}) == len(planted) > 500
    for it in planted[::25]:
        sound = (LUA / f"{it.script}.lua").read_text().split("\n")
        faulty = text_with(it).split("\n")
        changed = [
            n for n, pair in enumerate(zip(sound, faulty, strict=True)) if pair[0] != pair[1]
        ]
        assert changed == [it.line]


def test_comments_and_the_clock_are_left_alone() -> None:
    """Neither has behaviour to test."""
    for it in mutants():
        assert not it.before.lstrip().startswith("--")
        assert "clock()" not in it.before


def test_every_script_has_mutants() -> None:
    """None is forgotten."""
    assert {it.script for it in mutants()} == {path.stem for path in LUA.glob("*.lua")}


def test_every_known_survivor_is_one_and_has_its_reason() -> None:
    """The list has no entry of a line that is no more."""
    known = tomllib.loads(KNOWN.read_text())["survivors"]
    assert set(known) <= {it.id for it in mutants()}
    assert all(len(reason) > 10 for reason in known.values())


def test_a_sample_has_mutants_of_every_script() -> None:
    """So many of each, fewer only where there are no more."""
    chosen = sample(mutants(), 4, seed=1)
    assert len(set(chosen)) == len(chosen)
    of_each = Counter(it.script for it in chosen)
    assert of_each == {script: min(n, 4) for script, n in Counter(SCRIPTS).items()}


def test_a_sample_stays_when_other_lines_change() -> None:
    """It is chosen by names: the same ones in any order, and none for the sake of another."""
    chosen = sample(mutants(), 2, seed=1)
    others = [it for it in mutants() if it not in chosen]
    assert sample([*reversed(chosen), *others[::3]], 2, seed=1) == chosen
    assert sample(mutants(), 2, seed=2) != chosen
