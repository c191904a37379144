"""RQ's own command, `rq`, on a lane queue: it knows nothing of Django."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from redis import Redis
from rq.job import JobStatus

from demo_site.servers import RedisServer
from fairimport.lanes import LaneQueue
from tests.background import until
from tests.fairworkers import ROOT
from tests.integration.rq import jobs

FAIR = ("--worker-class", "fairimport.lanes.FairWorker")
JSON = ("--serializer", "rq.serializers.JSONSerializer")
Rq = Callable[..., str]


@pytest.fixture
def rq(redis_server: RedisServer) -> Rq:
    """Run `rq ...` to its end, and return what it said."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "PYTHONPATH": str(ROOT),
        "FAIRIMPORT_OVERRIDES": json.dumps({"JOB_FUNCTIONS": ["tests.integration.rq"]}),
        "RQ_REDIS_URL": redis_server.url,
    }

    def run(*arguments: str) -> str:
        command = [str(Path(sys.executable).parent / "rq"), *arguments]
        ended = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=30
        )
        assert ended.returncode == 0, ended.stderr[-3000:]
        return ended.stdout + ended.stderr

    return run


@pytest.mark.parametrize("command", ["worker", "worker-pool"])
def test_fair_workers_by_rqs_own_command(acme: LaneQueue, rq: Rq, command: str) -> None:
    """It needs `DJANGO_SETTINGS_MODULE` and the worker's class, and no more."""
    good, bad = acme.enqueue(jobs.whose), acme.enqueue(jobs.fail)
    rq(command, "imports", "--burst", *FAIR)
    assert (good.get_status(), good.return_value()) == (JobStatus.FINISHED, "acme")
    assert "ValueError: on purpose" in bad.latest_result().exc_string


def test_enqueue_and_requeue_by_command(acme: LaneQueue, rq: Rq) -> None:
    """What they push passes the gate like everything else."""
    rq("enqueue", "--queue", "imports", *JSON, "tests.integration.rq.jobs.fail", "once")
    rq("worker", "imports", "--burst", *FAIR)
    [job_id] = acme.failed_job_registry.get_job_ids()
    rq("requeue", "--queue", "imports", "--all", *JSON)
    assert (acme.get_job_ids(), acme.failed_job_registry.count) == ([job_id], 0)
    rq("worker", "imports", "--burst", *FAIR)
    assert len(acme.fetch_job(job_id).results()) == 2


def test_info_and_empty_see_what_is_not_routed_yet(acme: LaneQueue, rq: Rq) -> None:
    """`rq info` counts, and `rq empty` drops, RQ's own list alone; workers are shown as ever."""
    routed = acme.enqueue(jobs.note)
    acme.lanes.route()
    acme.enqueue(jobs.note)
    assert "imports      |█ 1" in rq("info")
    assert "1 jobs removed" in rq("empty", "imports")
    assert acme.get_job_ids() == [routed.id]


def test_suspend_and_resume_by_command(
    acme: LaneQueue, rq: Rq, background: Callable[..., object], redis: Redis
) -> None:
    """Fair workers hear of both."""
    background(name="ann")
    rq("suspend")
    until(lambda: redis.hget("rq:worker:ann", "state") == b"suspended")
    job = acme.enqueue(jobs.note)
    rq("resume")
    assert until(lambda: job.get_status() == JobStatus.FINISHED)
