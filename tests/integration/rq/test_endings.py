"""How a job ends: results, failures, callbacks, time limits, times to live."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from rq import Callback
from rq.exceptions import NoSuchJobError
from rq.job import Dependency, JobStatus
from rq.results import Result

from fairimport.lanes import LaneJob, LaneQueue, lane
from tests.integration.rq import jobs

Notes = Callable[[], list[str]]
Work = Callable[..., Any]


def test_a_result_is_kept_as_rq_keeps_it(acme: LaneQueue, work: Work) -> None:
    """Status, return value, times and registry are RQ's."""
    job = acme.enqueue(jobs.add, 2, other=3)
    work()
    job.refresh()
    assert (job.get_status(), job.return_value()) == (JobStatus.FINISHED, 5)
    assert job.enqueued_at <= job.started_at <= job.ended_at
    assert acme.finished_job_registry.get_job_ids() == [job.id]
    assert acme.started_job_registry.count == 0
    assert job.latest_result().type is Result.Type.SUCCESSFUL


def test_a_running_job_knows_itself(acme: LaneQueue, work: Work) -> None:
    """`get_current_job`, its status, worker and meta are there within the function."""
    job = acme.enqueue(jobs.who, job_id="mine-1", meta={"colour": "red"})
    worker = work(name="ann")
    assert job.return_value() == {
        "id": "mine-1",
        "status": "started",
        "origin": "imports",
        "tenant": "acme",
        "worker": "ann",
    }
    job.refresh()
    assert job.get_meta() == {"colour": "red", "seen": True}
    assert worker.name == "ann"


def test_no_thread_outlives_its_worker(acme: LaneQueue, work: Work) -> None:
    """A host may run a burst worker in its own process, again and again."""
    before = set(threading.enumerate())
    acme.enqueue(jobs.note)
    work()
    assert set(threading.enumerate()) <= before


def test_a_failure_is_kept_as_rq_keeps_it(acme: LaneQueue, work: Work) -> None:
    """Status, traceback and registry are RQ's, and the worker counts it."""
    job = acme.enqueue(jobs.fail)
    worker = work()
    worker.refresh()
    assert job.get_status() == JobStatus.FAILED
    assert acme.failed_job_registry.get_job_ids() == [job.id]
    assert "ValueError: on purpose" in job.latest_result().exc_string
    assert (worker.failed_job_count, worker.successful_job_count) == (1, 0)


def test_a_job_that_cannot_be_read_fails_as_rq_has_it(
    acme: LaneQueue, work: Work, notes: Notes
) -> None:
    """Its callback, its result and its dependents are as for any failure; the next job runs."""
    broken = acme.enqueue(jobs.note, on_failure=Callback(jobs.on_failure))
    wish = Dependency(jobs=[broken], allow_failure=True)
    child, good = acme.enqueue(jobs.note, "child", depends_on=wish), acme.enqueue(jobs.add, 1, 2)
    acme.connection.hset(broken.key, "data", b"\x80nonsense")
    work()
    assert acme.connection.hget(broken.key, "status") == b"failed"
    assert acme.failed_job_registry.get_job_ids() == [broken.id]
    assert "DeserializationError" in broken.latest_result().exc_string
    assert acme.lanes.leases("acme") == []
    assert (notes(), child.get_status()) == (
        ["failure DeserializationError", "child"],
        JobStatus.FINISHED,
    )
    assert good.return_value() == 3


def test_a_job_whose_hash_is_damaged_is_failed_and_the_next_one_runs(
    acme: LaneQueue, work: Work
) -> None:
    """What RQ cannot even load is failed all the same, with the reason; its dependents go on."""
    broken, good = acme.enqueue(jobs.note), acme.enqueue(jobs.add, 1, 2)
    wish = Dependency(jobs=[broken], allow_failure=True)
    child = acme.enqueue(jobs.note, depends_on=wish)
    acme.connection.hset(broken.key, "created_at", "yesterday")
    work()
    acme.connection.delete(acme.lanes.keys.prefix + "maintenance")  # its next look is due
    work()
    assert child.get_status() == JobStatus.FINISHED
    status, why = acme.connection.hmget(broken.key, "status", "exc_info")
    assert (status, good.return_value()) == (b"failed", 3)
    assert b"yesterday" in why
    assert acme.failed_job_registry.get_job_ids() == [broken.id]
    assert acme.lanes.leases("acme") == []


@pytest.mark.parametrize(
    ("function", "expected"),
    [(jobs.add, ["success 3"]), (jobs.fail, ["failed", "failure ValueError"])],
)
def test_callbacks_run_once(
    acme: LaneQueue, work: Work, notes: Notes, function: Callable[..., Any], expected: list[str]
) -> None:
    """The success or the failure callback runs, never both."""
    arguments = (1, 2) if function is jobs.add else ()
    acme.enqueue(
        function,
        *arguments,
        on_success=Callback(jobs.on_success),
        on_failure=Callback("tests.integration.rq.jobs.on_failure", timeout=5),
    )
    work()
    assert notes() == expected


