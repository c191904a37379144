"""A real worker's connections."""

from __future__ import annotations

import time

import pytest

from fairimport.lanes import lane
from tests.fairworkers import FairWorkers

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def test_connections_of_a_worker_are_limited(fairworkers: FairWorkers) -> None:
    """A job that shows its own lock_timeout shows the lease, not PostgreSQL's default."""
    fairworkers(1, LEASE=1.5)
    job = lane("acme").enqueue("tests.warehouse.questions.shown_lock_timeout")
    deadline = time.monotonic() + 20
    while not (job.refresh() or job.is_finished):
        assert time.monotonic() < deadline, job.get_status()
        time.sleep(0.1)
    assert job.return_value() == "1500ms"
