"""Slices: chunks taken inside the cap, rows once, the fence, budgets, tails."""

from __future__ import annotations

import time

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from fairimport.errors import LeaseLost
from fairimport.models import Chunk, TenantLimit
from fairimport.runs import claiming, slices
from fairimport.runs.claiming import Refusal
from fairimport.runs.payloads import lines_of, pack
from fairimport.runs.slices import Turn
from fairimport.states import State
from tests.integration.runs.conftest import csv_of, moved, outcomes, work
from tests.warehouse.importers import Movements

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


def cap(n: int, tenant: str = "acme") -> None:
    TenantLimit.objects.filter(tenant=tenant).update(cap=n)


def test_a_slice_of_0_is_one_row(started):
    """SLICE = 0 makes every claim one row."""
    run = started(csv_of(3))
    for done in (1, 2, 3):
        assert slices.work(run.pk, "t", budget=0) == (Turn.MORE if done < 3 else Turn.DONE)
        assert outcomes(run) == {"created": done}


def test_a_slice_ends_when_its_time_is_used(started):
    """It works for its budget, and not on to the end of the run."""
    run = started(csv_of(200), options={"sleep_ms": 20})
    began = time.monotonic()
    assert slices.work(run.pk, "t", budget=0.3) == Turn.MORE
    assert time.monotonic() - began >= 0.3
    assert 1 <= outcomes(run)["created"] <= 16


def test_a_slice_goes_from_chunk_to_chunk(started):
    """The budget, not the chunk, ends a slice."""
    run = started(csv_of(64))
    assert run.chunks.count() > 4
    assert slices.work(run.pk, "t", budget=30) == Turn.DONE
    assert outcomes(run) == {"created": 64}


def test_a_slice_that_is_told_to_stop_finishes_the_rows_in_hand(started):
    """SIGTERM costs no row and fails none."""
    run = started(csv_of(50), options={"sleep_ms": 5})
    assert slices.work(run.pk, "t", budget=30, should_stop=lambda: True) == Turn.MORE
    assert outcomes(run) == {"created": 1}
    assert not Chunk.objects.held().exists()
    assert outcomes(work(run)) == {"created": 50}


def test_a_stale_worker_writes_nothing_after_its_chunk_was_given_away(started, caplog):
    """Only the newest token can commit rows."""
    run = started(csv_of(8))
    first = claiming.take(run, "ticket-1")
    second = claiming.take(run, "ticket-1")
    assert second.token == first.token + 1
    with pytest.raises(LeaseLost):
        claiming.fenced(first)
    assert "chunk.fence_rejected" in caplog.text
    claiming.fenced(second)


def test_a_worker_that_wakes_up_late_commits_no_row(started, monkeypatch):
    """The chunk is taken while a row is prepared: the row's effect is rolled back with it."""
    run = started(csv_of(4))

    def freeze(self, row, run):
        Chunk.objects.filter(run=run).update(token=F("token") + 1)

    monkeypatch.setattr(Movements, "prepare_row", freeze)
    assert slices.work(run.pk, "t") == Turn.DONE
    assert moved() == []
    assert outcomes(run) == {}


def test_a_ticket_takes_its_own_chunk_back_first(started):
    """After a kill the same ticket goes on where the dead worker was, at once."""
    run = started(csv_of(64))
    held = claiming.take(run, "t")
    again = claiming.take(run, "t")
    assert again.chunk.pk == held.chunk.pk
    assert again.chunk.suspect
    assert not held.chunk.suspect


def test_the_cap_holds_in_the_database(started):
    """Even when Redis has forgotten every lease, no more chunks are in work than the cap."""
    run = started(csv_of(64))
    cap(2)
    taken = [claiming.take(run, f"t{n}") for n in range(4)]
    assert [t for t in taken if isinstance(t, Refusal)] == [Refusal.AT_CAP, Refusal.AT_CAP]
    assert Chunk.objects.held().count() == 2


def test_the_cap_counts_all_runs_of_a_tenant_and_no_others(started):
    """Two imports of one tenant share its slots; another tenant has its own."""
    one, two, other = started(csv_of(9)), started(csv_of(9)), started(csv_of(9), tenant="birch")
    cap(1)
    assert not isinstance(claiming.take(one, "a"), Refusal)
    assert claiming.take(two, "b") == Refusal.AT_CAP
    assert not isinstance(claiming.take(other, "c"), Refusal)


def test_a_refused_ticket_waits_and_is_not_lost(started):
    """At the cap a slice answers that it must come again."""
    run = started(csv_of(9))
    cap(0)
    assert slices.work(run.pk, "t") == Turn.WAIT
    cap(1)
    assert slices.work(run.pk, "t", budget=9) == Turn.DONE


def test_a_lapsed_chunk_is_taken_by_anybody(started):
    """When a ticket was lost together with its worker, others go on after the long deadline."""
    run = started(csv_of(4))
    Chunk.objects.filter(run=run).exclude(index=0).delete()
    claiming.take(run, "dead")
    assert claiming.take(run, "alive") == Refusal.NOTHING
    Chunk.objects.update(held_until="2020-01-01T00:00:00Z")
    assert claiming.take(run, "alive").chunk.suspect


def test_two_tickets_never_hold_one_chunk(started):
    """Each claim takes another chunk."""
    run = started(csv_of(64))
    held = [claiming.take(run, f"t{n}") for n in range(4)]
    assert len({h.chunk.pk for h in held}) == 4


