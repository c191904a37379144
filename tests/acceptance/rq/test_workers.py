"""Workers: their modes, names, several queues, commands, and how they end."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import django_rq
import pytest
from redis import Redis
from rq import Callback, SimpleWorker, SpawnWorker, Worker
from rq.command import (
    send_kill_horse_command,
    send_shutdown_command,
    send_stop_execution_command,
    send_stop_job_command,
)
from rq.exceptions import InvalidJobOperation
from rq.job import Job, JobStatus
from rq.suspension import resume, suspend
from rq.worker import WorkerStatus
from rq.worker_pool import WorkerPool

from fairimport.lanes import (
    FairSimpleWorker,
    FairWorker,
    LaneJob,
    LaneQueue,
    Limit,
    lane,
    workers_alive,
)
from fairimport.lanes.lanes import Lanes
from tests.background import runs, until
from tests.integration.rq import jobs

Notes = Callable[[], list[str]]
Work = Callable[..., Any]


@pytest.fixture
def several(settings: Any, lanes: Lanes) -> list[str]:
    """Three lane queues on the one Redis."""
    url = settings.RQ_QUEUES["imports"]["URL"]
    names = ["high", "imports", "low"]
    settings.RQ_QUEUES = {
        name: {"URL": url, "QUEUE_CLASS": "fairimport.lanes.LaneQueue"} for name in names
    }
    for name in names:
        LaneQueue.named(name).lanes.load_limits({}, wait=0)
    return names


# -- modes ---------------------------------------------------------------------------------------


def test_burst_ends_when_nothing_is_left(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """Jobs that come in meanwhile are worked on, too."""
    acme.enqueue(jobs.start_child, "child")
    worker = work()
    assert notes() == ["child"]
    assert worker.work(burst=True, logging_level="ERROR") is False


def test_burst_waits_for_nobody_who_is_paused(
    acme: LaneQueue, lanes: Lanes, work: Work, notes: Notes
) -> None:
    """What may not be claimed does not keep a burst worker."""
    lanes.set_limits({"acme": Limit(cap=2, paused=True)})
    acme.enqueue(jobs.note)
    work()
    assert (notes(), acme.count) == ([], 1)


def test_most_jobs(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`max_jobs` ends the worker after so many; the rest stays in its lane."""
    for number in range(3):
        acme.enqueue(jobs.note, str(number))
    work(max_jobs=2)
    assert (notes(), acme.count) == (["0", "1"], 1)


def test_longest_idle_time(acme: LaneQueue, background: Any, notes: Notes) -> None:
    """`max_idle_time` ends a worker that had nothing to do for so long."""
    began = time.monotonic()
    worker = background(max_idle_time=1)
    job = acme.enqueue(jobs.note)
    until(lambda: job.get_status() == JobStatus.FINISHED)
    assert worker.alive()
    assert worker.wait(6) == 0
    assert time.monotonic() - began > 1


def test_queues_are_worked_in_order_of_priority(
    several: list[str], work: Work, notes: Notes
) -> None:
    """The first one that has a job is served, whoever has waited longer in another."""
    for name in reversed(several):
        for number in range(2):
            lane("acme", name).enqueue(jobs.note, f"{name} {number}")
    work(*several)
    assert notes() == [f"{name} {number}" for name in several for number in range(2)]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("round_robin", ["high 0", "imports 0", "low 0", "high 1", "imports 1", "low 1"]),
        ("default", ["high 0", "high 1", "imports 0", "imports 1", "low 0", "low 1"]),
    ],
)
def test_dequeue_strategies(
    several: list[str], background: Any, notes: Notes, strategy: str, expected: list[str]
) -> None:
    """RQ's orders of queues hold, each queue being fair in itself."""
    for name in reversed(several):
        for number in range(2):
            lane("acme", name).enqueue(jobs.note, f"{name} {number}")
    background(*several, burst=True, dequeue_strategy=strategy).wait()
    assert notes() == expected


