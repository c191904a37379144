"""Every way into the queue leads through the same gate: a lane, and its tenant's cap."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import django_rq
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django_rq import thread_queue
from redis import Redis
from rq import Queue, RateLimit, Repeat, Retry
from rq.cron import CronJob
from rq.exceptions import DuplicateJobError
from rq.group import Group
from rq.job import Job, JobStatus
from rq.registry import FailedJobRegistry
from rq.serializers import JSONSerializer

from fairimport.lanes import FairSimpleWorker, LaneJob, LaneQueue, Limit, lane, maintenance
from fairimport.lanes.lanes import Idle, Lanes
from tests.background import until
from tests.integration.rq import jobs
from tests.integration.rq.test_again import make_due

Notes = Callable[[], list[str]]
Work = Callable[..., Any]


@pytest.fixture
def kind() -> type[FairSimpleWorker]:
    """What comes in does not depend on how it is worked on."""
    return FairSimpleWorker


def plain(queue: LaneQueue) -> Queue:
    """RQ's own queue of the same name, with its own job class."""
    return Queue("imports", connection=queue.connection, serializer=JSONSerializer)


def _enqueue(queue: LaneQueue) -> None:
    for _ in range(5):
        queue.enqueue(jobs.note)


def _enqueue_call(queue: LaneQueue) -> None:
    for _ in range(5):
        queue.enqueue_call(func="tests.integration.rq.jobs.note", args=("x",))


def _enqueue_job(queue: LaneQueue) -> None:
    for _ in range(5):
        queue.enqueue_job(queue.create_job(jobs.note))


def _enqueue_many(queue: LaneQueue) -> None:
    queue.enqueue_many([queue.prepare_data(jobs.note) for _ in range(5)])


def _group(queue: LaneQueue) -> None:
    Group.create(connection=queue.connection).enqueue_many(
        queue, [queue.prepare_data(jobs.note) for _ in range(5)]
    )


def _unique(queue: LaneQueue) -> None:
    for number in range(5):
        queue.enqueue(jobs.note, job_id=f"only-{number}", unique=True)


def _at_front(queue: LaneQueue) -> None:
    for _ in range(5):
        queue.enqueue(jobs.note, at_front=True)


def _scheduled(queue: LaneQueue) -> None:
    for _ in range(5):
        queue.enqueue_in(timedelta(hours=1), jobs.note)
    make_due(queue)
    assert maintenance.look_after(queue)


def _dependents(queue: LaneQueue) -> None:
    parent = queue.enqueue(jobs.note)
    for _ in range(5):
        plain(queue).enqueue(jobs.note, depends_on=parent.id)
    parent.cancel(enqueue_dependents=True)


def _ended(queue: LaneQueue, how: str, **options: Any) -> list[Job]:
    """Five jobs that were claimed and have ended, as RQ has not yet been told."""
    ended = [queue.enqueue(jobs.note, **options) for _ in range(5)]
    for _ in ended:
        queue.lanes.settle(queue.take().claim.lease_id, how)
    return ended


def _requeued(queue: LaneQueue) -> None:
    for job in _ended(queue, "failed"):
        job._handle_failure("", queue.connection)
        FailedJobRegistry(queue=plain(queue)).requeue(job.id)


def _retried(queue: LaneQueue) -> None:
    for job in _ended(queue, "failed", retry=Retry(max=1)):
        with queue.connection.pipeline() as pipeline:
            job.retry(plain(queue), pipeline)
            pipeline.execute()


def _repeated(queue: LaneQueue) -> None:
    for job in _ended(queue, "done", repeat=Repeat(times=1)):
        Repeat.schedule(job, plain(queue))


def _rate_limited(queue: LaneQueue) -> None:
    for _ in range(5):
        queue.enqueue(jobs.note, rate_limit=RateLimit("all", concurrency=5))