def test_a_yielding_slice_splits_what_is_left_of_its_chunk(started):
    """One chunk of 12 rows and 4 slots: after the first row the rest is dealt out."""
    run = started(csv_of(12))
    lump(run)
    assert slices.work(run.pk, "t", budget=0) == Turn.MORE
    assert sorted(run.chunks.values_list("size", flat=True)) == [3, 3, 3, 3]
    assert sum(outcomes(run).values()) == 1
    assert outcomes(work(run)) == {"created": 12}
    assert moved() == sorted(f"c{n}" for n in range(1, 13))


def test_a_tail_is_not_split_for_slots_that_are_busy(started):
    """Slots that other imports use do not count as free."""
    run, other = started(csv_of(12)), started(csv_of(64))
    lump(run)
    for n in range(3):
        claiming.take(other, f"o{n}")
    slices.work(run.pk, "t", budget=0)
    assert run.chunks.count() == 1


def lump(run) -> None:
    """Put all rows of a run into one chunk."""
    chunks = list(run.chunks.order_by("index"))
    lines = [line for chunk in chunks for line in lines_of(chunk.payload)]
    Chunk.objects.filter(pk__in=[c.pk for c in chunks[1:]]).delete()
    Chunk.objects.filter(pk=chunks[0].pk).update(size=len(lines), payload=pack(lines))


def test_several_slices_at_once_make_the_sum(started):
    """Interleaved slices of many tickets end with each row in one outcome."""
    run = started(csv_of(60, r5="raise", r6="skip"))
    for step in range(200):
        if slices.work(run.pk, f"t{step % 4}", budget=0) == Turn.DONE and step > 70:
            break
        assert sum(outcomes(run).values()) <= 60
    run.refresh_from_db()
    assert run.state == State.FINISHED
    assert outcomes(run) == {"created": 58, "skipped": 1, "rejected": 1}


def test_rows_share_a_transaction_when_they_are_fast(started, django_assert_max_num_queries):
    """100 fast rows cost about three statements each, not a commit each."""
    run = started(csv_of(100))
    lump(run)
    with django_assert_max_num_queries(100 * 3 + 150):
        slices.work(run.pk, "t", budget=30)
    assert outcomes(run) == {"created": 100}


def test_a_slow_row_holds_no_lock_while_it_is_prepared(started, monkeypatch):
    """`prepare_row` runs outside of any transaction."""
    seen = []
    depth = len(connection.savepoint_ids)
    monkeypatch.setattr(
        Movements,
        "prepare_row",
        lambda self, row, run: seen.append(len(connection.savepoint_ids) - depth),
    )
    work(started(csv_of(3)))
    assert seen == [0, 0, 0]


def test_a_row_over_its_time_is_rejected(started, settings):
    """ROW_TIMEOUT ends a row that hangs; the others go on."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "ROW_TIMEOUT": 0.3}
    run = work(started(csv_of(3, r2="hang")))
    assert outcomes(run) == {"created": 2, "rejected": 1}
    assert run.rejected_rows.get().reasons[0]["code"] == "timed_out"


def test_a_database_that_is_away_once_costs_no_row(started, monkeypatch):
    """J22: nothing of the failed batch is counted; the next turn writes only what is missing."""
    run = started(csv_of(30, r20="away"))
    lump(run)
    assert slices.work(run.pk, "t", budget=30) == Turn.WAIT
    assert len(moved()) == sum(outcomes(run).values()) < 20
    run.refresh_from_db()
    assert run.state == State.RUNNING
    monkeypatch.setenv("MOVEMENTS_DATABASE_IS_BACK", "1")
    run = work(run)
    assert outcomes(run) == {"created": 30}
    assert moved() == sorted(f"c{n}" for n in range(1, 31))


def test_a_row_that_the_database_never_takes_is_given_up(started):
    """Ten refusals of one marked row: it is rejected and the rest goes on."""
    run = work(started(csv_of(4, r2="away")), most=30)
    assert outcomes(run) == {"created": 3, "rejected": 1}
    assert run.rejected_rows.get().number == 3


def test_a_run_that_is_gone_needs_no_slice(started):
    """A ticket of a deleted run ends quietly."""
    run = started(csv_of(4))
    pk = run.pk
    run.delete()
    assert slices.work(pk, "t") == Turn.DONE


def test_counts_that_do_not_add_up_are_refused_by_the_database(started):
    """The sum is a constraint, not a hope."""
    run = work(started(csv_of(4)))
    with pytest.raises(IntegrityError), transaction.atomic():
        Chunk.objects.filter(run=run, index=0).update(created=F("created") + 1)


def test_a_transaction_is_committed_after_a_tenth_of_a_second(started):
    """Rows that are slow to save do not pile up in one long transaction."""
    run = started(csv_of(42, **{f"r{n}": "slow" for n in range(32, 43)}))
    lump(run)
    with CaptureQueriesContext(connection) as asked:
        slices.work(run.pk, "t", budget=30)
    writes = [q for q in asked if q["sql"].startswith("UPDATE") and '"next_row"' in q["sql"]]
    assert len(writes) >= 10
    assert outcomes(run) == {"created": 42}


def test_the_time_of_a_row_is_that_of_all_its_hooks(started, settings):
    """Preparing and saving share one limit, so a row cannot take it twice."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "ROW_TIMEOUT": 0.4}
    run = work(started(csv_of(1), options={"sleep_ms": 250, "save_ms": 250}))
    assert outcomes(run) == {"rejected": 1}
    assert moved() == []
