"""The doctor: one line a finding, with what to do, and an exit code for machines."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone
from pytest_django.fixtures import Settings as DjangoSettings
from rq import Worker
from rq.suspension import suspend

from demo_site.servers import RedisServer
from fairimport.doctor import Finding, examine
from fairimport.lanes import LaneQueue, get_lanes
from fairimport.models import ImportRun
from fairimport.runs.feeding import feed
from fairimport.states import State

pytestmark = pytest.mark.django_db


@pytest.fixture
def make_run() -> Callable[..., ImportRun]:
    """Store a run that nobody has fed."""

    def make(**fields: Any) -> ImportRun:
        importer = "demo_site.InvoiceLines"
        return ImportRun.objects.create(tenant="acme", importer=importer, size=1, **fields)

    return make


@pytest.fixture(autouse=True)
def healthy(redis_server: RedisServer) -> RedisServer:
    """Limits are loaded, and one worker has shown a sign of life."""
    lanes = get_lanes()
    lanes.load_limits({}, wait=0)
    lanes.claim("worker-1")
    return redis_server


def _wrong(about: str) -> list[Finding]:
    found = [finding for finding in examine() if not finding.ok]
    assert {finding.about for finding in found} == {about}
    return found


def test_a_healthy_system_has_no_bad_finding() -> None:
    """Each thing is looked at and is right."""
    found = list(examine())
    assert [finding for finding in found if not finding.ok] == []
    assert {finding.about for finding in found} == {
        *("settings", "database", "storage", "redis", "lanes", "workers", "runs")
    }


def test_the_command_prints_a_line_for_each_finding() -> None:
    """All is well: the command returns, and each line begins with ok."""
    out = io.StringIO()
    call_command("fairimport_doctor", stdout=out, no_color=True)
    lines = out.getvalue().splitlines()
    assert len(lines) >= 8
    assert [line for line in lines if not line.startswith("ok   ")] == []


def test_the_command_ends_with_1_when_something_is_wrong(healthy: RedisServer) -> None:
    """Without workers the exit code is 1, and the line says how to start some."""
    healthy.client().flushall()
    get_lanes().load_limits({}, wait=0)
    out = io.StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("fairimport_doctor", stdout=out, no_color=True)
    assert end.value.code == 1
    assert "BAD  workers: 0 alive. Start some: manage.py fairworker imports" in out.getvalue()


def test_settings_are_checked(settings: DjangoSettings) -> None:
    """What `manage.py check` says about settings, the doctor says too."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "CAPP": 3}
    [finding] = _wrong("settings")
    assert "CAPP" in finding.text
    assert "CAP" in finding.advice


def test_an_evicting_redis_is_told(healthy: RedisServer) -> None:
    """A Redis that drops keys drops leases and lanes."""
    with healthy.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
    [finding] = _wrong("redis")
    assert finding.text == "eviction policy allkeys-lru"


def test_a_redis_that_is_nearly_full_is_told(healthy: RedisServer) -> None:
    """Before writes fail there is a word about memory."""
    with healthy.client() as client:
        used = int(client.info("memory")["used_memory"])
        client.config_set("maxmemory", used + used // 20)
    [finding] = _wrong("redis")
    assert "% of its memory is used" in finding.text


def test_a_redis_that_is_down_is_told_and_the_rest_is_still_looked_at(
    healthy: RedisServer,
) -> None:
    """Each examination stands for itself."""
    healthy.stop()
    found = {finding.about: finding for finding in examine()}
    assert found["redis"].advice == "Is Redis up? Look at RQ_QUEUES."
    assert found["database"].ok
    assert found["storage"].ok


def test_lanes_without_limits_are_told(healthy: RedisServer) -> None:
    """Nothing is handed out before the limits are loaded."""
    with healthy.client() as client:
        client.delete(get_lanes().keys.prefix + "epoch")
    [finding] = _wrong("lanes")
    assert finding.text == "no limits yet"


def test_a_stock_worker_on_the_lane_queue_is_told() -> None:
    """It would take jobs past all fairness."""
    queue = LaneQueue.named("imports")
    stock = Worker([queue], name="stock", connection=queue.connection)
    stock.register_birth()
    [finding] = _wrong("workers")
    assert finding.text.startswith("stock is a stock RQ worker")
    stock.register_death()


def test_workers_that_were_seen_are_told_with_when(healthy: RedisServer) -> None:
    """Nobody lives, but somebody did."""
    lanes = get_lanes()
    lanes.connection.zadd(lanes.keys.workers, {"worker-1": (time.time() - 600) * 1_000_000})
    [finding] = _wrong("workers")
    assert finding.text in ("0 alive (last seen 600 s ago)", "0 alive (last seen 601 s ago)")


def test_suspended_workers_are_told_with_what_to_do(healthy: RedisServer) -> None:
    """One finding: nobody is dead, and nobody is a stock worker because it did not claim."""
    queue = LaneQueue.named("imports")
    other = Worker([queue], name="began-later", connection=queue.connection)
    other.register_birth()
    with healthy.client() as client:
        client.delete(get_lanes().keys.workers)
        suspend(client)
    [finding] = _wrong("workers")
    assert finding.text == "suspended, 1 registered: nothing is handed out"
    assert "rq resume" in finding.advice
    assert "manage.py rqresume" in finding.advice
    with healthy.client() as client:
        suspend(client, 60)
    assert re.search(r"suspended for another (60|59) s,", _wrong("workers")[0].text)
    other.register_death()


def test_a_storage_that_cannot_be_written_is_told(settings: DjangoSettings, tmp_path: Path) -> None:
    """Uploads would be lost."""
    (tmp_path / "file").write_text("in the way")
    settings.MEDIA_ROOT = tmp_path / "file"
    [finding] = _wrong("storage")
    assert "MEDIA_ROOT" in finding.advice


@pytest.mark.django_db(transaction=True)
def test_a_run_without_a_ticket_is_told_until_it_is_fed(make_run: Callable[..., ImportRun]) -> None:
    """An import that stands in no lane would wait for ever; the advice brings it back."""
    run = make_run(state=State.RECEIVED)
    [finding] = _wrong("runs")
    assert finding.text == f"{run.pk.hex} has no ticket in any lane"
    assert finding.advice == "Run manage.py fairimport_reconcile."
    feed(run.pk)
    assert [finding for finding in examine() if not finding.ok] == []


def test_a_run_that_does_not_come_to_its_end_is_told(make_run: Callable[..., ImportRun]) -> None:
    """Asked to pause long ago, and still pausing: nobody has concluded it."""
    run = make_run(state=State.PAUSING, state_changed_at=timezone.now() - timedelta(hours=1))
    [finding] = _wrong("runs")
    assert finding.text == f"{run.pk} is still pausing"
