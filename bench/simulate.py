"""The story and the hard cases on a simulated clock: ours beside what others do.

    python -m bench simulate [--json] [--rows N] [--tenants N ...]

Ours, and the naive scan, are the real scripts on a real Redis; only the clock is simulated.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from bench import rig
from bench.report import Report
from bench.simulation import odds
from bench.simulation.peers import Fifo, Scan, Shuffle
from bench.simulation.scenarios import Story, always_busy, minting, story

if TYPE_CHECKING:
    from redis import Redis

    from bench.simulation.world import Policy
    from fairimport.lanes.values import Limit

POLICIES = ("fifo", "scan", "shuffle", "turns", "seconds")
TURNS_ALLOWED = 2
MINT_SECONDS = 200
UNCAPPED = 100


def main(arguments: list[str]) -> Report:
    """Play every scene with every policy."""
    parser = argparse.ArgumentParser(prog="python -m bench simulate")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--tenants", type=int, nargs="*", default=[200, 20_000])
    chosen = parser.parse_args(arguments)
    report = Report("simulate", {"rows": chosen.rows, "row_ms": 280, "slice_s": 1, "workers": 20})
    with rig.private_redis() as redis:
        stage = Stage(redis)
        _stories(stage, report, chosen.rows, chosen.tenants)
        _lengths(stage, report)
        _weights(stage, report)
        _minting(stage, report)
    _odds(report)
    return report


class Stage:
    """Gives each scene a policy by name, on an empty Redis."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis

    def play(
        self,
        name: str,
        scene: Callable[[Policy], dict[str, Any]],
        *,
        cap: int,
        limits: dict[str, Limit] | None = None,
    ) -> dict[str, Any]:
        """What the scene answers for the policy."""
        self.redis.flushall()
        fairness = "turns" if name == "turns" else "seconds"
        with rig.fairimport(cap=cap, fairness=fairness, slice=1.0, lease=15.0):
            return scene(self._policy(name, cap, limits or {}))

    def _policy(self, name: str, cap: int, limits: dict[str, Limit]) -> Policy:
        from bench.simulation.lanes import LanesPolicy

        if name == "fifo":
            return Fifo()
        if name == "shuffle":
            return Shuffle()
        if name == "scan":
            return Scan(self.redis, cap)
        return LanesPolicy(self.redis, limits)


def _stories(stage: Stage, report: Report, rows: int, tenants: list[int]) -> None:
    for count in tenants:
        # Cap and workers are equal, so that it is the claim that helps and not an idle worker.
        scene = Story(rows=rows, tenants=count)
        for name in POLICIES:
            with_tickets = name in ("scan", "turns", "seconds")
            row = stage.play(name, partial(story, scene, tickets=with_tickets), cap=scene.cap)
            report.results[f"story, {count} tenants, {name}"] = row
        allowed = TURNS_ALLOWED * row["longest_turn_s"]
        label = f"p99 wait of small tenants, {count} tenants, in seconds (two turns)"
        report.at_most(label, row["wait_p99_s"], allowed)
    capped = Story(rows=rows, cap=4)
    row = stage.play("seconds", partial(story, capped, tickets=True), cap=4)
    report.results["story, 200 tenants, seconds, cap 4"] = row
    report.at_most("most live leases of the big tenant, cap 4", row["most_live"], 4)


def _lengths(stage: Stage, report: Report) -> None:
    lengths = {"long": 34.0, "short": 1.0}
    for name in POLICIES:
        row = stage.play(name, partial(always_busy, lengths), cap=UNCAPPED)
        report.results[f"34 s against 1 s, {name}"] = {
            "jain_seconds": row["jain_seconds"],
            "long_share_seconds": row["share_seconds"]["long"],
            "long_share_turns": row["share_turns"]["long"],
            "longest_run": row["longest_run"],
        }
    drift = abs(row["share_seconds"]["long"] - 0.5) / 0.5
    report.at_most("drift from equal worker-seconds, 34:1", drift, 0.01)


def _weights(stage: Stage, report: Report) -> None:
    from fairimport.lanes.values import Limit

    limits = {"heavy": Limit(UNCAPPED, weight=3.0), "light": Limit(UNCAPPED, weight=1.0)}
    for title, lengths in {
        "weights 3:1": {"heavy": 1.0, "light": 1.0},
        "weights 3:1, jobs 34 s and 1 s": {"heavy": 1.0, "light": 34.0},
    }.items():
        row = stage.play(
            "seconds",
            partial(always_busy, lengths),
            cap=UNCAPPED,
            limits=limits,
        )
        ratio = row["seconds"]["heavy"] / row["seconds"]["light"]
        report.results[title] = {"ratio_seconds": ratio, "longest_run": row["longest_run"]}
        report.at_most(f"drift from 3:1, {title}", abs(ratio - 3) / 3, 0.02)


def _minting(stage: Stage, report: Report) -> None:
    for name in ("scan", "turns", "seconds"):
        report.results[f"11 new tenants a second for 10 workers, {name}"] = stage.play(
            name,
            partial(minting, per_second=11, seconds=MINT_SECONDS),
            cap=UNCAPPED,
        )


def _odds(report: Report) -> None:
    for busy in (1, 4, 16, 64, 200):
        report.results[f"512 queues, hands of 6, {busy} busy tenants"] = {
            "odds_computed": odds.computed(512, 6, busy=busy),
            "odds_simulated": odds.simulated(512, 6, busy=busy, deals=400),
        }
