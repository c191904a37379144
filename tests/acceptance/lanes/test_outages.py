"""Whatever Redis does, no worker quits, and the work goes on when it is back."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from redis import Redis

from demo_site.servers import RedisServer
from fairimport.lanes import Lanes, Limit, lane
from tests.acceptance.lanes.conftest import LEASE, Start
from tests.lanejobs import hang, noop, write, write_slowly

Eventually = Callable[..., float]
BACK = 5.0  # seconds after which work must go on


def done(job_id: str, redis: Redis) -> Callable[[], bool]:
    """A question: is the job finished?"""
    return lambda: redis.hget(f"rq:job:{job_id}", "status") == b"finished"


@pytest.mark.parametrize("seconds", [2, 20])
def test_workers_outlive_a_redis_that_comes_back_empty(
    start: Start,
    lanes: Lanes,
    redis: Redis,
    redis_server: RedisServer,
    eventually: Eventually,
    seconds: int,
) -> None:
    """Idle and busy workers stay, register again, open the lanes and work within 5 seconds."""
    workers = [*start(2), *start(1, "--simple")]
    lane("acme").enqueue(hang, 60)
    eventually(lambda: lanes.leases("acme"))
    redis_server.stop()
    time.sleep(seconds)
    assert all(worker.alive() for worker in workers)
    redis_server.start(empty=True)
    job = lane("acme").enqueue(noop, job_id="after")
    assert eventually(done(job.id, redis), seconds=15) < BACK + LEASE
    assert all(worker.alive() for worker in workers)
    eventually(lambda: redis.scard("rq:workers") == 3)


def test_a_running_job_keeps_its_slot_when_redis_forgets_everything(
    start: Start, lanes: Lanes, redis: Redis, eventually: Eventually
) -> None:
    """After FLUSHALL the holder says what it holds before anything is handed out again."""
    start(2, CAP=1)
    lane("acme").enqueue(hang, 8)
    eventually(lambda: lanes.leases("acme"))
    redis.flushall()
    lane("acme").enqueue(noop, job_id="next")
    eventually(lambda: lanes.leases("acme"), seconds=BACK)
    eventually(lambda: lanes.snapshot().loaded, seconds=BACK)
    for _ in range(100):
        held = lanes.leases("acme")
        assert len(held) <= 1
        assert all(lease.job_id != "next" for lease in held) or not held
        time.sleep(0.01)
    eventually(done("next", redis), seconds=12)


def test_a_pause_outlives_a_flush_only_through_its_owner(lanes: Lanes, redis: Redis) -> None:
    """What the lanes know of limits is a copy: without it nothing is handed out."""
    lanes.set_limits({"acme": Limit(3, paused=True)})
    redis.flushall()
    lane("acme").enqueue(noop)
    lanes.route()
    assert not lanes.is_loaded()
    assert not lanes.leases("acme")


@pytest.mark.parametrize(
    ("break_it", "mend_it"),
    [
        (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE")),
        (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")),
    ],
    ids=["readonly", "out-of-memory"],
)
def test_workers_outlive_a_redis_that_takes_no_writes(
    start: Start,
    lanes: Lanes,
    redis: Redis,
    eventually: Eventually,
    break_it: tuple[str, ...],
    mend_it: tuple[str, ...],
    tmp_path: Path,
) -> None:
    """READONLY and OOM end no worker and lose no job."""
    trace = tmp_path / "trace"
    worker = start()[0]
    ids = [lane("acme").enqueue(write, str(trace), str(number)).id for number in range(3)]
    slow = lane("acme").enqueue(write_slowly, str(trace), "slow", 1.0)
    eventually(lambda: slow.get_status() == "started")
    redis.execute_command(*break_it)
    time.sleep(2)
    assert worker.alive()
    redis.execute_command(*mend_it)
    for job_id in [*ids, slow.id]:
        eventually(done(job_id, redis), seconds=BACK + 2 * LEASE)
    assert worker.alive()


def test_workers_outlive_connections_that_are_cut(
    start: Start, lanes: Lanes, redis: Redis, eventually: Eventually
) -> None:
    """Cutting every client again and again loses no job; a lost reply is asked for again."""
    workers = start(2)
    ids = [lane("acme").enqueue(hang, 0.05).id for _ in range(30)]
    until = time.monotonic() + 4
    while time.monotonic() < until:
        redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        time.sleep(0.2)
    for job_id in ids:
        eventually(done(job_id, redis), seconds=2 * LEASE + 5)
    assert all(worker.alive() for worker in workers)
    assert redis.zcard("fairimport:imports:deadlines") == 0


def test_forgotten_scripts_are_loaded_again(
    start: Start, lanes: Lanes, redis: Redis, eventually: Eventually
) -> None:
    """SCRIPT FLUSH is not noticed."""
    worker = start()[0]
    for _ in range(10):
        redis.script_flush()
        job = lane("acme").enqueue(noop)
        eventually(done(job.id, redis))
    assert "Error" not in worker.output()
