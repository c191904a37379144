"""Reading large files: rows a second and peak memory, ours beside openpyxl, calamine and pandas.

    python -m bench read [--json] [--rows N] [--rounds N] [--large-csv N] [--large-xlsx N]

Every reader reads every file in a process of its own. On the first file they take turns, so that
other load on the machine meets all of them; ratios are of medians.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from bench.readers import READERS
from bench.report import Report
from bench.tables import write_csv, write_xlsx

ROWS_ALONE, WHOLE_READ = 8, 4
CSV_MIB, XLSX_MIB = 150, 600


def main(arguments: list[str]) -> Report:
    """Write the files, read them with every reader, hold ours against the goals."""
    parser = argparse.ArgumentParser(prog="python -m bench read")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large-csv", type=int, default=1_000_000)
    parser.add_argument("--large-xlsx", type=int, default=500_000)
    chosen = parser.parse_args(arguments)
    sizes = {"xlsx": chosen.rows, "csv": chosen.large_csv, "large_xlsx": chosen.large_xlsx}
    report = Report("read", {"columns": 10, **sizes, "rounds": chosen.rounds})
    with tempfile.TemporaryDirectory(prefix="fairimport-bench-") as folder:
        usual, table, large = (Path(folder) / name for name in ("a.xlsx", "b.csv", "c.xlsx"))
        write_xlsx(usual, chosen.rows)
        seconds = _take_turns(report, usual, chosen.rounds)
        _ratios(report, seconds)
        write_csv(table, chosen.large_csv)
        memory = _once(report, "csv", table, ("ours_rows", "ours_read", "pandas"))
        report.at_most("csv_child_mib", memory, CSV_MIB)
        write_xlsx(large, chosen.large_xlsx)
        memory = _once(report, "large_xlsx", large, ("ours_rows", "ours_read", "calamine"))
        report.at_most("large_xlsx_child_mib", memory, XLSX_MIB)
    return report


def _take_turns(report: Report, path: Path, rounds: int) -> dict[str, float]:
    """Read one file with all readers, again and again; return each one's median seconds."""
    taken: dict[str, list[dict[str, Any]]] = {name: [] for name in READERS}
    for _ in range(rounds):
        for name in READERS:
            taken[name].append(_read(name, path))
    seconds = {name: median(one["seconds"] for one in all_) for name, all_ in taken.items()}
    for name, all_ in taken.items():
        report.results[f"xlsx {name}"] = _result(all_[0]["rows"], seconds[name], all_[0]["mib"])
    return seconds


def _ratios(report: Report, seconds: dict[str, float]) -> None:
    peer = seconds["openpyxl"]
    report.at_least("rows_alone_over_openpyxl", peer / seconds["ours_rows"], ROWS_ALONE)
    report.at_least("whole_read_over_openpyxl", peer / seconds["ours_read"], WHOLE_READ)


def _once(report: Report, label: str, path: Path, names: tuple[str, ...]) -> float:
    """Read a large file once with each reader; return the peak memory of our child in MiB."""
    memory = 0.0
    for name in names:
        found = _read(name, path)
        report.results[f"{label} {name}"] = _result(found["rows"], found["seconds"], found["mib"])
        if name == "ours_read":
            memory = found["mib"]
    return memory


def _result(rows: int, seconds: float, mib: float) -> dict[str, Any]:
    return {"rows": rows, "seconds": seconds, "rows_per_s": rows / seconds, "peak_mib": mib}


def _read(name: str, path: Path) -> dict[str, Any]:
    """Run one reader in a process of its own."""
    ended = subprocess.run(
        [sys.executable, "-m", "bench.readers", name, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(ended.stdout)
    return found
