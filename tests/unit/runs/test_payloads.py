"""Rows as chunks store them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairimport.errors import FileRefused
from fairimport.runs.payloads import chunk_rows, lines_of, pack
from fairimport.sheets import SheetRow, encode


def test_rows_come_out_as_they_went_in():
    """Line ends inside of cells do not end a line."""
    rows = [encode(SheetRow(n, (f"a\nb{n}", None, 1.5))) for n in range(2, 9)]
    assert lines_of(pack(rows)) == rows


@pytest.mark.parametrize("payload", [None, b"", b"no zlib"])
def test_a_lost_payload_is_told(payload):
    """Not a trace: a code that ends the run."""
    with pytest.raises(FileRefused, match="rows_gone"):
        lines_of(payload)


@pytest.mark.parametrize(
    ("rows", "cap", "size"),
    [(0, 4, 1), (20, 4, 1), (1_000, 4, 62), (50_000, 4, 500), (50_000, 0, 500), (100, 100, 1)],
)
def test_chunks_are_small_enough_for_every_slot_to_have_some(rows, cap, size):
    """clamp(rows / (4 * cap), 1, 500)."""
    assert chunk_rows(rows, cap, 500) == size


@given(st.integers(0, 1_000_000), st.integers(0, 1_000), st.integers(1, 5_000))
def test_a_chunk_is_never_empty_or_too_big(rows, cap, most):
    """Whatever the settings are."""
    assert 1 <= chunk_rows(rows, cap, most) <= most
