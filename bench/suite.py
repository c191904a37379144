"""All benchmarks of the scheduler, one after the other, each figure in a file.

    python -m bench suite [--json] [--short] [--only NAME ...] [--into FOLDER]

The short forms take two minutes each at most, for a build server; the long ones take an hour.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.report import Report

ROOT = Path(__file__).resolve().parent.parent
LONG = {
    "simulate": [],
    "claim": [],
    "turn": [],
    "soak": ["--minutes", "10"],
    "leak": ["--rounds", "1000"],
    "mutate": [],
}
SHORT = {
    "simulate": ["--rows", "2000", "--tenants", "200"],
    "claim": ["--sizes", "10", "1000", "20000", "--batches", "20"],
    "turn": ["--rounds", "1"],
    "soak": ["--minutes", "0.5"],
    "leak": ["--rounds", "100"],
    "mutate": ["--sample", "20"],
}


def main(arguments: list[str]) -> Report:
    """Run them, write their JSON, and count the goals that were met."""
    parser = argparse.ArgumentParser(prog="python -m bench suite")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", nargs="*", default=list(LONG), choices=list(LONG))
    parser.add_argument("--into", type=Path, default=ROOT / ".measured")
    chosen = parser.parse_args(arguments)
    chosen.into.mkdir(exist_ok=True)
    report = Report("suite", {"form": "short" if chosen.short else "long"})
    for name in chosen.only:
        sys.stderr.write(f"{name} ...\n")
        began = time.monotonic()
        said = _run(name, (SHORT if chosen.short else LONG)[name])
        (chosen.into / f"{name}.json").write_text(json.dumps(said, indent=1) + "\n")
        _count(report, name, said, time.monotonic() - began)
    return report


def _run(name: str, options: list[str]) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench", name, "--json", *options]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    said: dict[str, Any] = json.loads(done.stdout) if done.stdout else {"goals": []}
    return said


def _count(report: Report, name: str, said: dict[str, Any], seconds: float) -> None:
    missed = [goal["name"] for goal in said["goals"] if not goal["met"]]
    report.results[name] = {
        "seconds": round(seconds),
        "goals": len(said["goals"]),
        "missed": len(missed),
    }
    measured = len(missed) if said["goals"] else None
    report.at_most(f"goals missed by {name}", measured, 0, "; ".join(missed) or "it broke")
