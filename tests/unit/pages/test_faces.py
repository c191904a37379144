"""How a state looks, what it says aloud, and when its page asks again."""

from __future__ import annotations

import pytest
from django.template.loader import get_template

from fairimport.states import ENDED, STOPPING, WORKING, State
from fairimport.views.faces import FACES, PageFace, quarter_of


def face(state: State, **facts: int | None) -> PageFace:
    """A page's face for a file."""
    return PageFace(state=state, filename="a.csv", **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize("state", State)
def test_each_state_has_a_page(state: State) -> None:
    """A new state without a template would be a 500 for a customer."""
    assert state in FACES
    get_template(face(state).template)


@pytest.mark.parametrize("state", sorted(WORKING | STOPPING))
def test_pages_ask_again_while_workers_can_change_them(state: State) -> None:
    """Nobody has to reload."""
    assert face(state).polls


@pytest.mark.parametrize("state", sorted(ENDED))
def test_pages_stop_asking_at_the_end(state: State) -> None:
    """A tab that is left open costs nothing."""
    assert not face(state).polls


def test_the_title_has_the_percentage() -> None:
    """Seen in a row of tabs; never rounded up."""
    assert face(State.RUNNING, done=999, total=1000).title == "99 % · a.csv"


def test_the_title_has_no_percentage_of_nothing() -> None:
    """While the number of rows is not known, the state is said."""
    assert face(State.CHECKING, done=10, total=None).title == "Being checked · a.csv"


def test_a_milestone_is_new_at_each_quarter() -> None:
    """A screen reader speaks four times, not at every row."""
    seen = [face(State.RUNNING, done=n, total=100).milestone for n in range(101)]
    assert len(set(seen)) == 5


def test_the_first_rejected_row_is_a_milestone() -> None:
    """Bad news does not wait for the end."""
    good = face(State.RUNNING, done=10, total=100)
    bad = face(State.RUNNING, done=10, total=100, rejected=1)
    assert good.milestone != bad.milestone
    assert "1 rejected" in bad.say


def test_what_is_said_has_the_numbers() -> None:
    """A milestone without its number would be noise."""
    assert face(State.RUNNING, done=2500, total=10_000).say == "Running. 2,500 of 10,000 rows done."


def test_steps_tell_what_is_done_and_where_one_is() -> None:
    """One step is current, those before it are done."""
    steps = face(State.READY).steps
    assert [s.is_done for s in steps] == [True, True, False, False, False]
    assert [s.is_current for s in steps] == [False, False, True, False, False]


def test_all_steps_are_done_at_the_end() -> None:
    """Nothing is current any more."""
    assert all(step.is_done for step in face(State.FINISHED).steps)


@pytest.mark.parametrize(
    ("done", "total", "quarter"), [(0, 0, 0), (5, None, 0), (99, 100, 3), (100, 100, 4)]
)
def test_quarters(done: int, total: int | None, quarter: int) -> None:
    """Nothing is divided by nothing."""
    assert quarter_of(done, total) == quarter