ENTRIES = [
    _enqueue,
    _enqueue_call,
    _enqueue_job,
    _enqueue_many,
    _group,
    _unique,
    _at_front,
    _scheduled,
    _dependents,
    _requeued,
    _retried,
    _repeated,
    _rate_limited,
]


@pytest.mark.parametrize("enter", ENTRIES, ids=lambda enter: enter.__name__[1:])
def test_every_entry_passes_the_same_gate(
    acme: LaneQueue, lanes: Lanes, enter: Callable[[LaneQueue], None]
) -> None:
    """Five jobs come in, all are the tenant's, and no more than its cap of two are handed out."""
    enter(acme)
    claims = [acme.take() for _ in range(3)]
    assert [type(each) for each in claims] == [LaneJob, LaneJob, Idle]
    assert {claim.claim.tenant for claim in claims[:2]} == {"acme"}
    state = lanes.snapshot(["acme", ""]).tenants
    assert (state["acme"].in_flight, state["acme"].waiting) == (2, 3)
    assert (state[""].in_flight, state[""].waiting) == (0, 0)


def test_duplicates_of_a_waiting_job_are_run_once(
    acme: LaneQueue, work: Work, notes: Notes
) -> None:
    """An id that stands in lists three times is one job."""
    for _ in range(5):
        job = acme.enqueue(jobs.note)
        acme.connection.rpush(acme.key, job.id, job.id)
    work()
    assert notes() == ["ran"] * 5


def test_cap_holds_while_workers_work(
    acme: LaneQueue, background: Any, most_at_once: Callable[[], int], open_gate: Any, notes: Notes
) -> None:
    """Three workers, a cap of two: two run, whatever way the jobs came."""
    for _ in range(3):
        background()
    acme.enqueue(jobs.wait_at_gate)
    acme.enqueue_many([acme.prepare_data(jobs.wait_at_gate) for _ in range(2)])
    plain(acme).enqueue_job(acme.create_job(jobs.wait_at_gate))
    until(lambda: most_at_once() == 2)
    other = lane("other").enqueue(jobs.note, "other")
    until(lambda: other.get_status() == JobStatus.FINISHED)
    open_gate()
    until(lambda: len(notes()) == 5)
    assert most_at_once() == 2


def test_a_duplicate_of_a_running_job_is_dropped(acme: LaneQueue) -> None:
    """Whatever the cap allows, one job is under one lease; and its yield keeps one place."""
    job = acme.enqueue(jobs.note)
    acme.connection.rpush(acme.key, job.id, job.id)
    running = acme.take()
    assert isinstance(acme.take(), Idle)
    acme.connection.rpush(acme.key, job.id)
    assert isinstance(acme.take(), Idle)
    acme.lanes.settle(running.claim.lease_id, "yielded")
    assert (acme.take().id, acme.count) == (job.id, 0)


def test_the_decorator_of_django_rq(work: Work) -> None:
    """`@django_rq.job("imports")` and `.delay()` lead into lanes, too."""
    job = django_rq.job("imports")(jobs.add).delay(1, 2)
    work()
    assert job.return_value() == 3


@pytest.mark.parametrize("through", ["django-rq", "rq"])
def test_stock_queues_work(work: Work, redis: Redis, through: str) -> None:
    """`django_rq.get_queue("imports")` and `rq.Queue` enqueue for lanes as they always did."""
    queue = {
        "django-rq": lambda: django_rq.get_queue("imports"),
        "rq": lambda: Queue("imports", connection=redis, serializer=JSONSerializer),
    }[through]()
    job = queue.enqueue(jobs.add, 1, other=2)
    work()
    assert job.return_value() == 3
    assert redis.hget(job.key, "tenant") == b""


