"""Cells and their compact form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairimport.sheets.cells import (
    CellError,
    Formula,
    Moment,
    Number,
    Problem,
    SheetRow,
    decode,
    encode,
    is_blank,
    letter,
    printable,
    raw,
    trimmed,
)

TEXTS = st.text(st.characters(codec=None), max_size=20)
CELLS = st.one_of(
    st.none(),
    TEXTS,
    st.booleans(),
    st.integers(-(10**15), 10**15),
    st.floats(allow_nan=False, allow_infinity=False),
    st.builds(Number, TEXTS, TEXTS),
    st.builds(Moment, st.sampled_from(["date", "datetime", "time", "duration"]), TEXTS, TEXTS),
    st.builds(CellError, TEXTS),
    st.builds(Formula, TEXTS),
)
PROBLEMS = st.builds(Problem, TEXTS, TEXTS, st.none() | st.integers(1, 600))
ROWS = st.builds(
    SheetRow,
    st.integers(1, 2**31),
    st.lists(CELLS, max_size=6).map(tuple),
    st.lists(PROBLEMS, max_size=2).map(tuple),
)


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_a_row_survives_its_coding(row):
    """What is decoded equals what was encoded, type for type."""
    back = decode(encode(row))
    assert back == row
    assert [type(c) for c in back.cells] == [type(c) for c in row.cells]


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_a_coded_row_is_one_line(row):
    """No text in a cell can break a spool into wrong lines."""
    assert b"\n" not in encode(row)


def test_a_plain_row_is_plain_json():
    """Rows without special cells cost no more than their values."""
    assert encode(SheetRow(7, ("a", None, 3, 1.5, True))) == b'[7,["a",null,3,1.5,true]]'


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(codec=None)))
def test_printable_text_fits_every_database(text):
    """Neither NUL nor a lone surrogate is left."""
    shown = printable(text)
    assert "\0" not in shown
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("position", "letters"), [(1, "A"), (26, "Z"), (27, "AA"), (702, "ZZ"), (703, "AAA")]
)
def test_columns_have_letters(position, letters):
    """The letters are those that spreadsheet programs show."""
    assert letter(position) == letters


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        ("x ", "x "),
        (True, "TRUE"),
        (3.0, "3"),
        (2.675, "2.675"),
        (Number("7", "00007"), "00007"),
        (Number("1E+18"), "1E+18"),
        (Moment("date", "2024-02-29T00:00:00", "45351"), "2024-02-29"),
        (Moment("datetime", "2024-02-29T00:00:00", "45351"), "2024-02-29 00:00:00"),
        (Moment("date", "", "60"), "60"),
        (CellError("#N/A"), "#N/A"),
        (Formula("=5*5"), "=5*5"),
    ],
)
def test_cells_have_a_raw_text(cell, text):
    """Messages and samples show what the sheet shows."""
    assert raw(cell) == text


@pytest.mark.parametrize("cells", [(), (None,), ("", " "), ("\u200b\ufeff", None, "\xa0\t")])
def test_invisible_cells_make_a_blank_row(cells):
    """Blanks of every sort are nothing."""
    assert is_blank(cells)


@pytest.mark.parametrize("cells", [(0,), (False,), (None, "x"), (CellError("#N/A"),)])
def test_zero_and_false_are_something(cells):
    """A falsy value is a value."""
    assert not is_blank(cells)


def test_trimming_keeps_what_is_inside():
    """Only the ends lose their blanks and marks."""
    assert trimmed("\u202a a\xa0\u200bb \u202c\r\n") == "a\xa0\u200bb"


def test_a_missing_cell_is_blank():
    """Rows may be shorter than the sheet."""
    assert SheetRow(1, ("a",)).cell(3) is None
    assert json.loads(encode(SheetRow(1, ()))) == [1, []]
