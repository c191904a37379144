"""Rows that end their worker are found, given up after a few deaths, and the rest goes on."""

from __future__ import annotations

import pytest

from fairimport.models import Chunk
from fairimport.runs import claiming, slices, suspects
from fairimport.runs.suspects import MOST_LAPSES
from fairimport.states import State
from tests.integration.runs.conftest import csv_of, outcomes, work
from tests.integration.runs.test_slices import lump
from tests.warehouse.importers import Movements

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


class Dead(BaseException):
    """Stands for the end of a process: nothing after it runs."""


@pytest.fixture
def deadly(monkeypatch):
    """Rows named `die` end the work as a kill would: without a word."""

    def prepare(self, row, run):
        if row["name"] == "die":
            raise Dead

    monkeypatch.setattr(Movements, "prepare_row", prepare)


def live_and_die(run, count, most=40) -> int:
    """Work until nothing is left; after each death tell `count` as the worker would."""
    deaths = 0
    for _ in range(most):
        try:
            if slices.work(run.pk, "t", budget=30) == slices.Turn.DONE:
                return deaths
        except Dead:
            deaths += 1
            count("t")
    raise AssertionError("it never ended")


def test_a_poison_row_costs_three_deaths_and_itself(started, deadly, settings):
    """MAX_LAPSES deaths in all: then the row is rejected and every other row is written."""
    run = started(csv_of(30, r11="die"))
    lump(run)
    assert live_and_die(run, suspects.count_death) == settings.FAIRIMPORT.get("MAX_LAPSES", 3)
    assert outcomes(work(run)) == {"created": 29, "rejected": 1}
    rejected = run.rejected_rows.get()
    assert (rejected.number, rejected.reasons[0]["code"]) == (12, "crashed")


def test_two_poison_rows_are_both_found(started, deadly):
    """Deaths of one row are not counted against the next."""
    run = started(csv_of(30, r3="die", r4="die"))
    lump(run)
    assert live_and_die(run, suspects.count_death) == 6
    assert outcomes(work(run)) == {"created": 28, "rejected": 2}


def test_a_row_that_dies_twice_and_lives_is_written(started, monkeypatch):
    """Nor is it rejected for the deaths of the row before it."""
    left = {4: 2, 5: 2}

    def prepare(self, row, run):
        if left.get(row.number, 0):
            left[row.number] -= 1
            raise Dead

    monkeypatch.setattr(Movements, "prepare_row", prepare)
    run = started(csv_of(10))
    lump(run)
    assert live_and_die(run, suspects.count_death) == 4
    assert outcomes(work(run)) == {"created": 10}


def test_killed_machines_do_not_condemn_a_row_soon(started):
    """A lapse blames a row only after ten of them, and a commit clears them."""
    run = started(csv_of(6))
    lump(run)
    for _ in range(MOST_LAPSES - 1):
        claiming.take(run, "t")
        suspects.count_lapse("t")
    assert outcomes(work(run, ticket="t")) == {"created": 6}


def test_a_row_that_ends_whole_machines_is_given_up_at_last(started, deadly):
    """Where horse and parent die together, ten deaths are enough."""
    run = started(csv_of(6, r2="die"))
    lump(run)
    assert live_and_die(run, suspects.count_lapse) == MOST_LAPSES
    assert outcomes(work(run)) == {"created": 5, "rejected": 1}


def test_a_suspect_chunk_marks_each_row_before_it_is_tried(started, monkeypatch):
    """A death then has a name."""
    run = started(csv_of(4))
    lump(run)
    claiming.take(run, "t")
    suspects.count_death("t")
    marks = []
    monkeypatch.setattr(
        Movements,
        "prepare_row",
        lambda self, row, run: marks.append((row.number, Chunk.objects.get(run=run).marked)),
    )
    work(run, ticket="t")
    assert marks == [(2, 0), (3, 1), (4, 2), (5, 3)]


def test_a_death_is_only_counted_for_the_ticket_that_held_a_chunk(started):
    """Other chunks stay unsuspected."""
    run = started(csv_of(64))
    held = claiming.take(run, "t")
    suspects.count_death("another")
    assert not Chunk.objects.filter(suspect=True).exists()
    suspects.count_death("t")
    assert Chunk.objects.get(suspect=True).pk == held.chunk.pk


def test_a_row_that_ends_its_worker_in_the_check_is_found_too(checking, monkeypatch):
    """The check must not be caught by it for ever, and counts it as bad."""

    def check(self, row, run):
        if row["name"] == "die":
            raise Dead

    monkeypatch.setattr(Movements, "check_row", check)
    run = checking(csv_of(30, r11="die"))
    lump(run)
    assert live_and_die(run, suspects.count_death) == 3
    run.refresh_from_db()
    assert (run.check_result["good"], run.check_result["bad"]) == (29, 1)
    assert run.check_result["by_cause"][0]["code"] == "crashed"


def test_an_importer_that_never_opens_fails_its_run(started, monkeypatch):
    """Its columns cannot be made: no row is to blame, and no ticket goes round for ever."""
    run = started(csv_of(6))

    def broken(self, run):
        raise RuntimeError("secret")

    monkeypatch.setattr(Movements, "bound_columns", broken)
    work(run, most=MOST_LAPSES + 5)
    run.refresh_from_db()
    assert (run.state, run.error_code) == (State.FAILED, "importer_broke")
