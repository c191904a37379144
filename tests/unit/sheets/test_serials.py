"""Serial numbers of days and ISO texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairimport.sheets.serials import LAST_DAY, from_iso, from_serial, moment


@pytest.mark.parametrize(
    ("serial", "day"),
    [
        (0, "1899-12-31"),
        (1, "1900-01-01"),
        (59, "1900-02-28"),
        (61, "1900-03-01"),
        (45351, "2024-02-29"),
        (LAST_DAY, "9999-12-31"),
    ],
)
def test_the_1900_system_has_a_day_too_many(serial, day):
    """From March 1900 on all serials are one more than the days."""
    assert from_serial(serial).date().isoformat() == day


@pytest.mark.parametrize("serial", [-1, -0.001, 60, 60.5, LAST_DAY + 1, float("inf")])
def test_what_is_no_day_is_none(serial):
    """29 February 1900 never was, and the calendar has two ends."""
    assert from_serial(serial) is None


@pytest.mark.parametrize(
    ("serial", "day"), [(0, "1904-01-01"), (1, "1904-01-02"), (43889, "2024-02-29")]
)
def test_the_1904_system_begins_later(serial, day):
    """Books from old Macs count from 1904, with no wrong day."""
    assert from_serial(serial, date1904=True).date().isoformat() == day


def test_the_1904_system_ends_with_the_same_day():
    """Both systems end with the year 9999."""
    assert from_serial(LAST_DAY - 1462, date1904=True).isoformat() == "9999-12-31T00:00:00"
    assert from_serial(LAST_DAY - 1461, date1904=True) is None


def test_seconds_are_rounded_not_cut():
    """A float just below a second is that second."""
    assert from_serial(43898.20902777778).isoformat() == "2020-03-08T05:01:00"


@settings(max_examples=40, deadline=None)
@given(st.floats(allow_nan=False))
def test_no_number_breaks_the_calendar(serial):
    """Every number has an answer in both systems and as every kind."""
    for date1904 in (False, True):
        from_serial(serial, date1904=date1904)
        for kind in ("date", "datetime", "time", "duration"):
            assert moment(kind, "x", serial, date1904=date1904).raw == "x"


@pytest.mark.parametrize(
    ("kind", "serial", "iso"),
    [
        ("time", 0.354166666666667, "08:30:00"),
        ("time", 0, "00:00:00"),
        ("duration", 1.09375, "26:15:00"),
        ("duration", -0.5, "-12:00:00"),
        ("duration", 1 / 86_400_000 * 1500, "00:00:01.500"),
        ("date", 45351.5, "2024-02-29T12:00:00"),
    ],
)
def test_kinds_have_their_own_form(kind, serial, iso):
    """Times and durations are clocks, dates are moments."""
    assert moment(kind, "x", serial).iso == iso


def test_a_time_of_more_than_a_day_is_a_moment():
    """A date that is formatted as a time is still a date."""
    found = moment("time", "x", 45351.5)
    assert (found.kind, found.iso) == ("datetime", "2024-02-29T12:00:00")


@pytest.mark.parametrize(
    ("text", "kind", "iso"),
    [
        ("2024-02-29", "date", "2024-02-29T00:00:00"),
        ("2024-02-29T08:30:00", "datetime", "2024-02-29T08:30:00"),
        ("2024-02-29T08:30:00Z", "datetime", "2024-02-29T08:30:00"),
        ("PT08H30M00S", "time", "08:30:00"),
        ("PT26H15M00S", "duration", "26:15:00"),
        ("-PT01H", "duration", "-01:00:00"),
        ("P1DT2H", "duration", "26:00:00"),
        ("08:30", "time", "08:30:00"),
        ("2024-02-30", "date", ""),
        ("rubbish", "date", ""),
    ],
)
def test_iso_texts_are_moments(text, kind, iso):
    """ISO cells of xlsx and ods say what they are."""
    found = from_iso(text)
    assert (found.kind, found.iso, found.raw) == (kind, iso, text)
