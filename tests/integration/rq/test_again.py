"""A job that runs again: retries, repeats, and what is scheduled for later."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis import Redis
from rq import Callback, RateLimit, Repeat, Retry
from rq.job import Dependency, JobStatus
from rq.scheduler import RQScheduler

from fairimport.lanes import LaneQueue, explain, lane
from tests.background import until
from tests.integration.rq import jobs

Notes = Callable[[], list[str]]
Work = Callable[..., Any]


def make_due(queue: LaneQueue) -> None:
    """Age what is scheduled, and the last look for what is due, instead of waiting for it."""
    queue.connection.delete(queue.lanes.keys.prefix + "maintenance")
    key = queue.scheduled_job_registry.key
    for job_id in queue.connection.zrange(key, 0, -1):
        queue.connection.zadd(key, {job_id: 1})


def test_a_failed_job_is_tried_again_at_once(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`Retry(max=2)` runs it three times, on its own lane, and it ends well."""
    job = acme.enqueue(jobs.fail_at_first, 2, retry=Retry(max=2))
    work()
    assert notes() == ["tried"] * 3
    job.refresh()
    assert (job.return_value(), job.retries_left, job.tenant) == ("done", 0, "acme")
    assert acme.failed_job_registry.count == 0


def test_retries_come_to_an_end(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """After the last one the job has failed for good."""
    job = acme.enqueue(jobs.fail, retry=Retry(max=1))
    work()
    assert notes() == ["failed"] * 2
    assert job.get_status() == JobStatus.FAILED


def test_a_retry_with_intervals_is_scheduled(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """The job waits for its interval in RQ's registry, and is no load for its lane meanwhile."""
    job = acme.enqueue(jobs.fail_at_first, 2, retry=Retry(max=3, interval=[60, 120]))
    begin = datetime.now(UTC)
    work()
    assert (notes(), job.get_status()) == (["tried"], JobStatus.SCHEDULED)
    due = acme.scheduled_job_registry.get_scheduled_time(job)
    assert timedelta(seconds=58) < due - begin < timedelta(seconds=75)
    reason = explain(job.id)
    assert (reason.code, reason.facts["at"]) == ("scheduled", due.timestamp())
    make_due(acme)
    work()
    assert (notes(), job.get_status()) == (["tried"] * 2, JobStatus.SCHEDULED)
    make_due(acme)
    work()
    assert (len(notes()), job.get_status()) == (3, JobStatus.FINISHED)


def test_a_retry_may_go_to_the_front_of_its_lane(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`enqueue_at_front=True` puts the failed job before those that wait."""
    acme.enqueue(jobs.fail, "first", retry=Retry(max=1, enqueue_at_front=True))
    acme.enqueue(jobs.note, "second")
    work()
    assert notes() == ["first", "first", "second"]


def test_a_retry_goes_to_the_back_of_its_lane(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """Without being asked to, a retry passes nobody."""
    acme.enqueue(jobs.fail, "first", retry=Retry(max=1))
    acme.enqueue(jobs.note, "second")
    work()
    assert notes() == ["first", "second", "first"]


def test_a_job_may_return_a_retry(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """A returned `Retry` runs the job again and is no failure."""
    job = acme.enqueue(jobs.ask_for_retry, 3)
    work()
    assert notes() == ["tried", "tried"]
    assert (job.get_status(), job.return_value()) == (JobStatus.FINISHED, "done")


def test_a_horse_that_dies_is_retried(acme: LaneQueue, background: Any, notes: Notes) -> None:
    """A job that kills its process uses up its retries, then fails."""
    background()
    job = acme.enqueue(jobs.die, retry=Retry(max=1))
    until(lambda: job.get_status() == JobStatus.FAILED)
    assert notes() == ["died", "died"]
    assert "terminated unexpectedly" in job.latest_result().exc_string


def test_a_repeated_job_runs_so_many_times_more(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`Repeat(times=2)` means three runs, all of the same tenant."""
    job = acme.enqueue(jobs.note, repeat=Repeat(times=2))
    work()
    assert notes() == ["ran"] * 3
    job.refresh()
    assert (job.get_status(), job.repeats_left, job.tenant) == (JobStatus.FINISHED, 0, "acme")


def test_a_repeat_with_intervals_is_scheduled(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """Between two runs it is RQ's scheduled registry that has the job."""
    job = acme.enqueue(jobs.note, repeat=Repeat(times=1, interval=60))
    work()
    assert (notes(), job.id in acme.scheduled_job_registry) == (["ran"], True)
    make_due(acme)
    work()
    assert notes() == ["ran"] * 2
    assert acme.scheduled_job_registry.count == 0


def test_only_successes_are_repeated(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """A failure ends the repeats, as RQ documents."""
    acme.enqueue(jobs.fail, repeat=Repeat(times=3))
    work()
    assert notes() == ["failed"]


@pytest.mark.parametrize("how", ["in", "at"])
def test_a_scheduled_job_waits_and_then_runs(
    acme: LaneQueue, work: Work, notes: Notes, how: str
) -> None:
    """`enqueue_in` and `enqueue_at` need no scheduler process: any fair worker sees what is due."""
    later = timedelta(minutes=5)
    if how == "in":
        job = acme.enqueue_in(later, jobs.note)
    else:
        job = acme.enqueue_at(datetime.now(UTC) + later, jobs.note)
    work()
    assert (notes(), job.get_status()) == ([], JobStatus.SCHEDULED)
    make_due(acme)
    work()
    job.refresh()
    assert (notes(), job.get_status(), job.tenant) == (["ran"], JobStatus.FINISHED, "acme")


def test_a_scheduled_job_may_go_to_the_front(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`enqueue_in(..., at_front=True)` is the front of its lane, once it is due."""
    acme.enqueue_in(timedelta(minutes=5), jobs.note, "late", at_front=True)
    acme.enqueue(jobs.note, "early")
    acme.lanes.route()
    make_due(acme)
    work()
    assert notes() == ["late", "early"]


def test_what_is_due_starts_within_seconds(acme: LaneQueue, background: Any) -> None:
    """A worker that waits takes a job of the next second without anybody's help."""
    background()
    job = acme.enqueue_in(timedelta(seconds=1), jobs.note)
    assert until(lambda: job.get_status() == JobStatus.FINISHED, 5)


def test_asking_for_a_scheduler_starts_no_process(acme: LaneQueue, background: Any) -> None:
    """RQ's would outlive a worker that is killed; what is due is enqueued all the same."""
    worker = background(with_scheduler=True)
    job = acme.enqueue_in(timedelta(seconds=1), jobs.note)
    assert worker.horses() == []
    until(lambda: job.get_status() == JobStatus.FINISHED, 5)
    until(lambda: worker.horses() == [], 3)
    assert acme.scheduler_pid is None


def test_a_scheduler_of_rqs_own_is_left_to_do_it(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """Whoever holds RQ's lock of the queue enqueues what is due, and nobody else."""
    acme.enqueue_in(timedelta(hours=1), jobs.note)
    make_due(acme)
    scheduler = RQScheduler([acme], connection=acme.connection, serializer=acme.serializer)
    scheduler.acquire_locks()
    work()
    assert notes() == []
    scheduler.enqueue_scheduled_jobs()
    scheduler.release_locks()
    work()
    assert notes() == ["ran"]


def test_a_failed_job_can_be_requeued(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`requeue` runs it on its tenant's lane again, as if it was new."""
    job = acme.enqueue(jobs.fail_at_first, 1)
    work()
    assert job.get_status() == JobStatus.FAILED
    job.requeue()
    assert acme.failed_job_registry.count == 0
    work()
    job.refresh()
    assert (notes(), job.return_value(), job.tenant) == (["tried"] * 2, "done", "acme")


def test_a_requeue_may_go_to_the_front(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`job.requeue(at_front=True)` puts it at the front of its lane."""
    job = acme.enqueue(jobs.fail, "first")
    work()
    acme.enqueue(jobs.note, "second")
    acme.lanes.route()
    job.requeue(at_front=True)
    work()
    assert notes() == ["first", "first", "second"]


def test_a_job_given_up_has_all_its_chances_after_a_requeue(
    acme: LaneQueue, settings: Any, work: Work
) -> None:
    """The count of lost workers begins anew, or one more death would end it."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": 0.02, "MAX_LAPSES": 2}
    job = acme.enqueue(jobs.note)
    for _ in range(2):
        until(lambda: hasattr(acme.take(), "claim"))
        assert until(lambda: acme.lanes.reap())
    assert job.get_status() == JobStatus.FAILED
    job.requeue()
    until(lambda: hasattr(acme.take(), "claim"))
    assert until(lambda: acme.lanes.reap())[0].given_up is False
    assert job.get_status() == JobStatus.QUEUED


@pytest.mark.parametrize("heard", [True, False])
def test_a_job_given_up_ends_as_a_failed_one(
    acme: LaneQueue, settings: Any, work: Work, notes: Notes, heard: bool
) -> None:
    """Its callback runs once, its dependents and those behind RQ's rate limit get their turn.

    Also when whoever took back its lease died before it did anything about it.
    """
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": 0.02, "MAX_LAPSES": 1}
    limit = RateLimit("one", concurrency=1)
    job = acme.enqueue(jobs.note, on_failure=Callback(jobs.on_failure), rate_limit=limit)
    wish = Dependency(jobs=[job], allow_failure=True)
    acme.enqueue(jobs.note, "child", depends_on=wish)
    acme.enqueue(jobs.note, "next", rate_limit=limit)
    acme.take()
    time.sleep(0.03)
    if not heard:
        assert [lapse.given_up for lapse in acme.lanes.reap()] == [True]
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": 2.0}
    work()
    work()
    assert job.get_status() == JobStatus.FAILED
    assert ["worker died" in result.exc_string for result in job.results()] == [True]
    assert sorted(notes()) == ["child", "failure AbandonedJobError", "next"]


def test_a_damaged_job_is_given_up_without_harm(
    acme: LaneQueue, redis: Redis, settings: Any, work: Work, notes: Notes
) -> None:
    """What is wrong with it is logged; the worker goes on."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": 0.02, "MAX_LAPSES": 1}
    job = acme.enqueue(jobs.note, "damaged", on_failure=Callback(jobs.on_failure))
    acme.enqueue(jobs.note, "next")
    acme.take()
    redis.hset(job.key, "created_at", "yesterday")
    redis.hset(job.key, "result_ttl", "long")
    time.sleep(0.03)
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": 2.0}
    work()
    assert redis.hget(job.key, "status") == b"failed"
    assert notes() == ["next"]
    assert not redis.exists(acme.lanes.keys.owed)


def test_retries_of_one_tenant_hold_nobody_up(work: Work, notes: Notes) -> None:
    """A job that fails over and over takes its turns like any other."""
    lane("bad").enqueue(jobs.fail, "bad", retry=Retry(max=5))
    lane("good").enqueue(jobs.note, "good 1")
    lane("good").enqueue(jobs.note, "good 2")
    work()
    assert notes().index("good 2") <= 4
    assert notes().count("bad") == 6


def test_a_retry_that_is_not_written_leaves_no_trace(acme: LaneQueue) -> None:
    """RQ marks the job as scheduled ahead of its schedule; refused there, it would be nowhere."""
    acme.enqueue(jobs.fail, retry=Retry(max=1, interval=60))
    running = acme.take()
    with acme.connection.pipeline() as pipeline:
        running.retry(acme, pipeline)
        assert running.get_status() == JobStatus.STARTED
        running.retries_left = 1
        running.retry(acme, pipeline)
        pipeline.execute()
    assert running.get_status() == JobStatus.SCHEDULED
    assert acme.scheduled_job_registry.get_job_ids() == [running.id]
