"""Redis refuses, hangs or forgets just when RQ would write something."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import RedisError, ResponseError
from rq import Callback, Repeat
from rq.command import send_kill_horse_command
from rq.job import JobStatus

from demo_site.servers import RedisServer
from fairimport.lanes import FairSimpleWorker, FairWorker, LaneQueue
from fairimport.lanes.lanes import Lanes
from tests.background import until
from tests.integration.rq import jobs

Notes = Callable[[], list[str]]
REFUSALS = {
    "readonly": ([["REPLICAOF", "127.0.0.1", "1"]], ["REPLICAOF", "NO", "ONE"]),
    "out of memory": (
        [["CONFIG", "SET", "maxmemory", "1"]],
        ["CONFIG", "SET", "maxmemory", "0"],
    ),
}


@pytest.fixture(params=REFUSALS)
def refusal(request: pytest.FixtureRequest, redis: Redis) -> Iterator[tuple[list[Any], list[str]]]:
    """How Redis comes to refuse writes, and how it takes them again."""
    breaking, mending = REFUSALS[request.param]
    yield breaking, mending
    redis.execute_command(*mending)


@pytest.mark.parametrize("kind", [FairSimpleWorker, FairWorker])
def test_a_job_that_ended_well_is_not_run_again(
    acme: LaneQueue,
    background: Any,
    redis: Redis,
    notes: Notes,
    refusal: Any,
    kind: type[FairWorker],
    lanes: Lanes,
) -> None:
    """Its end is written once Redis takes it: one run, one callback, no failure."""
    breaking, mending = refusal
    worker = background(kind=kind)
    job = acme.enqueue(jobs.break_redis, *breaking, on_failure=Callback(jobs.on_failure))
    until(lambda: notes() == ["ran"])
    time.sleep(0.4)
    assert (job.get_status(), len(lanes.leases("acme"))) == (JobStatus.STARTED, 1)
    redis.execute_command(*mending)
    until(lambda: job.get_status() == JobStatus.FINISHED, 8)
    assert (notes(), job.return_value()) == (["ran"], "done")
    other = acme.enqueue(jobs.note, "next")
    until(lambda: other.get_status() == JobStatus.FINISHED, 8)
    assert worker.alive()


@pytest.mark.parametrize("how", ["yield", "retry"])
def test_a_job_that_wants_to_go_on_goes_on(
    acme: LaneQueue, background: Any, redis: Redis, notes: Notes, refusal: Any, how: str
) -> None:
    """A yield or a returned retry is written later, and counted once."""
    breaking, mending = refusal
    background()
    job = acme.enqueue(jobs.break_redis_and_go_on, how, *breaking)
    until(lambda: notes() == ["ran"])
    time.sleep(0.3)
    redis.execute_command(*mending)
    until(lambda: job.get_status() == JobStatus.FINISHED, 8)
    job.refresh()
    assert notes() == ["ran", "done"]
    assert job.number_of_retries == (1 if how == "retry" else None)


def test_repeats_are_counted_once(
    acme: LaneQueue, background: Any, redis: Redis, notes: Notes, refusal: Any
) -> None:
    """RQ counts them down before it writes: trying again must not count again."""
    breaking, mending = refusal
    background()
    job = acme.enqueue(
        jobs.break_redis, *breaking, repeat=Repeat(times=3, interval=[60, 70, 80]), result_ttl=500
    )
    until(lambda: notes() == ["ran"])
    time.sleep(0.3)
    redis.execute_command(*mending)
    until(lambda: job.get_status() == JobStatus.SCHEDULED, 8)
    job.refresh()
    assert (job.repeats_left, job.repeat_intervals) == (2, [70, 80])


def test_a_failure_that_could_not_be_written_is_not_lost(
    acme: LaneQueue, background: Any, redis: Redis, notes: Notes, refusal: Any, lanes: Lanes
) -> None:
    """The job runs again rather than to be in no list."""
    breaking, mending = refusal
    background()
    job = acme.enqueue(jobs.break_redis_and_fail, *breaking)
    until(lambda: notes() == ["ran"])
    time.sleep(0.3)
    redis.execute_command(*mending)
    until(lambda: job.get_status() == JobStatus.FAILED, 8)
    assert notes() == ["ran", "ran"]
    assert acme.failed_job_registry.get_job_ids() == [job.id]
    assert lanes.leases("acme") == []


def test_enqueuing_into_a_redis_that_refuses_leaves_nothing_half_done(
    acme: LaneQueue, redis: Redis, refusal: Any
) -> None:
    """The caller gets Redis' error; there is no job and no id in any list."""
    breaking, mending = refusal
    for command in breaking:
        redis.execute_command(*command)
    with pytest.raises(RedisError):
        acme.enqueue(jobs.note, job_id="half")
    redis.execute_command(*mending)
    assert (acme.count, redis.exists("rq:job:half")) == (0, 0)


