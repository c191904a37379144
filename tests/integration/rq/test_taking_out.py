"""Taking jobs out again: cancel, delete, remove, empty; wherever the job is just then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis
from rq.exceptions import InvalidJobOperation, NoSuchJobError
from rq.job import Job, JobStatus

from fairimport.lanes import FairSimpleWorker, LaneJob, LaneQueue, lane
from fairimport.lanes.lanes import Lanes
from tests.background import until
from tests.integration.rq import jobs

Notes = Callable[[], list[str]]
Work = Callable[..., Any]


@pytest.fixture
def kind() -> type[FairSimpleWorker]:
    """What is taken out does not depend on how the rest is worked on."""
    return FairSimpleWorker


PLACES = ["inbox", "landing", "lane"]
CLASSES = [LaneJob, Job]


def put(job: Job, place: str, lanes: Lanes) -> None:
    """Bring a job that was just enqueued to a place on its way."""
    keys, redis = lanes.keys, lanes.connection
    if place == "landing":
        redis.lmove(keys.inbox, keys.landing, "LEFT", "RIGHT")
    elif place == "lane":
        lanes.route()
    where = {"inbox": keys.inbox, "landing": keys.landing, "lane": keys.lane("acme")}
    assert redis.lpos(where[place], job.id) == 0


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fetched_as", CLASSES)
def test_a_waiting_job_can_be_cancelled(
    acme: LaneQueue, lanes: Lanes, work: Work, notes: Notes, place: str, fetched_as: type[Job]
) -> None:
    """It is not run, RQ has it as cancelled, and nobody waits for it."""
    job = acme.enqueue(jobs.note, "cancelled")
    put(job, place, lanes)
    fetched_as.fetch(job.id, acme.connection, acme.serializer).cancel()
    lane("beta").enqueue(jobs.note, "other")
    work()
    assert notes() == ["other"]
    assert (job.get_status(), acme.count) == (JobStatus.CANCELED, 0)
    assert acme.canceled_job_registry.get_job_ids() == [job.id]
    with pytest.raises(InvalidJobOperation):
        LaneJob.fetch(job.id, acme.connection, acme.serializer).cancel()


@pytest.mark.parametrize("place", PLACES)
def test_our_own_objects_take_it_out_at_once(acme: LaneQueue, lanes: Lanes, place: str) -> None:
    """A lane that loses its last job makes its tenant no longer eligible."""
    job = acme.enqueue(jobs.note)
    put(job, place, lanes)
    job.cancel()
    assert acme.count == 0
    assert lanes.snapshot(["acme"]).eligible == 0


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fetched_as", CLASSES)
def test_a_waiting_job_can_be_deleted(
    acme: LaneQueue, lanes: Lanes, work: Work, notes: Notes, place: str, fetched_as: type[Job]
) -> None:
    """Nothing is left of it, and the next one runs."""
    job = acme.enqueue(jobs.note, "deleted")
    put(job, place, lanes)
    acme.enqueue(jobs.note, "other")
    fetched_as.fetch(job.id, acme.connection, acme.serializer).delete()
    work()
    assert notes() == ["other"]
    with pytest.raises(NoSuchJobError):
        job.refresh()
    assert [key for key in acme.connection.keys("*") if job.id.encode() in key] == []


def test_a_running_job_that_is_cancelled_runs_on(
    acme: LaneQueue, background: Any, notes: Notes, open_gate: Any, lanes: Lanes
) -> None:
    """As RQ documents: cancelling prevents a start, it is no stop; the slot comes back."""
    background()
    job = acme.enqueue(jobs.wait_at_gate)
    until(lambda: job.get_status() == JobStatus.STARTED)
    LaneJob.fetch(job.id, acme.connection, acme.serializer).cancel()
    assert job.get_status() == JobStatus.CANCELED
    open_gate()
    until(lambda: notes() == ["through"])
    until(lambda: not lanes.leases("acme"))
    assert acme.started_job_registry.count == 0
    assert acme.count == 0


@pytest.mark.parametrize("ttl", [0, 500])
def test_a_running_job_that_is_deleted_does_not_come_back(
    acme: LaneQueue,
    background: Any,
    notes: Notes,
    open_gate: Any,
    lanes: Lanes,
    redis: Redis,
    ttl: int,
) -> None:
    """Unlike RQ's own worker, ours leaves no lease, no execution and no result of it."""
    worker = background()
    job = acme.enqueue(jobs.wait_at_gate, result_ttl=ttl)
    until(lambda: job.get_status() == JobStatus.STARTED)
    LaneJob.fetch(job.id, acme.connection, acme.serializer).delete()
    open_gate()
    until(lambda: not lanes.leases("acme"))
    other = acme.enqueue(jobs.note, "other")
    until(lambda: other.get_status() == JobStatus.FINISHED)
    assert notes() == ["through", "other"]
    assert not LaneJob.exists(job.id, acme.connection)
    assert [key for key in redis.keys("*") if job.id.encode() in key] == []
    assert worker.alive()


