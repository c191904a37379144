"""The arithmetic of the bound on waits; that it holds is shown on the scripts themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fairimport.lanes.bounds import Contest, Contestant, Working, wait_bound

QUIET = Contest(
    workers=4,
    turn=2.0,
    over=0.5,
    turns=False,
    first=10.0,
    heaviest=1.0,
    widest=3,
    working={},
)
ONE = Contestant(tenant="one", virtual=10.0, weight=1.0, rivals=0)


def working(account: float, *, virtual: float | None = None, ready: bool = False) -> Working:
    """A tenant with one lease."""
    own = account if virtual is None else virtual
    return Working(virtual=own, account=account, live=1, weight=1.0, ready=ready)


def test_the_first_in_line_waits_for_one_turn() -> None:
    """Every worker may just have begun the longest turn."""
    assert wait_bound(QUIET, ONE) == 2.0


def test_without_workers_nothing_is_promised() -> None:
    """Nobody knows when one comes."""
    assert wait_bound(replace(QUIET, workers=0), ONE) is None


def test_each_rival_takes_its_room_a_turn_and_what_goes_beyond_guesses() -> None:
    """Two rivals, 1.5 s behind at most: 1.5 + 2 + 2 * 0.5 worker-seconds each, on four workers."""
    late = replace(ONE, virtual=11.5, rivals=2)
    assert wait_bound(QUIET, late) == pytest.approx(2.0 + 2 * 4.5 / 4)


def test_rooms_are_as_wide_as_the_heaviest_weight() -> None:
    """A tenant of weight 3 may take three seconds for each of virtual time."""
    late = replace(ONE, virtual=11.5, rivals=1)
    heavy = replace(QUIET, heaviest=3.0)
    assert wait_bound(heavy, late) == pytest.approx(2.0 + (4.5 + 2.0 + 1.0) / 4)


def test_who_works_counts_by_its_account() -> None:
    """One whose guess is not used up may come back before; one that has used more cannot."""
    could = replace(QUIET, working={"a": working(9.0, virtual=12.0)})
    cannot = replace(QUIET, working={"a": working(10.5, virtual=12.0)})
    assert wait_bound(could, ONE) == pytest.approx(2.0 + (1.0 + 2.0 + 1.0) / 4)
    assert wait_bound(cannot, ONE) == 2.0


def test_who_works_and_is_ready_is_counted_once() -> None:
    """Its own account is known, so it is no unknown rival, too."""
    both = replace(QUIET, working={"a": working(10.0, ready=True)})
    assert wait_bound(both, replace(ONE, rivals=1)) == pytest.approx(2.0 + 3.0 / 4)


def test_own_claims_may_cost_more_than_was_charged() -> None:
    """They move the tenant itself back, and let others before it."""
    held = replace(QUIET, working={"one": working(10.0), "a": working(10.4)})
    assert wait_bound(held, ONE) == pytest.approx(2.0 + (0.1 + 2.0 + 1.0) / 4)


def test_a_cap_of_one_has_no_claims_beside() -> None:
    """With one claim at a time nothing runs beyond its guess but the last turn."""
    narrow = replace(QUIET, widest=1)
    assert wait_bound(narrow, replace(ONE, rivals=1)) == pytest.approx(2.0 + 2.0 / 4)


def test_turns_are_rounds_of_all_workers() -> None:
    """Nine before it on four workers: the tenth claim comes in the third round."""
    turns = replace(QUIET, turns=True)
    assert wait_bound(turns, replace(ONE, rivals=9)) == 3 * 2.0
    assert wait_bound(turns, replace(ONE, rivals=3)) == 2.0
