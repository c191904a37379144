"""What a customer can tell a run; each is safe to say twice."""

from __future__ import annotations

import pytest
from django.urls import reverse

from fairimport.models import Chunk
from fairimport.states import State
from tests.integration.pages.conftest import GOOD, MIXED

pytestmark = [pytest.mark.django_db]

TURNED = "That was not done: the import had moved on meanwhile."


@pytest.fixture
def tell(acme):
    """Press a button of a run and give the page that follows."""

    def press(run, verb: str) -> str:
        answer = acme.post(reverse("fairimport:verb", args=[run.pk, verb]), follow=True)
        assert answer.status_code == 200
        run.refresh_from_db()
        return answer.content.decode()

    return press


@pytest.mark.parametrize(
    ("verb", "before", "after"),
    [
        ("start", State.READY, State.QUEUED),
        ("pause", State.QUEUED, State.PAUSED),
        ("resume", State.PAUSED, State.QUEUED),
        ("cancel", State.MAPPING, State.CANCELLED),
        ("cancel", State.READY, State.CANCELLED),
        ("cancel", State.PAUSED, State.CANCELLED),
        ("retry", State.FINISHED, State.QUEUED),
    ],
)
def test_a_verb_moves_the_run_and_twice_does_no_harm(make_run, tell, verb, before, after):
    """A double click is one move, and no complaint."""
    run = make_run(MIXED, before)
    assert TURNED not in tell(run, verb)
    assert run.state == after
    assert TURNED not in tell(run, verb)
    assert run.state == after


@pytest.mark.parametrize(
    ("verb", "state"),
    [
        ("start", State.FINISHED),
        ("pause", State.FINISHED),
        ("resume", State.READY),
        ("cancel", State.FINISHED),
    ],
)
def test_a_verb_that_comes_too_late_is_said_to_be(make_run, tell, verb, state):
    """One sentence; the run stays as it is."""
    run = make_run(GOOD, state)
    assert TURNED in tell(run, verb)
    assert run.state == state


@pytest.mark.parametrize("verb", ["finish", "delete", "read", "choose", "__class__"])
def test_there_are_no_other_verbs(acme, make_run, verb):
    """Only the customer's verbs have an address."""
    run = make_run(GOOD, State.READY)
    answer = acme.post(f"/imports/{run.pk}/{verb}/")
    assert answer.status_code == 404


@pytest.mark.parametrize("verb", ["start", "pause", "resume", "cancel", "retry"])
def test_a_link_cannot_press_a_button(acme, make_run, verb):
    """GET on a verb is refused."""
    run = make_run(GOOD, State.READY)
    assert acme.get(reverse("fairimport:verb", args=[run.pk, verb])).status_code == 405
    run.refresh_from_db()
    assert run.state == State.READY


def test_cancelling_says_what_stays(acme, make_run):
    """Rows that are written stay; the rest will not be written."""
    run = make_run(MIXED, State.PAUSED)
    chunk = Chunk.objects.filter(run=run).first()
    Chunk.objects.filter(pk=chunk.pk).update(next_row=1, created=1)
    said = " ".join(acme.get(f"/imports/{run.pk}/cancel/ask/").content.decode().split())
    assert "<strong>1 row</strong> is written and stays as it is." in said
    assert "3 rows have not been tried and will not be written." in said


def test_cancelling_before_the_start_says_that_nothing_stays(acme, make_run):
    """Nothing was written, so nothing has to be looked for."""
    run = make_run(MIXED, State.READY)
    said = acme.get(f"/imports/{run.pk}/cancel/ask/").content.decode()
    assert "Nothing has been written, so nothing stays." in said


def test_asking_about_an_end_leads_to_the_run(acme, make_run):
    """An old tab of an import that has ended."""
    run = make_run(GOOD, State.FINISHED)
    assert acme.get(f"/imports/{run.pk}/cancel/ask/").url == f"/imports/{run.pk}/"


@pytest.mark.parametrize(
    ("state", "buttons"),
    [
        (State.READY, {"fi-start"}),
        (State.QUEUED, {"fi-pause"}),
        (State.RUNNING, {"fi-pause"}),
        (State.PAUSED, {"fi-resume"}),
        (State.CANCELLING, set()),
        (State.FINISHED, {"fi-retry"}),
    ],
)
def test_only_buttons_that_work_are_shown(acme, make_run, state, buttons):
    """A button that would only say no is not offered."""
    said = acme.get(f"/imports/{make_run(MIXED, state).pk}/").content.decode()
    every = {"fi-start", "fi-pause", "fi-resume", "fi-retry"}
    assert {name for name in every if f'id="{name}"' in said} == buttons
