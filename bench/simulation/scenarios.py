"""The scenes that a policy plays in: the story, long against short jobs, minted tenants."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bench.simulation.watch import Watch, jain, quantile
from bench.simulation.world import SECOND, Job, Policy, World

__all__ = ["Story", "always_busy", "minting", "story"]

BIG = "big"
FOR_EVER = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One tenant imports a long file; many others enqueue a short job now and then."""

    workers: int = 20
    cap: int = 20
    tenants: int = 200
    rows: int = 50_000
    row_ms: int = 280
    slice_s: float = 1.0
    """A turn of the import ends with the row that uses this up."""
    small_per_second: float = 4.0
    """Short jobs of all other tenants together, each as long as a row."""
    seed: int = 1

    @property
    def turns(self) -> tuple[int, int]:
        """How many turns the import takes, and the microseconds of one."""
        rows = max(1, -(-round(self.slice_s * 1000) // self.row_ms))
        return -(-self.rows // rows), rows * self.row_ms * 1000


def story(scene: Story, policy: Policy, *, tickets: bool) -> dict[str, Any]:
    """Play the story until the import is through; return what was seen.

    With `tickets` the import has as many jobs as slots, each of which comes back after its turn;
    else each of its turns is a job of its own from the start.
    """
    watch = Watch(cap=lambda tenant: scene.cap, small=lambda tenant: tenant != BIG)
    world = World(policy, scene.workers, watch)
    turns, length = scene.turns
    arrivals = _Arrivals(world, scene, stop=lambda: watch.turns[BIG] >= turns)
    world.at(SECOND, arrivals.next)
    world.at(SECOND, lambda: _import(world, turns, length, scene.cap if tickets else turns))
    world.run(FOR_EVER * SECOND)
    return {
        "wait_p50_s": quantile(watch.waits, 0.5),
        "wait_p99_s": quantile(watch.waits, 0.99),
        "wait_max_s": max(watch.waits),
        "longest_run": watch.longest_run,
        "longest_run_contended": watch.longest_run_contended,
        "most_live": watch.most_live,
        "big_s": arrivals.ended_at / SECOND - 1,
        "claims": world.claims,
        "longest_turn_s": watch.longest_turn,
    }


def _import(world: World, turns: int, length: int, jobs: int) -> None:
    each, more = divmod(turns, jobs)
    world.push(*(Job(BIG, length, turns=each + (number < more)) for number in range(jobs)))


class _Arrivals:
    """Short jobs at random times, until the import has had its last turn."""

    def __init__(self, world: World, scene: Story, stop: Callable[[], bool]) -> None:
        self.world, self.scene, self.stop = world, scene, stop
        self.random = random.Random(scene.seed)
        self.ended_at = 0

    def next(self) -> None:
        """One job of one tenant, and the next one later."""
        if self.stop():
            self.ended_at = self.world.now
            return
        tenant = f"t{self.random.randrange(self.scene.tenants)}"
        self.world.push(Job(tenant, self.scene.row_ms * 1000))
        gap = self.random.expovariate(self.scene.small_per_second)
        self.world.at(self.world.now + max(1, round(gap * SECOND)), self.next)


def always_busy(
    lengths: dict[str, float], policy: Policy, *, workers: int = 10, claims: int = 10_000
) -> dict[str, Any]:
    """Tenants that never run out of jobs, of these lengths in seconds: their shares at the end."""
    watch = Watch(cap=lambda tenant: workers)
    world = World(policy, workers, watch)

    def start() -> None:
        jobs = [(tenant, round(it * SECOND)) for tenant, it in lengths.items()] * (2 * workers)
        world.push(*(Job(tenant, length, turns=FOR_EVER) for tenant, length in jobs))

    world.at(SECOND, start)
    world.run(FOR_EVER * SECOND, claims=claims)
    seconds = watch.used_until(world.now)
    total = sum(seconds.values())
    return {
        "jain_seconds": jain(seconds.values()),
        "share_seconds": {tenant: seconds[tenant] / total for tenant in lengths},
        "share_turns": {tenant: watch.turns[tenant] / world.claims for tenant in lengths},
        "seconds": seconds,
        "longest_run": watch.longest_run,
    }


def minting(
    policy: Policy, *, per_second: float, seconds: int, workers: int = 10
) -> dict[str, Any]:
    """An old tenant, always busy, against a stream of tenants with one job of one second each."""
    watch = Watch(cap=lambda tenant: workers, small=lambda tenant: tenant == "old")
    world = World(policy, workers, watch)
    minted = iter(range(FOR_EVER))

    def mint() -> None:
        world.push(Job(f"new{next(minted)}", SECOND))
        world.at(world.now + round(SECOND / per_second), mint)

    def start() -> None:
        world.push(*(Job("old", SECOND, turns=FOR_EVER) for _ in range(2 * workers)))

    world.at(SECOND, start)
    world.at(6 * SECOND, mint)
    watched = Gaps(watch)
    world.observer = watched
    world.run((seconds + 6) * SECOND)
    late = [claim for claim in watched.times if claim > (6 + seconds // 2) * SECOND]
    return {
        "old_share_second_half": len(late) / (workers * seconds / 2),
        "old_longest_gap_s": watched.longest_until(world.now) / SECOND,
        "minted": next(minted),
    }


class Gaps:
    """Passes everything on, and notes when the old tenant was served."""

    def __init__(self, inner: Watch) -> None:
        self.inner = inner
        self.times: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def claimed(self, now: int, claim: Any) -> None:
        """Note it."""
        if claim.job.tenant == "old":
            self.times.append(now)
        self.inner.claimed(now, claim)

    def longest_until(self, end: int) -> int:
        """The longest time between two services, the last one still open."""
        times = [*self.times, end]
        return max(later - earlier for earlier, later in pairwise(times))
