"""Days and times as people write them."""

from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairimport.sheets.dates import parse_datetime, parse_day, parse_duration, parse_time

MARCH = date(2024, 3, 31)
CLEAR = [
    "2024-03-31",
    "2024/3/31",
    "2024.03.31",
    "20240331",
    "31-Mar-2024",
    "31 March 2024",
    "31. März 2024",
    "31 mars 2024",
    "31 marzo 2024",
    "March 31, 2024",
    "Mar 31 2024",
    "31-Mar-24",
    "2024-03-31 08:30",
    "2024-03-31T00:00:00Z",
    "2024\u201103\u201131",
]
BY_ORDER = [
    ("31/03/2024", "DMY", MARCH),
    ("31.03.2024", "DMY", MARCH),
    ("31. 3. 2024", "DMY", MARCH),
    ("31-3-24", "DMY", MARCH),
    ("03/31/2024", "MDY", MARCH),
    ("3/31/24 08:30 PM", "MDY", MARCH),
    ("24/03/31", "YMD", MARCH),
    ("01/02/03", "DMY", date(2003, 2, 1)),
    ("01/02/03", "MDY", date(2003, 1, 2)),
    ("01/02/03", "YMD", date(2001, 2, 3)),
    ("1.3.24", "DMY", date(2024, 3, 1)),
    ("31.12.68", "DMY", date(2068, 12, 31)),
    ("31.12.69", "DMY", date(1969, 12, 31)),
    ("2024-03-31", "MDY", MARCH),
]
NO_DAYS = ["", "45382", "2024-02-30", "00/00/0000", "2024-13-01", "0000-01-01", "31/03", "Tuesday"]
NO_DAYS += ["31/03-2024", "1/2/3", "10000-01-01", "2024-3", "18991231", "x" * 80, "31-Foo-2024"]
NO_DAYS += ["\u0663\u0661/\u0660\u0663/\u0662\u0660\u0662\u0664", "2024-03-31x", "29 Feb 2023"]


@pytest.mark.parametrize("text", CLEAR)
@pytest.mark.parametrize("order", ["", "DMY", "MDY", "YMD"])
def test_some_texts_name_one_day_whatever_the_order(text, order):
    """The year first, or the month by its name in one of many languages."""
    assert parse_day(text, order) == MARCH


@pytest.mark.parametrize(("text", "order", "day"), BY_ORDER)
def test_the_order_tells_the_month(text, order, day):
    """Two digits of a year mean 1969 to 2068."""
    assert parse_day(text, order) == day


@pytest.mark.parametrize("text", NO_DAYS)
@pytest.mark.parametrize("order", ["", "DMY", "MDY", "YMD"])
def test_other_texts_are_no_days(text, order):
    """Least of all a serial number that lost its format, or a day that no calendar has."""
    assert parse_day(text, order) is None


def test_without_an_order_nothing_is_guessed():
    """Only a text that every order reads alike is a day then."""
    assert parse_day("03/08/2026") is None
    assert parse_day("26/06/2026") is None
    assert parse_day("03/03/2026") == date(2026, 3, 3)


@given(st.dates(date(1000, 1, 1)), st.sampled_from("-./ "), st.sampled_from(["DMY", "MDY", "YMD"]))
def test_what_is_written_in_an_order_is_read_in_it(day, mark, order):
    """Four digits of the year make every order exact."""
    parts = {"D": f"{day.day:02}", "M": str(day.month), "Y": f"{day.year:04}"}
    if order == "YMD" and mark == " ":
        mark = "-"
    assert parse_day(mark.join(parts[letter] for letter in order), order) == day


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("8:30", time(8, 30)),
        ("08:30:15", time(8, 30, 15)),
        ("08:30:15.5", time(8, 30, 15, 500000)),
        ("8:30 pm", time(20, 30)),
        ("12:05 a.m.", time(0, 5)),
        ("12:05 PM", time(12, 5)),
        ("24:00", None),
        ("8:60", None),
        ("13:00 pm", None),
        ("0:00 am", None),
        ("8", None),
        ("8.30", None),
        ("noon", None),
    ],
)
def test_times_of_day(text, clock):
    """Hours and minutes at least; an English half of the day may follow."""
    assert parse_time(text) == clock


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-03-31T01:30:00+02:00", datetime(2024, 3, 30, 23, 30, tzinfo=UTC)),
        ("2024-03-31 01:30 +0200", datetime(2024, 3, 30, 23, 30, tzinfo=UTC)),
        ("2024-03-31T01:30:00-03", datetime(2024, 3, 31, 4, 30, tzinfo=UTC)),
        ("2024-03-31T01:30Z", datetime(2024, 3, 31, 1, 30, tzinfo=UTC)),
        ("2024-03-31 01:30 UTC", datetime(2024, 3, 31, 1, 30, tzinfo=UTC)),
    ],
)
def test_an_offset_makes_a_moment_exact(text, moment):
    """However it is written."""
    assert parse_datetime(text) == moment


def test_a_moment_without_an_offset_is_left_naive():
    """Whoever asks knows the zone."""
    assert parse_datetime("2024-03-31 08:30") == datetime(2024, 3, 31, 8, 30)  # noqa: DTZ001
    assert parse_datetime("31/03/2024, 8:30 pm", "DMY") == datetime(2024, 3, 31, 20, 30)  # noqa: DTZ001
    assert parse_datetime("2024-03-31") == datetime(2024, 3, 31)  # noqa: DTZ001
    assert parse_datetime("2024-03-31 25:00") is None
    assert parse_datetime("2024-02-30 08:00") is None
    assert parse_datetime("") is None


def test_an_impossible_offset_makes_no_moment():
    """No place on earth is 99 hours ahead."""
    assert parse_datetime("2024-03-31T08:00+99:00") is None


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("26:15:00", timedelta(hours=26, minutes=15)),
        ("26:15", timedelta(hours=26, minutes=15)),
        ("0:00:01.5", timedelta(seconds=1.5)),
        ("-1:30", -timedelta(hours=1, minutes=30)),
        ("PT26H15M", timedelta(hours=26, minutes=15)),
        ("P1DT2H", timedelta(hours=26)),
        ("-PT5M", -timedelta(minutes=5)),
        ("8", None),
        ("1:75", None),
        ("99999999:00", None),
        ("two hours", None),
        ("", None),
    ],
)
def test_durations(text, length):
    """Hours before minutes, as sheets show them, or the form of ISO 8601."""
    assert parse_duration(text) == length


@given(st.text("0123456789-./:TZ+ ,apmPMJanFeb\u2011", max_size=70))
def test_no_text_breaks_a_parser(text):
    """Every text is a day or none, a time or none, and so on."""
    for order in ("", "DMY", "MDY", "YMD"):
        assert parse_day(text, order) is None or isinstance(parse_day(text, order), date)
        moment = parse_datetime(text, order)
        assert moment is None or moment.tzinfo in (None, UTC) or isinstance(moment.tzinfo, timezone)
    assert parse_time(text) is None or isinstance(parse_time(text), time)
    assert parse_duration(text) is None or isinstance(parse_duration(text), timedelta)
