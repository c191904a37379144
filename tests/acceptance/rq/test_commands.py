"""django-rq's own commands with fair workers, in processes of their own."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from redis import Redis
from rq.job import JobStatus

from demo_site.servers import RedisServer
from fairimport.lanes import LaneQueue, get_lanes, lane, workers_alive
from tests.background import until
from tests.fairworkers import WorkerProcess
from tests.integration.rq import jobs

FAIR = "--worker-class=fairimport.lanes.FairWorker"
SIMPLE = "--worker-class=fairimport.lanes.FairSimpleWorker"
SETTINGS = {"JOB_FUNCTIONS": ["tests.integration.rq"], "LEASE": 2.0, "CAP": 2}

pytestmark = pytest.mark.django_db(transaction=True)
Start = Callable[..., WorkerProcess]


@pytest.fixture
def acme(settings: Any, redis_server: RedisServer) -> LaneQueue:
    """The queue of one tenant, its lanes being open."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, **SETTINGS}
    get_lanes().load_limits({}, wait=0)
    return lane("acme")


@pytest.fixture
def start(fairworkers: Any) -> Start:
    """Start one command: `start("rqworker", "imports", FAIR)`."""
    return lambda command, *arguments, **more: fairworkers(
        1, *arguments, command=command, **{**SETTINGS, **more}
    )[0]


def ended(job: Any) -> Callable[[], bool]:
    """A question: has the job finished?"""
    return lambda: job.get_status() == JobStatus.FINISHED


@pytest.mark.parametrize("kind", [FAIR, SIMPLE])
def test_rqworker_runs_fair_workers(acme: LaneQueue, start: Start, kind: str, redis: Redis) -> None:
    """Though it passes pickle and a worker TTL: jobs run, failures fail, SIGTERM ends it."""
    worker = start("rqworker", "imports", kind, "--name=ann")
    good, bad = acme.enqueue(jobs.add, 1, 2), acme.enqueue(jobs.fail)
    until(ended(good))
    until(lambda: bad.get_status() == JobStatus.FAILED)
    assert good.return_value() == 3
    assert redis.hget("rq:worker:ann", "queues") == b"imports"
    assert workers_alive().count == 1
    assert worker.terminate(timeout=5) == 0


def test_rqworker_in_burst_mode_with_most_jobs(acme: LaneQueue, start: Start) -> None:
    """`--burst` and `--max-jobs` are heard; `rqenqueue` knows no tenant, and its job runs."""
    for _ in range(2):
        call_command("rqenqueue", "tests.integration.rq.jobs.note", queue="imports")
    assert acme.count == 2
    worker = start("rqworker", "imports", FAIR, "--max-jobs=1", "--burst", wait=False)
    assert worker.popen.wait(timeout=20) == 0
    assert acme.count == 1
    [job] = acme.finished_job_registry.get_job_ids()
    assert acme.connection.hget(f"rq:job:{job}", "tenant") == b""


def test_rqworker_with_scheduler_and_idle_time(acme: LaneQueue, start: Start) -> None:
    """`--with-scheduler` enqueues what is due, `--max-idle-time` ends the worker after it."""
    worker = start("rqworker", "imports", FAIR, "--with-scheduler", "--max-idle-time=4")
    job = acme.enqueue_in(timedelta(seconds=1), jobs.note)
    until(ended(job), 6)
    assert worker.popen.wait(timeout=15) == 0


def test_rqworker_without_a_fair_class_says_what_to_do(acme: LaneQueue, start: Start) -> None:
    """It takes no job and ends."""
    job = acme.enqueue(jobs.note)
    worker = start("rqworker", "imports", "--burst", wait=False)
    worker.popen.wait(timeout=20)
    assert (job.get_status(), acme.count) == (JobStatus.QUEUED, 1)
    assert "rqworker --worker-class fairimport.lanes.FairWorker" in worker.output()


def test_a_pool_of_fair_workers(acme: LaneQueue, start: Start, redis: Redis) -> None:
    """`rqworker-pool` starts them, replaces one that is killed, and ends with its workers."""
    pool = start("rqworker-pool", "imports", "--num-workers=2", FAIR)
    until(lambda: workers_alive().count == 2)
    waiting = [lane(f"tenant {number}").enqueue(jobs.note) for number in range(6)]
    for job in waiting:
        until(ended(job))
    victim = int(redis.hget(redis.srandmember("rq:workers"), "pid"))
    os.kill(victim, signal.SIGKILL)
    job = acme.enqueue(jobs.wait_at_gate)
    other = acme.enqueue(jobs.wait_at_gate)
    until(lambda: redis.scard(jobs.RUNNING) == 2, 15)
    redis.set(jobs.GATE, 1)
    until(ended(job))
    until(ended(other))
    assert pool.terminate(timeout=15) == 0
    until(lambda: workers_alive().count <= 1)  # the killed one is forgotten with its last sign


def test_the_commands_suspend_and_resume(
    acme: LaneQueue, start: Start, redis: Redis, settings: Any
) -> None:
    """`rqsuspend` and `rqresume` mean fair workers, too; they ask the Redis of "default"."""
    settings.RQ_QUEUES = {**settings.RQ_QUEUES, "default": settings.RQ_QUEUES["imports"]}
    start("rqworker", "imports", FAIR, "--name=ann")
    call_command("rqsuspend")
    until(lambda: redis.hget("rq:worker:ann", "state") == b"suspended")
    job = acme.enqueue(jobs.note)
    time.sleep(0.5)
    assert job.get_status() == JobStatus.QUEUED
    call_command("rqresume")
    until(ended(job), 5)


def test_a_redis_that_hangs_for_longer_than_any_time_out(
    acme: LaneQueue, start: Start, redis_server: RedisServer, redis: Redis
) -> None:
    """Workers outlive it, work on within seconds, and run nothing twice after its return."""
    workers = [start("rqworker", "imports", kind) for kind in (FAIR, SIMPLE)]
    pid = redis_server.pid
    waiting = [acme.enqueue(jobs.note, str(number)) for number in range(4)]
    for job in waiting:
        until(ended(job))
    os.kill(pid, signal.SIGSTOP)
    time.sleep(7)
    os.kill(pid, signal.SIGCONT)
    late = acme.enqueue(jobs.note, "late")
    until(ended(late), 15)
    assert all(worker.alive() for worker in workers)
    assert sorted(redis.lrange(jobs.NOTES, 0, -1)) == [b"0", b"1", b"2", b"3", b"late"]
