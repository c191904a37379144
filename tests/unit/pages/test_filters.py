"""How numbers, times and names are printed."""

from __future__ import annotations

import pytest
from django.utils import translation

from fairimport.templatetags.fairimport import (
    count,
    duration,
    percent,
    plain_name,
    rate,
    share,
    short_time,
    time_range,
    unlocalized,
)


def test_counts_are_grouped_as_the_language_does() -> None:
    """50000 is hard to read."""
    assert count(50_000) == "50,000"
    with translation.override("de"):
        assert count(50_000) == "50.000"


def test_an_unknown_count_is_a_dash() -> None:
    """Unknown is not zero."""
    assert count(None) == "–"
    assert count(0) == "0"


def test_attributes_are_never_localized() -> None:
    """`value="1.234"` would be a lie to the browser."""
    with translation.override("de"):
        assert unlocalized(1234) == "1234"
        assert unlocalized(12.5) == "12.5"


@pytest.mark.parametrize(("value", "said"), [(99.99, "99"), (100.0, "100"), (0.0, "0")])
def test_percent_is_never_rounded_up(value: float, said: str) -> None:
    """100 is said when the last row is done, not before."""
    assert percent(value) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "less than a second"),
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 min"),
        (3600, "60 min"),
        (7200, "2 h"),
        (9000, "2 h 30 min"),
    ],
)
def test_durations(seconds: float, said: str) -> None:
    """As exactly as it is worth saying."""
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("span", "said"),
    [
        ((3300, 3720), "about 55–62 min"),
        ((61, 62), "about 1 min"),
        ((20, 40), "about 20–40 seconds"),
        ((3300, 9000), "about 55 min–2 h 30 min"),
        ((7200, 10800), "about 2–3 h"),
        ((11_100, 21_300), "about 3–6 h"),
        ((0, 0), "about 1 second"),
    ],
)
def test_a_range_of_times(span: tuple[float, float], said: str) -> None:
    """The unit is said once where both ends share it."""
    assert time_range(span) == said


@pytest.mark.parametrize(
    ("per_second", "said"), [(14.2, "14 rows/s"), (3.57, "3.6 rows/s"), (0.5, "30 rows/min")]
)
def test_rates(per_second: float, said: str) -> None:
    """Slow work is said by the minute."""
    assert rate(per_second) == said


def test_names_show_what_they_hide() -> None:
    """A right-to-left override cannot make an .exe look like an .xlsx."""
    assert plain_name("a\u202excod.exe") == "a\ufffdxcod.exe"
    assert plain_name("two\nlines") == "two\ufffdlines"
    assert plain_name("Größe – März.xlsx") == "Größe – März.xlsx"


@pytest.mark.parametrize(
    ("seconds", "said"), [(None, "–"), (0.0123, "12 ms"), (1.26, "1.3 s"), (300, "5 min")]
)
def test_short_times(seconds: float | None, said: str) -> None:
    """For tables of the operator."""
    assert short_time(seconds) == said


def test_shares_are_percentages() -> None:
    """Unknown is a dash here, too."""
    assert share(0.1234) == "12.3 %"
    assert share(None) == "–"
