"""The database restarts, or a worker freezes with a lock in its hands: rows still happen once."""

from __future__ import annotations

import os
import signal
import time

import pytest
from django.db import connection, connections

from tests.acceptance.runs.conftest import LEASE, busy, csv_of, horse_of
from tests.background import until

pytestmark = pytest.mark.postgres


def test_the_database_restarts_in_mid_import(imports, fairworkers, postgres_server):
    """Workers do not quit, open transactions are repeated, and rows go on within 5 s."""
    workers = fairworkers(2)
    run = imports.start(csv_of(300), options={"sleep_ms": 20})
    for rows in (40, 120):
        imports.after_rows(run, rows)
        stood_at = imports.done(run)
        connections.close_all()
        postgres_server.stop()
        time.sleep(1.5)
        postgres_server.start()
        imports.after_rows(run, stood_at + 5, 10)
    imports.finishes(run)
    assert all(worker.alive() for worker in workers)
    assert imports.outcomes(run) == {"created": 300}
    assert imports.has_each_row_once(run, 300)


def test_connections_are_killed_while_rows_are_written(imports, fairworkers):
    """pg_terminate_backend of all workers' backends, again and again."""
    fairworkers(2)
    run = imports.start(csv_of(200), options={"sleep_ms": 10, "save_ms": 10})
    for rows in (20, 60, 100):
        imports.after_rows(run, rows)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
    imports.finishes(run)
    assert imports.outcomes(run) == {"created": 200}
    assert imports.has_each_row_once(run, 200)


def test_a_worker_that_freezes_in_a_transaction_does_not_hold_its_successor(imports, fairworkers):
    """Its transaction is ended after a lease; the row is written by the successor, once."""
    workers = fairworkers(2)
    run = imports.start(csv_of(12), options={"save_ms": 700})
    imports.after_rows(run, 2)
    worker = busy(workers)
    horse = horse_of(worker)
    until(_is_saving, 10, "a row is being saved")
    for pid in (worker.pid, horse):
        os.kill(pid, signal.SIGSTOP)
    frozen = time.monotonic()
    imports.finishes(run, 60)
    assert time.monotonic() - frozen < 60
    for pid in (horse, worker.pid):
        os.kill(pid, signal.SIGCONT)
    time.sleep(LEASE)
    assert imports.outcomes(run) == {"created": 12}
    assert imports.has_each_row_once(run, 12)


def _is_saving() -> bool:
    """Whether some worker's backend is idle in a transaction (the row sleeps inside of it)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction' "
            "AND pid <> pg_backend_pid()"
        )
        return bool(cursor.fetchone()[0])
