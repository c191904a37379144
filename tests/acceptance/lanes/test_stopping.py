"""How workers end: when asked, when nothing is left to do, and with their supervisor."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fairimport.lanes import Lanes, lane
from tests.acceptance.lanes.conftest import LEASE, Start
from tests.background import runs
from tests.lanejobs import hang, noop, sleep, yield_until, yield_when_asked

Eventually = Callable[..., float]


@pytest.mark.parametrize("kind", ["--simple", "--verbosity=1"])
def test_an_idle_worker_ends_when_told(start: Start, lanes: Lanes, kind: str) -> None:
    """SIGTERM wakes a sleeping worker."""
    assert start(1, kind)[0].terminate(timeout=5) == 0


@pytest.mark.parametrize("kind", ["--simple", "--verbosity=1"])
def test_a_busy_worker_tells_its_job_and_yields(
    start: Start, lanes: Lanes, eventually: Eventually, kind: str, tmp_path: Path
) -> None:
    """SIGTERM makes `should_stop` true in the job; what it yields is waiting again at once."""
    trace = tmp_path / "trace"
    worker = start(1, kind)[0]
    job = lane("acme").enqueue(yield_when_asked, str(trace))
    eventually(lambda: trace.exists())
    assert worker.terminate(timeout=5) == 0
    assert trace.read_text().split() == ["began", "yielded"]
    assert job.get_status() == "queued"
    assert not lanes.leases("acme")
    assert lanes.holds(job.id)


def test_a_signal_to_the_whole_group_fails_nothing(
    start: Start, lanes: Lanes, eventually: Eventually, tmp_path: Path
) -> None:
    """SIGTERM to worker and horse together: the horse hears it too, and yields."""
    trace = tmp_path / "trace"
    worker = start()[0]
    job = lane("acme").enqueue(yield_when_asked, str(trace))
    eventually(lambda: trace.exists())
    for pid in [*worker.children(), worker.pid]:
        os.kill(pid, signal.SIGTERM)
    assert worker.popen.wait(timeout=5) == 0
    assert job.get_status() == "queued"


def test_the_second_signal_ends_the_horse_and_releases_its_job(
    start: Start, lanes: Lanes, eventually: Eventually
) -> None:
    """A job that is deaf to the first signal is given back by the second, not failed."""
    worker = start()[0]
    job = lane("acme").enqueue(sleep, 60)
    eventually(worker.children)
    time.sleep(0.3)
    horse = worker.children()[0]
    worker.send(signal.SIGTERM)
    time.sleep(1.2)
    worker.send(signal.SIGTERM)
    worker.popen.wait(timeout=5)
    assert not runs(horse)
    assert job.get_status() == "queued"
    assert not lanes.leases("acme")


def test_a_yielding_job_is_one_job_that_takes_turns(
    start: Start, lanes: Lanes, eventually: Eventually, tmp_path: Path
) -> None:
    """`Yield` puts the same job at its lane's back until it is finished."""
    trace = tmp_path / "trace"
    start()
    job = lane("acme").enqueue(yield_until, str(trace), 4)
    eventually(lambda: job.get_status() == "finished")
    assert trace.read_text().split() == ["turn"] * 4
    assert job.return_value() == "finished"


def test_burst_ends_when_nothing_is_left(
    start: Start, lanes: Lanes, eventually: Eventually
) -> None:
    """`--burst` works what waits and ends; with several workers all of them end."""
    jobs = [lane(tenant).enqueue(noop) for tenant in "abc" for _ in range(3)]
    command = start(1, "--burst", "--workers", "2", wait=False)[0]
    assert command.popen.wait(timeout=20) == 0
    assert {job.get_status() for job in jobs} == {"finished"}


def test_max_jobs_ends_a_worker(start: Start, lanes: Lanes) -> None:
    """`--max-jobs 2` leaves the third job."""
    jobs = [lane("acme").enqueue(noop) for _ in range(3)]
    command = start(1, "--max-jobs", "2", wait=False)[0]
    assert command.popen.wait(timeout=20) == 0
    assert [job.get_status() for job in jobs].count("finished") == 2


def test_children_die_with_their_supervisor(
    start: Start, lanes: Lanes, eventually: Eventually
) -> None:
    """SIGKILL of `fairworker --workers 3` leaves no worker and no horse behind."""
    command = start(1, "--workers", "3")[0]
    eventually(lambda: lanes.connection.scard("rq:workers") == 3)
    lane("acme").enqueue(sleep, 60)
    eventually(lambda: len(command.children()) == 4)
    pids = command.children()
    command.kill()
    assert eventually(lambda: not any(map(runs, pids))) < 1.5


def test_a_worker_that_dies_alone_is_started_again(
    start: Start, lanes: Lanes, eventually: Eventually
) -> None:
    """The supervisor replaces a killed child; SIGTERM then ends all of them."""
    command = start(1, "--workers", "2")[0]
    eventually(lambda: lanes.connection.scard("rq:workers") == 2)
    first = command.children()[0]
    os.kill(first, signal.SIGKILL)
    eventually(lambda: len(command.children()) == 2 and first not in command.children())
    job = lane("acme").enqueue(hang, 0.1)
    eventually(lambda: job.get_status() == "finished", seconds=LEASE + 8)
    assert command.terminate() == 0
