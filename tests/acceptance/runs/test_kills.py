"""Workers are killed in the middle of their rows, and each row still happens once."""

from __future__ import annotations

import os
import signal
import time

import pytest

from fairimport.lanes import get_lanes
from fairimport.runs import control
from fairimport.states import State
from tests.acceptance.runs.conftest import (
    LEASE,
    busy,
    csv_of,
    freeze,
    horse_of,
    in_flight,
    kill,
    limit,
)
from tests.background import runs, until

SLOW = {"sleep_ms": 20}


def victims(worker, who: str) -> list[int]:
    horse = horse_of(worker)
    return {"parent": [worker.pid], "horse": [horse], "both": [worker.pid, horse]}[who]


@pytest.mark.both_databases
@pytest.mark.parametrize(("slice_s", "rows"), [(1.0, 150), (0, 24)])
@pytest.mark.parametrize("who", ["parent", "horse", "both"])
def test_a_killed_worker_loses_no_row_and_does_none_twice(imports, fairworkers, who, slice_s, rows):
    """kill -9: the slot is free within one lease, rows go on within 2.5, each row exactly once."""
    workers = fairworkers(2, SLICE=slice_s)
    run = imports.start(csv_of(rows), options=SLOW)
    imports.after_rows(run, rows // 5)
    worker = busy(workers)
    pids = victims(worker, who)
    kill(*pids)
    killed = time.monotonic()
    horse = pids[-1]
    until(lambda: not runs(horse), 1.0, "the horse of a killed parent is gone")
    before = imports.done(run)
    imports.after_rows(run, before + 2, 2.5 * LEASE)
    imports.finishes(run)
    assert imports.outcomes(run) == {"created": rows}
    assert imports.has_each_row_once(run, rows)
    until(lambda: in_flight() == 0, 2.5 * LEASE, "all slots are free")
    assert time.monotonic() - killed < 60


@pytest.mark.both_databases
@pytest.mark.parametrize("who", ["parent", "horse", "both"])
def test_the_only_slot_comes_back_within_the_lease(imports, fairworkers, who):
    """With a cap of 1 rows can only go on once the dead worker's slot is free."""
    workers = fairworkers(2)
    run = imports.ready(csv_of(100), options=SLOW)
    limit(cap=1)
    control.start(run)
    imports.after_rows(run, 10)
    kill(*victims(busy(workers), who))
    before = imports.done(run)
    imports.after_rows(run, before + 1, 2.5 * LEASE)
    imports.finishes(run)
    assert imports.outcomes(run) == {"created": 100}
    assert imports.has_each_row_once(run, 100)


def test_the_only_worker_is_killed_and_another_goes_on(imports, fairworkers):
    """J01: within 2.5 leases a second worker resumes after the last committed row."""
    [first] = fairworkers(1)
    run = imports.start(csv_of(400), options={"sleep_ms": 5})
    imports.after_rows(run, 100)
    kill(first.pid, horse_of(first))
    until(lambda: in_flight() == 0 or _reaped(), LEASE * 1.5, "the slot is free")
    done = imports.done(run)
    fairworkers(1)
    imports.after_rows(run, done + 1, 2.5 * LEASE)
    imports.finishes(run)
    assert imports.has_each_row_once(run, 400)


def _reaped() -> bool:
    now = time.time()
    return all(lease.deadline <= now for lease in get_lanes().leases("acme"))


def test_a_warm_shutdown_fails_no_row(imports, fairworkers):
    """J02: SIGTERM in mid-slice commits the rows in hand, gives the lease back and ends soon."""
    [first] = fairworkers(1, SLICE=5)
    run = imports.start(csv_of(200), options=SLOW)
    imports.after_rows(run, 20)
    began = time.monotonic()
    assert first.terminate() == 0
    assert time.monotonic() - began < 10
    assert in_flight() == 0
    stopped_at = imports.done(run)
    assert 20 <= stopped_at < 200
    fairworkers(1)
    imports.finishes(run)
    assert imports.outcomes(run) == {"created": 200}
    assert imports.has_each_row_once(run, 200)


@pytest.mark.both_databases
def test_a_frozen_worker_writes_nothing_when_it_wakes_up(imports, fairworkers):
    """SIGSTOP past the lease, then SIGCONT: the fence rejects it, each row happens once."""
    workers = fairworkers(2)
    run = imports.start(csv_of(60), options={"sleep_ms": 100})
    imports.after_rows(run, 10)
    worker = busy(workers)
    horse = horse_of(worker)
    freeze(worker, horse)
    imports.finishes(run, 60)
    assert imports.outcomes(run) == {"created": 60}
    os.kill(horse, signal.SIGCONT)
    until(lambda: "chunk.fence_rejected" in worker.output(), 5, "the fence rejects the late row")
    os.kill(worker.pid, signal.SIGCONT)
    time.sleep(0.5)
    assert imports.outcomes(run) == {"created": 60}
    assert imports.has_each_row_once(run, 60)


def test_a_poison_row_costs_three_horses_and_itself(imports, fairworkers):
    """A row that ends its process is rejected after MAX_LAPSES; every other row is written."""
    [worker] = fairworkers(1)
    run = imports.start(csv_of(30, r12="die"))
    imports.finishes(run)
    assert imports.outcomes(run) == {"created": 29, "rejected": 1}
    rejected = run.rejected_rows.get()
    assert (rejected.number, rejected.reasons[0]["code"]) == (13, "crashed")
    assert worker.alive()
    assert worker.output().count("horse.died") == 3


def test_a_poison_row_of_one_tenant_does_not_disturb_another(imports, fairworkers):
    """The worker lives, so the others' rows go on."""
    fairworkers(1)
    bad = imports.start(csv_of(4, r2="die"), tenant="acme")
    good = imports.start(csv_of(20), tenant="birch")
    imports.finishes(good)
    imports.finishes(bad)
    assert imports.has_each_row_once(good, 20)


def test_cancel_stops_a_running_import_and_frees_its_slots(imports, fairworkers):
    """J06: the worker stops at the next commit; what is written stays and is counted."""
    fairworkers(2)
    run = imports.start(csv_of(400), options=SLOW)
    imports.after_rows(run, 40)
    run.refresh_from_db()
    control.cancel(run)
    imports.reaches(run, State.CANCELLED, 5)
    until(lambda: in_flight() == 0, 5, "the slots are free")
    kept = imports.done(run)
    assert 40 <= kept < 400
    time.sleep(0.5)
    assert imports.done(run) == kept
    assert control.cancel(run) is False
