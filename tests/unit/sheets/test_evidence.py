"""What texts say about dates and decimals."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairimport.sheets.evidence import TextEvidence


def dates(*texts):
    """Counts by order, without zeros."""
    evidence = TextEvidence()
    evidence.add((text, number) for number, text in enumerate(texts, 2))
    found = asdict(evidence.date_evidence())
    return {name: n for name, n in found.items() if n and not name.startswith("first")}


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("26/06/2026", "dmy"),
        ("06/26/2026", "mdy"),
        ("03/08/2026", "either"),
        ("03/03/2026", "same"),
        ("2026-08-03", "ymd"),
        ("1.3.24", "either"),
        ("26. 6. 2026", "dmy"),
        ("26/06/2026 14:30", "dmy"),
        (" 26-06-26\xa0", "dmy"),
    ],
)
def test_a_date_fits_orders(text, order):
    """A number above 12 is a day."""
    assert dates(text) == {order: 1}


@pytest.mark.parametrize(
    "text",
    ["00/00/0000", "32/01/2026", "13/13/2026", "45382", "1.5", "3/4", "a 1/2/2026", "1/2-26"],
)
def test_what_is_no_date_says_nothing(text):
    """Impossible dates settle no order."""
    assert dates(text) == {}


def test_the_first_row_of_each_order_is_kept():
    """Messages can name the rows that contradict each other."""
    evidence = TextEvidence()
    evidence.add([("01/02/2026", 2), ("26/06/2026", 3), ("06/26/2026", 4), ("27/06/2026", 5)])
    found = evidence.date_evidence()
    assert (found.first_dmy, found.first_mdy, found.dmy, found.mdy) == (3, 4, 2, 1)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("1.234,56", ","),
        ("1,234.56", "."),
        ("1.234.567", ","),
        ("1,234,567", "."),
        ("9,99", ","),
        ("9.5", "."),
        ("1.234", "either"),
        ("1234.567", "."),
        ("0.500", "."),
        ("€ 12,5", ","),
        ("1 234,5", ","),
        ("-3.50", "."),
    ],
)
def test_a_number_names_its_decimal_mark(text, mark):
    """Groups of three digits may be thousands."""
    evidence = TextEvidence()
    evidence.add([(text, 2)])
    found = {name: n for name, n in asdict(evidence.decimal_evidence()).items() if n}
    assert found == {{",": "comma", ".": "point"}.get(mark, mark): 1}


def test_texts_like_errors_are_counted():
    """A typed #N/A is told, NA is a text."""
    evidence = TextEvidence()
    evidence.add([("#N/A", 2), (" #DIV/0! ", 3), ("NA", 4), ("#1", 5)])
    assert evidence.errors == 2


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text()))
def test_any_text_may_come(texts):
    """Evidence never fails."""
    evidence = TextEvidence()
    evidence.add((text, 1) for text in texts)
    evidence.date_evidence()
    evidence.decimal_evidence()
    assert evidence.errors <= len(texts)
