"""Holds every wait against its bound for as long as you like.

    python -m bench soak [--json] [--minutes 10] [--seed N]

Scenes of a few thousand claims on a simulated clock, one after another: bursts of arrivals, workers
that die, caps that change, pauses, weights from 0.5 to 3; both ways to share, one to eight workers.
The scripts are the product's, and so is the bound that each eligible tenant is promised.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from itertools import count, islice
from typing import TYPE_CHECKING

from bench import rig
from bench.report import Report
from bench.simulation.watch import quantile

if TYPE_CHECKING:
    from redis import Redis

    from bench.simulation.promises import Waited

STEPS = 600
WORKERS = (1, 2, 4, 8)
WEIGHTS = (1.0, 1.0, 1.0, 3.0, 0.5, 1.0, 2.0)
FAIRNESS = ("seconds", "turns")


@dataclass(slots=True)
class Tally:
    """What all scenes of one way to share have shown."""

    scenes: int = 0
    claims: int = 0
    simulated_s: float = 0.0
    waits: int = 0
    passed: int = 0
    """Waits of tenants ahead of the clock which newcomers passed."""
    broken: list[Waited] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    longest: float = 0.0

    def add(self, waited: list[Waited]) -> None:
        """Count the waits of a scene."""
        self.scenes += 1
        self.waits += len(waited)
        self.passed += sum(it.newcomers > 0 for it in waited)
        self.broken += [it for it in waited if not it.kept]
        self.ratios += [it.wait / it.bound for it in waited]
        self.longest = max([self.longest, *(it.wait for it in waited)])


def main(arguments: list[str]) -> Report:
    """Play scenes until the time is over."""
    parser = argparse.ArgumentParser(prog="python -m bench soak")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    report = Report("soak", vars(chosen))
    tallies = {fairness: Tally() for fairness in FAIRNESS}
    end = time.monotonic() + 60 * chosen.minutes
    with rig.private_redis() as redis:
        for seed in count(chosen.seed):
            for fairness, tally in tallies.items():
                _scene(redis, tally, fairness, seed)
            if time.monotonic() >= end:
                break
    for fairness, tally in tallies.items():
        _state(report, fairness, tally)
    return report


def _scene(redis: Redis, tally: Tally, fairness: str, seed: int) -> None:
    from bench.simulation.unrest import LEASE, WIDEST, at_random, play

    redis.flushall()
    weights = {f"t{number}": weight for number, weight in enumerate(WEIGHTS)}
    with rig.fairimport(lease=LEASE, cap=WIDEST, slice=1.0, fairness=fairness):
        steps = islice(at_random(seed, sorted(weights)), STEPS)
        workers = WORKERS[seed % len(WORKERS)]
        world, seen = play(redis, steps, workers=workers, weights=weights)
    tally.claims += world.claims
    tally.simulated_s += world.now / 1_000_000
    tally.add(seen.waited)


def _state(report: Report, fairness: str, tally: Tally) -> None:
    report.results[fairness] = {
        "scenes": tally.scenes,
        "claims": tally.claims,
        "simulated_s": round(tally.simulated_s),
        "waits": tally.waits,
        "passed_by_newcomers": tally.passed,
        "beyond_the_bound": len(tally.broken),
        "longest_wait_s": tally.longest,
        "wait_over_bound_p50": quantile(tally.ratios, 0.5),
        "wait_over_bound_p99": quantile(tally.ratios, 0.99),
        "wait_over_bound_max": max(tally.ratios),
    }
    reason = "; ".join(map(str, tally.broken[:3]))
    name = f"waits beyond their bound, sharing {fairness}"
    report.at_most(name, len(tally.broken), 0, reason)
