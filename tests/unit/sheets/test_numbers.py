"""Numbers as people write them."""

import re
import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairimport.sheets.cells import Number
from fairimport.sheets.numbers import from_cell, is_scientific, parse_number, plain
from fairimport.sheets.rejected import CellRejected

POINT = [
    ("19.90", "19.90"),
    ("1,234.50", "1234.50"),
    ("1,234,567", "1234567"),
    ("1 234.5", "1234.5"),
    ("1\u202f234.5", "1234.5"),
    ("1'234.5", "1234.5"),
    ("1\u2019234.5", "1234.5"),
    ("-5", "-5"),
    ("\u22123.50", "-3.50"),
    ("- 5", "-5"),
    ("5-", "-5"),
    ("(5.00)", "-5.00"),
    ("+5", "5"),
    (".5", "0.5"),
    ("5.", "5"),
    ("007", "7"),
    ("0", "0"),
    ("-0", "0"),
]
COMMA = [
    ("1.234,56", "1234.56"),
    ("-35,01", "-35.01"),
    ("9,99", "9.99"),
    ("1.234", "1234"),
    ("1\u202f234,50", "1234.50"),
    ("1'234,50", "1234.50"),
    ("1.234.567,8", "1234567.8"),
]
AMOUNTS = [
    ("$1,234.50", "1234.50"),
    ("1,234.50 €", "1234.50"),
    ("€ -5", "-5"),
    ("-€5", "-5"),
    ("($5.00)", "-5.00"),
    ("$(5.00)", "-5.00"),
    ("EUR 12", "12"),
    ("12 CHF", "12"),
    ("R$ 5", "5"),
    ("12 kr", "12"),
    ("12.5%", "0.125"),
    ("12 %", "0.12"),
]
NONE = ["", "-", "x", "1_000", "\uff11\uff12", "NaN", "Infinity", "1e3", "1.2.3", "12.34.56,7"]
NONE += ["1,23", "0,123", "1,2345", "12,34,567", "1,234 567", "--5", "(-5)x", "5%%", "1.234,50"]
NONE += ["\u0661\u0662", "1" * 101, "0x1F", "$", "$5 EUR", "(", "()", "1 2", "$%"]


@pytest.mark.parametrize(("text", "number"), POINT)
def test_a_point_may_mark_decimals(text, number):
    """Thousands may be grouped by anything else; a minus may stand on either side."""
    assert str(parse_number(text, ".")) == number


@pytest.mark.parametrize(("text", "number"), COMMA)
def test_a_comma_may_mark_decimals(text, number):
    """Then points group thousands, and never the other way round."""
    assert str(parse_number(text, ",")) == number


@pytest.mark.parametrize(("text", "number"), AMOUNTS)
def test_amounts_may_have_a_currency_or_a_percent_sign(text, number):
    """A percent sign means hundredths; only where amounts are asked for."""
    assert str(parse_number(text, ".", amount=True)) == number
    assert parse_number(text, ".") is None


@pytest.mark.parametrize("text", NONE)
def test_other_texts_are_no_numbers(text):
    """Nothing is guessed: neither wrong groups nor other digits nor words."""
    assert parse_number(text, ".", amount=True) is None


@pytest.mark.parametrize("text", ["1,234.50", "1,234.5", ",.", "1,2,3"])
def test_a_comma_is_never_dropped(text):
    """-35,01 never becomes -3501."""
    assert parse_number(text, ",") is None


@given(st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-1e9, max_value=1e9))
def test_what_is_written_with_groups_is_read_back(number):
    """Both marks are read as they were written."""
    english = f"{number:,}"
    german = english.translate(str.maketrans(",.", ".,"))
    assert parse_number(english, ".") == number
    assert parse_number(german, ",") == number


@given(st.text("0123456789.,-+()eE'% $\u20ac\u202f", max_size=150))
def test_any_text_is_answered_at_once_and_never_by_another_number(text):
    """The digits of the answer are those of the text, in their order."""
    began = time.perf_counter()
    number = parse_number(text, ".", amount=True)
    assert time.perf_counter() - began < 1
    if number is not None:
        digits = re.sub("[^0-9]", "", text).strip("0")
        assert digits in re.sub("[^0-9]", "", format(number, "f"))


@pytest.mark.parametrize("text", ["1e3", "1E+5", "1.5e-7", "1e3000000", "-2,5E10", "1E400"])
def test_exponents_are_seen_and_never_expanded(text):
    """A number with an exponent is told from a number."""
    assert is_scientific(text)
    assert parse_number(text, ".") is None


@pytest.mark.parametrize(
    ("text", "mangled"),
    [
        ("1.23457E+12", True),
        ("4,90123E+12", True),
        ("1E+05", True),
        ("1E5", False),
        ("5e10", False),
        ("12E+12", False),
        ("1.2E+1x", False),
        ("E+12", False),
    ],
)
def test_only_spoilt_ids_are_taken_for_mangled(text, mangled):
    """A code such as 5e10 may be a text; 1.23457E+12 is what a program made of a long number."""
    assert is_scientific(text, mangled=True) is mangled


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (0.1 + 0.2, "0.3"),
        (3.7599999999999998, "3.76"),
        (2.675, "2.675"),
        (1e5, "100000"),
        (1e-3, "0.001"),
        (423.0, "423"),
        (-0.0, "0"),
        (999_999_999_999_999, "999999999999999"),
        (123456789012.123456, "123456789012.123"),
        (Number("421", "00421"), "421"),
    ],
)
def test_numbers_of_cells_have_fifteen_digits(cell, number):
    """What a float adds beyond them is noise."""
    assert str(from_cell(cell)) == number


@pytest.mark.parametrize("raw", ["9007199254740993", "1.23456789012346E+18", "1E+3000000", "1E400"])
def test_numbers_whose_digits_are_gone_are_refused(raw):
    """From 1E15 on a sheet does not hold every digit before the point."""
    with pytest.raises(CellRejected) as refused:
        from_cell(Number(raw))
    assert refused.value.code == "number_precision_lost"
    assert refused.value.raw == raw


def test_plain_numbers_have_no_exponent():
    """Zeros at the end go, zeros of the whole part stay."""
    written = [plain(Decimal(text)) for text in ("423.0", "1E+5", "1E-10", "12.50", "0.00")]
    assert written == ["423", "100000", "0.0000000001", "12.5", "0"]
