"""Cells made values of a column's kind."""

from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.test import override_settings
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from fairimport.sheets.cells import CellError, Formula, Moment, Number
from fairimport.sheets.values import CellRejected, Spec, ValueOptions, clean_text, convert, typed
from fairimport.sheets.zones import Zone

BERLIN = ZoneInfo("Europe/Berlin")
KINDS = ["text", "ref", "int", "decimal", "bool", "date", "datetime", "time", "duration"]


def value(cell, kind, *, places=None, order="", **options):
    """The value of a cell in a column of this kind."""
    spec = Spec(kind=kind, decimal_places=places, date_order=order)
    return convert(
        cell, spec, ValueOptions.from_json(options, date1904=options.pop("d1904", False))
    )


def refusal(cell, kind, **given):
    """The code and the text for which the cell is refused."""
    with pytest.raises(CellRejected) as refused:
        value(cell, kind, **given)
    return refused.value.code, refused.value.raw


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cell", [None, "", "  ", "\u00a0\u200b", "\ufeff\n"])
def test_blanks_are_blank_in_every_kind(cell, kind):
    """Invisible marks are nothing, too."""
    assert value(cell, kind) is None


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_sheet_could_not_say_is_refused_in_every_kind(kind):
    """Errors, formulas without a result, and characters that no text should hold."""
    assert refusal(CellError("#N/A"), kind) == ("cell_error", "#N/A")
    assert refusal(Formula("=5*5"), kind) == ("formula_without_result", "=5*5")
    assert refusal("a\x00b", kind) == ("control_character", "U+0000")
    assert refusal("a\x85b", kind) == ("control_character", "U+0085")
    assert refusal("a\ufffdb", kind) == ("invalid_character", "U+FFFD")
    assert refusal("a\ud800b", kind) == ("invalid_character", "U+D800")


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (" a b ", "a b"),
        ("\u200fa\u202eb\u2066", "a\u202eb"),
        ("line one\nline two", "line one\nline two"),
        ("e\u0301", "\u00e9"),
        ("\ufb01ne", "\ufb01ne"),
        ("00420", "00420"),
        ("1E5", "1E5"),
        (422, "422"),
        (423.0, "423"),
        (12.5, "12.5"),
        (0.1 + 0.2, "0.3"),
        (Number("421", "00421"), "00421"),
        (True, "TRUE"),
        (Moment("date", "2024-02-29T00:00:00", "45351"), "2024-02-29"),
        (Moment("datetime", "2024-02-29T08:30:00", "45351.354"), "2024-02-29 08:30:00"),
        (Moment("time", "08:30:00", "0.354"), "08:30:00"),
    ],
)
def test_texts(cell, text):
    """Trimmed at both ends, composed, and numbers as a person sees them."""
    assert value(cell, "text") == text


def test_long_numbers_and_spoilt_ids_are_no_texts():
    """Storing a rounded id is worse than refusing it."""
    lost = ("number_precision_lost", "9007199254740993")
    assert refusal(Number("9007199254740993"), "text") == lost
    assert refusal("1.23457E+12", "text") == ("scientific_notation", "1.23457E+12")
    assert value("12345678901234567890", "text") == "12345678901234567890"
    assert value("1.23457E+12", "ref") == "1.23457E+12"


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("12", 12),
        (" 1,000 ", 1000),
        ("-5", -5),
        ("12.0", 12),
        (3.0, 3),
        (7, 7),
        (1e5, 100000),
        ("0042", 42),
        (Number("42", "0042"), 42),
        ("(3)", -3),
    ],
)
def test_whole_numbers(cell, number):
    """A fraction of nothing is no fraction."""
    assert value(cell, "int") == number


@pytest.mark.parametrize("cell", ["12.5", "x", 2.5, True, "1_000", "\uff11", "12%", "$5", "NaN"])
def test_other_cells_are_no_whole_numbers(cell):
    """Neither amounts nor words."""
    assert refusal(cell, "int")[0] == "not_an_integer"


def test_a_group_is_not_taken_for_a_fraction_of_nothing():
    """1.000 may be a thousand, so it is not one."""
    assert refusal("1.000", "int") == ("not_an_integer", "1.000")
    assert value("1.000", "int", decimal=",") == 1000


@pytest.mark.parametrize("text", ["1e3000000", "1E+5", "-1e9"])
@pytest.mark.parametrize("kind", ["int", "decimal"])
def test_exponents_are_refused(text, kind):
    """The digits of a shortened number are gone; a long one would hang whoever expands it."""
    assert refusal(text, kind) == ("scientific_notation", text)


