"""What RQ documents, on a lane: the same calls, the same results."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django_rq import get_queue
from redis import Redis
from rq import Callback, Queue, Repeat, Retry
from rq.exceptions import DuplicateJobError
from rq.group import Group
from rq.job import Dependency, Job
from rq.registry import FailedJobRegistry
from rq.serializers import JSONSerializer
from rq.suspension import resume, suspend

from fairimport.lanes import LaneJob, LaneQueue, Lanes, lane
from fairimport.lanes.worker import FairSimpleWorker
from tests.lanejobs import (
    enqueue_child,
    fail,
    flaky,
    noop,
    note_failure,
    note_success,
    sleep,
    whose,
    write,
)

pytestmark = pytest.mark.django_db(transaction=True)
Work = Callable[..., bool]


@pytest.fixture
def work(lanes: Lanes) -> Work:
    """Work everything that waits, in this process."""

    def burst(*queues: str, **options: object) -> bool:
        names = queues or ("imports",)
        worker = FairSimpleWorker([LaneQueue.named(name) for name in names])
        return worker.work(burst=True, logging_level="ERROR", **options)

    return burst


def test_a_job_runs_for_its_tenant(work: Work) -> None:
    """`lane(tenant).enqueue(f)` runs f, and the claim says for whom."""
    job = lane("acme").enqueue(whose)
    work()
    assert (job.get_status(), job.return_value()) == ("finished", "acme")


def test_a_stock_queue_lands_in_the_lane_of_nobody(work: Work, redis: Redis) -> None:
    """Whoever pushes with RQ's own class is the tenant "", one among the others."""
    stock = Queue("imports", connection=redis, serializer=JSONSerializer)
    job = stock.enqueue(whose)
    django = get_queue("imports", serializer=JSONSerializer).enqueue(whose)
    work()
    assert [job.return_value(), django.return_value()] == ["", ""]


def test_a_child_inherits_its_parents_tenant(work: Work, tmp_path: Path) -> None:
    """What a job enqueues without naming a tenant is for the tenant of that job."""
    lane("acme").enqueue(enqueue_child, str(tmp_path / "trace"))
    work()
    child = LaneJob.fetch("child", connection=LaneQueue.named("imports").connection)
    assert child.tenant == "acme"


def test_a_failing_job_is_in_the_failed_registry_and_can_be_requeued(work: Work) -> None:
    """As in django-rq's admin; the second run passes the same gate."""
    job = lane("acme").enqueue(fail)
    work()
    assert job.get_status() == "failed"
    assert "on purpose" in job.latest_result().exc_string
    registry = FailedJobRegistry(queue=LaneQueue.named("imports"))
    registry.requeue(job.id)
    assert job.get_status() == "queued"
    work()
    assert (job.get_status(), len(job.results())) == ("failed", 2)


@pytest.mark.parametrize("intervals", [0, 1])
def test_retries(work: Work, tmp_path: Path, intervals: int) -> None:
    """`Retry` runs a job again, at once or after its interval, without a scheduler process."""
    trace = str(tmp_path / "trace")
    job = lane("acme").enqueue(flaky, trace, 3, retry=Retry(max=3, interval=intervals))
    until = time.monotonic() + 15
    while job.get_status() != "finished" and time.monotonic() < until:
        work()
        time.sleep(0.05)
    assert job.return_value() == "at last"
    assert LaneJob.fetch(job.id, connection=job.connection).tenant == "acme"


def test_jobs_for_later(work: Work) -> None:
    """`enqueue_in` runs when it is due, in its tenant's lane."""
    job = lane("acme").enqueue_in(timedelta(seconds=2), whose)
    work()
    assert job.get_status() == "scheduled"
    until = time.monotonic() + 10
    while job.get_status() != "finished" and time.monotonic() < until:
        work()
        time.sleep(0.1)
    assert job.return_value() == "acme"


