"""The suite runs every benchmark whatever becomes of the others, and says what was missed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from bench import suite
from bench.part import Said, run
from bench.report import Report

MET = {"name": "leaks", "value": 0, "goal": "<= 0", "met": True}
MISSED = {"name": "ratio", "value": 1.21, "goal": "<= 1.2", "met": False, "reason": "settle"}


def said(program: str, *, seconds: float = 20.0) -> Said:
    """What becomes of a benchmark that is this program."""
    command = [sys.executable, "-X", "faulthandler", "-c", program]
    return run(command, cwd=Path(__file__).parent, seconds=seconds)


def ending(*goals: dict[str, Any], code: int) -> Said:
    """One that states these goals and ends with this code."""
    return said(f"import sys; print({json.dumps({'goals': goals})!r}); sys.exit({code})")


@pytest.mark.parametrize(("goals", "code"), [([MET], 0), ([MET, MISSED], 1)])
def test_one_that_ends_as_its_goals_say_is_not_broken(goals: list[Any], code: int) -> None:
    """Its goals are taken as they are, with the reason of a missed one."""
    found = ending(*goals, code=code)
    assert found.broken == ""
    assert [goal.to_json() for goal in found.goals] == goals


def test_one_that_raises_shows_its_traceback_and_is_broken(capfd: pytest.CaptureFixture) -> None:
    """Its stderr is ours."""
    assert said("raise KeyError('lost')").broken == "it ended with exit code 1 and stated no goals"
    assert "KeyError: 'lost'" in capfd.readouterr().err


@pytest.mark.parametrize("printed", ["", "half {", "[]", '{"goals": []}'])
def test_one_that_states_no_goals_is_broken(printed: str) -> None:
    """Also when it ends well: nothing was held against anything."""
    assert said(f"print({printed!r})").broken == "it ended with exit code 0 and stated no goals"


def test_one_whose_exit_code_contradicts_its_goals_is_broken() -> None:
    """It died after it had stated them, or does not fail though it missed one."""
    assert ending(MET, code=1).broken == "it ended with exit code 1 instead of 0"
    assert ending(MISSED, code=0).broken == "it ended with exit code 0 instead of 1"


def test_one_that_does_not_end_says_where_it_hangs(capfd: pytest.CaptureFixture) -> None:
    """And is ended."""
    hung = "import time\ndef stuck(): time.sleep(600)\nstuck()"
    assert said(hung, seconds=0.5).broken == "it did not end within 0.5 s"
    assert "in stuck" in capfd.readouterr().err


def test_a_broken_part_keeps_none_of_the_following_from_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    """Wrong options end the first; the second measures and its figures are there."""
    monkeypatch.setitem(suite.SHORT, "claim", ["--no-such-option"])
    monkeypatch.setitem(suite.SHORT, "simulate", ["--help"])
    made = suite.main(["--short", "--only", "claim", "simulate", "--into", str(tmp_path)])
    assert {name: row["missed"] for name, row in made.results.items()} == {
        "claim": 1,
        "simulate": 1,
    }
    assert made.show(as_json=False) == 1
    assert "no-such-option" in capfd.readouterr().err
    assert {it.name for it in tmp_path.iterdir()} == {"claim.json", "simulate.json", "suite.json"}


def test_a_missed_goal_is_said_with_number_goal_and_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At once, and in the report once more, after all that were met."""
    made = Report("suite", {})
    suite._take_over(made, "claim", ending(MISSED, MET, code=1))
    line = "claim: ratio: 1.21 (goal <= 1.2): NOT met settle"
    assert line in capsys.readouterr().err.splitlines()
    made.show(as_json=False)
    assert capsys.readouterr().out.splitlines()[-1] == line


def test_both_forms_have_every_benchmark_of_the_scheduler() -> None:
    """None is forgotten on the build server."""
    assert list(suite.SHORT) == list(suite.LONG)
    assert set(suite.LONG) == {"simulate", "claim", "turn", "soak", "leak", "mutate"}
