"""What RQ's pages show beyond the usual: it works on a lane as it does there."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from redis import Redis
from rq import Callback, Queue, Repeat, Retry
from rq.decorators import job as rq_job
from rq.exceptions import NoSuchJobError
from rq.job import Dependency, Job, JobStatus
from rq.registry import FailedJobRegistry
from rq.results import Result

from fairimport.lanes import FairSimpleWorker, FairWorker, LaneJob, LaneQueue, get_lanes, lane
from fairimport.lanes.lanes import Lanes
from tests.background import until
from tests.integration.rq import jobs
from tests.integration.rq.test_again import make_due

Notes = Callable[[], list[str]]
Work = Callable[..., Any]


# -- functions and callbacks ---------------------------------------------------------------------


def test_a_coroutine_is_awaited(acme: LaneQueue, background: Any, kind: type[FairWorker]) -> None:
    """Functions may be `async`; RQ has no such callbacks, and the job fails with a word on it."""
    job = acme.enqueue(jobs.add_later, 1, 2)
    refused = acme.enqueue(jobs.add, 1, 2, on_success=Callback(jobs.on_success_later))
    background(kind=kind, burst=True).wait()  # another event loop may run in this process
    assert job.return_value() == 3
    assert "callbacks are not supported" in refused.latest_result().exc_string


@pytest.mark.parametrize("event", ["success", "failure"])
def test_a_callback_over_its_time_is_interrupted(acme: LaneQueue, work: Work, event: str) -> None:
    """`Callback(timeout=1)` ends it, and the job has failed by it; the next one runs."""
    function = jobs.note if event == "success" else jobs.fail
    slow = {f"on_{event}": Callback(jobs.hang_in_callback, timeout=1)}
    job, other = acme.enqueue(function, **slow), acme.enqueue(jobs.add, 1, 2)
    work()
    assert job.get_status() == JobStatus.FAILED
    assert "JobTimeoutException" in job.latest_result().exc_string
    assert other.return_value() == 3


@pytest.mark.parametrize(("first", "heard"), [(True, 2), (None, 2), (False, 1)])
def test_handlers_of_exceptions_are_a_chain(
    acme: LaneQueue, work: Work, notes: Notes, first: bool | None, heard: int
) -> None:
    """They are asked in their order, until one of them returns False."""

    def answer(job: Job, *error: Any) -> bool | None:
        jobs.handle_exception(job, *error)
        return first

    acme.enqueue(jobs.fail)
    work(exception_handlers=[answer, jobs.handle_exception])
    assert notes() == ["failed", *["handled ValueError"] * heard]


def test_the_default_handler_can_be_switched_off(
    acme: LaneQueue, work: Work, notes: Notes, lanes: Lanes
) -> None:
    """The job has failed and is in no registry; its lease is settled and the next job runs."""
    job, other = acme.enqueue(jobs.fail), acme.enqueue(jobs.note)
    work(disable_default_exception_handler=True)
    assert (job.get_status(), acme.failed_job_registry.count) == (JobStatus.FAILED, 0)
    assert (notes(), other.get_status()) == (["failed", "ran"], JobStatus.FINISHED)
    assert lanes.leases("acme") == []


def test_rqs_own_decorator(acme: LaneQueue, work: Work) -> None:
    """`@job(queue)` enqueues on the lane it was given."""
    job = rq_job(acme, connection=acme.connection, timeout=9)(jobs.add).delay(1, 2)
    work()
    assert (job.return_value(), job.tenant, job.timeout) == (3, "acme", 9)


def test_a_queue_of_rqs_own_that_pickles(acme: LaneQueue, redis: Redis, work: Work) -> None:
    """Without a serializer RQ writes pickles, by its decorator, too; nothing of them is opened."""
    plain = Queue("imports", connection=redis).enqueue(jobs.note)
    named = rq_job("imports", connection=redis)(jobs.note).delay()
    work()
    for job in (plain, named):
        assert "DeserializationError" in job.latest_result().exc_string


# -- classes of one's own ------------------------------------------------------------------------


class Tagged(Job):
    """A job class as a host may have it, which knows nothing of lanes."""

    @property
    def tag(self) -> str:
        """Something that RQ's jobs do not have."""
        return f"tagged {self.id}"


