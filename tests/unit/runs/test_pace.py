"""Rates and estimates are arithmetic over counts of rows in time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairimport.runs import pace

NOW = 1_000_000.0
BUCKET = int(NOW // pace.BUCKET_S)


def steady(buckets: int, rows: int = 50) -> pace.Pace:
    return [[BUCKET - n, rows] for n in range(buckets, 0, -1)]


def test_rows_are_added_to_the_bucket_of_the_moment():
    """The newest bucket is the last."""
    counted = pace.add(pace.add([], 3, NOW), 4, NOW)
    assert counted == [[BUCKET, 7]]
    assert pace.add(counted, 1, NOW + pace.BUCKET_S) == [[BUCKET, 7], [BUCKET + 1, 1]]


def test_old_buckets_are_forgotten():
    """A chunk's pace stays small however long it is worked on."""
    counted: pace.Pace = []
    for n in range(100):
        counted = pace.add(counted, 1, NOW + n * pace.BUCKET_S)
    assert len(counted) == 7


def test_the_rate_is_rows_over_the_time_that_was_looked_at():
    """Five rows a second for half a minute are five rows a second."""
    assert pace.rate([steady(3)], NOW) == pytest.approx(5.0)


def test_chunks_add_up():
    """Four slots at once are four times as fast."""
    assert pace.rate([steady(3)] * 4, NOW) == pytest.approx(20.0)


def test_nothing_done_is_no_rate():
    """None is not zero: nobody knows."""
    assert pace.rate([], NOW) is None
    assert pace.rate([[[BUCKET - 50, 9]]], NOW) is None


def test_a_young_run_is_not_made_slower_than_it_is():
    """The time before it began does not count."""
    assert pace.rate([[[BUCKET, 10]]], NOW + 5, since=NOW + 3) == pytest.approx(5.0)


@pytest.mark.parametrize("buckets", [0, 1, 2])
def test_an_estimate_waits_for_two_whole_buckets(buckets):
    """The first bucket is not whole, so three are needed."""
    assert pace.estimate([steady(buckets)], NOW, 100) is None


def test_a_steady_pace_has_a_margin_of_a_tenth():
    """Nothing is promised to the second."""
    guess = pace.estimate([steady(6)], NOW, 1000)
    assert guess is not None
    assert (guess.low_s, guess.high_s) == pytest.approx((1000 / 5.5, 1000 / 4.5))
    assert guess.seen_s == 50


def test_an_unsteady_pace_has_a_wider_range():
    """The range tells how sure it is."""
    unsteady = [[BUCKET - n, 20 + 60 * (n % 2)] for n in range(6, 0, -1)]
    calm, wild = pace.estimate([steady(6)], NOW, 500), pace.estimate([unsteady], NOW, 500)
    assert calm is not None
    assert wild is not None
    assert wild.high_s - wild.low_s > calm.high_s - calm.low_s


@given(st.lists(st.integers(0, 500), min_size=3, max_size=6), st.integers(1, 10_000))
def test_a_range_is_a_range(counts, left):
    """From the fast end to the slow one, never negative, never endless."""
    counted = [[BUCKET - n, rows] for n, rows in enumerate(counts, start=1)]
    guess = pace.estimate([counted], NOW, left)
    if guess is not None:
        assert 0 < guess.low_s < guess.high_s < float("inf")
