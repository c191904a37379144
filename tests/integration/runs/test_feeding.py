"""Tickets stand in the tenant's lane for what the database knows, and are never too many."""

from __future__ import annotations

import pytest

from fairimport import jobs
from fairimport.lanes import Yield, get_lanes
from fairimport.models import Chunk, ImportRun, TenantLimit
from fairimport.runs import claiming, control, feeding, finishing, reading, reconcile, slices
from fairimport.states import State
from tests.integration.runs.conftest import csv_of, moved, work
from tests.warehouse.importers import HookedMovements

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _redis(redis_server):
    """A clean Redis for each."""
    reconcile.reconcile()


def tickets(run: ImportRun, *kinds: str) -> list[str]:
    """The run's jobs that wait or are under a lease, without the run's id.

    The tests do its first jobs themselves, so those tickets still wait, and are not looked at.
    """
    names = [f"{kind}-{run.pk.hex}" for kind in kinds or ("before", "after", "correct")]
    names += [feeding.slice_ticket(run, n) for n in range(20)]
    return sorted(n.replace(f"-{run.pk.hex}", "") for n in get_lanes().holding(names))


def test_an_upload_has_one_ticket_to_be_read(receive):
    """It is there after the commit."""
    assert tickets(receive(csv_of(3)), "read", "split") == ["read"]


def test_a_started_run_has_as_many_tickets_as_it_can_use(started):
    """At most the cap, at most the unfinished chunks."""
    many, few = started(csv_of(64)), started(csv_of(2))
    assert tickets(many) == ["slice-0", "slice-1", "slice-2", "slice-3"]
    assert tickets(few) == ["slice-0", "slice-1"]


def test_feeding_twice_adds_nothing(started):
    """A ticket that waits is not written again."""
    run = started(csv_of(64))
    assert feeding.feed(run.pk) == 0
    with get_lanes().connection as client:
        assert len(client.keys(f"rq:job:slice-{run.pk.hex}-*")) == 4


def test_a_lost_ticket_is_written_again(started):
    """Feeding looks at what is there, not at what was once written."""
    run = started(csv_of(64))
    get_lanes().remove(feeding.slice_ticket(run, 2), run.tenant)
    get_lanes().route()
    get_lanes().remove(feeding.slice_ticket(run, 2), run.tenant)
    assert feeding.feed(run.pk) == 1
    assert len(tickets(run)) == 4


def test_a_greater_cap_takes_more_tickets(started):
    """Saving the limit pushes it and feeds the tenant's runs."""
    run = started(csv_of(64))
    limit = TenantLimit.objects.get(tenant="acme")
    limit.cap = 6
    limit.save()
    assert len(tickets(run)) == 6
    assert get_lanes().snapshot(["acme"]).tenants["acme"].cap == 6


def test_only_one_file_of_a_tenant_is_read_at_a_time(receive, read):
    """The second waits for the first; another tenant's does not."""
    first, second = receive(csv_of(3)), receive(csv_of(3))
    other = receive(csv_of(3), tenant="birch")
    assert [tickets(run, "read") for run in (first, second, other)] == [["read"], [], ["read"]]
    assert reading.begin(second.pk) is None
    reading.read(first.pk)
    assert tickets(second, "read") == ["read"]


def test_a_reader_that_dies_again_and_again_fails_its_run(receive):
    """A file that ends every worker does not keep the tenant's other files waiting for ever."""
    run = receive(csv_of(3))
    for _ in range(reading.MOST_ATTEMPTS):
        assert reading.begin(run.pk) is not None
    assert reading.begin(run.pk) is None
    run.refresh_from_db()
    assert (run.state, run.error_code) == (State.FAILED, "reader_died")


def test_a_run_with_a_hook_has_its_ticket_first(ready):
    """No row before `before_run` is done, and `after_run` comes once all rows are."""
    run = ready(csv_of(3), importer="HookedMovements")
    control.start(run)
    assert "before" in tickets(run)
    assert slices.work(run.pk, "left over from the check") == slices.Turn.DONE
    assert moved() == []
    assert jobs.before(run.pk.hex) is None
    assert "slice-0" in tickets(run)
    work(run)
    assert "after" in tickets(run)
    jobs.after(run.pk.hex)
    assert moved()[0].startswith("after")


def test_everything_is_fed_again_after_redis_lost_it(started, receive, redis_server):
    """Limits first, then tickets; caps and pauses come from the database."""
    run, upload = started(csv_of(64)), receive(csv_of(2), tenant="birch")
    TenantLimit.objects.filter(tenant="birch").update(cap=2, paused=True, paused_by="ops")
    with redis_server.client() as client:
        client.flushall()
    assert not get_lanes().is_loaded()
    done = reconcile.reconcile()
    assert (done.loaded, done.tickets) == (True, 5)
    assert len(tickets(run)) == 4
    assert tickets(upload, "read") == ["read"]
    state = get_lanes().snapshot(["birch"]).tenants["birch"]
    assert (state.cap, state.paused, state.paused_by) == (2, True, "ops")


def test_reconciling_twice_changes_nothing(started):
    """It makes true what is not."""
    started(csv_of(64))
    reconcile.reconcile()
    done = reconcile.reconcile()
    assert (done.loaded, done.tickets, done.concluded) == (False, 0, 0)


