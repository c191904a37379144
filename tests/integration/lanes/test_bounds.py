"""Hypothesis tries to break what `docs/scheduler.md` promises; the scripts are the product's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis

from bench.simulation.lanes import LanesPolicy
from bench.simulation.unrest import LEASE, LONGEST, WIDEST, Change, Push, play
from bench.simulation.watch import Watch
from bench.simulation.world import SECOND, Job, World
from fairimport.lanes import Limit
from fairimport.lanes.lanes import Idle

TENANTS = ("a", "b", "c", "d", "e")
LENGTHS = st.sampled_from([0.001, 0.01, 0.28, 1.0, 1.12, LONGEST])
WEIGHTS = st.sampled_from([0.5, 1.0, 3.0])
AFTER = st.sampled_from([0.0, 0.001, 0.3, 1.0, 6.0])
PUSHES = st.builds(
    Push,
    after=AFTER,
    tenant=st.sampled_from(TENANTS),
    seconds=LENGTHS,
    jobs=st.integers(1, 6),
    turns=st.integers(1, 4),
    dies=st.sampled_from([False, False, False, True]),
)
CHANGES = st.builds(
    Change,
    after=AFTER,
    tenant=st.sampled_from(TENANTS),
    cap=st.integers(0, WIDEST),
    paused=st.booleans(),
)
AN_HOUR = 3600 * SECOND
EXAMPLES = settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(params=["seconds", "turns"])
def fairness(request: pytest.FixtureRequest, settings: Any) -> str:
    """Both ways to share, with the simulator's lease and caps."""
    ours = {"LEASE": LEASE, "CAP": WIDEST, "SLICE": 1.0, "FAIRNESS": request.param}
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, **ours}
    return str(request.param)


@EXAMPLES
@given(
    steps=st.lists(st.one_of(PUSHES, PUSHES, PUSHES, CHANGES), min_size=5, max_size=25),
    workers=st.integers(1, 4),
    weights=st.fixed_dictionaries(dict.fromkeys(TENANTS, WEIGHTS)),
)
def test_no_wait_passes_its_bound(
    fairness: str,
    redis: Redis,
    steps: list[Push | Change],
    workers: int,
    weights: dict[str, float],
) -> None:
    """Whatever arrives, dies, is paused or capped: an eligible tenant is served in time."""
    redis.flushall()
    _, seen = play(redis, steps, workers=workers, weights=weights)
    assert [wait for wait in seen.waited if not wait.kept] == []


@EXAMPLES
@given(
    lengths=st.fixed_dictionaries({"a": st.lists(LENGTHS, min_size=1, max_size=8), "b": LENGTHS}),
    workers=st.integers(1, 4),
    weights=st.fixed_dictionaries({"a": WEIGHTS, "b": WEIGHTS}),
)
def test_the_gap_between_two_busy_tenants_stays_within_its_bound(
    redis: Redis,
    settings: Any,
    lengths: Mapping[str, Any],
    workers: int,
    weights: dict[str, float],
) -> None:
    """In worker-seconds over weight: the longest turn, and one more for each other worker."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": LEASE, "CAP": 99, "SLICE": 1.0}
    redis.flushall()
    limits = {tenant: Limit(99, weight) for tenant, weight in weights.items()}
    policy = LanesPolicy(redis, limits)
    watch = Watch(cap=lambda tenant: 99)
    world = World(policy, workers, watch)
    world.at(SECOND, lambda: _busy(world, lengths, workers))
    least = min(weights.values())
    while world.claims < 120:
        world.run(AN_HOUR, claims=world.claims + 1)
        used = watch.used_until(world.now)
        shares = {tenant: used.get(tenant, 0) / weight for tenant, weight in weights.items()}
        for mine, other in (("a", "b"), ("b", "a")):
            bound = LONGEST / weights[mine] + (workers - 1) * LONGEST / least
            assert shares[mine] - shares[other] <= bound + 0.001


def _busy(world: World, lengths: Mapping[str, Any], workers: int) -> None:
    """Each tenant has more jobs than workers, which come back for ever; both begin at once."""
    world.push(
        *(
            Job(tenant, round(seconds * SECOND), turns=10**6)
            for tenant, each in lengths.items()
            for seconds in (each if isinstance(each, list) else [each]) * (workers + 1)
        )
    )


@EXAMPLES
@given(
    steps=st.lists(PUSHES, min_size=5, max_size=25),
    workers=st.integers(1, 4),
    weights=st.fixed_dictionaries(dict.fromkeys(TENANTS, WEIGHTS)),
)
def test_with_turns_each_other_tenant_goes_before_at_most_once(
    redis: Redis, settings: Any, steps: list[Push], workers: int, weights: dict[str, float]
) -> None:
    """Least recently served: between two claims of a waiting tenant nobody is served twice."""
    ours = {"LEASE": LEASE, "CAP": WIDEST, "SLICE": 1.0, "FAIRNESS": "turns"}
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, **ours}
    redis.flushall()
    order = _Order()
    limits = {tenant: Limit(WIDEST, weight) for tenant, weight in weights.items()}
    world = World(LanesPolicy(redis, limits), workers, order)
    at = SECOND
    for step in steps:
        at += round(step.after * SECOND)
        world.at(at, lambda it=step: _push(world, it))
    world.run(AN_HOUR)
    assert order.served_twice == []


def _push(world: World, step: Push) -> None:
    length = round(step.seconds * SECOND)
    world.push(*(Job(step.tenant, length, turns=step.turns) for _ in range(step.jobs)))


class _Order:
    """Notes who was served while others, below their cap with jobs waiting, were not."""

    def __init__(self) -> None:
        self.waiting: dict[str, int] = dict.fromkeys(TENANTS, 0)
        self.live: dict[str, int] = dict.fromkeys(TENANTS, 0)
        self.before: dict[str, list[str]] = {}
        self.served_twice: list[tuple[str, list[str]]] = []

    def pushed(self, now: int, job: Job) -> None:
        self.waiting[job.tenant] += 1
        self._look(job.tenant)

    def claimed(self, now: int, claim: Any) -> None:
        tenant = claim.job.tenant
        self.waiting[tenant] -= 1
        self.live[tenant] += 1
        self.before.pop(tenant, None)
        for other, served in self.before.items():
            if tenant in served:
                self.served_twice.append((other, [*served, tenant]))
            served.append(tenant)
        self._look(tenant)

    def ended(self, now: int, claim: Any, *, again: bool) -> None:
        self.live[claim.job.tenant] -= 1
        self.waiting[claim.job.tenant] += again
        self._look(claim.job.tenant)

    def _look(self, tenant: str) -> None:
        if self.waiting[tenant] and self.live[tenant] < WIDEST:
            self.before.setdefault(tenant, [])
        else:
            self.before.pop(tenant, None)


def test_when_all_is_done_no_tenant_is_remembered(redis: Redis, settings: Any) -> None:
    """Thirty tenants at once, each ahead of the clock in the end; what is left of them expires."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": 60.0, "CAP": 4}
    policy = LanesPolicy(redis)
    world = World(policy, 30, Watch(cap=lambda tenant: 4))
    world.at(SECOND, lambda: world.push(*(Job(f"t{it}", 3 * SECOND) for it in range(30))))
    world.run(AN_HOUR)
    for _ in range(3):
        assert isinstance(policy.lanes.claim("worker"), Idle)
    lasting = {key for key in redis.scan_iter("fairimport:sim:*") if redis.ttl(key) == -1}
    assert {key.decode().split(":")[2] for key in lasting} <= {"clock", "epoch", "workers"}
