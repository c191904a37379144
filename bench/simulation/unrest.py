"""Arrivals, deaths of workers, changed caps and pauses, in any order, with every wait observed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.simulation.lanes import LanesPolicy
from bench.simulation.promises import Promises
from bench.simulation.world import SECOND, Job, World
from fairimport.lanes.values import Limit

if TYPE_CHECKING:
    from redis import Redis

__all__ = ["LEASE", "LONGEST", "WIDEST", "Change", "Push", "Step", "at_random", "play"]

LEASE = 2.0
LONGEST = 5.0
"""Seconds of the longest turn of a living worker."""
WIDEST = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """Some jobs of a tenant begin to wait, `after` seconds since the step before."""

    after: float
    tenant: str
    seconds: float
    jobs: int = 1
    turns: int = 1
    dies: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The operator changes a tenant's cap, or pauses it."""

    after: float
    tenant: str
    cap: int
    paused: bool = False


Step = Push | Change


def play(
    redis: Redis, steps: Iterable[Step], *, workers: int, weights: Mapping[str, float]
) -> tuple[World, Promises]:
    """Play the steps to their end with `LEASE`; return the world and what was waited."""
    limits = {tenant: Limit(WIDEST, weight) for tenant, weight in weights.items()}
    policy = LanesPolicy(redis, limits)
    # A dead worker's lease charges its time until somebody reaps it: at the next claim at latest.
    over = round((LONGEST / 2 + LEASE + LONGEST) * SECOND)
    longest = round(LONGEST * SECOND)
    seen = Promises(policy, workers, sorted(weights), turn=longest, over=over)
    world = World(policy, workers, seen)
    seen.watch(world)
    _Player(world, policy, weights, iter(steps)).schedule()
    world.run(10**9 * SECOND)
    return world, seen


@dataclass(slots=True)
class _Player:
    world: World
    policy: LanesPolicy
    weights: Mapping[str, float]
    steps: Iterator[Step]

    def schedule(self) -> None:
        """Let the next step happen at its time."""
        step = next(self.steps, None)
        if step is not None:
            when = max(self.world.now + round(step.after * SECOND), 2)
            self.world.at(when, lambda: self._do(step))

    def _do(self, step: Step) -> None:
        if isinstance(step, Change):
            limit = Limit(min(step.cap, WIDEST), self.weights[step.tenant], step.paused)
            self.policy.set_limits(self.world.now, {step.tenant: limit})
            self.world.look()
        else:
            length = round(min(step.seconds, LONGEST) * SECOND)
            jobs = (Job(step.tenant, length, step.turns, step.dies) for _ in range(step.jobs))
            self.world.push(*jobs)
        self.schedule()


def at_random(seed: int, tenants: list[str]) -> Iterator[Step]:
    """Steps for ever: mostly pushes, in bursts; now and then a change. Overload comes and goes."""
    dice = random.Random(seed)
    calm = 1.0
    while True:
        if dice.random() < 0.01:
            calm = dice.choice([0.2, 1.0, 5.0])
        tenant, after = dice.choice(tenants), dice.expovariate(1 / calm)
        if dice.random() < 0.1:
            paused = dice.random() < 0.3
            yield Change(after=after, tenant=tenant, cap=dice.randint(0, WIDEST), paused=paused)
            continue
        yield Push(
            after=after,
            tenant=tenant,
            seconds=dice.choice([0.001, 0.05, 0.28, 1.0, 1.12, LONGEST]),
            jobs=dice.choice([1, 1, 1, 3, 10]),
            turns=dice.choice([1, 1, 2, 8]),
            dies=dice.random() < 0.03,
        )
