"""What a claim costs as tenants grow: route, claim and settle from 10 to 1,000,000 tenants.

    python -m bench claim [--json] [--sizes N ...] [--batches N]

Each size has a Redis of its own. Server side is the p50 of `INFO latencystats`, reset before every
batch; caps are on. Batches go round the sizes, and the figures shown are their medians. Sizes are
compared round by round, the median of the ratios counts: a machine that is slow for a second is so
for all sizes alike.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from statistics import median
from typing import Any

from bench import rig
from bench.crowd import Crowd
from bench.report import Report
from bench.scanned import capped_in_front

SIZES = (10, 1_000, 20_000, 100_000, 1_000_000)
IN_FLIGHT = (20, 500)
SCRIPTS = ("route", "claim", "settle")
DRAINED = 20_000
FLAT = 1.2


def main(arguments: list[str]) -> Report:
    """Measure each size; hold the largest against the smallest."""
    parser = argparse.ArgumentParser(prog="python -m bench claim")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--batches", type=int, default=60)
    chosen = parser.parse_args(arguments)
    given = {"sizes": chosen.sizes, "in_flight": IN_FLIGHT, "batches": chosen.batches}
    report = Report("claim", given)
    with ExitStack() as stack:
        crowds = {size: _crowd(stack, size) for size in chosen.sizes}
        for crowd in crowds.values():
            crowd.fill()
        for live in IN_FLIGHT:
            _measure(report, crowds, live, chosen.batches)
        _leftovers(report, crowds)
    with rig.private_redis() as redis:
        capped_in_front(report, redis)
    return report


def _crowd(stack: ExitStack, size: int) -> Crowd:
    return Crowd(stack.enter_context(rig.private_redis()), size, live=max(IN_FLIGHT))


def _measure(report: Report, crowds: dict[int, Crowd], live: int, batches: int) -> None:
    measured: dict[int, list[dict[str, float]]] = {size: [] for size in crowds}
    for crowd in crowds.values():
        crowd.hold(live)
        for _ in range(5):
            crowd.batch()
    for _ in range(batches):
        for size, crowd in crowds.items():
            measured[size].append(crowd.batch())
    rows = {size: _medians(found) for size, found in measured.items()}
    for size, row in rows.items():
        report.results[f"{size} tenants, {live} in flight"] = row
    for script in SCRIPTS:
        levels = _levels(measured, f"{script}_server_us")
        spread = round(max(levels.values()) / min(levels.values()), 3)
        name = f"{script}, {live} in flight: dearest size over cheapest, server side"
        reason = ", ".join(f"{size} tenants {level:.2f}" for size, level in levels.items())
        report.at_most(name, spread, FLAT, reason)


def _levels(measured: dict[int, list[dict[str, float]]], what: str) -> dict[int, float]:
    """What each size costs, held against the first size round by round."""
    first, *_ = measured.values()
    return {
        size: median(row[what] / base[what] for row, base in zip(rows, first, strict=True))
        for size, rows in measured.items()
    }


def _medians(found: list[dict[str, float]]) -> dict[str, Any]:
    return {name: round(median(row[name] for row in found), 2) for name in found[0]}


def _leftovers(report: Report, crowds: dict[int, Crowd]) -> None:
    """When all jobs of the largest crowd that drains in seconds are done, no tenant is known."""
    size = max((size for size in crowds if size <= DRAINED), default=None)
    if size is None:
        return
    left = crowds[size].drain()
    report.results[f"keys after {size} tenants are done"] = {
        "that_stay": len(left),
        "that_expire": crowds[size].expiring(),
    }
    reason = ", ".join(left[:5])
    report.at_most(f"keys of tenants after all {size} are done", len(left), 0, reason)