def test_repeats(work: Work, tmp_path: Path) -> None:
    """`Repeat` runs a job so many times more."""
    trace = tmp_path / "trace"
    lane("acme").enqueue(write, str(trace), "x", repeat=Repeat(times=2))
    work()
    assert trace.read_text().split() == ["x"] * 3


def test_dependencies_within_and_across_tenants(work: Work) -> None:
    """A dependent waits; it keeps its own tenant, and without one has that of the job before."""
    first = lane("acme").enqueue(whose)
    second = lane("birch").enqueue(whose, depends_on=first)
    third = LaneQueue.named("imports").enqueue(whose, depends_on=Dependency(jobs=[second]))
    assert second.get_status() == "deferred"
    work()
    assert [job.return_value() for job in (first, second, third)] == ["acme", "birch", "birch"]


def test_groups_and_many_at_once(work: Work) -> None:
    """`enqueue_many` and groups give each job the lane's tenant."""
    queue = lane("acme")
    jobs = Group.create(connection=queue.connection).enqueue_many(
        queue, [queue.prepare_data(whose) for _ in range(5)]
    )
    work()
    assert {job.return_value() for job in jobs} == {"acme"}


def test_unique_jobs(work: Work) -> None:
    """The same id twice is refused while the first waits, in RQ's list or in its lane."""
    queue = lane("acme")
    queue.enqueue(noop, job_id="once", unique=True)
    queue.lanes.route()
    with pytest.raises(DuplicateJobError):
        queue.enqueue(noop, job_id="once", unique=True)


def test_the_front_of_the_lane(work: Work, tmp_path: Path) -> None:
    """`at_front` passes the tenant's own jobs that wait in the lane already."""
    trace = tmp_path / "trace"
    queue = lane("acme")
    for name in ("one", "two"):
        queue.enqueue(write, str(trace), name)
    queue.lanes.route()
    queue.enqueue(write, str(trace), "urgent", at_front=True)
    queue.enqueue(write, str(trace), "unique", at_front=True, unique=True, job_id="u")
    work()
    assert trace.read_text().split() == ["unique", "urgent", "one", "two"]


@pytest.mark.parametrize("routed", [False, True])
@pytest.mark.parametrize("verb", ["cancel", "delete"])
def test_cancel_and_delete(work: Work, tmp_path: Path, routed: bool, verb: str) -> None:
    """A cancelled or deleted job does not run, wherever it waits, and is counted nowhere."""
    trace = tmp_path / "trace"
    job = lane("acme").enqueue(write, str(trace), "x")
    queue = LaneQueue.named("imports")
    if routed:
        queue.lanes.route()
    getattr(job, verb)()
    assert queue.count == 0
    work()
    assert not trace.exists()


def test_stock_cancel_leaves_a_dead_id_that_is_skipped(work: Work, tmp_path: Path) -> None:
    """RQ's own `Job.cancel` knows no lanes; the claim finds the id dead."""
    trace = tmp_path / "trace"
    job = lane("acme").enqueue(write, str(trace), "x")
    lane("acme").lanes.route()
    Job.fetch(job.id, connection=job.connection, serializer=JSONSerializer).cancel()
    lane("acme").enqueue(write, str(trace), "y")
    work()
    assert trace.read_text().split() == ["y"]


def test_callbacks(work: Work, redis: Redis) -> None:
    """Success and failure callbacks run."""
    lane("acme").enqueue(whose, on_success=Callback(note_success))
    work()
    assert redis.get("note") == b"success acme"
    lane("acme").enqueue(fail, on_failure=Callback(note_failure))
    work()
    assert redis.get("note") == b"failure ValueError"


def test_timeouts_and_result_times(work: Work) -> None:
    """A job over its time fails; a result that is not kept takes the job along."""
    slow = lane("acme").enqueue(sleep, 5, job_timeout=1)
    brief = lane("acme").enqueue(noop, result_ttl=0)
    kept = lane("acme").enqueue(noop, result_ttl=90)
    work()
    assert slow.get_status() == "failed"
    assert "JobTimeoutException" in slow.latest_result().exc_string
    assert not Job.exists(brief.id, brief.connection)
    assert 0 < kept.connection.ttl(kept.key) <= 90


