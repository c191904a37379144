"""The three numbers that tell whether it is fair."""

from __future__ import annotations

from fairimport.dashboard import three_numbers
from fairimport.lanes import LaneState, Snapshot


def lane(tenant: str, **facts: float) -> LaneState:
    """A lane with some numbers."""
    return LaneState(
        tenant=tenant, waiting=0, in_flight=0, cap=4, weight=1.0, paused=False, **facts
    )


def numbers(*lanes: LaneState, **facts: int):
    """The numbers of some lanes."""
    snapshot = Snapshot(loaded=True, tenants={lane.tenant: lane for lane in lanes}, **facts)
    return three_numbers(snapshot)


def test_the_longest_waits_come_first() -> None:
    """Five at most, the worst first, those without a wait left out."""
    lanes = [lane(f"t{n}", wait_p99_s=float(n)) for n in range(8)]
    worst = numbers(*lanes, lane("idle")).worst
    assert [one.tenant for one in worst] == ["t7", "t6", "t5", "t4", "t3"]


def test_the_drift_is_who_has_most_beyond_its_jobs() -> None:
    """Long jobs take more time than their number shows."""
    long = lane("long", share_seconds=0.97, share_jobs=0.5)
    short = lane("short", share_seconds=0.03, share_jobs=0.5)
    assert numbers(short, long).drift is long


def test_nothing_known_is_nothing_said() -> None:
    """Dashes instead of zeros."""
    empty = numbers(lane("idle"))
    assert (empty.worst, empty.drift) == ((), None)


def test_runs_are_told_apart() -> None:
    """A long run is no fault while nobody else has work."""
    found = numbers(longest_run=370, longest_run_contended=2)
    assert (found.longest_run, found.longest_run_contended) == (370, 2)
