"""Jobs that wait for other jobs, of the same tenant or of another one."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import django_rq
import pytest
from redis import Redis
from rq import Queue, SimpleWorker
from rq.job import Dependency, JobStatus
from rq.serializers import JSONSerializer

from fairimport.lanes import FairSimpleWorker, LaneJob, LaneQueue, explain, lane
from tests.integration.rq import jobs

Notes = Callable[[], list[str]]
Work = Callable[..., Any]


@pytest.fixture
def kind() -> type[FairSimpleWorker]:
    """What waits for what does not depend on how it is worked on."""
    return FairSimpleWorker


def tenant_of(job: Any, redis: Redis) -> str | None:
    """The tenant that Redis has for a job."""
    tenant = redis.hget(job.key, "tenant")
    return tenant.decode() if tenant is not None else None


def test_a_dependent_waits_for_its_parent(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """It is in RQ's deferred registry, in no lane, and runs after the parent."""
    parent = acme.enqueue(jobs.note, "parent")
    child = acme.enqueue(jobs.note, "child", depends_on=parent)
    assert child.get_status() == JobStatus.DEFERRED
    assert acme.deferred_job_registry.get_job_ids() == [child.id]
    acme.lanes.route()
    reason = explain(child.id)
    assert (acme.count, reason.code) == (1, "deferred")
    assert reason.facts["depends_on"] == {parent.id: "queued"}
    work()
    assert notes() == ["parent", "child"]
    assert acme.deferred_job_registry.count == 0


def test_a_dependent_of_several_waits_for_all(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """The last parent lets it go."""
    parents = [acme.enqueue(jobs.note, word) for word in ("one", "two", "three")]
    acme.enqueue(jobs.note, "child", depends_on=parents)
    work()
    assert notes() == ["one", "two", "three", "child"]


def test_a_dependent_of_another_tenants_job_keeps_its_own(
    work: Work, notes: Notes, redis: Redis
) -> None:
    """A lane of its own beats what a child could inherit."""
    parent = lane("acme").enqueue(jobs.note, "parent")
    child = lane("beta").enqueue(jobs.note, "child", depends_on=parent)
    work()
    assert (notes(), tenant_of(child, redis)) == (["parent", "child"], "beta")


@pytest.mark.parametrize("through", ["lane queue", "django-rq", "rq"])
def test_a_dependent_without_tenant_inherits_its_parents(
    work: Work, redis: Redis, through: str
) -> None:
    """Whichever queue object it was enqueued with."""
    queue = {
        "lane queue": jobs.lane_of_nobody,
        "django-rq": lambda: django_rq.get_queue("imports"),
        "rq": lambda: Queue("imports", connection=redis, serializer=JSONSerializer),
    }[through]()
    parent = lane("acme").enqueue(jobs.note)
    child = queue.enqueue(jobs.note, depends_on=parent.id)
    grandchild = queue.enqueue(jobs.note, depends_on=child.id)
    work()
    assert grandchild.get_status() == JobStatus.FINISHED
    assert [tenant_of(job, redis) for job in (child, grandchild)] == ["acme", "acme"]


def test_a_parent_whose_result_is_not_kept_leaves_its_tenant(work: Work, redis: Redis) -> None:
    """`result_ttl=0` deletes the parent before the child is routed."""
    parent = lane("acme").enqueue(jobs.note, result_ttl=0)
    child = jobs.lane_of_nobody().enqueue(jobs.note, depends_on=parent)
    work()
    assert (child.get_status(), tenant_of(child, redis)) == (JobStatus.FINISHED, "acme")


def test_a_job_enqueued_within_a_job_inherits_its_tenant(
    acme: LaneQueue, work: Work, notes: Notes, redis: Redis
) -> None:
    """Work that leads to work stays on the tenant's lane."""
    acme.enqueue(jobs.start_child, "child")
    work()
    ended = acme.finished_job_registry.get_job_ids()
    assert notes() == ["child"]
    assert {redis.hget(f"rq:job:{job}", "tenant") for job in ended} == {b"acme"}
    assert len(ended) == 2


@pytest.fixture
def stock(settings: Any, redis: Redis) -> Callable[[], Any]:
    """Another queue, with pickles and RQ's own worker: work until nothing is left there."""
    settings.RQ_QUEUES = {**settings.RQ_QUEUES, "default": settings.RQ_QUEUES["imports"]}
    before = {signum: signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)}

    def work_there() -> None:
        queue = django_rq.get_queue("default")
        SimpleWorker([queue], connection=redis).work(burst=True, logging_level="ERROR")
        for signum, handler in before.items():
            signal.signal(signum, handler)

    return work_there


