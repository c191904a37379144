"""A job has ended, and its worker never heard so: what follows it follows, at once and once."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from redis import Redis
from rq import Queue
from rq.command import send_stop_job_command
from rq.job import Dependency, Job, JobStatus
from rq.rate_limit import RateLimit
from rq.serializers import JSONSerializer
from rq.webhook import Webhook

from fairimport.lanes import FairSimpleWorker, FairWorker, LaneQueue, lane
from fairimport.lanes.lanes import Lanes
from tests import proxy as proxies
from tests.background import Child, until
from tests.integration.rq import jobs
from tests.proxy import SETTLING, LossyProxy

Notes = Callable[[], list[str]]
FAILED = b"\r\nfailed\r\n"  # a word that only the end of a job for good sends
ENDS = {
    "finished": (jobs.note, SETTLING, JobStatus.FINISHED),
    "finished, not kept": (jobs.note, SETTLING, None),
    "failed": (jobs.fail, SETTLING, JobStatus.FAILED),
    "asked too often": (jobs.always_ask_for_retry, FAILED, JobStatus.FAILED),
}
OWN = {
    jobs.note: ["ran"],
    jobs.fail: ["failed"],
    jobs.always_ask_for_retry: ["tried", "tried"],
    jobs.die: ["died"],
}
DIED = {"horse died": (jobs.die, SETTLING, JobStatus.FAILED)}


def enqueue_all(function: Callable[..., Any], redis: Redis, port: int, **more: Any) -> list[Job]:
    """A parent, and whatever waits for its end: dependents everywhere, a slot, a webhook."""
    limit = RateLimit("one", concurrency=1)
    hooks = [
        Webhook(f"http://127.0.0.1:{port}/", each, method="POST") for each in ("finished", "failed")
    ]
    parent = lane("acme").enqueue(function, rate_limit=limit, webhooks=hooks, job_id="p", **more)
    after = {"depends_on": Dependency(jobs=[parent], allow_failure=True)}
    other = Queue("other", connection=redis, serializer=JSONSerializer)
    return [
        parent,
        lane("acme").enqueue(jobs.note, "child", **after),
        lane("birch").enqueue(jobs.note, "birch's child", **after),
        lane("acme").enqueue(jobs.note, "next", rate_limit=limit),
        other.enqueue(jobs.note, "elsewhere", **after),
    ]


@pytest.mark.parametrize(
    ("kind", "end"),
    [
        *((kind, end) for kind in (FairSimpleWorker, FairWorker) for end in ENDS.values()),
        *((FairWorker, end) for end in DIED.values()),
    ],
    ids=[*(f"{kind}-{end}" for kind in ("simple", "forking") for end in ENDS), *DIED],
)
def test_what_follows_an_end_follows_it_unheard(
    acme: LaneQueue,
    lanes: Lanes,
    proxy: LossyProxy,
    settings: Any,
    background: Any,
    kind: type[FairWorker],
    redis: Redis,
    notes: Notes,
    listener: Any,
    end: tuple[Callable[..., Any], bytes, JobStatus | None],
) -> None:
    """Dependents, also on other queues, RQ's rate limit and webhooks; each of them once."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "WEBHOOK_HOSTS": ("127.0.0.1",)}
    function, marker, status = end
    proxy.lose_reply(marker, of_transaction=True)
    more = {"result_ttl": 0} if status is None else {}
    parent, *followers, elsewhere = enqueue_all(function, redis, listener.server_port, **more)
    worker = background(kind=kind)
    for follower in followers:
        until(lambda job=follower: job.get_status() == JobStatus.FINISHED, 5)
    until(lambda: elsewhere.get_status() == JobStatus.QUEUED, 5)
    background(burst=True).wait()  # whoever looks again finds nothing
    assert proxy.lost == 1
    assert sorted(notes()) == sorted([*OWN[function], "birch's child", "child", "next"])
    assert [len(job.results()) for job in followers] == [1, 1, 1]
    assert redis.lrange("rq:queue:other", 0, -1) == [elsewhere.id.encode()]
    heard = [each["status"] for each in listener.heard]
    assert heard == (["finished"] if function is jobs.note else ["failed"])
    assert status is None or parent.get_status() == status
    assert (worker.alive(), lanes.leases("acme"), lanes.leases("birch")) == (True, [], [])


def test_a_stopped_job_leaves_its_slot_unheard(
    acme: LaneQueue, proxy: LossyProxy, background: Any, redis: Redis, listener: Any, notes: Notes
) -> None:
    """Who was stopped holds no place of RQ's rate limit; dependents wait, as RQ has it."""
    parent, child, _, after, _ = enqueue_all(jobs.wait_at_gate, redis, listener.server_port)
    background()
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    proxy.lose_reply(SETTLING, of_transaction=True)
    send_stop_job_command(redis, parent.id, serializer=JSONSerializer)
    until(lambda: after.get_status() == JobStatus.FINISHED, 5)
    assert (proxy.lost, notes()) == (1, ["next"])
    assert (parent.get_status(), child.get_status()) == (JobStatus.STOPPED, JobStatus.DEFERRED)


@pytest.fixture
def ending(
    acme: LaneQueue,
    proxy: LossyProxy,
    redis: Redis,
    listener: Any,
    function: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> list[Job]:
    """The same jobs; the reply to the parent's end will be a long time coming."""
    monkeypatch.setattr(proxies, "EXECUTED", 3.0)
    proxy.lose_reply(SETTLING, of_transaction=True)
    return enqueue_all(function, redis, listener.server_port)


def kill_at_the_end(parent: Job, worker: Child, *, with_worker: bool = False) -> None:
    """Kill the horse, maybe its worker as well, once the parent's end is written."""
    until(lambda: parent.get_status() in (JobStatus.FINISHED, JobStatus.FAILED))
    [horse] = worker.horses()
    for pid in (horse, worker.pid) if with_worker else (horse,):
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("function", [jobs.note, jobs.fail])
def test_a_worker_that_dies_with_its_horse_after_the_end_was_written(
    ending: list[Job],
    proxy: LossyProxy,
    background: Any,
    redis: Redis,
    notes: Notes,
    function: Callable[..., Any],
) -> None:
    """Another one does within seconds what it had no time for, and the job is not run again."""
    parent, *followers, _ = ending
    kill_at_the_end(parent, background(), with_worker=True)
    background()
    for follower in followers[:2]:
        until(lambda job=follower: job.get_status() == JobStatus.FINISHED, 5)
    assert (proxy.lost, len(parent.results())) == (1, 1)
    until(lambda: not redis.exists("fairimport:imports:owed"), 3)
    assert sorted(set(notes()) - {"next"}) == sorted([*OWN[function], "birch's child", "child"])


@pytest.mark.parametrize("function", [jobs.note, jobs.fail])
def test_a_horse_that_dies_after_the_end_was_written(
    ending: list[Job],
    proxy: LossyProxy,
    background: Any,
    notes: Notes,
    function: Callable[..., Any],
) -> None:
    """Its worker, which lives, does what it had no time for; the job is not run again."""
    parent, *followers, elsewhere = ending
    kill_at_the_end(parent, background())
    for follower in followers:
        until(lambda job=follower: job.get_status() == JobStatus.FINISHED, 5)
    until(lambda: elsewhere.get_status() == JobStatus.QUEUED, 5)
    assert (proxy.lost, len(parent.results())) == (1, 1)
    assert sorted(notes()) == sorted([*OWN[function], "birch's child", "child", "next"])
