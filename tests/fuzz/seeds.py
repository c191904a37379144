"""The right files that wrong ones are made of: the cases, and formats that they lack."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

from tests.sheetfiles import ods, ods_rows, record, wide, xlsb, xlsb_cell, xlsb_row

__all__ = ["seeds"]

_LARGEST = 60_000


def seeds(cases: Path) -> dict[str, bytes]:
    """Return small files by their names."""
    found = {
        path.name: path.read_bytes()
        for path in sorted(cases.iterdir())
        if path.suffix not in (".json", ".md") and path.stat().st_size < _LARGEST
    }
    with tempfile.TemporaryDirectory() as folder:
        for path in (_binary(Path(folder) / "a.xlsb"), _tables(Path(folder) / "b.ods")):
            found[path.name] = path.read_bytes()
    return found


def _binary(path: Path) -> Path:
    rows = xlsb_row(1) + b"".join(xlsb_cell(7, i, struct.pack("<I", i)) for i in range(3))
    rows += xlsb_row(2) + xlsb_cell(6, 0, wide("A-1")) + xlsb_cell(2, 2, struct.pack("<I", 14))
    rows += xlsb_row(3) + xlsb_cell(5, 2, struct.pack("<d", 45351.5), 1) + xlsb_cell(3, 1, b"\x2a")
    rows += record(176, struct.pack("<IIII", 1, 2, 0, 0)) + record(
        60, struct.pack("<IIIIH", 1, 1, 0, 0, 1)
    )
    return xlsb(path, rows, strings=["Code", "Name", "Qty"])


def _tables(path: Path) -> Path:
    table = ods_rows([["Code", "Name", "Qty"], ["A-1", "x", 1], ["A-2", None, 2.5]])
    return ods(path, {"Jan": table, "Feb": "", "Old": table}, hidden=["Old"])
