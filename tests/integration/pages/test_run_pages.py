"""The page of a run in each state, and the part of it that is asked for again."""

from __future__ import annotations

import pytest
from django.urls import reverse

from demo_site.importers import InvoiceLines
from fairimport.importers import registry
from fairimport.models import Chunk, ImportRun
from fairimport.states import State
from tests.integration.pages.conftest import GOOD, HEADER, MIXED

pytestmark = [pytest.mark.django_db]

SAID = {
    State.RECEIVED: "The file is here and waits to be read",
    State.READING: "The file is being read",
    State.MAPPING: "Which column is what?",
    State.CHECKING: "Every row is being checked",
    State.READY: "Checked, and ready to start",
    State.QUEUED: "Waiting for its turn",
    State.RUNNING: "The import is running",
    State.PAUSING: "Pausing: the rows in hand are finished first",
    State.PAUSED: "Paused",
    State.CANCELLING: "Cancelling: the rows in hand are finished first",
    State.CANCELLED: "Nothing has been written",
    State.FINISHED: "Done: 2 rows are in, 2 were rejected",
    State.FAILED: "This file cannot be imported",
}


def page(client, run: ImportRun) -> str:
    """The run's page, in one line."""
    answer = client.get(f"/imports/{run.pk}/")
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def fragment(client, run: ImportRun, **headers: str):
    """The part that is asked for again."""
    return client.get(reverse("fairimport:fragment", args=[run.pk]), headers=headers)


@pytest.mark.parametrize("state", State)
def test_each_state_has_its_words(acme, make_run, state):
    """Whatever happens, the page says where the import is."""
    run = make_run(MIXED, state)
    assert run.state == state
    assert SAID[state] in page(acme, run)


@pytest.mark.parametrize("state", State)
def test_the_fragment_is_the_same_as_in_the_page(acme, make_run, state):
    """Two templates would sooner or later say two things."""
    run = make_run(MIXED, state)
    part = " ".join(fragment(acme, run).content.decode().split())
    if state not in (State.MAPPING, State.FINISHED, State.CANCELLED):  # forms have fresh tokens
        assert part in page(acme, run)


@pytest.mark.parametrize("state", State)
def test_the_page_asks_again_only_while_something_can_happen(acme, make_run, state):
    """Workers can change these states; in the others it is the customer's turn, or the end."""
    waits = state in (
        State.MAPPING,
        State.READY,
        State.CANCELLED,
        State.FINISHED,
        State.FAILED,
    )
    said = page(acme, make_run(MIXED, state))
    assert ("data-hx-trigger" in said) != waits
    assert ('http-equiv="refresh"' in said) != waits


def test_nothing_new_costs_nothing(acme, make_run):
    """The same fragment again is a 304 without a body."""
    run = make_run(MIXED, State.RUNNING)
    first = fragment(acme, run)
    again = fragment(acme, run, if_none_match=first.headers["ETag"])
    assert again.status_code == 304
    assert not again.content


def test_something_new_is_sent(acme, make_run):
    """A row that was done makes another fragment."""
    run = make_run(MIXED, State.RUNNING)
    first = fragment(acme, run)
    chunk = Chunk.objects.filter(run=run).first()
    Chunk.objects.filter(pk=chunk.pk).update(next_row=1, created=1)
    assert fragment(acme, run, if_none_match=first.headers["ETag"]).status_code == 200


def test_fragments_are_never_kept_by_caches(acme, make_run):
    """A progress page from a cache is a lie."""
    assert "no-store" in fragment(acme, make_run(GOOD, State.RUNNING)).headers["Cache-Control"]


@pytest.mark.parametrize("state", [State.RUNNING, State.PAUSED, State.CANCELLED, State.FINISHED])
def test_the_sum_is_written_out(acme, make_run, state):
    """The total equals its parts, and the page shows it."""
    run = make_run(MIXED, state)
    said = page(acme, run)
    done = state == State.FINISHED
    parts = "2 created + 0 updated + 0 unchanged + 0 skipped + 2 rejected + 0 not tried"
    if not done:
        parts = "0 created + 0 updated + 0 unchanged + 0 skipped + 0 rejected + 4 not tried"
    if run.started_at or state != State.CANCELLED:
        assert f"4 rows = {parts}" in said


def test_percent_and_bar_tell_the_same(acme, make_run):
    """One of four rows is a quarter, of the bar as well."""
    run = make_run(MIXED, State.RUNNING)
    chunk = Chunk.objects.filter(run=run, size__gte=1).first()
    Chunk.objects.filter(pk=chunk.pk).update(next_row=1, created=1)
    said = page(acme, run)
    assert 'max="4" value="1"' in said
    assert 'class="fi-fill-created" x="0" width="250"' in said
    assert "25<small>%" in said
    assert "<title>25 % · lines.csv" in said


