"""Number formats and numbers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairimport.sheets.cells import Moment, Number
from fairimport.sheets.formats import builtin, kind_of
from fairimport.sheets.numerals import number, shown_as


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("General", ""),
        ("0.00E+00", ""),
        ('"Rs. "#,##0.00', ""),
        ("[Red]-0.0", ""),
        ("#,##0 [$EUR]", ""),
        ("@", ""),
        ("00000", "00000"),
        ("00000;-00000", "00000"),
        ("0", ""),
        ("yyyy\\-mm\\-dd", "date"),
        ("[$-409]d-mmm-yy;@", "date"),
        ('d" de "mmmm', "date"),
        ("mmm", "date"),
        ("m/d/yy h:mm", "datetime"),
        ("h:mm AM/PM", "time"),
        ("mm:ss", "time"),
        ("[h]:mm:ss", "duration"),
        ("[mm]:ss", "duration"),
        ("ggge", "date"),
        ('"day" 0', ""),
    ],
)
def test_a_format_makes_a_kind(code, kind):
    """Letters count where they stand for parts of a date, not in texts and colours."""
    assert kind_of(code) == kind


@pytest.mark.parametrize(
    ("given_", "kind"), [(0, ""), (14, "date"), (22, "datetime"), (46, "duration")]
)
def test_builtin_formats_have_kinds(given_, kind):
    """Built-in formats are known by number."""
    assert builtin(given_) == kind


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("423", 423),
        ("423.0", 423.0),
        ("-0.5", -0.5),
        ("1E-05", 1e-05),
        ("123456789012345", 123456789012345),
        ("0.30000000000000004", 0.30000000000000004),
        ("9007199254740993", Number("9007199254740993")),
        ("1.23456789012346E+18", Number("1.23456789012346E+18")),
        ("1e999", Number("1e999")),
    ],
)
def test_numbers_keep_the_digits_that_matter(text, value):
    """Where a float would lose digits of an id, the text stays."""
    found = number(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text", ["", "abc", "1_000", "nan", "Infinity", "0x10", "\uff11\uff12", "1,5", " 1", "1" * 500]
)
def test_what_is_no_number_is_none(text):
    """Python's wider notion of a number does not apply."""
    assert number(text) is None


@settings(max_examples=40, deadline=None)
@given(st.floats())
def test_every_float_of_a_binary_file_has_a_cell(value):
    """Eight bytes can be anything; infinities and NaN are nothing."""
    for kind in ("", "00000", "date", "time", "duration"):
        cell = shown_as(kind, value, date1904=False)
        assert cell is None or isinstance(cell, int | float | Number | Moment)


def test_zeros_show():
    """A format of zeros is what people see."""
    assert shown_as("00000", 421.0, date1904=False) == Number("421", "00421")
    assert shown_as("00000", 123456.0, date1904=False) == 123456
    assert shown_as("00000", -1.0, date1904=False) == -1