def test_a_worker_that_is_busy_for_one_queue_is_there_for_the_others(
    several: list[str], background: Any
) -> None:
    """A job of the last one is behind the work of the first; nobody says that no worker runs."""
    lane("acme", "high").enqueue(jobs.sleep, 60)
    background(*several)
    high, low = (LaneQueue.named(name).lanes for name in ("high", "low"))
    until(lambda: high.snapshot().live == 1)
    job = lane("acme", "low").enqueue(jobs.note, "low")
    began = low.snapshot().last_seen or time.time()
    until(lambda: (low.snapshot().last_seen or 0) > began + 6, 15, "signs for seconds")
    assert low.explain(job.id).code == "behind"
    assert low.workers().count == 1


def test_a_worker_of_several_queues_wakes_up_for_each(
    several: list[str], background: Any, notes: Notes
) -> None:
    """A push to the last one is seen within a fraction of a second, not of a time-out."""
    background(*several)
    took = []
    for _ in range(4):
        time.sleep(0.15)  # so that it has just gone to sleep
        began = time.monotonic()
        job = lane("acme", several[-1]).enqueue(jobs.note)
        until(lambda job=job: job.get_status() == JobStatus.FINISHED)
        took.append(time.monotonic() - began)
    assert min(took[1:]) < 0.6


def test_a_pool_of_workers(acme: LaneQueue, notes: Notes, redis: Redis) -> None:
    """RQ's `WorkerPool` runs fair workers; its serializer and its queues do not matter."""
    for number in range(6):
        lane(f"tenant {number}").enqueue(jobs.note, str(number))
    pool = WorkerPool(
        ["imports"], connection=redis, num_workers=2, worker_class=FairWorker, queue_class=LaneQueue
    )
    pool.start_workers(burst=True, logging_level="ERROR")
    until(lambda: pool.all_workers_have_stopped())
    assert sorted(notes()) == [str(number) for number in range(6)]


@pytest.mark.parametrize("stock", [Worker, SpawnWorker, SimpleWorker])
def test_a_stock_worker_is_refused(acme: LaneQueue, caplog: Any, stock: type[Worker]) -> None:
    """As `rqworker` makes it: it ends with a word on what to start instead, and takes nothing."""
    job = acme.enqueue(jobs.note)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    worker = django_rq.get_worker("imports", worker_class=stock)
    assert type(worker) is stock
    assert worker.work(burst=True) is False
    signal.signal(signal.SIGINT, before[0])
    signal.signal(signal.SIGTERM, before[1])
    assert "fairworker" in caplog.text
    assert (job.get_status(), acme.count) == (JobStatus.QUEUED, 1)


# -- registration --------------------------------------------------------------------------------


def test_a_worker_is_registered_as_rq_registers_it(acme: LaneQueue, background: Any) -> None:
    """`Worker.all` finds it with its queues, state and counts, also after it has worked."""
    background(name="ann")
    acme.enqueue(jobs.note)
    acme.enqueue(jobs.fail)
    until(lambda: acme.failed_job_registry.count == 1)

    def settled() -> Any:
        [found] = Worker.all(acme.connection)
        return found if found.get_state() == WorkerStatus.IDLE else None

    worker = until(settled)
    assert (worker.name, worker.queue_names(), worker.get_current_job()) == (
        "ann",
        ["imports"],
        None,
    )
    assert (worker.successful_job_count, worker.failed_job_count) == (1, 1)
    assert worker.total_working_time > 0
    assert (datetime.now(UTC) - worker.last_heartbeat).total_seconds() < 5
    assert Worker.count(queue=acme) == workers_alive().count == 1
    assert [found.name for found in FairWorker.all(acme.connection)] == ["ann"]


def test_a_busy_worker_shows_its_job(
    acme: LaneQueue, background: Any, open_gate: Any, redis: Redis
) -> None:
    """State, current job and executions are RQ's while it works."""
    background(name="ann")
    job = acme.enqueue(jobs.wait_at_gate)
    until(lambda: job.get_status() == JobStatus.STARTED)
    [worker] = Worker.all(redis)
    assert (worker.get_state(), worker.get_current_job_id()) == (WorkerStatus.BUSY, job.id)
    [execution] = job.get_executions()
    assert execution.worker_name == "ann"
    assert acme.started_job_registry.get_job_ids() == [job.id]
    open_gate()
    until(lambda: job.get_status() == JobStatus.FINISHED)
    assert job.get_executions() == []


