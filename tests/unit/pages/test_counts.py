"""The sum of a run's rows, as a bar, a list and a line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairimport.progress import Progress
from fairimport.states import State
from fairimport.views.counts import bar_of, ending_of, sum_line_of, sum_of, written

rows = st.integers(min_value=0, max_value=200_000)


def now(total: int | None = 100, **counts: int) -> Progress:
    """A run at a moment."""
    every = dict.fromkeys(("created", "updated", "unchanged", "skipped", "rejected"), 0)
    every |= counts
    return Progress(
        state=State.RUNNING,
        total=total,
        **every,
        not_tried=None if total is None else total - sum(every.values()),
        checked=0,
        retry_left=0,
        in_flight=0,
        slots_used=None,
        cap=4,
        rate_per_s=None,
        eta=None,
        basis="",
        reason=None,
        updated_at=None,
    )


@given(st.tuples(rows, rows, rows, rows, rows, rows))
def test_the_parts_are_the_total(parts: tuple[int, ...]) -> None:
    """Whatever the outcomes, what is shown adds up."""
    names = ("created", "updated", "unchanged", "skipped", "rejected")
    progress = now(sum(parts), **dict(zip(names, parts[:5], strict=True)))
    assert sum(part.rows for part in sum_of(progress)) == progress.total


@given(st.tuples(rows, rows, rows, rows, rows, rows))
def test_the_bar_never_overflows(parts: tuple[int, ...]) -> None:
    """Stretches follow each other, from 0 to at most the whole width."""
    names = ("created", "updated", "unchanged", "skipped", "rejected")
    stretches = bar_of(now(sum(parts), **dict(zip(names, parts[:5], strict=True))))
    end = 0.0
    for stretch in stretches:
        assert stretch.width > 0 or sum(parts) > 100_000
        assert abs(stretch.start - end) <= 0.02
        end = stretch.start + stretch.width
    assert end <= 1000.05


def test_the_line_is_a_sum() -> None:
    """As somebody would write it on paper."""
    line = sum_line_of(now(50_000, created=1204, rejected=3))
    assert line == (
        "50,000 rows = 1,204 created + 0 updated + 0 unchanged + 0 skipped + 3 rejected "
        "+ 48,793 not tried"
    )


def test_no_sum_of_an_unknown_total() -> None:
    """Nothing is claimed before the rows are counted."""
    assert sum_line_of(now(None)) == ""
    assert bar_of(now(None)) == []


def test_rejected_and_skipped_rows_are_not_in() -> None:
    """Only rows whose record is there count as in."""
    assert written(now(created=1, updated=2, unchanged=3, skipped=4, rejected=5)) == 6


def test_endings_are_sentences() -> None:
    """With numbers, and singular where it is one."""
    assert ending_of(now(2, created=2)) == "All done: 2 rows are in"
    assert ending_of(now(1, created=1)) == "All done: 1 row is in"
    assert ending_of(now(3, created=2, rejected=1)) == "Done: 2 rows are in, 1 was rejected"
    assert ending_of(now(3, rejected=3)) == "Done: 0 rows are in, 3 were rejected"