def test_a_large_import_shows_tenths(acme, make_run):
    """Of 50,000 rows a whole per cent is 500: the number would stand still for a minute."""
    rows = "".join(f"B-{n},x,1,2026-01-05\n" for n in range(1000))
    run = make_run(f"{HEADER}\n{rows}", State.RUNNING)
    chunk = Chunk.objects.filter(run=run).first()
    Chunk.objects.filter(pk=chunk.pk).update(next_row=9, created=9)
    assert "0.9<small>%" in page(acme, run)


def test_an_unknown_total_gives_no_value(acme, make_run):
    """While rows are being stored nobody knows how many there are."""
    said = page(acme, make_run(MIXED, State.CHECKING))
    assert '<progress id="fi-progress"></progress>' in said


def test_the_check_counts_by_cause(acme, make_run):
    """Good, bad, why, and where the first one is; nothing written."""
    said = page(acme, make_run(MIXED, State.READY))
    assert "Nothing has been written yet." in said
    assert "Start: import 2 rows" in said
    assert "“twelve” is not a number." in said


def test_nothing_good_cannot_be_started(acme, make_run):
    """There is no Start for a file without one good row."""
    run = make_run(f"{HEADER}\nA-1,x,many,2026-01-05\n", State.READY)
    assert "Start: import" not in page(acme, run)


def test_the_same_file_again_names_the_earlier_import(acme, make_run):
    """By a link, with its state; whether to go on is the customer's choice."""
    first = make_run(GOOD, State.FINISHED, name="monday.csv")
    said = page(acme, make_run(GOOD, State.READY, name="tuesday.csv"))
    assert f'<a href="/imports/{first.pk}/">monday.csv</a>' in said
    assert "Import it again only if you mean to." in said


def test_a_slow_importer_names_its_cost(acme, make_run):
    """Before Start, with its basis."""
    run = make_run(GOOD, State.READY, importer="demo_site.SlowInvoices")
    assert "of 280 ms)" in page(acme, run)


def test_ready_to_read_aloud(acme, make_run):
    """The live region is there beforehand, outside of what is replaced, with its own milestone."""
    said = page(acme, make_run(MIXED, State.RUNNING))
    assert said.index('id="fi-announcer"') < said.index('id="fi-live"')
    assert 'data-milestone="running-0-0"' in said
    assert 'data-say="Running. 0 of 4 rows done."' in said


def test_every_rejected_row_has_its_reason(acme, make_run):
    """Row number as in the file, column, what was there, why."""
    said = page(acme, make_run(MIXED, State.FINISHED))
    assert "2 rows were rejected" in said
    assert '<span class="fi-mono">twelve</span>' in said
    assert 'data-label="Row">4</th>' in said


def test_a_file_that_is_gone_says_what_to_do(acme, make_run):
    """Each way to fail is a sentence."""
    run = make_run(b"", State.MAPPING) if False else make_run(f"{HEADER}\n", State.FAILED)
    assert "There is a header in this file, but not one row below it." in page(acme, run)


def test_an_importer_that_is_gone_does_not_break_the_page(acme, make_run):
    """A deploy without the class: the page still opens."""
    run = make_run(GOOD, State.MAPPING)
    registry.unregister(InvoiceLines)
    try:
        assert "This kind of import is no longer offered here." in page(acme, run)
    finally:
        registry.register(InvoiceLines)


def test_pages_work_while_redis_is_down(acme, make_run, redis_server):
    """Numbers come from the database; what only Redis knows is said to be unknown."""
    run = make_run(MIXED, State.RUNNING)
    redis_server.stop()
    said = page(acme, run)
    assert "The queue cannot be reached just now." in said
    assert "4 rows = 0 created" in said


def test_a_list_of_many_runs_takes_few_queries(acme, make_run, django_assert_max_num_queries):
    """Not one query for each line."""
    for _ in range(5):
        make_run(MIXED, State.FINISHED)
    with django_assert_max_num_queries(9):
        said = acme.get("/imports/").content.decode()
    assert said.count("2 rejected") == 5


def test_the_page_of_a_run_takes_few_queries(acme, make_run, django_assert_max_num_queries):
    """It is asked for once a second."""
    run = make_run(MIXED, State.RUNNING)
    with django_assert_max_num_queries(9):
        fragment(acme, run)
