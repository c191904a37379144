"""What follows the end of a job may be done by several, and again: it happens once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis
from rq.job import Dependency, Job, JobStatus
from rq.rate_limit import RateLimit, RateLimitRegistry

from fairimport.lanes import LaneQueue, lane
from fairimport.lanes.following import follow_up
from fairimport.lanes.worker import FairWorker
from tests.background import until
from tests.integration.rq import jobs

MANY = 12


@pytest.fixture
def ended(acme: LaneQueue) -> Job:
    """A job whose end RQ has, with dependents that nobody has looked after."""
    parent = acme.enqueue(jobs.note, rate_limit=RateLimit("one", concurrency=1))
    after = Dependency(jobs=[parent], allow_failure=True)
    for number in range(MANY):
        lane(f"tenant {number % 3}").enqueue(jobs.note, str(number), depends_on=after)
    acme.enqueue(jobs.note, "next", rate_limit=RateLimit("one", concurrency=1))
    acme.remove(parent)
    parent.set_status(JobStatus.FAILED)
    return parent


def test_whoever_does_it_at_the_same_time_enqueues_nobody_twice(
    acme: LaneQueue, ended: Job, redis: Redis
) -> None:
    """Six at once: each dependent is pushed once, and who waits for RQ's limit is."""
    barrier = threading.Barrier(6)

    def take_part() -> None:
        queue = LaneQueue("imports", connection=redis)
        barrier.wait()
        follow_up(queue, queue.fetch_job(ended.id))

    threads = [threading.Thread(target=take_part) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    follow_up(acme, ended)  # what one of them has conceded to another
    pushed = redis.lrange("rq:queue:imports", 0, -1)
    assert len(pushed) == len(set(pushed)) == MANY + 1
    registry = RateLimitRegistry("one", redis)
    assert (registry.get_allowed_job_count(), registry.get_rate_limited_job_count()) == (1, 0)


@pytest.mark.parametrize("status", [JobStatus.QUEUED, JobStatus.STARTED, JobStatus.CANCELED])
def test_a_job_that_has_not_ended_lets_nobody_go(
    acme: LaneQueue, ended: Job, redis: Redis, status: JobStatus
) -> None:
    """One that is tried again, runs, or was cancelled keeps its dependents waiting."""
    ended.set_status(status)
    follow_up(acme, ended)
    pushed = redis.lrange("rq:queue:imports", 0, -1)
    assert len(pushed) == (1 if status == JobStatus.CANCELED else 0)  # its slot is free
    assert acme.deferred_job_registry.count == MANY


def test_a_job_that_is_requeued_just_then_lets_nobody_go_by_its_new_status(
    acme: LaneQueue, ended: Job, redis: Redis
) -> None:
    """RQ takes any parent that it does not know to have failed for one that is done."""

    class Requeued(LaneQueue):
        def enqueue_dependents(self, job: Job, *args: Any, **more: Any) -> dict[str, list[str]]:
            acme.fetch_job(job.id).set_status(JobStatus.QUEUED)
            return super().enqueue_dependents(job, *args, **more)

    strict = acme.enqueue(jobs.note, depends_on=ended)
    follow_up(Requeued("imports", connection=redis), ended)
    assert strict.get_status() == JobStatus.DEFERRED


def test_what_was_left_behind_is_enqueued_within_seconds(
    acme: LaneQueue, background: Any, kind: type[FairWorker]
) -> None:
    """Any worker that lives finds what RQ holds ready; RQ's own looks every ten minutes."""
    background(kind=kind)
    parent = acme.enqueue(jobs.note)
    until(lambda: parent.get_status() == JobStatus.FINISHED)
    child = acme.create_job(jobs.note, status=JobStatus.READY_TO_ENQUEUE)
    child.save()
    acme.ready_job_registry.add(child)
    until(lambda: child.get_status() == JobStatus.FINISHED, 5)
    assert len(child.results()) == 1


def test_a_failure_that_was_heard_of_owes_nothing(
    acme: LaneQueue, redis: Redis, work: Callable[[], Any]
) -> None:
    """A storm of failures leaves no work for anybody's maintenance."""
    redis.set(acme.lanes.keys.prefix + "maintenance", 1)  # it is somebody else's for now
    job = acme.enqueue(jobs.fail)
    work()
    assert job.get_status() == JobStatus.FAILED
    assert not redis.exists(acme.lanes.keys.owed)


def test_a_dependent_that_cannot_be_read_stops_nobody(
    acme: LaneQueue, background: Any, kind: type[FairWorker], redis: Redis
) -> None:
    """Neither one that is ready nor one whose parent has ended ends a worker or holds others up."""
    broken, good = (acme.create_job(jobs.note, status=JobStatus.READY_TO_ENQUEUE) for _ in "ab")
    parent = acme.create_job(jobs.note, status=JobStatus.DEFERRED)
    for job in (broken, good, parent):
        job.save()
    child = acme.enqueue(jobs.note, depends_on=Dependency(jobs=[parent], allow_failure=True))
    for job in (broken, child):
        redis.hset(job.key, "created_at", "yesterday")
    parent.set_status(JobStatus.FAILED)
    redis.sadd(acme.lanes.keys.owed, parent.id)
    worker = background(kind=kind)
    for job in (broken, good):
        acme.ready_job_registry.add(job)
    until(lambda: good.get_status() == JobStatus.FINISHED, 5)
    until(lambda: not redis.exists(acme.lanes.keys.owed), 5)
    assert worker.alive()
    assert "dependents.unreadable" in worker.output()