def test_a_parent_on_a_stock_queue_lets_its_dependents_go(
    acme: LaneQueue, work: Work, notes: Notes, stock: Callable[[], Any], redis: Redis
) -> None:
    """RQ's worker pushes the child with RQ's class; it is on its tenant's lane, unharmed."""
    parent = django_rq.get_queue("default").enqueue(jobs.note, "parent")
    child = acme.enqueue(jobs.note, "child", depends_on=parent, meta={"colour": "red"})
    stock()
    assert (notes(), acme.count) == (["parent"], 1)
    work()
    child.refresh()
    assert (notes(), child.meta) == (["parent", "child"], {"colour": "red"})
    assert tenant_of(child, redis) == "acme"


def test_a_dependent_on_a_stock_queue_goes_there(
    acme: LaneQueue, work: Work, notes: Notes, stock: Callable[[], Any]
) -> None:
    """A fair worker that ends the parent pushes the child to its own queue, as it was."""
    parent = acme.enqueue(jobs.note, "parent")
    queue = django_rq.get_queue("default")
    child = queue.enqueue(jobs.note, "child", depends_on=parent.id, meta={"colour": "red"})
    work()
    assert (notes(), queue.job_ids, acme.count) == (["parent"], [child.id], 0)
    stock()
    child.refresh()
    assert (notes(), child.meta) == (["parent", "child"], {"colour": "red"})


def test_a_failed_parent_keeps_its_dependents_waiting(acme: LaneQueue, work: Work) -> None:
    """As in RQ they stay deferred."""
    parent = acme.enqueue(jobs.fail)
    child = acme.enqueue(jobs.note, depends_on=parent)
    work()
    assert child.get_status() == JobStatus.DEFERRED


def test_a_dependent_may_accept_a_failure(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`Dependency(allow_failure=True)` runs the child whatever became of the parent."""
    parent = acme.enqueue(jobs.fail, "parent")
    acme.enqueue(jobs.note, "child", depends_on=Dependency(jobs=[parent], allow_failure=True))
    work()
    assert notes() == ["parent", "child"]


def test_a_requeued_parent_lets_its_dependents_go(acme: LaneQueue, work: Work) -> None:
    """The second try of a failed parent is as good as a first one."""
    parent = acme.enqueue(jobs.fail_at_first, 1)
    child = acme.enqueue(jobs.note, depends_on=parent)
    work()
    parent.requeue()
    work()
    assert child.get_status() == JobStatus.FINISHED


def test_a_dependent_may_go_to_the_front(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`Dependency(enqueue_at_front=True)` puts the child before those that wait."""
    parent = acme.enqueue(jobs.note, "parent")
    acme.enqueue(jobs.note, "other")
    wish = Dependency(jobs=[parent], enqueue_at_front=True)
    acme.enqueue(jobs.note, "child", depends_on=wish)
    work()
    assert notes() == ["parent", "child", "other"]


def test_cancelling_a_parent_may_let_its_dependents_go(
    acme: LaneQueue, work: Work, notes: Notes
) -> None:
    """`cancel(enqueue_dependents=True)` runs them, `cancel()` does not."""
    kept, let_go = acme.enqueue(jobs.note, "kept"), acme.enqueue(jobs.note, "let go")
    stays = acme.enqueue(jobs.note, "stays", depends_on=kept)
    acme.enqueue(jobs.note, "goes", depends_on=let_go)
    acme.lanes.route()
    kept.cancel()
    let_go.cancel(enqueue_dependents=True)
    work()
    assert notes() == ["goes"]
    assert stays.get_status() == JobStatus.DEFERRED


def test_deleting_a_parent_may_delete_its_dependents(acme: LaneQueue, work: Work) -> None:
    """`delete(delete_dependents=True)` leaves none of them."""
    parent = acme.enqueue(jobs.note)
    child = acme.enqueue(jobs.note, depends_on=parent)
    acme.lanes.route()
    parent.delete(delete_dependents=True)
    assert not LaneJob.exists(child.id, acme.connection)
    work()
    assert acme.finished_job_registry.count == 0


def test_many_with_dependencies_are_enqueued_at_once(
    acme: LaneQueue, work: Work, notes: Notes
) -> None:
    """`enqueue_many` knows dependencies on jobs that are there already, done or not."""
    done = acme.enqueue(jobs.note, "done")
    work()
    waiting = acme.enqueue(jobs.note, "waiting")
    acme.enqueue_many(
        [
            acme.prepare_data(jobs.note, ("after waiting",), depends_on=waiting),
            acme.prepare_data(jobs.note, ("after done",), depends_on=done),
        ]
    )
    work()
    assert notes() == ["done", "waiting", "after done", "after waiting"]


def test_dependents_left_behind_by_a_crash_are_found(
    acme: LaneQueue, work: Work, redis: Redis
) -> None:
    """A worker's maintenance enqueues what RQ's ready registry still holds."""
    parent = acme.enqueue(jobs.note)
    child = acme.enqueue(jobs.note, depends_on=parent)
    parent._status = JobStatus.FINISHED
    parent.save()
    acme.move_dependents_to_ready(parent)
    assert child.get_status() == JobStatus.READY_TO_ENQUEUE
    work()
    work()
    assert child.get_status() == JobStatus.FINISHED