def test_a_script_that_blocks_redis_ends_no_worker(
    acme: LaneQueue, background: Any, redis: Redis, redis_server: RedisServer
) -> None:
    """A job that ends while others get BUSY has its end written after the script was killed."""
    worker = background()
    job = acme.enqueue(jobs.rest, 0.5)
    until(lambda: job.get_status() == JobStatus.STARTED)
    redis.config_set("busy-reply-threshold", 20)
    blocked = threading.Thread(target=_block, args=(redis_server,))
    blocked.start()
    until(lambda: _is_busy(redis))
    time.sleep(1.2)
    assert worker.alive()
    redis.script_kill()
    blocked.join()
    redis.config_set("busy-reply-threshold", 5000)
    until(lambda: job.get_status() == JobStatus.FINISHED, 5)
    assert job.return_value() == "rested"
    assert "BUSY" in worker.output()


def test_a_redis_that_cannot_save_ends_no_worker(
    acme: LaneQueue, background: Any, redis: Redis, redis_server: RedisServer
) -> None:
    """While it answers MISCONF to every write the worker waits, and works on afterwards."""
    worker = background()
    in_the_way = redis_server.folder / "dump.rdb"
    in_the_way.mkdir()
    try:
        redis.config_set("save", "3600 1")
        redis.bgsave()
        until(lambda: redis.info("persistence")["rdb_last_bgsave_status"] != "ok")
        with pytest.raises(ResponseError, match="MISCONF"):
            redis.set("test:any", 1)
        until(lambda: "MISCONF" in worker.output(), 4)
        assert worker.alive()
    finally:
        redis.config_set("save", "")
        in_the_way.rmdir()
    job = acme.enqueue(jobs.note)
    until(lambda: job.get_status() == JobStatus.FINISHED, 5)


def test_a_hanging_redis_ends_no_worker_and_runs_nothing_twice(
    acme: LaneQueue, background: Any, redis_server: RedisServer, notes: Notes, redis: Redis
) -> None:
    """A Redis that is stopped for a while keeps its leases; the job in hand is done once."""
    worker = background()
    pid = redis_server.pid
    job = acme.enqueue(jobs.sleep, 0.5)
    until(lambda: job.get_status() == JobStatus.STARTED)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(1.2)
    os.kill(pid, signal.SIGCONT)
    until(lambda: job.get_status() == JobStatus.FINISHED, 6)
    assert (notes(), worker.alive()) == (["slept"], True)


@pytest.mark.parametrize("how", ["cut", "restart"])
def test_commands_are_heard_again_after_their_connection_was_lost(
    acme: LaneQueue, background: Any, redis: Redis, redis_server: RedisServer, how: str
) -> None:
    """The subscription that commands come over is made anew."""
    background(name="ann")
    until(lambda: redis.execute_command("PUBSUB", "NUMSUB", "rq:pubsub:ann")[1] == 1)
    if how == "cut":
        redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    else:
        redis_server.stop()
        time.sleep(0.5)
        redis_server.start(empty=True)
    job = acme.enqueue(jobs.wait_at_gate)
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    until(lambda: redis.execute_command("PUBSUB", "NUMSUB", "rq:pubsub:ann")[1] == 1, 6)
    send_kill_horse_command(redis, "ann")
    assert until(lambda: job.get_status() == JobStatus.FAILED)


def test_cut_connections_cost_no_flood_of_messages(
    acme: LaneQueue, background: Any, redis: Redis
) -> None:
    """A storm of CLIENT KILL is met with pauses: few lines a second, and every job is done."""
    worker = background()
    waiting = [acme.enqueue(jobs.note) for _ in range(5)]
    for _ in range(15):
        redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        time.sleep(0.1)
    for job in waiting:
        until(lambda job=job: job.get_status() == JobStatus.FINISHED, 8)
    assert worker.alive()
    assert worker.output().count("redis.trouble") < 30


def test_forgotten_scripts_are_not_missed(
    acme: LaneQueue, background: Any, redis: Redis, open_gate: Any
) -> None:
    """SCRIPT FLUSH before, while and after a job runs."""
    worker = background()
    for _ in range(3):
        redis.delete(jobs.GATE)
        redis.script_flush()
        job = acme.enqueue(jobs.wait_at_gate)
        until(lambda job=job: job.get_status() == JobStatus.STARTED)
        redis.script_flush()
        open_gate()
        until(lambda job=job: job.get_status() == JobStatus.FINISHED)
    assert "redis.trouble" not in worker.output()


def _block(server: RedisServer) -> None:
    with server.client() as client, pytest.raises(ResponseError):
        client.eval("while true do end", 0)


def _is_busy(redis: Redis) -> bool:
    try:
        redis.get("any")
    except ResponseError as error:
        return "BUSY" in str(error)
    return False
