"""Whatever dies: the slot is free within a lease, and nothing of it goes on working."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fairimport.lanes import LaneJob, Lanes, lane
from tests.acceptance.lanes.conftest import LEASE, Start
from tests.background import runs
from tests.lanejobs import die, hang, sleep, write_slowly

Eventually = Callable[..., float]


def busy(lanes: Lanes) -> Callable[[], bool]:
    """A question: is something of acme's running?"""
    return lambda: bool(lanes.leases("acme"))


def lapses(job: LaneJob) -> int:
    """How often the job's lease has lapsed since it last ended well."""
    return int(job.connection.hget(job.key, "lapses") or 0)


def _lapsed(job: LaneJob, times: int) -> bool:
    return lapses(job) == times


def test_a_dead_horse_frees_its_slot_at_once(
    start: Start, lanes: Lanes, eventually: Eventually
) -> None:
    """The parent sees the death of its horse and fails the job, as RQ does, without waiting."""
    worker = start()[0]
    job = lane("acme").enqueue(hang, 30)
    eventually(busy(lanes))
    eventually(worker.children)
    os.kill(worker.children()[0], signal.SIGKILL)
    assert eventually(lambda: not lanes.leases("acme")) < 1
    assert job.get_status() == "failed"
    assert worker.alive()


def test_a_horse_dies_with_its_parent(start: Start, lanes: Lanes, eventually: Eventually) -> None:
    """SIGKILL of the worker ends its horse within a second, and its slot within a lease."""
    worker = start()[0]
    lane("acme").enqueue(sleep, 30)
    eventually(busy(lanes))
    eventually(worker.children)
    horse = worker.children()[0]
    worker.kill()
    assert eventually(lambda: not runs(horse)) < 1
    start()
    held = lanes.leases("acme")[0].id
    took = eventually(lambda: held not in [lease.id for lease in lanes.leases("acme")])
    assert took < LEASE + 1.5


def test_the_job_of_a_killed_worker_is_done_by_another(
    start: Start, lanes: Lanes, eventually: Eventually, tmp_path: Path
) -> None:
    """Parent and horse killed together: the job goes back to its lane's front and is done."""
    trace = tmp_path / "trace"
    worker, _ = start(2)
    lane("acme").enqueue(write_slowly, str(trace), "job", 1.0)
    eventually(lambda: trace.exists())
    holder = next(it for it in [worker, _] if it.children())
    for pid in [*holder.children(), holder.pid]:
        os.kill(pid, signal.SIGKILL)
    eventually(lambda: "job done" in trace.read_text(), seconds=3 * LEASE + 3)
    assert trace.read_text().count("done") == 1


def test_a_job_that_kills_every_worker_is_given_up(
    start: Start, lanes: Lanes, eventually: Eventually
) -> None:
    """A host's job fails for good after three lapses, with the reason in words."""
    job = lane("acme").enqueue(sleep, 60)
    for times in range(3):
        worker = start(1, "--simple")[0]
        eventually(partial(_lapsed, job, times), seconds=2 * LEASE + 2)
        eventually(lambda: lanes.leases("acme"), seconds=8)
        worker.kill()
    start()
    eventually(lambda: job.latest_result(), seconds=2 * LEASE + 2)
    assert job.get_status() == "failed"
    assert "3 times" in job.latest_result().exc_string
    assert job.id in job.failed_job_registry.get_job_ids()


def test_a_job_that_kills_its_horse_is_no_harm_to_the_worker(
    start: Start, lanes: Lanes, eventually: Eventually
) -> None:
    """The next job of the same worker is done as if nothing had happened."""
    worker = start()[0]
    job, after = lane("acme").enqueue(die), lane("acme").enqueue(hang, 0.01)
    eventually(lambda: after.get_status() == "finished")
    assert job.get_status() == "failed"
    assert worker.alive()


def test_a_frozen_worker_writes_nothing_after_its_lease(
    start: Start, lanes: Lanes, eventually: Eventually, tmp_path: Path
) -> None:
    """SIGSTOP for two leases: another does the job once, and the woken one leaves RQ alone."""
    trace = tmp_path / "trace"
    frozen = start()[0]
    job = lane("acme").enqueue(write_slowly, str(trace), "job", 0.5)
    eventually(lambda: trace.exists() and frozen.children())
    stopped = [frozen.pid, *frozen.children()]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    other = start()[0]
    eventually(lambda: trace.read_text().count("done") == 1, seconds=3 * LEASE + 3)
    eventually(lambda: job.get_status() == "finished")
    results = len(job.results())
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    time.sleep(1)
    assert (job.get_status(), len(job.results())) == ("finished", results)
    assert not lanes.leases("acme")
    assert frozen.alive()
    assert other.alive()


@pytest.mark.parametrize("simple", [False, True])
def test_a_short_freeze_is_forgiven(
    start: Start, lanes: Lanes, eventually: Eventually, simple: bool, tmp_path: Path
) -> None:
    """SIGSTOP for half a lease changes nothing: nobody steals, the job runs once."""
    trace = tmp_path / "trace"
    worker = start(1, *(["--simple"] if simple else []))[0]
    start()
    job = lane("acme").enqueue(write_slowly, str(trace), "job", 1.5)
    eventually(lambda: trace.exists())
    pids = [worker.pid, *worker.children()]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(0.4 * LEASE)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    eventually(lambda: job.get_status() == "finished")
    assert trace.read_text().count("begins") == 1
