"""What RQ's queue object and django-rq's pages say about lanes is true."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import django_rq
import pytest
from django.test import Client
from django.urls import reverse
from redis import Redis
from rq import Queue
from rq.job import JobStatus
from rq.registry import FinishedJobRegistry, StartedJobRegistry, clean_registries
from rq.serializers import JSONSerializer

from fairimport.lanes import FairSimpleWorker, LaneQueue, lane
from fairimport.lanes.lanes import Lanes
from tests.background import until
from tests.integration.rq import jobs

Notes = Callable[[], list[str]]
Work = Callable[..., Any]


@pytest.fixture
def kind() -> type[FairSimpleWorker]:
    """What is shown does not depend on how it is worked on."""
    return FairSimpleWorker


def spread(lanes: Lanes) -> list[str]:
    """Five waiting jobs: two lanes of two, one job not routed yet; ids in their order."""
    names = {}
    for tenant, word in (("acme", "a1"), ("beta", "b1"), ("acme", "a2"), ("beta", "b2")):
        names[word] = lane(tenant).enqueue(jobs.note, word, job_id=word).id
    lanes.route()
    names["new"] = lane("acme").enqueue(jobs.note, "new", job_id="new").id
    return ["new", "a1", "a2", "b1", "b2"]


@pytest.mark.parametrize("through", ["lane", "django-rq", "by index"])
def test_the_queue_counts_what_waits(lanes: Lanes, through: str) -> None:
    """Length, ids, jobs and emptiness include the lanes and what is not routed yet."""
    expected = spread(lanes)
    queue = {
        "lane": lambda: lane("acme"),
        "django-rq": lambda: django_rq.get_queue("imports"),
        "by index": lambda: django_rq.queues.get_queue_by_index(0),
    }[through]()
    assert (queue.count, len(queue), queue.is_empty()) == (5, 5, False)
    assert queue.job_ids == queue.get_job_ids() == expected
    assert [job.id for job in queue.jobs] == expected
    assert {job.get_status() for job in queue.get_jobs(1, 3)} == {JobStatus.QUEUED}


@pytest.mark.parametrize("offset", range(6))
@pytest.mark.parametrize("length", [-1, 0, 1, 2, 10])
def test_the_queue_shows_stretches(lanes: Lanes, offset: int, length: int) -> None:
    """`get_job_ids(offset, length)` is a slice of the whole, as the pages need it."""
    every = spread(lanes)
    end = None if length < 0 else offset + length
    assert lane("acme").get_job_ids(offset, length) == every[offset:end]


def test_a_job_knows_its_position(lanes: Lanes, acme: LaneQueue) -> None:
    """It is that in its own lane, or in RQ's list; none once it runs."""
    spread(lanes)
    positions = {name: acme.get_job_position(name) for name in ("a1", "a2", "b1", "b2", "new")}
    assert positions == {"a1": 0, "a2": 1, "b1": 0, "b2": 1, "new": 0}
    assert acme.fetch_job("b2").get_position() == 1
    taken = acme.take()
    assert (taken.id, taken.get_position()) == ("a1", None)


def test_the_started_registry_is_nobodys_to_clean(
    lanes: Lanes, acme: LaneQueue, redis: Redis
) -> None:
    """Anybody's look at RQ's registries, by whatever clock, leaves running jobs alone."""
    acme.enqueue(jobs.note)
    running = acme.take()
    started = StartedJobRegistry(queue=Queue("imports", connection=redis))
    started.cleanup(timestamp=4102444800)
    clean_registries(acme)
    assert started.get_job_ids() == [running.id]
    assert running.get_status() == JobStatus.STARTED
    assert acme.count == 0


@pytest.fixture
def staff(admin_client: Client) -> Client:
    """Somebody who may see django-rq's pages."""
    return admin_client


def numbers(staff: Client) -> dict[str, int]:
    """What django-rq's statistics say of the queue."""
    [queue] = staff.get(reverse("django_rq:home_json")).json()["queues"]
    return {key: queue[key] for key in queue if key == "jobs" or key.endswith(("_jobs", "workers"))}


@pytest.mark.django_db(transaction=True)
def test_the_statistics_are_true(lanes: Lanes, acme: LaneQueue, staff: Client, work: Work) -> None:
    """Waiting in lanes, started, finished, failed, deferred, scheduled: each counted once."""
    acme.enqueue(jobs.note)
    acme.enqueue(jobs.fail)
    work()
    acme.enqueue_in(timedelta(hours=1), jobs.note)
    first = acme.enqueue(jobs.note)
    acme.enqueue(jobs.note, depends_on=first)
    assert acme.take().id == first.id
    spread(lanes)
    assert numbers(staff) == {
        "jobs": 5,
        "workers": 0,
        "started_jobs": 1,
        "finished_jobs": 1,
        "failed_jobs": 1,
        "deferred_jobs": 1,
        "scheduled_jobs": 1,
    }
    page = staff.get(reverse("django_rq:home")).content.decode()
    assert "imports" in page


