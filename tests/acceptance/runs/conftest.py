"""Runs that real worker processes work on, and patience with a bound."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
import uuid
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from fairimport.lanes import get_lanes
from fairimport.models import Chunk, ImportRun, TenantLimit
from fairimport.progress import OUTCOMES
from fairimport.runs import control, intake
from fairimport.states import ENDED, State
from tests.background import until
from tests.fairworkers import WorkerProcess
from tests.warehouse.models import Movement

LEASE = 2.0
"""Seconds, as in `tests.settings`."""


def csv_of(rows: int, **names: str) -> str:
    """A file of so many rows; `r3="die"` names the third one so."""
    lines = [f"c{n},{names.get(f'r{n}', '')},{n}" for n in range(1, rows + 1)]
    return "\n".join(["code,name,qty", *lines])


class Imports:
    """Uploads, and what became of them."""

    def upload(self, text: str, tenant: str = "acme", importer: str = "Movements") -> ImportRun:
        """Send a file."""
        return intake.receive(
            tenant=tenant,
            user=None,
            importer=f"warehouse.{importer}",
            upload=SimpleUploadedFile("moves.csv", text.encode()),
            token=uuid.uuid4().hex,
        )

    def ready(self, text: str, *, options: dict[str, Any] | None = None, **kwargs) -> ImportRun:
        """Send a file and wait until workers have read and checked it."""
        run = self.upload(text, **kwargs)
        self.reaches(run, State.MAPPING)
        control.choose(run, mapping=run.mapping, options=options or {})
        self.reaches(run, State.READY)
        return run

    def start(self, text: str, **kwargs) -> ImportRun:
        """Send a file, and start it when it is checked."""
        run = self.ready(text, **kwargs)
        control.start(run)
        return run

    def reaches(self, run: ImportRun, state: State, seconds: float = 30) -> None:
        """Wait for a state; an end that is another one fails at once."""

        def is_there() -> bool:
            run.refresh_from_db()
            assert run.state == state or run.state not in ENDED, (run.state, run.error_code)
            return run.state == state

        until(is_there, seconds, f"the import is {state}")

    def done(self, run: ImportRun) -> int:
        """Rows that have an outcome."""
        return sum(self.outcomes(run).values())

    def outcomes(self, run: ImportRun) -> dict[str, int]:
        """The counts that are not zero."""
        sums = dict.fromkeys(OUTCOMES, 0)
        for counts in Chunk.objects.filter(run=run).values(*OUTCOMES):
            for name in OUTCOMES:
                sums[name] += counts[name]
        return {name: n for name, n in sums.items() if n}

    def after_rows(self, run: ImportRun, rows: int, seconds: float = 30) -> None:
        """Wait until so many rows have an outcome."""
        until(lambda: self.done(run) >= rows, seconds, f"{rows} rows")

    def finishes(self, run: ImportRun, seconds: float = 60) -> None:
        self.reaches(run, State.FINISHED, seconds)

    def has_each_row_once(self, run: ImportRun, rows: int) -> bool:
        """Whether the host's table holds exactly the rows of the file."""
        codes = list(Movement.objects.filter(tenant=run.tenant).values_list("code", flat=True))
        assert sorted(codes) == sorted(f"c{n}" for n in range(1, rows + 1))
        return True


@pytest.fixture
def imports(transactional_db, redis_server) -> Imports:
    return Imports()


def horse_of(worker: WorkerProcess, seconds: float = 10) -> int:
    """The process that works on the rows of a worker."""
    return until(worker.children, seconds, "a horse")[0]


def busy(workers: list[WorkerProcess], seconds: float = 10) -> WorkerProcess:
    """One of the workers that has a horse."""
    return until(lambda: next((w for w in workers if w.children()), None), seconds, "a busy worker")


def limit(tenant: str = "acme", **values: Any) -> None:
    """Change a tenant's limit as the admin does."""
    found, _ = TenantLimit.objects.get_or_create(tenant=tenant)
    for name, value in values.items():
        setattr(found, name, value)
    found.full_clean()
    found.save()


def freeze(worker: WorkerProcess, horse: int) -> None:
    """SIGSTOP a worker and its horse at a moment when they do not hold SQLite's only write lock.

    A process that is frozen with that lock in its hands keeps every writer waiting, ours or not.
    """
    for _ in range(100):
        for pid in (worker.pid, horse):
            os.kill(pid, signal.SIGSTOP)
        if can_write():
            return
        for pid in (worker.pid, horse):
            os.kill(pid, signal.SIGCONT)
        time.sleep(0.03)
    raise AssertionError("the horse never let go of the database")


def can_write() -> bool:
    """Whether another connection could write now; PostgreSQL has no lock for all."""
    if connection.vendor != "sqlite":
        return True
    other = sqlite3.connect(connection.settings_dict["NAME"], timeout=0.2, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
    except sqlite3.OperationalError:
        return False
    finally:
        other.close()
    return True


def kill(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def in_flight(tenant: str = "acme") -> int:
    return len(get_lanes().leases(tenant))
