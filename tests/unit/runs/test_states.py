"""The life of a run is one table, and everything else is derived from it."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from fairimport import states
from fairimport.states import ENDED, STOPPING, TRANSITIONS, Event, State

ROOT = Path(__file__).resolve().parents[3]


def diagram() -> set[tuple[str, str, str]]:
    text = (ROOT / "docs" / "lifecycle.md").read_text()
    return set(re.findall(r"^ *(\w+) --> (\w+): (\w+)", text, flags=re.MULTILINE))


def test_the_diagram_shows_every_edge_and_no_other():
    """docs/lifecycle.md cannot drift from the table."""
    table = {(s, t, e) for s, edges in TRANSITIONS.items() for t, e in edges.items()}
    assert diagram() == table


@pytest.mark.parametrize(("source", "target"), list(product(State, State)))
def test_the_whole_square(source: State, target: State):
    """A move is allowed exactly when the diagram that people read has its arrow."""
    arrows = {(s, t) for s, t, _ in diagram()}
    assert states.may_move(source, target) == ((source, target) in arrows)
    assert (source in states.sources_of(target)) == ((source, target) in arrows)


def test_no_state_leads_to_itself():
    """A move changes something."""
    assert not any(s in edges for s, edges in TRANSITIONS.items())


def test_every_state_can_be_reached_from_an_upload():
    """No state is a leftover."""
    reached = {State.RECEIVED}
    while more := {t for s in reached for t in TRANSITIONS[s]} - reached:
        reached |= more
    assert reached == set(State)


def test_every_state_leads_to_an_end():
    """No run can be caught for ever by the table itself."""
    for state in State:
        reached = {state}
        while more := {t for s in reached for t in TRANSITIONS[s]} - reached:
            reached |= more
        assert reached & ENDED


def test_the_derived_sets():
    """Ended and stopping states follow from the edges."""
    assert {State.FINISHED, State.FAILED, State.CANCELLED} == ENDED
    assert {State.PAUSING, State.CANCELLING} == STOPPING
    assert set(State) == ENDED | states.ACTIVE


def test_everything_that_has_not_ended_can_be_cancelled_or_is_being_cancelled():
    """The customer can always leave."""
    for state in states.ACTIVE - {State.CANCELLING}:
        assert Event.CANCEL in states.events_of(state)
