"""Caps, turns and slots, as customers and operators see them on real workers."""

from __future__ import annotations

import time

import pytest
from django.core.exceptions import ValidationError
from rq.suspension import resume, suspend

from fairimport import progress
from fairimport.lanes import LaneQueue, get_lanes
from fairimport.models import Chunk
from fairimport.runs import control
from fairimport.states import State
from tests.acceptance.runs.conftest import (
    LEASE,
    busy,
    csv_of,
    horse_of,
    in_flight,
    kill,
    limit,
)
from tests.background import until


def test_a_cap_of_0_pauses_and_1_starts(imports, fairworkers):
    """J14: the page says so, other tenants go on, and nothing has to be sent again."""
    fairworkers(1)
    run = imports.ready(csv_of(10))
    limit(cap=0)
    control.start(run)
    other = imports.start(csv_of(5), tenant="birch")
    imports.finishes(other)
    run.refresh_from_db()
    assert (run.state, imports.done(run)) == (State.QUEUED, 0)
    assert progress.of(run).reason.code == "paused"
    limit(cap=1)
    imports.finishes(run, 10)
    with pytest.raises(ValidationError):
        limit(cap=-1)


def test_a_dead_runs_slot_comes_back(imports, fairworkers):
    """J15: cap 1, its worker killed, the run deleted: the next import gets the slot by itself."""
    workers = fairworkers(2)
    limit(cap=1)
    run = imports.start(csv_of(200), options={"sleep_ms": 20})
    imports.after_rows(run, 10)
    worker = busy(workers)
    kill(worker.pid, horse_of(worker))
    run.delete()
    again = imports.start(csv_of(5), tenant="acme")
    imports.finishes(again, 5 * LEASE + 10)
    assert until(lambda: in_flight() == 0, 2.5 * LEASE, "all slots are free")


@pytest.mark.both_databases
def test_a_cap_of_1_holds_over_two_imports(imports, fairworkers):
    """J16: a lease that is shorter than the import is renewed; never two at once."""
    fairworkers(3, SLICE=4.0, LEASE=1.0)
    limit(cap=1)
    runs = [imports.ready(csv_of(60), options={"sleep_ms": 30}) for _ in range(2)]
    for run in runs:
        control.start(run)
    most_leases = most_chunks = 0
    deadline = time.monotonic() + 60
    while any(run.state != State.FINISHED for run in runs) and time.monotonic() < deadline:
        most_leases = max(most_leases, in_flight())
        most_chunks = max(most_chunks, Chunk.objects.held().count())
        time.sleep(0.03)
        for run in runs:
            run.refresh_from_db()
    assert (most_leases, most_chunks) == (1, 1)
    assert sorted({run.state for run in runs}) == [State.FINISHED]


def test_one_import_of_a_small_tenant_passes_by_many_of_a_big_one(imports, fairworkers):
    """J18: the small one is finished while the big ones still wait for their second round."""
    fairworkers(2)
    big = [imports.ready(csv_of(100), options={"sleep_ms": 30}) for _ in range(4)]
    small = imports.ready(csv_of(10), tenant="birch")
    for run in big:
        control.start(run)
    imports.after_rows(big[0], 1)
    began = time.monotonic()
    control.start(small)
    imports.finishes(small, 10)
    assert time.monotonic() - began < 10
    assert sum(imports.done(run) for run in big) < 400


def test_several_imports_of_one_tenant_take_turns(imports, fairworkers):
    """The second is not starved by the first."""
    fairworkers(1, SLICE=0.3)
    one = imports.start(csv_of(300), options={"sleep_ms": 10})
    imports.after_rows(one, 10)
    two = imports.ready(csv_of(20), options={"sleep_ms": 10})
    control.start(two)
    imports.finishes(two, 20)
    one.refresh_from_db()
    assert one.state == State.RUNNING


def test_without_a_worker_the_page_says_so_and_it_starts_by_itself(imports, fairworkers):
    """J19: waiting, never 'in progress'; it goes on once a worker is there."""
    [worker] = fairworkers(1)
    run = imports.ready(csv_of(10))
    worker.terminate()
    control.start(run)
    until(lambda: progress.of(run).reason.code == "no_worker", 12, "it says that no worker runs")
    run.refresh_from_db()
    assert (run.state, progress.of(run).done) == (State.QUEUED, 0)
    fairworkers(1)
    imports.finishes(run, 15)


def test_a_suspension_is_told_as_one_and_ends_with_a_resume(imports, fairworkers):
    """Not as a lack of workers, who are there and claim nothing; rows in hand are finished."""
    fairworkers(2)
    run = imports.start(csv_of(200), options={"sleep_ms": 20})
    imports.after_rows(run, 5)
    lanes = get_lanes()
    suspend(lanes.connection)
    until(lambda: not lanes.snapshot().live, 5, "rows in hand are finished")
    began, long = lanes.workers().last_seen, max(2 * LEASE, 5)
    until(lambda: lanes.workers().last_seen > began + long, long + 5, "signs without a claim")
    assert lanes.workers().count == 2
    assert progress.of(run).reason.code == "suspended"
    [state] = lanes.snapshot().tenants.values()
    assert (state.in_flight, state.reason) == (0, "suspended")
    waiting = LaneQueue.named("imports").get_job_ids()
    assert {lanes.explain(job).code for job in waiting} == {"suspended"}
    resume(lanes.connection)
    imports.finishes(run, 30)


def test_four_workers_are_nearly_four_times_as_fast_as_one(imports, fairworkers):
    """Slow rows are prepared outside of any transaction, so SQLite's one writer is no brake."""

    def seconds_a_row(tenant: str, rows: int) -> float:
        """Between the first rows and the last ones, while every worker is busy."""
        run = imports.ready(csv_of(rows), options={"sleep_ms": 280}, tenant=tenant)
        control.start(run)
        imports.after_rows(run, 4)
        began, first = time.monotonic(), imports.done(run)
        imports.after_rows(run, rows - 8)
        pace = (time.monotonic() - began) / (imports.done(run) - first)
        imports.finishes(run)
        return pace

    fairworkers(1)
    one = seconds_a_row("acme", 36)
    fairworkers(3)
    four = seconds_a_row("birch", 120)
    assert one / four >= 3.5, (one, four)


def test_progress_never_falls_and_always_adds_up(imports, fairworkers):
    """Asked again and again while workers die: the sum is the total, percent only rises."""
    workers = fairworkers(2)
    run = imports.start(csv_of(120), options={"sleep_ms": 20})
    last = 0.0
    killed = False
    deadline = time.monotonic() + 60
    while run.state != State.FINISHED and time.monotonic() < deadline:
        run.refresh_from_db()
        now = progress.of(run)
        assert now.total == now.done + now.not_tried
        assert last <= now.percent <= 100
        last = now.percent
        if now.done > 30 and not killed:
            worker = busy(workers)
            kill(worker.pid, horse_of(worker))
            killed = True
        time.sleep(0.05)
    assert killed
    assert last == 100