@pytest.mark.parametrize("through", ["JOB_CLASS", "queue", "worker"])
def test_a_job_class_of_ones_own(
    acme: LaneQueue, settings: Any, redis: Redis, kind: Any, through: str
) -> None:
    """It is kept, whoever names it, and jobs are of their tenant and under a lease all the same."""
    name = f"{__name__}.{Tagged.__name__}"
    queue, more = acme, {}
    if through == "JOB_CLASS":
        settings.RQ = {**settings.RQ, "JOB_CLASS": name}
        queue = lane("acme")
    elif through == "queue":
        queue = LaneQueue("imports", connection=redis, job_class=Tagged)
        queue.tenant = "acme"
    else:
        more = {"job_class": name}
    job = queue.enqueue(jobs.whose, job_id="one")
    named = ["imports"] if through == "worker" else [queue]
    worker = kind(named, connection=redis, **more)
    worker.work(burst=True, logging_level="ERROR")
    assert (job.get_status(), job.return_value()) == (JobStatus.FINISHED, "acme")
    made = worker.queues[0].job_class
    assert issubclass(made, Tagged)
    assert made.fetch("one", redis, acme.serializer).tag == "tagged one"


def test_a_job_class_of_ones_own_calls_nothing_else(acme: LaneQueue, redis: Redis) -> None:
    """What it may call is checked as ever."""
    queue = LaneQueue("imports", connection=redis, job_class=Tagged)
    job = queue.enqueue("os.getcwd")
    FairSimpleWorker([queue], connection=redis).work(burst=True, logging_level="ERROR")
    assert "not a function of an installed app" in job.latest_result().exc_string


# -- results -------------------------------------------------------------------------------------


def test_each_run_leaves_its_result(acme: LaneQueue, work: Work) -> None:
    """The newest first, with the worker and the execution that made it."""
    job = acme.enqueue(jobs.fail_at_first, 1)
    work(name="ann")
    job.requeue()
    work(name="bob")
    last, first = job.results()
    assert (last.type, first.type) == (Result.Type.SUCCESSFUL, Result.Type.FAILED)
    assert (last.worker_name, first.worker_name) == ("bob", "ann")
    assert last.execution_id != first.execution_id
    assert (last.return_value, first.return_value) == ("done", None)


def test_a_returned_retry_is_a_result_of_its_own(acme: LaneQueue, work: Work) -> None:
    """It can be told from a failure, and so can one retry too many."""
    job = acme.enqueue(jobs.always_ask_for_retry)
    work()
    kinds = [result.type for result in job.results()]
    assert kinds == [Result.Type.MAX_RETRIES_EXCEEDED, Result.Type.RETRIED]
    assert (job.get_status(), job.return_value()) == (JobStatus.FAILED, None)
    assert acme.failed_job_registry.get_job_ids() == [job.id]


def test_the_workers_default_for_results(acme: LaneQueue, work: Work) -> None:
    """`--results-ttl` is for jobs that have none of their own."""
    plain, own = acme.enqueue(jobs.add, 1, 2), acme.enqueue(jobs.add, 1, 2, result_ttl=70)
    work(default_result_ttl=7)
    assert 0 < acme.connection.ttl(plain.key) <= 7 < acme.connection.ttl(own.key)


# -- again, and later ----------------------------------------------------------------------------


