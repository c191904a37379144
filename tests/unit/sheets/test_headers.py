"""Finding, comparing and naming headers."""

from __future__ import annotations

import pytest

from fairimport.sheets.cells import SheetRow
from fairimport.sheets.headers import find_header, labels, normal_form


def table(*lines):
    """Rows numbered from 1."""
    return [SheetRow(number, tuple(line)) for number, line in enumerate(lines, 1)]


KNOWN = frozenset({"code", "name", "qty"})
NONE: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    "header",
    [
        "Unit price",
        " unit  PRICE ",
        "Unit\nprice",
        "Unit\xa0price",
        "\ufeffUnit\u200b price",
        "\uff35\uff2e\uff29\uff34 price",
    ],
)
def test_headers_match_by_their_normal_form(header):
    """Case, width, blanks and invisible marks make no difference."""
    assert normal_form(header) == "unit price"


@pytest.mark.parametrize(
    ("lines", "known", "at"),
    [
        ([("Code", "Name", "Qty"), ("A", "x", 1)], KNOWN, 0),
        ([("Stock",), ("Code", "Name", "Qty"), ("A", "x", 1)], KNOWN, 1),
        ([("Stock",), ("Code", "Name", "Qty"), ("A", "x", 1)], NONE, 1),
        ([("a", "b"), ("Group", None, "Other"), ("Code", "Name", "Qty"), ("A", "x", 1)], KNOWN, 2),
        ([("Code", 2023, 2024), ("A", 5, 6), ("B", 7, 8)], NONE, 0),
        ([("Code",), ("A",), ("B",)], NONE, 0),
        ([("Name",), ("Code",)], frozenset({"code"}), 1),
        (
            [("Report", 2024), ("By", "Ana"), ("Code", "Name", "Qty", "Price"), ("A", "x", 1, 2)],
            NONE,
            2,
        ),
        ([("Code", None, "Qty"), ("A", "x", 1)], NONE, 0),
        ([("1", "2"), ("3", "4")], NONE, 0),
    ],
)
def test_the_header_is_found(lines, known, at):
    """Known names decide; else the first row as wide as the table."""
    assert find_header(table(*lines), known) == at


def test_labels_tell_equal_headers_apart():
    """A blank header is named by its letter, a repeated one is counted."""
    headers = [(1, "Code"), (2, ""), (3, "Phone"), (28, "phone"), (29, "Phone_2")]
    assert labels(headers) == ["Code", "Column B", "Phone", "phone (2)", "Phone_2"]