def test_only_functions_of_installed_apps_are_called(work: Work) -> None:
    """Whoever writes Redis cannot run `os.system`; the job fails with a sentence."""
    job = lane("acme").enqueue("os.system", "true")
    callback = lane("acme").enqueue(noop, on_success=Callback("os.getcwd"))
    work()
    for refused in (job, callback):
        assert refused.get_status() == "failed"
        assert "not a function of an installed app" in refused.latest_result().exc_string


def test_a_damaged_job_is_failed_and_the_next_one_runs(work: Work, redis: Redis) -> None:
    """What cannot be read is failed with the reason; it blocks nobody."""
    bad, good = lane("acme").enqueue(noop), lane("acme").enqueue(noop)
    redis.hset(bad.key, "data", b"\x80garbage")
    work()
    assert (redis.hget(bad.key, "status"), good.get_status()) == (b"failed", "finished")
    assert not lane("acme").lanes.leases("acme")


def test_suspended_workers_take_nothing(work: Work) -> None:
    """`rq suspend` stops a worker from claiming, `rq resume` lets it."""
    job = lane("acme").enqueue(noop)
    suspend(job.connection)
    work()
    assert job.get_status() == "queued"
    resume(job.connection)
    work()
    assert job.get_status() == "finished"


def test_max_jobs(work: Work) -> None:
    """`max_jobs` ends the loop, and leaves the rest."""
    jobs = [lane("acme").enqueue(noop) for _ in range(3)]
    work(max_jobs=2)
    assert [job.get_status() for job in jobs] == ["finished", "finished", "queued"]


def test_queues_in_their_order_of_priority(
    lanes: Lanes, settings: pytest.FixtureRequest, work: Work, tmp_path: Path
) -> None:
    """A worker of two queues empties the first one first."""
    settings.RQ_QUEUES = {**settings.RQ_QUEUES, "urgent": settings.RQ_QUEUES["imports"]}
    trace = tmp_path / "trace"
    lane("acme").enqueue(write, str(trace), "later")
    lane("acme", "urgent").enqueue(write, str(trace), "first")
    lane("birch", "urgent").enqueue(write, str(trace), "first")
    lane("acme", "urgent").lanes.load_limits({}, wait=0)
    work("urgent", "imports")
    assert trace.read_text().split() == ["first", "first", "later"]


def test_counts_and_positions_include_the_lanes(lanes: Lanes) -> None:
    """What django-rq's pages ask of a queue is true wherever jobs wait."""
    queue = lane("acme")
    jobs = [queue.enqueue(noop) for _ in range(3)]
    lanes.route()
    late = lane("birch").enqueue(noop)
    assert queue.count == 4
    assert set(queue.get_job_ids()) == {job.id for job in [*jobs, late]}
    assert queue.get_job_ids(1, 2) == queue.get_job_ids()[1:3]
    assert [job.get_position() for job in jobs] == [0, 1, 2]
    assert not queue.is_empty()
    assert queue.empty() == 4
    assert (queue.count, queue.get_job_ids()) == (0, [])


def test_nothing_is_left_when_all_is_done(work: Work, redis: Redis) -> None:
    """After the work, tenants have left nothing but numbers that expire."""
    for tenant in ("acme", "birch", ""):
        lane(tenant).enqueue(noop)
    work()
    lane("dora").enqueue(noop)
    work()
    prefix = b"fairimport:imports:"
    left = {key.removeprefix(prefix) for key in redis.keys(prefix + b"*")}
    lasting = {key for key in left if redis.ttl(prefix + key) == -1}
    assert lasting <= {b"epoch", b"clock", b"means", b"resting"}
    assert redis.zcard("rq:wip:imports") == 0
