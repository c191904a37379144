"""What a claim costs as tenants grow: route, claim and settle from 10 to 1,000,000 tenants.

    python -m bench claim [--json] [--sizes N ...] [--copies N] [--batches N]

Each size has a Redis of its own. Server side is the p50 of `INFO latencystats`, reset before every
batch; caps are on. Batches go round the sizes, and the figures shown are their medians. Sizes are
compared round by round, the median of the ratios counts: a machine that is slow for a second is so
for all sizes alike. All of it is done with several servers of each size, and the middle one counts:
where the memory of a process lies makes it faster or slower for as long as it lives.
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

Rounds = dict[int, list[dict[str, float]]]  # size -> batches


def main(arguments: list[str]) -> Report:
    """Measure each size; hold the largest against the smallest."""
    parser = argparse.ArgumentParser(prog="python -m bench claim")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--copies", type=int, default=3, help="servers of each size")
    parser.add_argument("--batches", type=int, default=20, help="of each server")
    chosen = parser.parse_args(arguments)
    report = Report("claim", {**vars(chosen), "in_flight": IN_FLIGHT})
    copies: dict[int, list[Rounds]] = {live: [] for live in IN_FLIGHT}
    for _ in range(chosen.copies):
        with ExitStack() as stack:
            crowds = {size: _crowd(stack, size) for size in chosen.sizes}
            for live in IN_FLIGHT:
                copies[live].append(_rounds(crowds, live, chosen.batches))
    for live, measured in copies.items():
        _compare(report, measured, live)
    with ExitStack() as stack:
        _leftovers(report, _crowd(stack, min(DRAINED, max(chosen.sizes))))
    with rig.private_redis() as redis:
        capped_in_front(report, redis)
    return report


def _crowd(stack: ExitStack, size: int) -> Crowd:
    crowd = Crowd(stack.enter_context(rig.private_redis()), size, live=max(IN_FLIGHT))
    crowd.fill()
    return crowd


def _rounds(crowds: dict[int, Crowd], live: int, batches: int) -> Rounds:
    """Batches of each size, the same round in the same place."""
    rounds: Rounds = {size: [] for size in crowds}
    for crowd in crowds.values():
        crowd.hold(live)
        for _ in range(5):
            crowd.batch()
    for _ in range(batches):
        for size, crowd in crowds.items():
            rounds[size].append(crowd.batch())
    return rounds


def _compare(report: Report, copies: list[Rounds], live: int) -> None:
    for size in copies[0]:
        rows = [row for rounds in copies for row in rounds[size]]
        report.results[f"{size} tenants, {live} in flight"] = _medians(rows)
    for script in SCRIPTS:
        each = [_levels(rounds, f"{script}_server_us") for rounds in copies]
        levels = {size: median(one[size] for one in each) for size in copies[0]}
        spread = round(max(levels.values()) / min(levels.values()), 3)
        name = f"{script}, {live} in flight: dearest size over cheapest, server side"
        reason = ", ".join(f"{size} tenants {level:.2f}" for size, level in levels.items())
        report.at_most(name, spread, FLAT, reason)


def _levels(rounds: Rounds, what: str) -> dict[int, float]:
    """What each size costs, held against the first size round by round."""
    first, *_ = rounds.values()
    return {
        size: median(row[what] / base[what] for row, base in zip(rows, first, strict=True))
        for size, rows in rounds.items()
    }


def _medians(found: list[dict[str, float]]) -> dict[str, Any]:
    return {name: round(median(row[name] for row in found), 2) for name in found[0]}


def _leftovers(report: Report, crowd: Crowd) -> None:
    """When all jobs are done, no tenant is known but by numbers that expire."""
    left = crowd.drain()
    found = {"that_stay": len(left), "that_expire": crowd.expiring()}
    report.results[f"keys after {crowd.size} tenants are done"] = found
    reason = ", ".join(left[:5])
    report.at_most(f"keys of tenants after all {crowd.size} are done", len(left), 0, reason)
