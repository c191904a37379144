"""The read model: sums, reasons in words, cheap, and true without Redis."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.formats import date_format
from redis.connection import AbstractConnection as Connection
from rq.suspension import resume, suspend

from fairimport import progress
from fairimport.lanes import get_lanes
from fairimport.lanes.lanes import Claimed
from fairimport.models import Chunk, ImportRun, TenantLimit
from fairimport.runs import claiming, control, reconcile, slices
from fairimport.states import State
from tests.integration.runs.conftest import csv_of, work

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _redis(redis_server):
    """A clean Redis that knows the limits."""
    get_lanes().load_limits({}, wait=0)


def push(tenant="acme", **values) -> None:
    TenantLimit.objects.filter(tenant=tenant).update(**values)
    reconcile.reconcile()


def age(run: ImportRun, seconds: float) -> None:
    """Make all that happened to a run older."""
    past = timezone.now() - timedelta(seconds=seconds)
    Chunk.objects.filter(run=run).exclude(worked_at=None).update(worked_at=past)


def test_the_sum_is_the_total_at_every_moment(started):
    """Outcomes and rows that were not tried add up, also between slices and after a cancel."""
    run = started(csv_of(20, r3="skip", r4="raise", r5="update"))
    seen = []
    while run.state != State.FINISHED:
        now = progress.of(run)
        assert now.total == now.done + now.not_tried == 20
        seen.append(now.percent)
        slices.work(run.pk, "t", budget=0)
        run.refresh_from_db()
    assert seen == sorted(seen)
    now = progress.of(run)
    assert (now.created, now.skipped, now.rejected, now.updated) == (17, 1, 1, 1)
    assert (now.percent, now.not_tried) == (100.0, 0)


def test_nothing_is_claimed_to_be_known_before_it_is(receive):
    """No total, no percent, no estimate."""
    now = progress.of(receive(csv_of(3)))
    assert (now.total, now.percent, now.not_tried, now.eta) == (None, None, None, None)


def test_percent_is_100_only_when_every_row_has_its_outcome(started):
    """It is rounded down."""
    run = started(csv_of(3))
    for expected in (33.3, 66.6, 100.0):
        slices.work(run.pk, "t", budget=0)
        assert progress.of(run).percent == expected


def test_a_retry_never_lets_percent_fall(started):
    """Rows that are tried again count as rejected until they are not."""
    run = work(started(csv_of(4, r2="raise")))
    control.retry_rejected(run)
    now = progress.of(run)
    assert (now.percent, now.rejected, now.retry_left) == (100.0, 1, 1)


@pytest.mark.parametrize("step", ["received", "ready", "running", "finished"])
def test_it_costs_three_queries_and_one_round_trip(
    step, receive, ready, started, django_assert_max_num_queries, monkeypatch
):
    """However many chunks there are."""
    run = {"received": receive, "ready": ready}.get(step, started)(csv_of(64))
    if step in ("running", "finished"):
        work(run, most=1 if step == "running" else 99)
    progress.of(run)  # loads the script, once for all
    sent = []
    send = Connection.send_packed_command
    monkeypatch.setattr(
        Connection, "send_packed_command", lambda *args, **kw: (sent.append(1), send(*args, **kw))
    )
    with django_assert_max_num_queries(3):
        progress.of(run)
    assert len(sent) == 1


def test_without_redis_the_numbers_of_the_database_are_shown(started, redis_server):
    """It says that the queue cannot be reached, and nobody sees an error page."""
    run = started(csv_of(20))
    slices.work(run.pk, "t", budget=0)
    run.refresh_from_db()
    redis_server.stop()
    now = progress.of(run)
    assert (now.created, now.slots_used, now.cap) == (1, None, 4)
    assert now.reason.code == "redis_down"


def test_lost_limits_are_told(started, redis_server):
    """The seconds after a flush have their own sentence."""
    run = started(csv_of(20))
    with redis_server.client() as client:
        client.flushall()
    assert progress.of(run).reason.code == "limits_not_loaded"


def test_a_pause_by_the_operator_is_told_with_who(started):
    """The customer knows that it is not their file."""
    run = started(csv_of(20))
    push(paused=True, paused_by="Olga")
    reason = progress.of(run).reason
    assert (reason.code, reason.text) == ("paused", "Paused by the operator (Olga).")
    since = timezone.now() - timedelta(hours=2)
    push(paused=True, paused_by="Olga", paused_at=since)
    said = date_format(timezone.localtime(since), "TIME_FORMAT")
    assert progress.of(run).reason.text == f"Paused by the operator (Olga, since {said})."
    push(paused=True, paused_by="Olga", paused_at=since - timedelta(days=2))
    said = date_format(timezone.localtime(since - timedelta(days=2)), "SHORT_DATETIME_FORMAT")
    assert progress.of(run).reason.text == f"Paused by the operator (Olga, since {said})."
    push(paused=False, paused_by="", paused_at=None, cap=0)
    assert progress.of(run).reason.text == "Paused by the operator."


def test_no_worker_is_told(started):
    """Never 'in progress' when nobody works; with the last sign of life, if there was one."""
    run = started(csv_of(20))
    reason = progress.of(run).reason
    assert (reason.code, "ago" in reason.text) == ("no_worker", False)
    lanes = get_lanes()
    lanes.connection.zadd(lanes.keys.workers, {"w": (time.time() - 600) * 1_000_000})
    assert "10\xa0minutes ago" in progress.of(run).reason.text


def test_a_dead_workers_rows_are_told_as_waiting(started):
    """After the last row is a while ago, the reason comes back."""
    run = started(csv_of(20))
    slices.work(run.pk, "t", budget=0)
    run.refresh_from_db()
    assert progress.of(run).reason is None
    age(run, 30)
    assert progress.of(run).reason.code == "no_worker"


def test_a_run_in_work_needs_no_reason(started):
    """Somebody who lives holds a chunk."""
    run = started(csv_of(20))
    get_lanes().claim("a worker that lives")
    claiming.take(run, "t")
    run.refresh_from_db()
    now = progress.of(run)
    assert (now.reason, now.in_flight) == (None, 1)


def test_rows_in_hand_of_a_dead_worker_do_not_move(started):
    """Its chunk is held for long; that nobody works is told at once."""
    run = started(csv_of(20))
    claiming.take(run, "t")
    run.refresh_from_db()
    now = progress.of(run)
    assert (now.reason.code, now.in_flight) == ("no_worker", 1)


@pytest.mark.django_db(transaction=True)
def test_a_file_whose_reader_died_is_told_as_waiting(receive):
    """A lapsed lease reads nothing, whoever takes it back."""
    run = receive(csv_of(3))
    lanes = get_lanes()
    claimed = lanes.claim("reader")
    assert progress.of(run).reason is None
    for key in (f"{lanes.keys.prefix}leases:acme", lanes.keys.prefix + "deadlines"):
        lanes.connection.zadd(key, {claimed.lease_id: 1})
    assert progress.of(run).slots_used == 0
    assert progress.of(run).reason.code == "behind"


def test_a_suspension_is_told_until_it_ends(started):
    """The operator stopped all work, also while rows in hand are finished; with its end if any."""
    run = started(csv_of(20))
    lanes = get_lanes()
    lanes.claim("a worker that lives")
    claiming.take(run, "t")
    suspend(lanes.connection)
    reason = progress.of(run).reason
    assert reason.code == "suspended"
    assert reason.text == "All work is stopped by the operator. It goes on when they resume it."
    suspend(lanes.connection, 3600)
    at = timezone.localtime(timezone.now() + timedelta(seconds=3600))
    minutes = {date_format(at + timedelta(minutes=n), "TIME_FORMAT") for n in (0, 1)}
    text = "All work is stopped by the operator until {} and goes on by itself then."
    assert progress.of(run).reason.text in {text.format(it) for it in minutes}
    resume(lanes.connection)
    assert progress.of(run).reason is None


def test_a_customer_who_is_paused_is_not_told_of_a_suspension(started):
    """Its end would not be the end of their wait."""
    run = started(csv_of(20))
    push(paused=True, paused_by="Olga")
    suspend(get_lanes().connection)
    assert progress.of(run).reason.code == "paused"


def test_limits_that_nobody_loads_promise_nothing(started, redis_server):
    """Seconds are promised only where a worker has been seen."""
    run = started(csv_of(20))
    with redis_server.client() as client:
        client.flushall()
    assert "as soon as a worker has looked" in progress.of(run).reason.text
    get_lanes().claim("a worker that lives")
    assert "within seconds" in progress.of(run).reason.text


def test_closing_is_told(started):
    """Asked to stop, rows still in hand."""
    run = started(csv_of(20))
    claiming.take(run, "t")
    run.refresh_from_db()
    control.pause(run)
    assert progress.of(run).reason.code == "closing"


def test_it_is_the_customers_turn_without_a_reason(ready, read):
    """`mapping`, `ready` and ended states wait for nobody else."""
    for run in (ready(csv_of(2)), read(csv_of(2)), work(ready(csv_of(2)))):
        assert progress.of(run).reason is None


def test_an_estimate_comes_with_its_basis(started):
    """Silent until 20 seconds of rows were seen; then a range."""
    run = started(csv_of(64))
    slices.work(run.pk, "t", budget=0)
    run.refresh_from_db()
    assert progress.of(run).eta is None
    bucket = int(time.time() // 10)
    pace = [[bucket - n, 20] for n in range(4, 0, -1)]
    Chunk.objects.filter(run=run, next_row__gt=0).update(pace=pace)
    now = progress.of(run)
    left = now.not_tried
    assert now.eta == pytest.approx((left / 2.2, left / 1.8))
    assert "30 seconds" in now.basis


def test_what_is_held_up_has_no_estimate(started):
    """Its last rows say nothing about when it goes on; neither is it a matter of 20 seconds."""
    run = started(csv_of(64))
    slices.work(run.pk, "t", budget=0)
    bucket = int(time.time() // 10)
    Chunk.objects.filter(run=run, next_row__gt=0).update(pace=[[bucket - 2, 20], [bucket - 1, 20]])
    push(paused=True)
    now = progress.of(run)
    assert (now.reason.code, now.eta) == ("paused", None)
    assert now.basis == "known again when its rows go on"


def test_the_cost_names_rows_slots_and_basis(ready):
    """50,000 rows of 280 ms at 4 slots are about 58 minutes."""
    run = ready(csv_of(2))
    found = {"good": 50_000, "bad": 10_000, "by_cause": []}
    ImportRun.objects.filter(pk=run.pk).update(total=60_000, check_result=found)
    run.refresh_from_db()
    assert progress.cost(run).seconds is None
    assert "unknown" in progress.cost(run).text
    earlier = ImportRun.objects.create(
        tenant="acme",
        importer=run.importer,
        filename="before.csv",
        size=1,
        row_seconds=0.28,
        state=State.FINISHED,
        finished_at=timezone.now(),
    )
    cost = progress.cost(run)
    assert cost.seconds == pytest.approx(3500)
    assert cost.text == "about 58 min at 4 slots (50,000 rows of 280 ms)"
    assert cost.basis == "from your last import"
    ImportRun.objects.filter(pk=earlier.pk).update(tenant="birch")
    assert progress.cost(run).basis == "from the last imports of this kind"


def test_reading_progress_writes_nothing(started, django_capture_on_commit_callbacks):
    """GET never writes: a tenant without a limit gets none by being looked at."""
    run = started(csv_of(2))
    TenantLimit.objects.all().delete()
    with django_capture_on_commit_callbacks() as callbacks:
        progress.of(run)
        progress.cost(run)
    assert not TenantLimit.objects.exists()
    assert callbacks == []


def claims(n: int) -> list[str]:
    """Let so many workers claim what stands in the lanes; the tickets they got."""
    lanes = get_lanes()
    lanes.route()
    return [
        claimed.job_id for k in range(n) if isinstance(claimed := lanes.claim(f"w{k}"), Claimed)
    ]


@pytest.mark.django_db(transaction=True)
def test_slots_that_another_import_uses_are_told_with_its_name(
    started, django_assert_max_num_queries
):
    """The customer sees which of their own files is in front."""
    first, second = started(csv_of(64), name="prices.csv"), started(csv_of(64), name="parts.csv")
    for ticket in claims(4):
        claiming.take(first, ticket)
    second.refresh_from_db()
    age(second, 30)
    with django_assert_max_num_queries(3):
        now = progress.of(second)
    assert (now.slots_used, now.cap) == (4, 4)
    assert now.reason.code == "at_cap"
    assert now.reason.text == "All 4 slots are busy with “prices.csv”."


@pytest.mark.django_db(transaction=True)
def test_customers_in_front_are_counted(started):
    """Waiting for a turn behind others, by their number and not by their names."""
    for n in range(3):
        started(csv_of(3), tenant=f"other{n}")
    run = started(csv_of(3))
    claims(0)
    get_lanes().claim("a worker that lives", "r1")
    reason = progress.of(run).reason
    assert reason.code == "behind"
    assert "other" in reason.text
    assert not any(f"other{n}" in reason.text for n in range(3))
