"""What a benchmark says, to people and to machines."""

from __future__ import annotations

import json

import pytest

from bench.report import Report


@pytest.fixture
def report() -> Report:
    """Two rows with other columns each, a goal that is met and one that is not."""
    made = Report("demo", {"rows": 3})
    made.results["ours"] = {"seconds": 1.5}
    made.results["peers"] = {"seconds": 3.0, "note": "slow"}
    made.at_most("seconds", 1.5, 2)
    made.at_least("ratio", None, 2, "no peer")
    return made


def test_json_has_the_stated_form(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    """One object; a goal that was not measured is not met and has its reason."""
    assert report.show(as_json=True) == 1
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {"bench", "machine", "input", "results", "goals"}
    assert said["goals"] == [
        {"name": "seconds", "value": 1.5, "goal": "<= 2", "met": True},
        {"name": "ratio", "value": None, "goal": ">= 2", "met": False, "reason": "no peer"},
    ]


def test_the_table_has_rows_of_one_kind_together(
    report: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows with the same columns share a table; goals follow with their verdict."""
    report.show(as_json=False)
    text = capsys.readouterr().out
    assert "ours" in text
    assert "slow" in text
    assert "ratio:  (goal >= 2): NOT met no peer" in text


def test_a_report_without_missed_goals_ends_well() -> None:
    """Exit code 0."""
    made = Report("demo", {})
    made.at_most("leaks", 0, 0)
    assert made.show(as_json=True) == 0
