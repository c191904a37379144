"""Every stable code has a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fairimport import wording
from fairimport.wording import COUNTED, REFUSALS, WARNINGS, refusal, warning

FILE_ERRORS = [
    "password_protected",
    "damaged_file",
    "not_a_spreadsheet",
    "web_page_not_spreadsheet",
    "unpacks_too_large",
    "unsafe_xml",
    "too_many_columns",
    "no_rows",
    "empty_file",
    "missing_column",
    "unclosed_quote",
    "unsupported_format",
    "binary_content",
    "too_many_rows",
    "file_too_large",
]
NOTICED = [
    "date_order_from_column",
    "serial_number_read_as_date",
    "text_looks_like_cell_error",
    "merged_cells",
    "rows_above_header",
    "hidden_rows",
    "hidden_columns",
    "blank_rows",
    "blank_header",
    "duplicate_header",
    "extension_does_not_match",
    "encoding_guessed",
    "same_content_as_earlier_upload",
]


@pytest.mark.parametrize("code", FILE_ERRORS)
def test_each_file_error_is_a_sentence(code: str) -> None:
    """No customer is shown a bare code."""
    assert code in REFUSALS
    assert refusal(code).endswith(".")
    assert code not in refusal(code)


@pytest.mark.parametrize("code", NOTICED)
def test_each_warning_is_a_sentence(code: str) -> None:
    """What was noticed is said in words, with its argument."""
    assert code in WARNINGS
    assert warning(f"{code}:7").endswith(".")


def test_each_code_in_the_source_has_a_sentence() -> None:
    """Whoever invents a code has to word it."""
    source = Path(wording.__file__).parent
    code = re.compile(r'(?:FileRefused\(|\bfail\([^,()]+,)\s*"([a-z_]+)"')
    found = {c for path in source.rglob("*.py") for c in code.findall(path.read_text())}
    assert len(found) > 15
    assert found <= set(REFUSALS)


def test_the_reason_makes_the_sentence() -> None:
    """Too large in bytes is not too large to be read in time."""
    assert "memory" in refusal("file_too_large", {"reason": "memory"})
    assert "100 MB" in refusal("file_too_large", {"reason": "else", "limit": 100})


def test_facts_stand_in_the_sentence() -> None:
    """The limit that was passed is named, under either of its names."""
    assert "100 MB" in refusal("file_too_large", {"limit": 100})
    assert "100 MB" in refusal("file_too_large", {"limit_mib": 100})


def test_missing_facts_do_not_break_the_sentence() -> None:
    """An old run without facts still has its page."""
    assert "MB" in refusal("file_too_large")


def test_an_unknown_code_is_named() -> None:
    """A code of another version is shown rather than hidden."""
    assert "from_the_future" in refusal("from_the_future")
    assert warning("from_the_future:1") == "from_the_future:1"


def test_a_date_order_is_said_in_words() -> None:
    """DMY means nothing to a customer."""
    assert "day, month, year" in warning("date_order_from_column:DMY")


@pytest.mark.parametrize("code", COUNTED)
def test_one_is_not_many(code: str) -> None:
    """Who counts says one row, or twelve of them."""
    assert warning(f"{code}:1").startswith("One ")
    assert warning(f"{code}:12").startswith("12 ")


def test_a_percent_sign_in_a_fact_is_only_text() -> None:
    """Names from a file are never taken for a format."""
    assert "%(limit)s" in warning("merged_cells:%(limit)s")
