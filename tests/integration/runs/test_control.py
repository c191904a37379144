"""The customer's verbs: each safe to press twice, each clear about what it may not do."""

from __future__ import annotations

import pytest

from fairimport.errors import IllegalMove
from fairimport.models import Chunk, ImportRun, KeyIndex, RejectedRow
from fairimport.runs import claiming, control, finishing, reading, slices, splitting
from fairimport.runs.claiming import Refusal
from fairimport.states import State
from tests.integration.runs.conftest import csv_of, moved, outcomes, work
from tests.warehouse.importers import Movements

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def test_a_second_start_is_harmless(ready):
    """J05: one import; the second answer is about the first."""
    run = ready(csv_of(3))
    again = ImportRun.objects.get(pk=run.pk)
    assert control.start(run) is True
    assert control.start(again) is False
    assert again.state == State.QUEUED


def test_a_stale_page_cannot_start_what_has_ended(ready):
    """A button of an old page gets words, not an import."""
    run = ready(csv_of(3))
    stale = ImportRun.objects.get(pk=run.pk)
    control.start(run)
    work(run)
    with pytest.raises(IllegalMove, match="finished"):
        control.start(stale)


def test_pause_before_anything_began_is_paused_at_once(started):
    """Nothing has to drain."""
    run = started(csv_of(3))
    assert control.pause(run)
    assert run.state == State.PAUSED
    assert slices.work(run.pk, "t") == slices.Turn.DONE
    assert moved() == []


def test_pause_with_nothing_in_work_is_paused_at_once(started):
    """Between two slices a pause does not wait for anybody."""
    run = started(csv_of(9))
    slices.work(run.pk, "t", budget=0)
    run.refresh_from_db()
    control.pause(run)
    assert run.state == State.PAUSED


def test_pause_waits_for_the_rows_in_hand(started):
    """A live slice commits its rows; letting go of the chunk makes it paused."""
    run = started(csv_of(9))
    held = claiming.take(run, "t")
    run.refresh_from_db()
    control.pause(run)
    assert run.state == State.PAUSING
    assert claiming.take(run, "other") == Refusal.STOPPED
    claiming.let_go(held)
    assert finishing.conclude(run.pk) == State.PAUSED


def test_a_slice_stops_at_the_next_commit_when_paused(started, monkeypatch):
    """No further row is begun."""
    run = started(csv_of(9), options={"sleep_ms": 1})

    def pause_in_the_first_row(self, row, other):
        if row.number == 2:
            control.pause(ImportRun.objects.get(pk=run.pk))

    monkeypatch.setattr(Movements, "prepare_row", pause_in_the_first_row)
    assert slices.work(run.pk, "t", budget=30) == slices.Turn.DONE
    run.refresh_from_db()
    assert run.state == State.PAUSED
    assert len(moved()) == sum(outcomes(run).values()) < 9


def test_a_killed_workers_chunk_does_not_keep_a_pause_waiting(started):
    """Its ticket comes back within a lease, lets go, and the run is paused."""
    run = started(csv_of(9))
    claiming.take(run, "t")
    run.refresh_from_db()
    control.pause(run)
    assert run.state == State.PAUSING
    slices.work(run.pk, "t")
    run.refresh_from_db()
    assert run.state == State.PAUSED


def test_resume_goes_on_with_the_next_row(started):
    """No row twice, none left out."""
    run = started(csv_of(9))
    slices.work(run.pk, "t", budget=0)
    run.refresh_from_db()
    control.pause(run)
    control.resume(run)
    assert run.state == State.QUEUED
    assert outcomes(work(run)) == {"created": 9}
    assert moved() == sorted(f"c{n}" for n in range(1, 10))


def test_a_pause_can_be_taken_back_while_it_drains(started):
    """The run just goes on."""
    run = started(csv_of(9))
    claiming.take(run, "t")
    run.refresh_from_db()
    control.pause(run)
    assert control.resume(run)
    assert run.state == State.RUNNING


def test_cancel_keeps_what_is_written_and_tries_nothing_more(started):
    """J06: rows that were written stay and are counted; a second cancel is harmless."""
    run = started(csv_of(9))
    slices.work(run.pk, "t", budget=0)
    run.refresh_from_db()
    assert control.cancel(run) is True
    assert run.state == State.CANCELLED
    assert control.cancel(run) is False
    assert slices.work(run.pk, "t") == slices.Turn.DONE
    assert outcomes(run) == {"created": 1}
    assert len(moved()) == 1
    assert not run.chunks.exclude(payload=None).exists()


def test_cancel_waits_for_the_rows_in_hand(started):
    """They are committed; then the run is cancelled and the slot is free."""
    run = started(csv_of(9))
    held = claiming.take(run, "t")
    run.refresh_from_db()
    control.cancel(run)
    assert run.state == State.CANCELLING
    claiming.fenced(held)
    claiming.let_go(held)
    finishing.conclude(run.pk)
    assert not Chunk.objects.held().exists()


def test_a_cancelled_run_takes_no_late_commit(started):
    """A worker that froze before the cancel writes nothing when it wakes up."""
    run = started(csv_of(9))
    held = claiming.take(run, "t")
    Chunk.objects.update(held_until="2020-01-01T00:00:00Z")
    run.refresh_from_db()
    control.cancel(run)
    assert run.state == State.CANCELLED
    with pytest.raises(claiming.LeaseLost):
        claiming.fenced(held)


@pytest.mark.parametrize("state", ["received", "reading", "mapping", "checking", "ready"])
def test_cancel_before_the_start_ends_the_run(receive, state):
    """The customer can leave at every step."""
    run = receive(csv_of(2))
    ImportRun.objects.filter(pk=run.pk).update(state=state)
    run.refresh_from_db()
    assert control.cancel(run)
    assert run.state == State.CANCELLED


