"""What a worker's turn costs: no-op jobs a second, and round trips a job, beside stock RQ.

    python -m bench turn [--json] [--rounds N] [--jobs N]

Each worker has a process of its own, and all share one Redis. In each round stock and ours work off
a few jobs one after the other; who is first changes from round to round. A ratio is of one round,
so that both meet the same noise, and figures are medians of all rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench import rig
from bench.report import Report

if TYPE_CHECKING:
    from demo_site.servers import RedisServer

ROOT = Path(__file__).resolve().parent.parent
PAIRS = {"rq.Worker": "FairWorker", "rq.SimpleWorker": "FairSimpleWorker"}
KINDS = {
    "rq.Worker": "stock",
    "FairWorker": "ours",
    "rq.SimpleWorker": "stock-simple",
    "FairSimpleWorker": "ours-simple",
}
"""What `bench.turning` calls each worker."""
SIMPLE = 5  # times as many jobs for a worker that does not fork
LEAST_JOBS_PER_S = 1.0
MOST_ROUND_TRIPS = 0.99

Row = dict[str, float]


def main(arguments: list[str]) -> Report:
    """Run each pair of workers so often, and compare."""
    parser = argparse.ArgumentParser(prog="python -m bench turn")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=20, help="of a worker that forks, in a round")
    chosen = parser.parse_args(arguments)
    report = Report("turn", {**vars(chosen), "job": "no-op"})
    found: dict[str, list[Row]] = {worker: [] for worker in KINDS}
    with ExitStack() as stack:
        server = stack.enter_context(rig.server())
        asked = {worker: stack.enter_context(_started(server, worker)) for worker in KINDS}
        for worker, process in asked.items():
            _turn(process, worker, jobs=1)  # to warm up
        for number in range(chosen.rounds):
            for pair in PAIRS.items():
                for worker in pair if number % 2 else reversed(pair):
                    found[worker].append(_turn(asked[worker], worker, chosen.jobs))
    for worker, rows in found.items():
        report.results[worker] = {name: _median(row[name] for row in rows) for name in rows[0]}
    for stock, ours in PAIRS.items():
        _compare(report, f"{ours} over {stock}", _ratios(found[ours], found[stock]))
    return report


def _ratios(ours: list[Row], stock: list[Row]) -> dict[str, list[float]]:
    """Ours over theirs in each round."""
    return {
        name: [mine[name] / its[name] for mine, its in zip(ours, stock, strict=True)]
        for name in ours[0]
    }


def _compare(report: Report, who: str, ratios: dict[str, list[float]]) -> None:
    jobs, trips = ratios["jobs_per_s"], ratios["round_trips"]
    report.results[who] = {
        "jobs_per_s_least": round(min(jobs), 2),
        "jobs_per_s_median": _median(jobs),
        "jobs_per_s_most": round(max(jobs), 2),
        "round_trips_median": _median(trips),
    }
    report.at_least(f"jobs a second, {who}", _median(jobs), LEAST_JOBS_PER_S)
    report.at_most(f"round trips a job, {who}", _median(trips), MOST_ROUND_TRIPS)


def _median(values: Iterable[float]) -> float:
    return round(median(values), 3)


def _started(server: RedisServer, worker: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.turning", KINDS[worker]]
    environment = {**os.environ, "REDIS_URL": server.url}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True)


def _turn(process: subprocess.Popen[str], worker: str, jobs: int) -> Row:
    assert process.stdin
    assert process.stdout
    given = jobs * SIMPLE if KINDS[worker].endswith("simple") else jobs
    process.stdin.write(f"{given}\n")
    process.stdin.flush()
    found: Row = json.loads(process.stdout.readline())
    return found
