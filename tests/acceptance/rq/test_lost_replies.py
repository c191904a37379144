"""Redis has done it, and nobody heard of it: asked again, nothing counts twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError
from rq import Callback, Retry
from rq.job import JobStatus

from fairimport.lanes import FairWorker, LaneQueue, lane
from fairimport.lanes.lanes import Lanes
from tests.background import Child, until
from tests.integration.rq import jobs
from tests.proxy import SETTLING, LossyProxy

Notes = Callable[[], list[str]]


@pytest.mark.parametrize("times", [1, 3])
def test_a_claim_is_asked_for_again(
    acme: LaneQueue,
    lanes: Lanes,
    proxy: LossyProxy,
    worker: Child,
    notes: Notes,
    redis: Redis,
    times: int,
) -> None:
    """The job that was claimed unheard runs at once, not after its lease, and once."""
    until(lambda: redis.info("clients")["blocked_clients"])  # it sleeps: its next claim counts
    proxy.lose_reply(lanes.scripts.call("claim").sha.encode(), times=times)
    job = acme.enqueue(jobs.note)
    until(lambda: job.get_status() == JobStatus.FINISHED, 5)
    assert (proxy.lost, notes()) == (times, ["ran"])
    assert (worker.alive(), lanes.leases("acme")) == (True, [])


@pytest.mark.parametrize("function", [jobs.add, jobs.fail])
def test_an_end_is_written_once(
    acme: LaneQueue,
    lanes: Lanes,
    proxy: LossyProxy,
    worker: Child,
    notes: Notes,
    function: Callable[..., Any],
) -> None:
    """An end that was written unheard is the end: one callback, one result, the next job runs."""
    proxy.lose_reply(SETTLING, of_transaction=True)
    job = acme.enqueue(
        function,
        *((1, 2) if function is jobs.add else ()),
        on_success=Callback(jobs.on_success),
        on_failure=Callback(jobs.on_failure),
    )
    well = function is jobs.add
    status = JobStatus.FINISHED if well else JobStatus.FAILED
    until(lambda: job.get_status() == status, 5)
    other = acme.enqueue(jobs.note, "next")
    until(lambda: other.get_status() == JobStatus.FINISHED, 5)
    assert proxy.lost == 1
    assert notes() == [*(["success 3"] if well else ["failed", "failure ValueError"]), "next"]
    assert (job.get_status(), len(job.results())) == (status, 1)
    assert (worker.alive(), lanes.leases("acme")) == (True, [])


@pytest.mark.parametrize("how", ["yield", "retry"])
def test_a_job_that_goes_on_has_one_place(
    acme: LaneQueue, proxy: LossyProxy, worker: Child, notes: Notes, how: str
) -> None:
    """A yield or a retry that was written unheard is not written again."""
    proxy.lose_reply(SETTLING, of_transaction=True)
    job = acme.enqueue(jobs.break_redis_and_go_on, how)
    until(lambda: job.get_status() == JobStatus.FINISHED, 5)
    job.refresh()
    assert (proxy.lost, notes()) == (1, ["ran", "done"])
    assert job.number_of_retries == (1 if how == "retry" else None)


def test_retries_are_counted_once(
    acme: LaneQueue, proxy: LossyProxy, worker: Child, notes: Notes
) -> None:
    """A failure that is retried unheard leaves the right number of retries."""
    proxy.lose_reply(SETTLING, of_transaction=True)
    job = acme.enqueue(jobs.fail, retry=Retry(max=2))
    until(lambda: job.get_status() == JobStatus.FAILED, 5)
    assert (proxy.lost, notes()) == (1, ["failed"] * 3)


def test_a_renewal_is_made_again(
    acme: LaneQueue,
    lanes: Lanes,
    proxy: LossyProxy,
    settings: Any,
    background: Any,
    kind: type[FairWorker],
    redis: Redis,
    open_gate: Any,
    notes: Notes,
) -> None:
    """One unheard renewal is no reason to give a job up."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": 1.5}
    worker = background(kind=kind)
    job = acme.enqueue(jobs.wait_at_gate)
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    proxy.lose_reply(lanes.scripts.call("renew").sha.encode())
    until(lambda: proxy.lost == 1, 3)
    [before] = lanes.leases("acme")
    until(lambda: lanes.leases("acme")[0].deadline > before.deadline, 3)
    open_gate()
    until(lambda: job.get_status() == JobStatus.FINISHED, 5)
    assert (notes(), worker.alive()) == (["through"], True)


def test_an_enqueue_that_is_repeated_is_one_job(
    proxy: LossyProxy, background: Any, notes: Notes, redis: Redis
) -> None:
    """Whoever gets no reply may enqueue again: the id stands twice, the job runs once."""
    proxy.lose_reply(b"RPUSH", of_transaction=True)
    with pytest.raises(ConnectionError):
        lane("acme").enqueue(jobs.note, job_id="mine")
    job = lane("acme").enqueue(jobs.note, job_id="mine")
    assert (proxy.lost, redis.llen("rq:queue:imports")) == (1, 2)
    background(burst=True).wait()
    assert (notes(), job.get_status()) == (["ran"], JobStatus.FINISHED)