def test_a_late_reader_does_not_revive_a_cancelled_run(receive, monkeypatch):
    """The customer cancels while the file is read: its result is dropped, the spool too."""
    run = receive(csv_of(2))
    kept = reading._keep

    def cancel_first(late, survey, spool):
        control.cancel(ImportRun.objects.get(pk=run.pk))
        kept(late, survey, spool)

    monkeypatch.setattr(reading, "_keep", cancel_first)
    reading.read(run.pk)
    run.refresh_from_db()
    assert (run.state, run.spool) == (State.CANCELLED, "")


def test_only_the_newest_reading_job_is_kept(receive, monkeypatch):
    """A job that froze wakes up after the customer asked for another reading: it is dropped."""
    run = receive(csv_of(2))
    kept = reading._keep
    late = []
    monkeypatch.setattr(reading, "_keep", lambda *args: late.append(args))
    reading.read(run.pk)
    monkeypatch.setattr(reading, "_keep", kept)
    reading.read(run.pk)
    run.refresh_from_db()
    spool = run.spool
    control.choose(run, mapping=run.mapping, options={"encoding": "cp1252"})
    kept(*late[0])
    run.refresh_from_db()
    assert run.state == State.READING
    assert run.spool == spool


def test_open_questions_keep_a_run_in_mapping(read):
    """A required column without a place: nothing is split or checked."""
    run = read("name,qty\na,1\n")
    assert run.state == State.MAPPING
    assert "column_mapping" in run.questions
    control.choose(run, mapping={"name": 1}, options={})
    assert (run.state, run.questions) == (State.MAPPING, ["column_mapping"])
    control.choose(run, mapping={"code": 1, "qty": 2}, options={})
    assert (run.state, run.questions) == (State.CHECKING, [])


def test_another_encoding_reads_the_file_again(read):
    """Choices about reading go back to the reader."""
    run = read(csv_of(3))
    control.choose(run, mapping=run.mapping, options={"encoding": "cp1252"})
    assert run.state == State.READING
    reading.read(run.pk)
    run.refresh_from_db()
    assert run.state == State.MAPPING


def test_changed_columns_are_checked_anew(ready):
    """From `ready` the customer may think again; nothing of the first check is left."""
    run = ready("code,name,qty\na,1,x\nb,2,y\n")
    assert run.check_result["bad"] == 2
    control.choose(run, mapping={"code": 1, "name": 2}, options={})
    assert (run.state, run.total, run.check_result) == (State.CHECKING, None, {})
    assert not run.chunks.exists()
    assert not KeyIndex.objects.filter(run=run).exists()


def test_a_choice_during_the_check_fences_the_check(checking):
    """A slice of the old check finds its chunk gone and ends."""
    run = checking(csv_of(9))
    held = claiming.take(run, "t")
    control.choose(run, mapping=run.mapping, options={})
    with pytest.raises(claiming.LeaseLost):
        claiming.fenced(held)


def test_a_run_that_has_ended_cannot_be_chosen_for(started):
    """Its columns are history."""
    run = work(started(csv_of(1)))
    with pytest.raises(IllegalMove):
        control.choose(run, mapping={}, options={})


def test_the_tenants_last_mapping_is_remembered(started, read):
    """What was chosen for a header last time is guessed first next time."""
    text = "code,strange,qty\na,b,1\n"
    run = read(text)
    control.choose(run, mapping={"code": 2, "name": 1}, options={})
    splitting.split(run.pk)
    ImportRun.objects.filter(pk=run.pk).update(started_at="2026-01-01T00:00:00Z")
    assert read(text).mapping == {"code": 2, "name": 1, "qty": 3}
    assert read(text, tenant="birch").mapping["code"] == 1


def test_retry_tries_the_rejected_rows_again(started, monkeypatch):
    """They stay rejected until their new outcome replaces it; good rows are not touched."""
    run = work(started(csv_of(9, r3="away", r5="raise")), most=60)
    assert outcomes(run) == {"created": 7, "rejected": 2}
    monkeypatch.setenv("MOVEMENTS_DATABASE_IS_BACK", "1")
    assert control.retry_rejected(run)
    assert run.state == State.QUEUED
    assert outcomes(run) == {"created": 7, "rejected": 2}
    run = work(run)
    assert run.state == State.FINISHED
    assert outcomes(run) == {"created": 8, "rejected": 1}
    assert list(RejectedRow.objects.values_list("number", flat=True)) == [6]
    assert len(moved()) == len(set(moved())) == 8


def test_retry_without_rejected_rows_is_refused(started):
    """There is nothing to try."""
    run = work(started(csv_of(2)))
    assert not run.can("retry")
    with pytest.raises(IllegalMove):
        control.retry_rejected(run)


def test_a_row_may_be_retried_again_and_again(started):
    """Each retry keeps the sum."""
    run = work(started(csv_of(4, r2="raise")))
    for _ in range(3):
        control.retry_rejected(run)
        run = work(run)
        assert outcomes(run) == {"created": 3, "rejected": 1}
        assert sum(outcomes(run).values()) == run.total


def test_of_two_who_move_a_run_one_does(ready):
    """A move is a compare-and-set; the other learns where the run is."""
    one = ready(csv_of(2))
    two = ImportRun.objects.get(pk=one.pk)
    assert one.move(State.QUEUED)
    assert not two.move(State.MAPPING)
    assert two.state == State.QUEUED


def test_a_move_that_the_table_does_not_have_is_not_made(ready):
    """Nobody gets around the table."""
    run = ready(csv_of(2))
    assert not run.move(State.FINISHED)
    run.refresh_from_db()
    assert run.state == State.READY