def test_repeats_have_an_interval_each(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """The first of them comes first; the last one goes for all that follow."""
    job = acme.enqueue(jobs.note, repeat=Repeat(times=3, interval=[60, 600]))
    for expected in (60, 600, 600):
        begin = time.time()
        work()
        due = acme.connection.zscore(acme.scheduled_job_registry.key, job.id)
        assert begin + expected - 2 < due < time.time() + expected + 2
        make_due(acme)
    work()
    assert (len(notes()), job.get_status()) == (4, JobStatus.FINISHED)


def test_a_time_without_zone_is_local(acme: LaneQueue) -> None:
    """`enqueue_at(datetime(...))` means the clock on the wall."""
    when = datetime.now().replace(microsecond=0) + timedelta(hours=1)  # noqa: DTZ005
    job = acme.enqueue_at(when, jobs.note)
    assert acme.scheduled_job_registry.get_scheduled_time(job) == when.astimezone()


def test_many_at_once_with_options_of_their_own(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`prepare_data` takes what `enqueue` takes."""
    acme.enqueue(jobs.note, "first")
    acme.lanes.route()
    made = acme.enqueue_many(
        [
            acme.prepare_data(jobs.note, ("front",), at_front=True, job_id="mine", meta={"a": 1}),
            acme.prepare_data(jobs.fail, ("again",), retry=Retry(max=1), failure_ttl=9),
            acme.prepare_data(jobs.note, ("twice",), repeat=Repeat(times=1), result_ttl=9),
        ]
    )
    work()
    assert notes() == ["front", "first", "again", "twice", "again", "twice"]
    assert made[0].get_meta() == {"a": 1}
    assert [0 < acme.connection.ttl(job.key) <= 9 for job in made] == [False, True, True]


# -- jobs that may not wait for long -------------------------------------------------------------

WAITING = ["in RQ's list", "in its lane", "scheduled", "deferred"]


@pytest.mark.parametrize("place", WAITING)
def test_a_job_that_has_waited_too_long_is_no_load_to_anybody(
    acme: LaneQueue, lanes: Lanes, work: Work, notes: Notes, redis: Redis, place: str
) -> None:
    """Wherever its `ttl` ends it is gone, as in RQ: not run, not counted; its id is free again."""
    parent = acme.enqueue(jobs.note, "parent", result_ttl=500)
    if place == "scheduled":
        job = acme.enqueue_in(timedelta(hours=1), jobs.note, "late", ttl=60, job_id="late")
    else:
        wish = parent if place == "deferred" else None
        job = acme.enqueue(jobs.note, "late", ttl=60, job_id="late", depends_on=wish)
    if place == "in its lane":
        lanes.route()
    assert place in ("scheduled", "deferred") or 0 < redis.ttl(job.key) <= 60
    redis.pexpire(job.key, 1)
    until(lambda: not redis.exists(job.key))
    make_due(acme)
    work()
    assert (notes(), acme.count) == (["parent"], 0)
    with pytest.raises(NoSuchJobError):
        LaneJob.fetch("late", acme.connection, acme.serializer)
    assert redis.exists("rq:job:late", "rq:results:late") == 0
    assert lanes.snapshot(["acme"]).tenants["acme"].waiting == 0
    acme.enqueue(jobs.note, "anew", job_id="late", unique=True)
    work()
    assert notes() == ["parent", "anew"]


def test_a_tenant_whose_jobs_have_all_expired_keeps_nobody_waiting(
    lanes: Lanes, work: Work, notes: Notes, redis: Redis
) -> None:
    """Its turn goes to the next one within the same claim, and burst mode ends."""
    for _ in range(50):
        redis.pexpire(lane("gone").enqueue(jobs.note, "gone", ttl=60).key, 1)
    lanes.route()
    lane("acme").enqueue(jobs.note, "here")
    until(lambda: redis.keys("rq:job:*") == [b"rq:job:" + redis.lindex("rq:queue:imports", 0)])
    work()
    assert (notes(), lane("gone").count) == (["here"], 0)


def test_a_job_that_is_tried_again_may_wait_as_long_again(acme: LaneQueue, work: Work) -> None:
    """As in RQ, `ttl` begins anew with each time that it is put in the queue."""
    job = acme.enqueue(jobs.fail, ttl=60, retry=Retry(max=1))
    work(max_jobs=1)
    assert job.get_status() == JobStatus.QUEUED
    assert 0 < acme.connection.ttl(job.key) <= 60


# -- a whole queue -------------------------------------------------------------------------------


def test_a_queue_deleted_without_its_jobs(
    acme: LaneQueue, lanes: Lanes, work: Work, notes: Notes
) -> None:
    """`delete(delete_jobs=False)`: nothing waits any longer, and the jobs' hashes are kept."""
    routed = [acme.enqueue(jobs.note), lane("birch").enqueue(jobs.note)]
    lanes.route()
    kept = [*routed, acme.enqueue(jobs.note)]
    acme.delete(delete_jobs=False)
    assert (acme.count, acme.get_job_ids()) == (0, [])
    assert all(Job.exists(job.id, acme.connection) for job in kept)
    work()
    assert notes() == []
    acme.enqueue_job(kept[0])
    work()
    assert notes() == ["ran"]


def test_the_jobs_of_a_registry_can_be_removed_with_it(acme: LaneQueue, work: Work) -> None:
    """`registry.remove(job, delete_job=True)` leaves nothing of a failed job."""
    job = acme.enqueue(jobs.fail)
    work()
    FailedJobRegistry(queue=Queue("imports", connection=acme.connection)).remove(
        job.id, delete_job=True
    )
    assert not Job.exists(job.id, acme.connection)
    assert acme.failed_job_registry.count == 0


def test_a_dependency_may_have_several_wishes(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """Several parents of several tenants, one of which fails; and to the front with it."""
    parents = [acme.enqueue(jobs.fail, "a"), lane("birch").enqueue(jobs.note, "b")]
    wish = Dependency(jobs=parents, allow_failure=True, enqueue_at_front=True)
    child = acme.enqueue(jobs.note, "child", depends_on=wish)
    for number in range(3):
        acme.enqueue(jobs.note, f"waiting {number}")
    work()
    assert notes().index("child") < notes().index("waiting 2")
    assert child.get_status() == JobStatus.FINISHED
    assert get_lanes().leases("acme") == []
