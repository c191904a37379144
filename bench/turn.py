"""What a worker's turn costs: no-op jobs a second, and round trips a job, beside stock RQ.

    python -m bench turn [--json] [--rounds N]

Stock and ours take turns on one Redis, each in a process of its own; figures are medians.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from bench import rig
from bench.report import Report

if TYPE_CHECKING:
    from demo_site.servers import RedisServer

ROOT = Path(__file__).resolve().parent.parent
KINDS = {
    "stock": ("rq.Worker", 200),
    "ours": ("FairWorker", 200),
    "stock-simple": ("rq.SimpleWorker", 1000),
    "ours-simple": ("FairSimpleWorker", 1000),
}
"""Name of a worker and how many jobs it gets, by the kind that `bench.turning` knows."""


def main(arguments: list[str]) -> Report:
    """Run each kind of worker so often, and compare."""
    parser = argparse.ArgumentParser(prog="python -m bench turn")
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    report = Report("turn", {"rounds": chosen.rounds, "jobs": "no-op"})
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
    with rig.server() as server:
        for _ in range(chosen.rounds):
            for kind, rows in found.items():
                rows.append(_run(server, kind))
    for kind, rows in found.items():
        report.results[KINDS[kind][0]] = {
            name: round(median(row[name] for row in rows), 2) for name in rows[0]
        }
    _compare(report, "rq.Worker", "FairWorker")
    _compare(report, "rq.SimpleWorker", "FairSimpleWorker")
    return report


def _run(server: RedisServer, kind: str) -> dict[str, float]:
    with server.client() as client:
        client.flushall()
    command = [sys.executable, "-m", "bench.turning", kind, str(KINDS[kind][1])]
    environment = {**os.environ, "REDIS_URL": server.url}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True, timeout=120
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _compare(report: Report, stock: str, ours: str) -> None:
    def of(name: str) -> tuple[Any, Any]:
        return report.results[stock][name], report.results[ours][name]

    theirs, mine = of("jobs_per_s")
    report.at_least(f"jobs a second, {ours} over {stock}", round(mine / theirs, 3), 1.0)
    theirs, mine = of("round_trips")
    report.at_most(f"round trips a job, {ours} over {stock}", round(mine / theirs, 3), 0.99)