@pytest.mark.parametrize("kind", ["int", "decimal"])
def test_a_very_long_text_is_no_number(kind):
    """Its length is looked at before it is converted."""
    code, _raw = refusal("9" * 5000, kind)
    assert code in ("not_an_integer", "invalid_decimal")


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("19.90", "19.90"),
        (1234.5, "1234.50"),
        (0.1 + 0.2, "0.30"),
        (-0.0, "0.00"),
        ("5%", "0.05"),
        ("1,234.5 €", "1234.50"),
        ("(3)", "-3.00"),
        (100, "100.00"),
        ("19.900", "19.90"),
    ],
)
def test_decimals_have_the_places_of_their_field(cell, number):
    """Fewer are filled up."""
    assert str(value(cell, "decimal", places=2)) == number


def test_more_places_than_the_field_has_are_an_error():
    """Nothing is rounded away silently."""
    assert refusal(2.675, "decimal", places=2) == ("too_many_decimal_places", "2.675")
    assert refusal("0.001", "decimal", places=2) == ("too_many_decimal_places", "0.001")
    assert value(2.675, "decimal") == Decimal("2.675")


def test_the_run_says_which_mark_is_the_decimal_one_whatever_language_is_active():
    """-35,01 is never -3501, in German as little as in English."""
    for language in ("en", "de", "fr"):
        with translation.override(language):
            assert value("-35,01", "decimal", places=2, decimal=",") == Decimal("-35.01")
            assert refusal("-35,01", "decimal", places=2) == ("invalid_decimal", "-35,01")
            assert refusal("1,234.50", "decimal", decimal=",")[0] == "invalid_decimal"


@pytest.mark.parametrize("cell", ["TRUE", "Yes", "y", "1", 1, 1.0, True, "ja", "oui", "S\u00cd"])
def test_true(cell):
    """In many languages."""
    assert value(cell, "bool") is True


@pytest.mark.parametrize("cell", ["false", "No", "n", "0", 0, 0.0, False, "nein", "non"])
def test_false(cell):
    """An explicit no is never taken for a blank."""
    assert value(cell, "bool") is False


@pytest.mark.parametrize("cell", ["maybe", 2, "2", 0.5, "-"])
def test_other_cells_are_neither_true_nor_false(cell):
    """Only words that mean one of the two."""
    assert refusal(cell, "bool")[0] == "invalid_boolean"


def test_days_of_serial_numbers():
    """A number that lost its format is a day of the file's calendar."""
    assert value(45382, "date") == date(2024, 3, 31)
    assert value(59, "date") == date(1900, 2, 28)
    assert value(61.75, "date") == date(1900, 3, 1)
    assert value(0, "date", d1904=True) == date(1904, 1, 1)
    assert value(2_958_465, "date") == date(9999, 12, 31)
    assert value(20240331, "date") == date(2024, 3, 31)


@pytest.mark.parametrize("cell", [0, 60, 60.5, -1, 2_958_466, True, 20240230, Number("1E+300")])
def test_numbers_that_are_no_days(cell):
    """Among them the 29 February 1900, which never was."""
    assert refusal(cell, "date")[0] == "invalid_date"


def test_moments_of_cells_in_other_kinds():
    """A day keeps no time; a time gets no day; what has no day is shown as it is in the file."""
    moment = Moment("datetime", "2024-02-29T08:30:00", "45351.354166")
    assert value(moment, "date") == date(2024, 2, 29)
    assert value(moment, "time") == time(8, 30)
    assert value(Moment("duration", "26:15:00", "1.09375"), "duration") == timedelta(hours=26.25)
    assert value(Moment("time", "08:30:00", "0.35"), "duration") == timedelta(hours=8.5)
    assert value(Moment("date", "1900-01-01T02:15:00", "1.09375"), "duration").days == 1
    assert value(0.354166666666667, "time") == time(8, 30)
    assert refusal(Moment("date", "", "60"), "date") == ("invalid_date", "60")
    assert refusal(Moment("time", "08:30:00", "0.35"), "date")[0] == "invalid_date"
    assert refusal(8, "duration") == ("invalid_date", "8")
    assert refusal(1.5, "time")[0] == "invalid_date"
    assert refusal(moment, "int")[0] == "not_an_integer"
    assert refusal("45382", "date") == ("invalid_date", "45382")


