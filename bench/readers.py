"""One reader reading one file in a process of its own: `python -m bench.readers NAME PATH`.

Prints seconds (after imports), the process' peak memory in MiB, and the rows that it saw.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fairimport.sheets import ReadOptions, read
from fairimport.sheets.archive import Archive
from fairimport.sheets.limits import Limits
from fairimport.sheets.relations import main_part
from fairimport.sheets.text.book import TextBook
from fairimport.sheets.xlsx.book import XlsxBook

__all__ = ["READERS", "WIDE"]

WIDE = Limits(max_rows=10_000_000, max_upload_mib=1024, max_unpacked_mib=4096)
"""As a host sets them that lets such files in."""

_Timed = Iterator[None]


class _Clock:
    seconds = 0.0

    @contextmanager
    def running(self) -> _Timed:
        """Take the time of the reading itself."""
        started = time.perf_counter()
        yield
        self.seconds = time.perf_counter() - started


def ours_rows(path: Path, clock: _Clock) -> int:
    """Our rows alone, in this process."""
    with clock.running():
        if path.suffix == ".csv":
            book: TextBook | XlsxBook = TextBook(path, ReadOptions(), WIDE)
        else:
            archive = Archive(path, WIDE)
            book = XlsxBook(archive, main_part(archive), WIDE)
        return sum(len(batch) for batch in book.open(book.sheets[0]).batches()) - 1


def ours_read(path: Path, clock: _Clock) -> int:
    """All that an upload takes: a child starts, finds errors, formulas and facts, spools rows."""
    with tempfile.TemporaryDirectory() as folder, clock.running():
        spool = Path(folder) / "spool"
        return read(path, filename=path.name, spool=spool, limits=WIDE).row_count


def openpyxl_rows(path: Path, clock: _Clock) -> int:
    """openpyxl, read-only."""
    import openpyxl

    with clock.running():
        sheet = openpyxl.load_workbook(path, read_only=True).active
        return sum(1 for _ in sheet.iter_rows(values_only=True)) - 1


def calamine_rows(path: Path, clock: _Clock) -> int:
    """python-calamine, a reader in Rust."""
    import python_calamine

    with clock.running():
        book = python_calamine.CalamineWorkbook.from_path(str(path))
        return sum(1 for _ in book.get_sheet_by_index(0).iter_rows()) - 1


def pandas_rows(path: Path, clock: _Clock) -> int:
    """pandas with its own choice of engine: openpyxl for xlsx, C for csv."""
    import pandas

    with clock.running():
        frame = pandas.read_csv(path) if path.suffix == ".csv" else pandas.read_excel(path)
        return len(frame)


READERS: dict[str, Callable[[Path, _Clock], int]] = {
    "ours_rows": ours_rows,
    "ours_read": ours_read,
    "openpyxl": openpyxl_rows,
    "calamine": calamine_rows,
    "pandas": pandas_rows,
}


def main(name: str, path: str) -> None:
    """Read, and print what it took."""
    warnings.simplefilter("ignore")
    clock = _Clock()
    count = READERS[name](Path(path), clock)
    mib = _childs_peak() if name == "ours_read" else _own_peak()
    print(json.dumps({"seconds": clock.seconds, "mib": mib, "rows": count}))


def _childs_peak() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def _own_peak() -> float:
    """Since the program started: `ru_maxrss` would count what the process was forked from."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