def test_a_worker_that_ends_is_gone(acme: LaneQueue, background: Any, redis: Redis) -> None:
    """It takes itself out of RQ's lists and ours."""
    worker = background()
    worker.send(signal.SIGTERM)
    assert worker.wait() == 0
    assert (Worker.all(redis), workers_alive().count) == ([], 0)


def test_a_worker_registers_again_when_redis_has_forgotten_it(
    acme: LaneQueue, lanes: Lanes, background: Any, redis: Redis
) -> None:
    """After FLUSHALL it is back within seconds, and works on."""
    background(name="ann")
    redis.flushall()
    until(lambda: [worker.name for worker in Worker.all(redis)] == ["ann"], 5)
    job = acme.enqueue(jobs.note)
    assert until(lambda: job.get_status() == JobStatus.FINISHED, 5)


@pytest.mark.parametrize("kind", [FairSimpleWorker, FairWorker])
def test_a_busy_worker_stays_registered(
    acme: LaneQueue,
    short_lease: float,
    background: Any,
    redis: Redis,
    open_gate: Any,
    kind: type[FairWorker],
) -> None:
    """However long its job takes, its record is there: each renewal shows a sign of life."""
    background(name="ann", kind=kind)
    acme.enqueue(jobs.wait_at_gate)
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    redis.delete("rq:worker:ann")  # as if its time to live was over
    until(lambda: redis.hget("rq:worker:ann", "state") == b"busy", 3)
    assert redis.ttl("rq:worker:ann") > 60
    open_gate()


def test_a_name_can_be_used_again_at_once(acme: LaneQueue, background: Any, redis: Redis) -> None:
    """A worker that was killed is no hindrance for its successor of the same name."""
    first = background(name="pod-0")
    first.kill()
    second = background(name="pod-0")
    job = acme.enqueue(jobs.note)
    until(lambda: job.get_status() == JobStatus.FINISHED)
    assert redis.hget("rq:worker:pod-0", "pid") == str(second.pid).encode()
    assert workers_alive().count == 1


# -- commands ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["job", "execution"])
def test_a_running_job_can_be_stopped(
    acme: LaneQueue, lanes: Lanes, background: Any, notes: Notes, redis: Redis, command: str
) -> None:
    """Its horse ends, it is "stopped" in RQ's failed registry, and its retries are not used."""
    background()
    job = acme.enqueue(jobs.wait_at_gate, on_stopped=Callback(jobs.on_stopped), retry=None)
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    if command == "job":
        send_stop_job_command(redis, job.id, serializer=acme.serializer)
    else:
        [execution] = job.get_executions()
        send_stop_execution_command(redis, job.id, execution.id)
    until(lambda: job.get_status() == JobStatus.STOPPED)
    assert notes() == ["stopped"]
    assert acme.failed_job_registry.get_job_ids() == [job.id]
    assert (lanes.leases("acme"), acme.started_job_registry.count) == ([], 0)
    other = acme.enqueue(jobs.note, "next")
    until(lambda: other.get_status() == JobStatus.FINISHED)


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_job_that_is_deleted_when_its_horse_is_dead_ends_no_worker(
    acme: LaneQueue, lanes: Lanes, background: Any, redis: Redis, how: str, monkeypatch: Any
) -> None:
    """By a callback or a handler of the host's: nothing is left to be written, nor of its lease."""
    monkeypatch.setattr(FairWorker, "handle_work_horse_killed", _delete_its_job)
    worker = background(name="ann")
    job = acme.enqueue(jobs.wait_at_gate, on_stopped=Callback(jobs.delete_in_callback))
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    if how == "stopped":
        send_stop_job_command(redis, job.id, serializer=acme.serializer)
    else:
        send_kill_horse_command(redis, "ann")
    other = acme.enqueue(jobs.note, "next")
    until(lambda: other.get_status() == JobStatus.FINISHED)
    assert (worker.alive(), lanes.leases("acme")) == (True, [])
    assert [key for key in redis.keys("*") if job.id.encode() in key] == []