def test_a_raising_success_callback_fails_the_job(acme: LaneQueue, work: Work) -> None:
    """As RQ has it: the callback is part of the job."""
    job = acme.enqueue(jobs.add, 1, 2, on_success=Callback(jobs.raise_in_callback))
    work()
    assert job.get_status() == JobStatus.FAILED
    assert "LookupError" in job.latest_result().exc_string


def test_exception_handlers_are_called(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """Handlers given to the worker see what the job raised."""
    acme.enqueue(jobs.fail)
    work(exception_handlers=[jobs.handle_exception])
    assert notes() == ["failed", "handled ValueError"]


def test_a_job_over_its_time_limit_fails(acme: LaneQueue, work: Work) -> None:
    """`job_timeout` interrupts the function, as RQ does."""
    job = acme.enqueue(jobs.sleep, 20, job_timeout=1)
    work()
    assert job.get_status() == JobStatus.FAILED
    assert "JobTimeoutException" in job.latest_result().exc_string


def test_a_job_without_time_limit_runs(acme: LaneQueue, work: Work) -> None:
    """`job_timeout=-1` arms no timer."""
    job = acme.enqueue(jobs.sleep, 0.1, job_timeout=-1)
    work()
    assert job.return_value() == "slept"


def test_the_defaults_of_the_queue_are_used(acme: LaneQueue, settings: Any) -> None:
    """Without one of its own a job has that of `RQ_QUEUES`, else RQ's 180 s."""
    assert acme.enqueue(jobs.add, 1, 2).timeout == 180
    url = settings.RQ_QUEUES["imports"]["URL"]
    options = {"URL": url, "DEFAULT_TIMEOUT": 7, "DEFAULT_RESULT_TTL": 8}
    settings.RQ_QUEUES = {"imports": options}
    job = lane("acme").enqueue_call(func=jobs.add, args=(1, 2))
    assert (job.timeout, job.result_ttl) == (7, 8)


@pytest.mark.parametrize(("ttl", "least", "most"), [(7, 6, 7), (-1, -1, -1)])
def test_results_live_as_long_as_asked(
    acme: LaneQueue, work: Work, ttl: int, least: int, most: int
) -> None:
    """`result_ttl` is the life of the job's hash and of its result."""
    job = acme.enqueue(jobs.add, 1, 2, result_ttl=ttl)
    work()
    assert least <= acme.connection.ttl(job.key) <= most
    assert least <= acme.connection.ttl(Result.get_key(job.id)) <= most


def test_a_result_with_no_life_leaves_nothing(acme: LaneQueue, work: Work) -> None:
    """`result_ttl=0` deletes the job at its end, its lease and all else of it."""
    job = acme.enqueue(jobs.add, 1, 2, result_ttl=0)
    work()
    with pytest.raises(NoSuchJobError):
        LaneJob.fetch(job.id, connection=acme.connection)
    left = [key.decode() for key in acme.connection.keys("*") if job.id in key.decode()]
    assert left == []
    assert acme.finished_job_registry.count == 0


def test_failures_live_as_long_as_asked(acme: LaneQueue, work: Work) -> None:
    """`failure_ttl` is the life of a failed job."""
    job = acme.enqueue(jobs.fail, failure_ttl=9)
    work()
    assert 8 <= acme.connection.ttl(job.key) <= 9


def test_a_job_whose_time_to_wait_is_over_is_not_run(
    acme: LaneQueue, work: Work, notes: Notes
) -> None:
    """`ttl` lets a waiting job expire, also when it is in its lane already."""
    job = acme.enqueue(jobs.note, ttl=1)
    assert 0 < acme.connection.ttl(job.key) <= 1
    acme.lanes.route()
    acme.connection.pexpire(job.key, 1)
    acme.enqueue(jobs.note, "other")
    work()
    assert notes() == ["other"]


def test_a_started_job_does_not_expire(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """`ttl` ends with the start."""
    job = acme.enqueue(jobs.sleep, 1.2, ttl=1)
    work()
    assert job.return_value() == "slept"


def test_somebody_can_wait_for_a_result(acme: LaneQueue, background: Any) -> None:
    """`latest_result(timeout=...)` blocks until the result is there."""
    background()
    job = acme.enqueue(jobs.sleep, 0.2)
    result = job.latest_result(timeout=5)
    assert result.return_value == "slept"


def test_nothing_is_left_when_all_is_done(acme: LaneQueue, work: Work) -> None:
    """After the work, tenants have left nothing but numbers that expire."""
    for tenant in ("acme", "birch", ""):
        lane(tenant).enqueue(jobs.note)
    work()
    lane("dora").enqueue(jobs.note)
    work()
    redis, prefix = acme.connection, b"fairimport:imports:"
    left = {key.removeprefix(prefix) for key in redis.keys(prefix + b"*")}
    lasting = {key for key in left if redis.ttl(prefix + key) == -1}
    assert lasting <= {b"epoch", b"clock", b"means", b"resting"}
    assert redis.zcard("rq:wip:imports") == 0