def test_a_deleted_job_is_not_revived_by_a_lost_worker(
    acme: LaneQueue, short_lease: float, background: Any, lanes: Lanes
) -> None:
    """Its lease lapses and puts nothing back."""
    worker = background()
    job = acme.enqueue(jobs.wait_at_gate)
    until(lambda: job.get_status() == JobStatus.STARTED)
    LaneJob.fetch(job.id, acme.connection, acme.serializer).delete()
    worker.kill()
    until(lambda: lanes.reap(), 5)
    assert (acme.count, lanes.snapshot(["acme"]).live) == (0, 0)
    assert not LaneJob.exists(job.id, acme.connection)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("by", ["id", "job"])
def test_a_queue_removes_a_job(
    acme: LaneQueue, lanes: Lanes, work: Work, notes: Notes, place: str, by: str
) -> None:
    """`queue.remove` takes it out of the line and leaves its hash, as RQ does."""
    job = acme.enqueue(jobs.note)
    put(job, place, lanes)
    assert acme.remove(job if by == "job" else job.id) == 1
    assert (acme.count, LaneJob.exists(job.id, acme.connection)) == (0, True)
    work()
    assert notes() == []


def test_an_emptied_queue_holds_nothing(acme: LaneQueue, lanes: Lanes, redis: Redis) -> None:
    """`empty` drops what waits in every lane and before it, with the jobs' hashes."""
    kept = [acme.enqueue(jobs.note), lane("beta").enqueue(jobs.note)]
    lanes.route()
    kept.append(acme.enqueue(jobs.note))
    assert acme.empty() == 3
    assert (acme.count, acme.is_empty(), acme.job_ids) == (0, True, [])
    assert not any(LaneJob.exists(job.id, redis) for job in kept)
    assert lanes.snapshot(["acme", "beta"]).eligible == 0


def test_an_emptied_queue_leaves_running_jobs_alone(acme: LaneQueue) -> None:
    """What is under a lease ends in its own time."""
    acme.enqueue(jobs.note)
    running = acme.take()
    acme.enqueue(jobs.note)
    assert acme.empty() == 1
    assert running.get_status() == JobStatus.STARTED
    assert acme.lanes.settle(running.claim.lease_id, "done")


def test_a_deleted_queue_is_gone(acme: LaneQueue, lanes: Lanes, redis: Redis) -> None:
    """`delete` empties it and takes its name out of RQ's list; a new job brings it back."""
    acme.enqueue(jobs.note)
    lanes.route()
    acme.enqueue(jobs.note)
    acme.delete()
    assert (acme.count, LaneQueue.all(redis)) == (0, [])
    acme.enqueue(jobs.note)
    assert [queue.name for queue in LaneQueue.all(redis)] == ["imports"]
    assert acme.count == 1
