"""Redis may lose everything, or be away: the database knows, and imports finish."""

from __future__ import annotations

import os
import time

import pytest

from fairimport.lanes import get_lanes
from fairimport.models import Chunk
from fairimport.runs import control
from fairimport.states import State
from tests.acceptance.runs.conftest import LEASE, csv_of, in_flight, limit
from tests.background import until

AWAY_S = float(os.environ.get("FAIRIMPORT_TEST_REDIS_AWAY_S", "20"))


@pytest.mark.both_databases
def test_flushall_in_mid_import_loses_no_row(imports, fairworkers, redis_server):
    """Every row once, the cap never exceeded, a pause still there: nothing but the database."""
    fairworkers(3)
    limit(cap=2)
    paused = imports.ready(csv_of(5), tenant="birch")
    limit("birch", paused=True, paused_by="ops")
    run = imports.start(csv_of(200), options={"sleep_ms": 20})
    control.start(paused)
    imports.after_rows(run, 40)
    most = 0
    for _ in range(2):
        with redis_server.client() as client:
            client.flushall()
        before = imports.done(run)
        until(lambda before=before: imports.done(run) >= min(before + 20, 200), 3 * LEASE)
        most = max(most, Chunk.objects.held().filter(run=run).count())
    deadline = time.monotonic() + 60
    while run.state != State.FINISHED and time.monotonic() < deadline:
        most = max(most, Chunk.objects.held().filter(run=run).count())
        time.sleep(0.05)
        run.refresh_from_db()
    assert run.state == State.FINISHED
    assert most <= 2
    assert imports.outcomes(run) == {"created": 200}
    assert imports.has_each_row_once(run, 200)
    paused.refresh_from_db()
    assert (paused.state, imports.done(paused)) == (State.QUEUED, 0)


def test_redis_away_and_back_empty(imports, fairworkers, redis_server):
    """No worker quits, and rows go on within 5 s of Redis' return."""
    workers = fairworkers(2)
    run = imports.start(csv_of(400), options={"sleep_ms": 25})
    imports.after_rows(run, 30)
    redis_server.stop()
    time.sleep(AWAY_S)
    assert all(worker.alive() for worker in workers)
    stood_at = imports.done(run)
    redis_server.start(empty=True)
    back = time.monotonic()
    imports.after_rows(run, stood_at + 1, 5.0)
    assert time.monotonic() - back <= 5.0
    imports.finishes(run)
    assert all(worker.alive() for worker in workers)
    assert imports.has_each_row_once(run, 400)


def test_a_run_needs_little_of_redis(imports, fairworkers, redis_server):
    """Tickets do not grow with the file: less than 1 MB for 1,000 rows and for 20,000."""
    fairworkers(1)
    used = {}
    for rows in (1_000, 20_000):
        run = imports.ready(csv_of(rows), tenant=f"t{rows}")
        limit(run.tenant, paused=True)
        with redis_server.client() as client:
            before = client.info("memory")["used_memory"]
            control.start(run)
            until(lambda run=run: get_lanes().holds(f"slice-{run.pk.hex}-0"), 10)
            time.sleep(0.3)
            used[rows] = client.info("memory")["used_memory"] - before
    assert max(used.values()) < 1_000_000, used


def test_a_ticket_that_was_lost_is_written_again(imports, fairworkers, redis_server):
    """The reconciler sees that a run has work and no ticket."""
    fairworkers(1)
    run = imports.ready(csv_of(10))
    with redis_server.client() as client:
        control.start(run)
        for key in client.scan_iter("rq:job:slice-*"):
            client.delete(key)
    imports.finishes(run, 10)
    assert imports.has_each_row_once(run, 10)
    until(lambda: in_flight() == 0, LEASE, "all slots are free")