def _delete_its_job(worker: FairWorker, job: LaneJob, *_: Any) -> None:
    jobs.delete_in_callback(job)


def test_a_waiting_job_cannot_be_stopped(acme: LaneQueue, redis: Redis) -> None:
    """RQ says so."""
    job = acme.enqueue(jobs.note)
    with pytest.raises(InvalidJobOperation):
        send_stop_job_command(redis, job.id, serializer=acme.serializer)


def test_a_horse_can_be_killed(
    acme: LaneQueue, background: Any, redis: Redis, notes: Notes
) -> None:
    """The kill-horse command fails the job, frees its slot, and the worker works on."""
    background(name="ann")
    job = acme.enqueue(jobs.wait_at_gate)
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    send_kill_horse_command(redis, "ann")
    until(lambda: job.get_status() == JobStatus.FAILED)
    assert "terminated unexpectedly" in job.latest_result().exc_string
    other = acme.enqueue(jobs.note, "next")
    until(lambda: other.get_status() == JobStatus.FINISHED)


def test_the_handler_of_killed_horses_is_called(
    acme: LaneQueue, work: Work, kind: type[FairWorker], notes: Notes
) -> None:
    """`work_horse_killed_handler` sees the job and the status of its process."""
    if kind is FairSimpleWorker:
        acme.enqueue(jobs.note)
        work(work_horse_killed_handler=jobs.horse_killed)
        assert notes() == ["ran"]
        return
    acme.enqueue(jobs.die)
    work(work_horse_killed_handler=jobs.horse_killed)
    assert notes() == ["died", f"horse {int(signal.SIGKILL)}"]


@pytest.mark.parametrize("kind", [FairSimpleWorker, FairWorker])
def test_a_worker_can_be_shut_down(background: Any, redis: Redis, kind: type[FairWorker]) -> None:
    """The shutdown command ends an idle worker at once."""
    worker = background(name="ann", kind=kind)
    send_shutdown_command(redis, "ann")
    assert worker.wait(5) == 0


def test_a_shutdown_lets_the_job_in_hand_end(
    acme: LaneQueue, background: Any, redis: Redis, open_gate: Any, notes: Notes
) -> None:
    """A warm shutdown takes no further job, and loses none."""
    worker = background(name="ann")
    first = acme.enqueue(jobs.wait_at_gate)
    second = acme.enqueue(jobs.note)
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    send_shutdown_command(redis, "ann")
    time.sleep(0.2)
    assert worker.alive()
    open_gate()
    assert worker.wait() == 0
    assert [first.get_status(), second.get_status()] == [JobStatus.FINISHED, JobStatus.QUEUED]
    assert (notes(), acme.count) == (["through"], 1)


def test_workers_can_be_suspended_and_resumed(
    acme: LaneQueue, background: Any, redis: Redis
) -> None:
    """Nothing starts in between, and the worker says that it is suspended."""
    background(name="ann")
    suspend(redis)
    until(lambda: redis.hget("rq:worker:ann", "state") == b"suspended")
    job = acme.enqueue(jobs.note)
    time.sleep(0.3)
    assert job.get_status() == JobStatus.QUEUED
    resume(redis)
    until(lambda: job.get_status() == JobStatus.FINISHED, 5)
    until(lambda: redis.hget("rq:worker:ann", "state") == b"idle", 5)


def test_a_suspended_burst_worker_ends(
    acme: LaneQueue, work: Work, redis: Redis, notes: Notes
) -> None:
    """As in RQ, and it has taken nothing; after a resume the next one takes all."""
    acme.enqueue(jobs.note)
    suspend(redis, ttl=60)
    work()
    assert (notes(), acme.count) == ([], 1)
    resume(redis)
    work()
    assert (notes(), acme.count) == (["ran"], 0)


