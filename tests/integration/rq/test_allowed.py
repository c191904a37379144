"""Whoever can write to Redis must not be able to run what they like."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from rq import Callback, Queue
from rq.job import Job, JobStatus
from rq.serializers import DefaultSerializer, JSONSerializer
from rq.webhook import Webhook

from fairimport.lanes import FairSimpleWorker, FairWorker, LaneQueue
from tests.background import until
from tests.integration.rq import jobs

Notes = Callable[[], list[str]]
Work = Callable[..., Any]


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A file that is there once something ran that must not."""
    return tmp_path / "ran"


def write(redis: Redis, name: str, *arguments: Any, **fields: Any) -> Job:
    """Write a job's hash as somebody would who has nothing but Redis."""
    queue = Queue("imports", connection=redis, serializer=JSONSerializer)
    job = queue.enqueue(jobs.note)
    data = JSONSerializer.dumps([name, None, arguments, {}])
    redis.hset(job.key, mapping={"data": data, **fields})
    return job


REFUSED = [
    "os.system",
    "subprocess.run",
    "builtins.eval",
    "eval",
    "fairimport.lanes.worker.os.system",  # begins well, and is os.system
    "fairimport.sheets.child.subprocess.run",
    "tests.integration.rq.jobs.run",  # a function of another module under a good name
    "tests.integration.rq.jobs.subprocess.run",
    "tests.integration.rqjobs.run",
    "django.core.management.call_command",
    "",
]


@pytest.mark.parametrize("name", REFUSED)
def test_other_functions_are_not_called(
    acme: LaneQueue, redis: Redis, mark: Path, work: Work, name: str
) -> None:
    """The job fails with a word on what may be called, and the next one runs."""
    command = [f"touch {mark}"] if name.endswith(("system", "eval")) else [["touch", str(mark)]]
    job = write(redis, name, *command)
    good = acme.enqueue(jobs.add, 1, 2)
    work()
    assert not mark.exists()
    assert redis.hget(job.key, "status") == b"failed"
    assert acme.failed_job_registry.get_job_ids() == [job.id]
    assert good.return_value() == 3


def test_the_function_that_is_refused_would_have_run(redis: Redis, mark: Path) -> None:
    """RQ's own job class calls it: the test above tests something."""
    job = write(redis, "fairimport.lanes.worker.os.system", f"touch {mark}")
    Job.fetch(job.id, redis, JSONSerializer).perform()
    assert mark.exists()


def test_a_refusal_says_what_to_do(acme: LaneQueue, redis: Redis, work: Work) -> None:
    """The reason is in the job's result."""
    job = write(redis, "os.system", "true")
    work()
    why = Job.fetch(job.id, redis, JSONSerializer).latest_result().exc_string
    assert "'os.system' is not a function of an installed app" in why
    assert "JOB_FUNCTIONS" in why


@pytest.mark.parametrize("event", ["success", "failure"])
@pytest.mark.parametrize("name", ["os.system", "fairimport.lanes.worker.os._exit"])
def test_other_callbacks_are_not_called(
    acme: LaneQueue, redis: Redis, work: Work, notes: Notes, event: str, name: str
) -> None:
    """A callback's name comes from the same hash; the job fails and the worker lives."""
    function = "note" if event == "success" else "fail"
    job = write(redis, f"tests.integration.rq.jobs.{function}", **{f"{event}_callback_name": name})
    good = acme.enqueue(jobs.note, "next")
    work()
    result = Job.fetch(job.id, redis, JSONSerializer).latest_result()
    assert "FunctionRefused" in result.exc_string
    assert (notes()[1:], good.get_status()) == (["next"], JobStatus.FINISHED)


def test_another_stopped_callback_is_not_called(
    acme: LaneQueue, redis: Redis, background: Any
) -> None:
    """It would run in the worker itself, which works on."""
    name = "fairimport.lanes.worker.os._exit"
    job = write(redis, "tests.integration.rq.jobs.wait_at_gate", stopped_callback_name=name)
    worker = background(name="ann")
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    redis.publish("rq:pubsub:ann", json.dumps({"command": "stop-job", "job_id": job.id}))
    until(lambda: job.get_status() == JobStatus.STOPPED)
    assert worker.alive()
    assert "FunctionRefused" in worker.output()


def test_a_pickle_is_not_opened(acme: LaneQueue, redis: Redis, mark: Path, work: Work) -> None:
    """Opening it is running it; the job fails unread."""
    stock = Queue("imports", connection=redis, serializer=DefaultSerializer)
    job = stock.enqueue(jobs.note)
    redis.hset(job.key, "data", _Trap(mark).pickled())
    good = acme.enqueue(jobs.add, 1, 2)
    work()
    assert not mark.exists()
    assert redis.hget(job.key, "status") == b"failed"
    assert good.return_value() == 3


def test_a_worker_takes_the_serializer_from_the_queue(acme: LaneQueue) -> None:
    """Whatever it is told: `rqworker` passes pickle to every worker."""
    for kind in (FairWorker, FairSimpleWorker):
        worker = kind(["imports"], connection=acme.connection, serializer=DefaultSerializer)
        assert {worker.serializer, worker.queues[0].serializer} == {JSONSerializer}


def test_functions_beyond_the_apps_can_be_allowed(
    acme: LaneQueue, settings: Any, work: Work
) -> None:
    """`JOB_FUNCTIONS` names modules or functions of others."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "JOB_FUNCTIONS": ("posixpath.join",)}
    job, other = acme.enqueue("posixpath.join", "a", "b"), acme.enqueue("posixpath.isabs", "a")
    work()
    assert job.return_value() == "a/b"
    assert other.get_status() == JobStatus.FAILED


# -- webhooks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("function", "status"), [(jobs.note, "finished"), (jobs.fail, "failed")])
def test_webhooks_go_to_allowed_hosts(
    acme: LaneQueue,
    settings: Any,
    work: Work,
    listener: Any,
    function: Callable[..., Any],
    status: str,
) -> None:
    """RQ's webhooks work for hosts of `WEBHOOK_HOSTS`, once for the status that they are for."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "WEBHOOK_HOSTS": ("127.0.0.1",)}
    url = f"http://127.0.0.1:{listener.server_port}/"
    hooks = [Webhook(url, each, method="POST") for each in ("finished", "failed")]
    job = acme.enqueue(function, webhooks=hooks)
    work()
    assert [(heard["job_id"], heard["status"]) for heard in listener.heard] == [(job.id, status)]


def test_webhooks_go_nowhere_else(
    acme: LaneQueue, work: Work, listener: Any, caplog: Any, kind: type[FairWorker]
) -> None:
    """A host that is not allowed is not called; the job is none the worse."""
    url = f"http://127.0.0.1:{listener.server_port}/"
    job = acme.enqueue(jobs.note, webhooks=[Webhook(url, "finished", method="POST")])
    work()
    assert (listener.heard, job.get_status()) == ([], JobStatus.FINISHED)
    if kind is FairSimpleWorker:
        assert "webhook.refused" in caplog.text


def test_callbacks_may_be_given_by_name(acme: LaneQueue, work: Work, notes: Notes) -> None:
    """An allowed one is called, wherever its name came from."""
    acme.enqueue(jobs.add, 1, 2, on_success=Callback("tests.integration.rq.jobs.on_success"))
    work()
    assert notes() == ["success 3"]


class _Trap:
    """Touches a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return Path.touch, (self.mark,)

    def pickled(self) -> bytes:
        """As RQ stores a job's data."""
        return DefaultSerializer.dumps(("tests.integration.rq.jobs.note", None, (self,), {}))