@pytest.mark.django_db(transaction=True)
def test_the_page_of_a_queue_lists_what_waits(lanes: Lanes, staff: Client) -> None:
    """Jobs in lanes are on it, with what they will call."""
    expected = spread(lanes)
    page = staff.get(reverse("django_rq:jobs", args=[0])).content.decode()
    assert all(f"/{job_id}/" in page for job_id in expected)
    assert "tests.integration.rq.jobs.note" in page


PAGES = ["jobs", "queue_details", "finished_jobs", "failed_jobs", "scheduled_jobs"]
PAGES += ["started_jobs", "deferred_jobs", "workers", "clear", "requeue_all"]


@pytest.mark.django_db(transaction=True)
def test_every_page_opens(
    acme: LaneQueue, staff: Client, background: Any, open_gate: Any, redis: Redis
) -> None:
    """With a job in every state none of them fails.

    Only the page of a worker that is busy does, on any queue whose serializer is not RQ's default:
    django-rq does not tell it the serializer.
    """
    background(name="ann")
    failed = acme.enqueue(jobs.fail)
    until(lambda: failed.get_status() == JobStatus.FAILED)
    running = acme.enqueue(jobs.wait_at_gate)
    until(lambda: running.get_status() == JobStatus.STARTED)
    acme.enqueue(jobs.note, depends_on=running)
    acme.enqueue_in(timedelta(hours=1), jobs.note)
    for name in PAGES:
        assert staff.get(reverse(f"django_rq:{name}", args=[0])).status_code == 200, name
    for job in (failed, running):
        page = staff.get(reverse("django_rq:job_detail", args=[0, job.id])).content.decode()
        assert job.id in page
    started = staff.get(reverse("django_rq:started_jobs", args=[0])).content.decode()
    assert running.id in started
    open_gate()
    until(lambda: redis.hget("rq:worker:ann", "state") == b"idle", 5)
    page = staff.get(reverse("django_rq:worker_details", args=[0, "rq:worker:ann"]))
    assert b"ann" in page.content


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("view", ["requeue_job", "enqueue_job", "requeue_all", "actions"])
def test_the_pages_requeue_a_failed_job(
    acme: LaneQueue, staff: Client, work: Work, notes: Notes, view: str
) -> None:
    """It goes back to its tenant's lane and runs."""
    job = acme.enqueue(jobs.fail_at_first, 1)
    work()
    args = [0] if view in ("requeue_all", "actions") else [0, job.id]
    posted = {"action": "requeue", "job_ids": [job.id]}
    assert staff.post(reverse(f"django_rq:{view}", args=args), posted).status_code == 302
    acme.lanes.route()
    assert acme.lanes.snapshot(["acme"]).tenants["acme"].waiting == 1
    work()
    assert (job.get_status(), notes()) == (JobStatus.FINISHED, ["tried", "tried"])
    assert acme.failed_job_registry.count == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("view", ["delete_job", "actions"])
def test_the_pages_delete_a_waiting_job(
    lanes: Lanes, acme: LaneQueue, staff: Client, work: Work, notes: Notes, view: str
) -> None:
    """Also one that is in a lane."""
    spread(lanes)
    args = [0] if view == "actions" else [0, "a1"]
    staff.post(reverse(f"django_rq:{view}", args=args), {"action": "delete", "job_ids": ["a1"]})
    work()
    assert sorted(notes()) == ["a2", "b1", "b2", "new"]


@pytest.mark.django_db(transaction=True)
def test_the_pages_empty_a_queue(lanes: Lanes, acme: LaneQueue, staff: Client) -> None:
    """The lanes are empty, too."""
    spread(lanes)
    staff.post(reverse("django_rq:clear", args=[0]))
    assert (acme.count, lanes.snapshot(["acme", "beta"]).eligible) == (0, 0)


@pytest.mark.django_db(transaction=True)
def test_the_pages_stop_a_running_job(
    acme: LaneQueue, staff: Client, background: Any, redis: Redis
) -> None:
    """The button sends RQ's command."""
    background()
    job = acme.enqueue(jobs.wait_at_gate)
    until(lambda: redis.scard(jobs.RUNNING) == 1)
    staff.post(reverse("django_rq:stop_job", args=[0, job.id]))
    assert until(lambda: job.get_status() == JobStatus.STOPPED)


def test_a_look_by_a_stranger_changes_nothing(lanes: Lanes, acme: LaneQueue, redis: Redis) -> None:
    """RQ's own queue object sees RQ's list only; its registries are the same."""
    spread(lanes)
    stranger = Queue("imports", connection=redis, serializer=JSONSerializer)
    assert stranger.job_ids == ["new"]
    assert FinishedJobRegistry(queue=stranger).count == 0
    assert acme.count == 5