def test_a_suspended_worker_can_be_shut_down(background: Any, redis: Redis) -> None:
    """SIGTERM does not wait for a resume."""
    worker = background(name="ann")
    suspend(redis)
    until(lambda: redis.hget("rq:worker:ann", "state") == b"suspended")
    worker.send(signal.SIGTERM)
    assert worker.wait(3) == 0


def test_a_job_that_hears_no_time_limit_is_killed(
    acme: LaneQueue, background: Any, notes: Notes, monkeypatch: pytest.MonkeyPatch, lanes: Lanes
) -> None:
    """Its horse is killed soon after the limit; it has failed, and its slot is free."""
    monkeypatch.setattr("fairimport.lanes.worker.GRACE", 0.3)
    worker = background()
    job = acme.enqueue(jobs.be_deaf, 20, job_timeout=1)
    until(lambda: job.get_status() == JobStatus.FAILED, 6)
    assert (notes(), lanes.leases("acme")) == (["began"], [])
    assert "terminated unexpectedly" in job.latest_result().exc_string
    assert worker.alive()


# -- signals -------------------------------------------------------------------------------------


def test_a_second_signal_ends_the_horse_and_fails_nothing(
    acme: LaneQueue, background: Any, redis: Redis, lanes: Lanes, open_gate: Any, notes: Notes
) -> None:
    """A cold shutdown gives the job back to the front of its lane; another worker takes it."""
    worker = background()
    job = acme.enqueue(jobs.wait_at_gate)
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    [horse] = worker.horses()
    worker.send(signal.SIGTERM)
    while worker.alive():
        time.sleep(1.05)  # within a second it is taken for a repetition of the first
        worker.send(signal.SIGTERM)
        time.sleep(0.2)
    assert worker.wait(3) == 0
    assert not runs(horse)
    assert (job.get_status(), lanes.leases("acme")) == (JobStatus.QUEUED, [])
    open_gate()
    background(burst=True).wait()
    assert (job.get_status(), notes()) == (JobStatus.FINISHED, ["through"])


def test_a_signal_to_all_processes_fails_no_job(
    acme: LaneQueue, background: Any, redis: Redis, open_gate: Any
) -> None:
    """A supervisor that signals worker and horse alike gets a warm shutdown."""
    worker = background()
    job = acme.enqueue(jobs.wait_at_gate)
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    for pid in [worker.pid, *worker.horses()]:
        os.kill(pid, signal.SIGTERM)
    time.sleep(0.2)
    open_gate()
    assert worker.wait() == 0
    assert job.get_status() == JobStatus.FINISHED


@pytest.mark.parametrize("kind", [FairSimpleWorker, FairWorker])
def test_a_job_hears_of_a_shutdown(
    acme: LaneQueue, background: Any, notes: Notes, kind: type[FairWorker]
) -> None:
    """`current_claim().should_stop()` becomes true in the job itself."""
    worker = background(kind=kind)
    job = acme.enqueue(jobs.stop_when_asked)
    until(lambda: notes() == ["began"])
    worker.send(signal.SIGTERM)
    assert worker.wait(5) == 0
    assert (notes(), job.get_status()) == (["began", "asked to stop"], JobStatus.FINISHED)


def test_a_killed_worker_takes_its_horse_along(
    acme: LaneQueue, short_lease: float, background: Any, redis: Redis, lanes: Lanes
) -> None:
    """And its job starts again after one lease, on another worker."""
    first = background()
    job = acme.enqueue(jobs.wait_at_gate)
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    [horse] = first.horses()
    first.kill()
    until(lambda: not runs(horse), 1)
    began = time.monotonic()
    background(name="second")
    until(lambda: [lease.worker for lease in lanes.leases("acme")] == ["second"], 6)
    assert time.monotonic() - began < 2.5 * short_lease
    assert Job.fetch(job.id, redis, acme.serializer).worker_name == "second"