def test_a_run_whose_last_worker_died_before_concluding_is_concluded(started):
    """A crash between the last commit and the conclusion is mended by any ticket."""
    run = started(csv_of(3))
    slices.work(run.pk, "t", budget=30)
    ImportRun.objects.filter(pk=run.pk).update(state=State.RUNNING, finished_at=None)
    reconcile.reconcile()
    assert tickets(run) == ["slice-0"]
    assert slices.work(run.pk, "t") == slices.Turn.DONE
    run.refresh_from_db()
    assert run.state == State.FINISHED


def test_a_stopping_run_whose_workers_died_is_stopped(started):
    """The reconciler concludes what nobody else will."""
    run = started(csv_of(3))
    ImportRun.objects.filter(pk=run.pk).update(state=State.CANCELLING)
    assert reconcile.reconcile().concluded == 1
    run.refresh_from_db()
    assert run.state == State.CANCELLED


def test_tickets_of_a_cancelled_run_are_taken_out(started):
    """They would find nothing; they need not be claimed for that."""
    run = started(csv_of(64))
    get_lanes().route()
    control.cancel(run)
    assert tickets(run) == []


def test_jobs_answer_with_a_yield_as_long_as_there_is_work(started, settings):
    """The worker then puts the ticket to the back of its lane."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "SLICE": 0}
    run = started(csv_of(2))
    assert isinstance(jobs.slice_rows(run.pk.hex), Yield)
    assert jobs.slice_rows(run.pk.hex) is None


def test_a_job_that_breaks_yields_instead_of_failing(started, monkeypatch, caplog):
    """A database that is away must not put tickets into RQ's failed registry."""

    def away(*args, **kwargs):
        raise ConnectionError("secret")

    run = started(csv_of(2))
    monkeypatch.setattr(jobs, "rest", lambda seconds=0: None)
    monkeypatch.setattr(slices, "work", away)
    assert isinstance(jobs.slice_rows(run.pk.hex), Yield)
    assert "ticket.broke" in caplog.text
    assert "secret" not in caplog.text


def test_jobs_of_a_deleted_run_end_quietly(started):
    """Whatever the ticket was for."""
    run = started(csv_of(2))
    pk = run.pk.hex
    run.delete()
    for job in (jobs.read, jobs.split, jobs.slice_rows, jobs.correct, jobs.before, jobs.after):
        assert job(pk) is None


def test_tickets_hold_no_cell(started, redis_server):
    """Redis holds ids only."""
    started("code,name,qty\nverysecretcode,,1\nb,,x\n")
    with redis_server.client() as client:
        for key in client.scan_iter("*"):
            assert b"verysecretcode" not in (client.dump(key) or b"")


def test_concluding_without_need_moves_nothing(started):
    """It moves only what is true."""
    run = started(csv_of(3))
    assert finishing.conclude(run.pk) == State.QUEUED
    slices.work(run.pk, "t", budget=0)
    assert finishing.conclude(run.pk) == State.RUNNING


def test_the_ticket_that_holds_a_chunk_is_fed_first(started):
    """After Redis lost it, the same id takes its chunk back at once."""
    run = started(csv_of(2))
    Chunk.objects.filter(run=run, index=1).update(size=0)
    held = claiming.take(run, feeding.slice_ticket(run, 3))
    get_lanes().drain()
    get_lanes().connection.flushall()
    reconcile.reconcile()
    assert tickets(run) == ["slice-3"]
    again = claiming.take(run, feeding.slice_ticket(run, 3))
    assert again.chunk.pk == held.chunk.pk


@pytest.mark.parametrize("hook", ["before_run", "after_run"])
def test_a_hook_that_always_breaks_is_given_up(ready, monkeypatch, hook):
    """`before_run`: the run fails. `after_run`: the run stays finished."""

    def broken(self, run):
        raise RuntimeError("secret")

    monkeypatch.setattr(HookedMovements, hook, broken)
    monkeypatch.setattr(jobs, "rest", lambda seconds=0: None)
    run = ready(csv_of(2), importer="HookedMovements")
    control.start(run)
    if hook == "after_run":
        jobs.before(run.pk.hex)
        work(run)
    job = getattr(jobs, hook.removesuffix("_run"))
    answers = [job(run.pk.hex) for _ in range(finishing.MOST_ATTEMPTS + 1)]
    assert answers[-1] is None
    assert all(isinstance(answer, Yield) for answer in answers[:-1])
    run.refresh_from_db()
    expected = (State.FAILED, "importer_broke") if hook == "before_run" else (State.FINISHED, "")
    assert (run.state, run.error_code) == expected
    assert (run.after_done_at is not None) == (hook == "after_run")


def test_looking_after_many_runs_costs_few_queries(started, django_assert_max_num_queries):
    """The cost of a round does not grow with a query for each run."""
    for n in range(6):
        started(csv_of(3), tenant=f"t{n}")
    with django_assert_max_num_queries(6):
        assert feeding.feed_all() == 0


def test_a_deleted_limit_is_the_default_again(started):
    """The tenant goes on with what every new tenant has."""
    run = started(csv_of(64))
    limit = TenantLimit.objects.get(tenant="acme")
    limit.cap, limit.paused = 9, True
    limit.save()
    limit.delete()
    state = get_lanes().snapshot(["acme"]).tenants["acme"]
    assert (state.cap, state.paused) == (4, False)
    assert work(run).state == State.FINISHED