def test_a_mixed_column_refuses_what_depends_on_the_order():
    """Never row by row."""
    for text in ("26/06/2026", "06/26/2026", "03/08/2026"):
        assert refusal(text, "date", order="mixed") == ("mixed_date_order", text)
    assert value("2026-06-26", "date", order="mixed") == date(2026, 6, 26)
    assert value("03/03/2026", "date", order="mixed") == date(2026, 3, 3)
    assert refusal("31/02/2026", "date", order="mixed")[0] == "invalid_date"


@override_settings(FAIRIMPORT={"TIMEZONE": "Europe/Berlin"})
def test_a_time_without_a_zone_is_meant_in_the_chosen_one_or_that_of_the_settings():
    """The chosen zone gives UTC; that of the settings keeps the wall time."""
    chosen = value("2024-01-15 12:00", "datetime", timezone="America/New_York")
    assert chosen == datetime(2024, 1, 15, 17, tzinfo=UTC)
    assert typed(chosen, "datetime") == ["datetime", "2024-01-15T17:00:00Z"]
    usual = value("2024-01-15 12:00", "datetime")
    assert usual == datetime(2024, 1, 15, 12, tzinfo=BERLIN)
    assert typed(usual, "datetime") == ["datetime", "2024-01-15T12:00:00"]
    own = value("2024-01-15T12:00+02:00", "datetime")
    assert typed(own, "datetime") == ["datetime", "2024-01-15T10:00:00Z"]


def test_times_that_the_clock_skipped_or_showed_twice_are_refused():
    """Both are a guess otherwise."""
    zone = {"timezone": "Europe/Berlin"}
    skipped = refusal("2024-03-31 02:30", "datetime", **zone)
    assert skipped == ("nonexistent_local_time", "2024-03-31 02:30")
    twice = refusal("2024-10-27 02:30", "datetime", **zone)
    assert twice == ("ambiguous_local_time", "2024-10-27 02:30")
    moment = Moment("datetime", "2024-10-27T02:30:00", "45592.104")
    assert refusal(moment, "datetime", **zone)[0] == "ambiguous_local_time"


@override_settings(USE_TZ=False)
def test_without_time_zones_moments_are_naive():
    """They are the wall time in the chosen zone, or that of the settings."""
    zone = Zone("Europe/Berlin")
    moment = datetime(2024, 1, 15, 12, tzinfo=UTC)
    assert zone.localise(moment, "") == datetime(2024, 1, 15, 13)  # noqa: DTZ001


def test_the_ends_of_the_calendar_are_no_crash():
    """A moment that UTC cannot say is refused."""
    assert refusal("0001-01-01 00:00", "datetime", timezone="Asia/Tokyo")[0] == "invalid_date"
    assert refusal("9999-12-31T23:00-05:00", "datetime")[0] == "invalid_date"


def test_values_are_stated_in_the_words_of_the_manifest():
    """A kind and a text each."""
    stated = [typed(v, k) for v, k in [(None, "int"), (3, "int"), (True, "bool"), (False, "bool")]]
    assert stated == [None, ["int", "3"], ["bool", "true"], ["bool", "false"]]
    assert typed(Decimal("1E+2"), "decimal") == ["decimal", "100"]
    assert typed(timedelta(hours=26.25), "duration") == ["duration", "26:15:00"]
    assert typed(-timedelta(minutes=5, microseconds=5), "duration")[1] == "-0:05:00.000005"
    assert typed(time(8, 30), "time") == ["time", "08:30:00"]
    assert typed(date(2024, 2, 29), "date") == ["date", "2024-02-29"]


@given(st.text(max_size=20), st.sampled_from(KINDS), st.sampled_from([".", ","]))
def test_any_text_is_a_value_or_refused_with_a_code(text, kind, decimal):
    """Nothing else is ever raised."""
    with suppress(CellRejected):
        found = value(text, kind, decimal=decimal, order="DMY")
        assert found is None or typed(found, kind)


@given(st.floats() | st.integers(), st.sampled_from(KINDS))
def test_any_number_is_a_value_or_refused_with_a_code(number, kind):
    """Also those that no calendar and no field can hold."""
    cell = number if abs(number) < 1e15 else Number(repr(number))
    with suppress(CellRejected):
        assert typed(value(cell, kind, places=2), kind)


@given(st.text())
def test_clean_text_is_stable(text):
    """Cleaning what is clean changes nothing."""
    with suppress(CellRejected):
        cleaned = clean_text(text)
        assert clean_text(cleaned) == cleaned
