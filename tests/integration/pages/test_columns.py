"""Which column is what, and what only the customer can answer."""

from __future__ import annotations

import pytest
from django.urls import reverse

from fairimport.states import State
from tests.integration.pages.conftest import GOOD, HEADER

pytestmark = [pytest.mark.django_db]

UNCLEAR = f"{HEADER}\nA-1,Hollis,10.50,03/04/2026\nA-2,Meier,11,05/06/2026\n"
MAPPED = {"map-number": "1", "map-customer": "2", "map-amount": "3", "map-due": "4"}


@pytest.fixture
def columns(acme, make_run):
    """The address of the columns page of a new run, and the run."""

    def make(text: str | bytes = GOOD, **kwargs):
        run = make_run(text, State.MAPPING, **kwargs)
        return run, reverse("fairimport:columns", args=[run.pk])

    return make


def test_guessed_columns_are_chosen_already(acme, columns):
    """A file with known headers needs one click."""
    run, _ = columns()
    form = acme.get(f"/imports/{run.pk}/").context["form"]
    chosen = {name: form[name].value() for name in MAPPED}
    assert chosen == MAPPED


def test_the_page_shows_what_is_in_the_columns(acme, columns):
    """Samples beside each choice, and the first rows with their numbers."""
    run, _ = columns()
    said = acme.get(f"/imports/{run.pk}/").content.decode()
    assert "<span>10.50</span>" in said
    assert '<th scope="row" class="fi-rownum">2</th>' in said


def test_the_choice_starts_the_check(acme, columns):
    """All questions are answered: every row is checked, nothing is written."""
    run, address = columns()
    assert acme.post(address, MAPPED).url == f"/imports/{run.pk}/"
    run.refresh_from_db()
    assert run.state == State.CHECKING
    assert run.mapping == {"number": 1, "customer": 2, "amount": 3, "due": 4}
    assert run.options == {}


def test_a_missing_column_is_named(acme, columns):
    """The same page says which one, beside its field and above."""
    run, address = columns()
    answer = acme.post(address, {**MAPPED, "map-due": ""})
    assert answer.status_code == 422
    assert "Due date: Say in which column it stands." in answer.content.decode()
    run.refresh_from_db()
    assert run.state == State.MAPPING


def test_a_column_is_used_once(acme, columns):
    """Two fields from one column is almost always a slip."""
    _, address = columns()
    answer = acme.post(address, {**MAPPED, "map-due": "3"})
    assert "This column is already Amount." in answer.content.decode()


@pytest.mark.parametrize("position", ["99", "x", "-1", "1.5", "1;2"])
def test_a_column_that_is_not_there_is_refused(acme, columns, position):
    """Only what was offered can be chosen."""
    _, address = columns()
    assert acme.post(address, {**MAPPED, "map-due": position}).status_code == 422


def test_an_optional_column_may_be_left_out(acme, columns):
    """Not in the file is an answer."""
    run, address = columns()
    acme.post(address, {**MAPPED, "map-customer": ""})
    run.refresh_from_db()
    assert run.mapping == {"number": 1, "amount": 3, "due": 4}


def test_columns_are_missing_before_anything_was_sent(acme, columns):
    """A file with unknown headers says at once what is missing."""
    run, _ = columns("a,b,c,d\nA-1,Hollis,10.50,2026-01-05\n")
    said = acme.get(f"/imports/{run.pk}/").content.decode()
    assert "Missing so far:" in said
    assert "Invoice number, Amount, Due date." in " ".join(said.split())


def test_a_similar_header_is_suggested(acme, columns):
    """A typing mistake in a header costs one look."""
    run, _ = columns("Invoice no,Client,Amuont,Payable by\nA-1,Hollis,10.50,2026-01-05\n")
    assert "Perhaps C: Amuont?" in acme.get(f"/imports/{run.pk}/").content.decode()


def test_dates_that_can_be_read_in_two_ways_are_asked_about(acme, columns):
    """Never guessed: the answer decides."""
    run, address = columns(UNCLEAR)
    assert "What comes first in the dates?" in acme.get(f"/imports/{run.pk}/").content.decode()
    assert acme.post(address, MAPPED).status_code == 422
    acme.post(address, {**MAPPED, "date_order": "DMY"})
    run.refresh_from_db()
    assert (run.state, run.options) == (State.CHECKING, {"date_order": "DMY"})


def test_an_answer_that_was_not_offered_is_refused(acme, columns):
    """DDMMYY is nobody's order."""
    _, address = columns(UNCLEAR)
    assert acme.post(address, {**MAPPED, "date_order": "DDMMYY"}).status_code == 422


def test_reading_it_differently_reads_it_again(acme, columns):
    """Another header row: the columns are guessed anew."""
    run, address = columns()
    acme.post(address, {**MAPPED, "header_row": "2", "reread": "1"})
    run.refresh_from_db()
    assert run.state == State.READING
    assert run.options["header_row"] == 2
    assert run.mapping == {}


def test_what_is_left_as_it_was_is_no_option(acme, columns):
    """Fields about reading that show what the file has do not make it be read again."""
    run, address = columns()
    acme.post(address, {**MAPPED, "header_row": "1", "delimiter": ",", "encoding": "utf-8"})
    run.refresh_from_db()
    assert (run.state, run.options) == (State.CHECKING, {})


def test_an_option_stays_when_the_form_is_sent_again(acme, columns):
    """Going back to the columns forgets nothing."""
    run, address = columns(UNCLEAR)
    acme.post(address, {**MAPPED, "date_order": "DMY"})
    form = acme.get(address).context["form"]
    assert form["date_order"].value() == "DMY"
    acme.post(address, {**MAPPED, "date_order": "DMY"})
    run.refresh_from_db()
    assert run.options == {"date_order": "DMY"}


def test_going_back_from_the_check_writes_nothing(acme, make_run):
    """Looking at the columns of a checked run leaves it checked."""
    run = make_run(GOOD, State.READY)
    assert acme.get(reverse("fairimport:columns", args=[run.pk])).status_code == 200
    run.refresh_from_db()
    assert run.state == State.READY


def test_columns_can_be_changed_after_the_check(acme, make_run):
    """The check showed that one is wrong."""
    run = make_run(GOOD, State.READY)
    acme.post(reverse("fairimport:columns", args=[run.pk]), {**MAPPED, "map-customer": ""})
    run.refresh_from_db()
    assert run.state == State.CHECKING
    assert "customer" not in run.mapping


@pytest.mark.parametrize("state", [State.RUNNING, State.FINISHED, State.CANCELLED, State.READING])
def test_columns_cannot_be_changed_later(acme, make_run, state):
    """One sentence on the run's page."""
    run = make_run(GOOD, state)
    answer = acme.post(reverse("fairimport:columns", args=[run.pk]), MAPPED, follow=True)
    assert "The columns can no longer be changed." in answer.content.decode()


def test_cells_of_the_file_are_only_text(acme, columns):
    """Headers and values that are markup, on the page and in the script's facts."""
    row = '</script><i>,"<img src=x>",1,2026-01-05,y'
    text = f"{HEADER},<b>x</b>\n{row}\n"
    run, _ = columns(text)
    said = acme.get(f"/imports/{run.pk}/").content.decode()
    assert "<b>x" not in said
    assert "<img src=x" not in said
    assert "</script><i>" not in said
