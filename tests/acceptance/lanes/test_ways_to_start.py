"""Fair workers started and commanded as any RQ worker is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rq import Callback
from rq.command import send_shutdown_command, send_stop_job_command
from rq.worker_pool import WorkerPool

from fairimport.lanes import LaneQueue, Lanes, lane
from fairimport.lanes.worker import FairWorker
from tests.acceptance.lanes.conftest import SETTINGS, Start
from tests.fairworkers import ROOT
from tests.lanejobs import hang, noop, note_stopped, sleep, whose

Eventually = Callable[..., float]
Command = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def manage(redis_server: object, tmp_path: Path) -> Iterator[Command]:
    """Run a management command with the suite's settings; killed at the end."""
    started: list[subprocess.Popen[bytes]] = []

    def run(*arguments: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "FAIRIMPORT_OVERRIDES": json.dumps(SETTINGS),
        }
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        with (tmp_path / "log").open("wb") as log:
            started.append(
                subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
            )
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("kind", ["FairWorker", "FairSimpleWorker"])
def test_django_rqs_own_command_runs_a_fair_worker(
    manage: Command, lanes: Lanes, eventually: Eventually, kind: str
) -> None:
    """`rqworker --worker-class ...` needs no other setting: its queues become lane queues."""
    job = lane("acme").enqueue(whose)
    command = manage(
        "rqworker", "imports", "--burst", f"--worker-class=fairimport.lanes.worker.{kind}"
    )
    assert command.wait(timeout=20) == 0
    assert (job.get_status(), job.return_value()) == ("finished", "acme")


def test_a_pool_of_fair_workers(lanes: Lanes) -> None:
    """RQ's `WorkerPool` with our class works the lanes, whatever serializer it names."""
    jobs = [lane(tenant).enqueue(noop) for tenant in "abcdef"]
    connection = LaneQueue.named("imports").connection
    pool = WorkerPool(["imports"], connection=connection, num_workers=2, worker_class=FairWorker)
    pool.start(burst=True, logging_level="ERROR")
    assert {job.get_status() for job in jobs} == {"finished"}


def test_a_job_is_stopped_by_command(start: Start, lanes: Lanes, eventually: Eventually) -> None:
    """`send_stop_job_command` ends the horse; the job is stopped, and its callback called."""
    worker = start()[0]
    job = lane("acme").enqueue(sleep, 60, on_stopped=Callback(note_stopped))
    eventually(lambda: job.get_status() == "started" and worker.children())
    send_stop_job_command(job.connection, job.id)
    eventually(lambda: job.get_status() == "stopped")
    eventually(lambda: job.connection.get("note") == b"stopped")
    eventually(lambda: not lanes.leases("acme"))
    assert worker.alive()


def test_a_worker_is_shut_down_by_command(
    start: Start, lanes: Lanes, eventually: Eventually
) -> None:
    """`send_shutdown_command` is a warm shutdown: the running job ends well first."""
    worker = start()[0]
    job = lane("acme").enqueue(hang, 60)
    eventually(worker.children)  # before its horse runs, a claim is released instead
    name = lanes.leases("acme")[0].worker
    send_shutdown_command(job.connection, name)
    assert worker.popen.wait(timeout=10) == 0
    assert (job.get_status(), job.return_value()) == ("finished", "stopped")


def test_a_name_can_be_used_again_at_once(
    start: Start, lanes: Lanes, eventually: Eventually
) -> None:
    """A worker killed and started under the same name is no error: leases know their holders."""
    start(1, "--name", "pod-1")[0].kill()
    start(1, "--name", "pod-1", wait=False)
    job = lane("acme").enqueue(noop)
    eventually(lambda: job.get_status() == "finished")
    assert lanes.workers().count == 1