def test_a_job_without_tenant_is_one_among_others(lanes: Lanes, work: Work, notes: Notes) -> None:
    """The lane of the tenant "" has a cap and takes turns like any other."""
    lanes.set_limits({"": Limit(cap=1)})
    nobody = jobs.lane_of_nobody()
    for number in range(3):
        nobody.enqueue(jobs.note, f"nobody {number}")
    lane("acme").enqueue(jobs.note, "acme")
    assert nobody.take().claim.tenant == ""
    assert nobody.take().claim.tenant == "acme"
    assert isinstance(nobody.take(), Idle)
    assert notes() == []


def test_a_job_id_of_ones_own(acme: LaneQueue, work: Work) -> None:
    """`job_id` is kept, and one that RQ refuses is refused here."""
    assert acme.enqueue(jobs.add, 1, 2, job_id="invoice-42_a").id == "invoice-42_a"
    with pytest.raises(ValueError, match="letters, numbers"):
        acme.enqueue(jobs.add, 1, 2, job_id="invoice 42")
    work()
    assert LaneJob.fetch("invoice-42_a", acme.connection, acme.serializer).return_value() == 3


def test_a_unique_job_is_enqueued_once(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """The second one is refused while the first one is anywhere, and its tenant is kept."""
    first = acme.enqueue(jobs.note, "first", job_id="only", unique=True)
    for step in (lambda: None, acme.lanes.route, work):
        step()
        with pytest.raises(DuplicateJobError):
            lane("beta").enqueue(jobs.note, "second", job_id="only", unique=True)
    first.refresh()
    assert (notes(), first.tenant) == (["first"], "acme")


def test_the_front_is_the_front_of_ones_own_lane(lanes: Lanes, work: Work, notes: Notes) -> None:
    """`at_front` passes the tenant's own jobs, and nobody else's turn."""
    for tenant in ("acme", "beta"):
        lane(tenant).enqueue(jobs.note, f"{tenant} back")
    lanes.route()
    lane("beta").enqueue(jobs.note, "beta front", at_front=True)
    lane("beta").enqueue(jobs.note, "beta very front", at_front=True, unique=True, job_id="only")
    work(max_jobs=2)
    assert notes() == ["acme back", "beta very front"]
    work()
    assert notes()[2:] == ["beta front", "beta back"]


def test_a_job_with_all_of_rqs_options(acme: LaneQueue, work: Work) -> None:
    """Description, time limit and arguments are RQ's, given either way."""
    job = acme.enqueue(
        "tests.integration.rq.jobs.Tool.use",
        args=("word",),
        kwargs={},
        description="use the tool",
        job_timeout="2m",
    )
    work()
    job = LaneJob.fetch(job.id, acme.connection, acme.serializer)
    assert (job.description, job.timeout, job.return_value()) == ("use the tool", 120, "word")


def test_rqs_cron_writes_pickles(acme: LaneQueue, redis: Redis, work: Work) -> None:
    """Whatever the queue's serializer is; such a job fails, and nothing of it is opened."""
    CronJob("imports", func=jobs.note, interval=60).enqueue(redis)
    [job_id] = acme.job_ids
    work()
    job = Job.fetch(job_id, redis, JSONSerializer)
    assert job.get_status() == JobStatus.FAILED
    assert "DeserializationError" in job.latest_result().exc_string


def test_a_group_knows_its_jobs(acme: LaneQueue, work: Work) -> None:
    """RQ's groups hold the jobs, and forget those that are gone."""
    group = Group.create(connection=acme.connection, name="month-end")
    members = group.enqueue_many(acme, [acme.prepare_data(jobs.note) for _ in range(3)])
    work()
    found = Group.fetch("month-end", acme.connection).get_jobs()
    assert {job.id for job in found} == {job.id for job in members}
    assert {job.get_status() for job in found} == {JobStatus.FINISHED}
    members[0].delete()
    assert len(group.get_jobs()) == 2


def test_enqueue_many_in_the_callers_pipeline(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """Nothing is there before the caller executes it."""
    with acme.connection.pipeline() as pipeline:
        acme.enqueue_many([acme.prepare_data(jobs.note)], pipeline=pipeline)
        assert acme.count == 0
        pipeline.execute()
    work()
    assert notes() == ["ran"]


def test_a_queue_that_is_not_asynchronous_runs_at_once(redis: Redis) -> None:
    """`is_async=False` runs the job in the caller, where only allowed functions run, too."""
    queue = LaneQueue("imports", connection=redis, is_async=False)
    assert queue.enqueue(jobs.add, 1, 2).return_value() == 3
    refused = queue.enqueue("subprocess.run", ["true"])
    assert refused.get_status() == JobStatus.FAILED
    assert "FunctionRefused" in refused.latest_result().exc_string
    assert queue.count == 0


def test_rqs_own_rate_limit_holds_as_well(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """A job that waits for RQ's limit is in no lane; once let through it passes the gate."""
    for number in range(3):
        acme.enqueue(jobs.note, str(number), rate_limit=RateLimit("printer", concurrency=1))
    acme.lanes.route()
    assert acme.count == 1
    work()
    assert sorted(notes()) == ["0", "1", "2"]


@pytest.mark.parametrize("who", ["lane", "django-rq"])
@pytest.mark.django_db(transaction=True)
def test_nothing_is_enqueued_before_the_commit(
    acme: LaneQueue, work: Work, notes: Notes, who: str
) -> None:
    """Within `atomic` a job waits for the commit, and a rollback takes it back."""
    queue = acme if who == "lane" else django_rq.get_queue("imports")
    with transaction.atomic():
        assert queue.enqueue(jobs.note, "committed") is None
        assert acme.count == 0
    with transaction.atomic():
        queue.enqueue(jobs.note, "rolled back")
        transaction.set_rollback(True)
    assert acme.count == 1
    work()
    assert notes() == ["committed"]


@pytest.mark.django_db(transaction=True)
def test_the_commit_mode_auto_does_not_wait(settings: Any, acme: LaneQueue) -> None:
    """django-rq's `COMMIT_MODE` is heard."""
    settings.RQ = {**settings.RQ, "COMMIT_MODE": "auto"}
    with transaction.atomic():
        assert lane("acme").enqueue(jobs.note) is not None
        assert acme.count == 1


def test_the_commit_mode_of_a_request_waits_for_its_end(settings: Any, acme: LaneQueue) -> None:
    """`request_finished` keeps jobs until Django says that the request is over."""
    settings.RQ = {**settings.RQ, "COMMIT_MODE": "request_finished"}
    assert lane("acme").enqueue(jobs.note) is None
    assert acme.count == 0
    thread_queue.commit()
    assert acme.count == 1


def test_other_queues_of_django_rq_stay_as_they_are(settings: Any) -> None:
    """Only lane queues become `LaneQueue`; a further one says so in its `QUEUE_CLASS`."""
    url = settings.RQ_QUEUES["imports"]["URL"]
    settings.RQ_QUEUES = {
        **settings.RQ_QUEUES,
        "default": {"URL": url},
        "reports": {"URL": url, "QUEUE_CLASS": "fairimport.lanes.LaneQueue"},
    }
    kinds = [type(django_rq.get_queue(name)) for name in ("default", "imports", "reports")]
    assert kinds == [django_rq.queues.DjangoRQ, LaneQueue, LaneQueue]
    names = ["default", "imports", "reports"]
    by_index = [django_rq.queues.get_queue_by_index(index) for index in range(3)]
    assert [queue.name for queue in by_index] == names
    assert [type(queue) for queue in by_index] == kinds
    assert type(by_index[0].enqueue(jobs.note)) is Job


def test_a_connection_that_decodes_is_refused(redis_server: Any) -> None:
    """RQ needs bytes; the error comes before any job is lost to it."""
    decoding = Redis.from_url(redis_server.url, decode_responses=True)
    with pytest.raises(ImproperlyConfigured, match="decode_responses"):
        LaneQueue("imports", connection=decoding)
