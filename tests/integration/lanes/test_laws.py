"""The laws of the lanes: the scripts against a plain model, whatever is done in whatever order."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from rq.suspension import resume, suspend

from fairimport.lanes import Limit
from fairimport.lanes.lanes import Claimed
from tests import lanereasons
from tests.lanelab import Lab
from tests.lanemodel import Job, Model

TENANTS = st.sampled_from(["", "a", "b", "c:d", "ü"])


class Lanes(RuleBasedStateMachine):
    """Each rule does one thing to Redis and to the model; the invariants compare them."""

    lab: Lab
    turns: bool
    number = 0

    @initialize()
    def begin(self) -> None:
        self.lab.redis.flushall()
        self.lab.__init__(self.lab.redis)
        self.lab.lanes.load_limits({}, wait=0)
        times = {"guess": 1_000_000, "term": 2_000_000}
        self.model = Model(**times, max_lapses=3, turns=self.turns, open=True)
        self.clock = 0
        self.requests: list[str] = []

    @rule(tenant=TENANTS, count=st.integers(1, 3), front=st.booleans(), ticket=st.booleans())
    def push(self, tenant: str, count: int, front: bool, ticket: bool) -> None:
        for _ in range(count):
            self.push_one(tenant, front, ticket)

    def push_one(self, tenant: str, front: bool, ticket: bool) -> None:
        self.number += 1
        job = f"job-{self.number}"
        marks = {name: "1" for name, on in (("front", front), ("ticket", ticket)) if on}
        self.lab.push(job, tenant, **marks)
        self.model.jobs[job] = Job(tenant, front=front, ticket=ticket)
        self.model.inbox.append(job)

    @rule()
    def route(self) -> None:
        self.lab.lanes.route()
        self.model.route()

    @rule()
    def claim(self) -> None:
        self.number += 1
        request = f"lease-{self.number:06d}"
        found = self.lab.lanes.claim("worker", request)
        self.model.route()
        expected = self.model.claim(request, self.lab.now)
        assert (found.job_id if isinstance(found, Claimed) else None) == expected
        if expected is not None:
            self.requests.append(request)

    @rule(
        tenants=st.lists(TENANTS, max_size=3),
        rounds=st.integers(1, 3),
        seconds=st.sampled_from([0.2, 1.0, 1.7]),
        how=st.sampled_from(["done", "yielded"]),
    )
    def work(self, tenants: list[str], rounds: int, seconds: float, how: str) -> None:
        """What happens most: jobs come, are claimed, take their time, and end."""
        for tenant in tenants:
            self.push_one(tenant, front=False, ticket=False)
        for _ in range(rounds):
            before = len(self.requests)
            self.claim()
            self.lab.sleep(seconds)
            for request in self.requests[before:]:
                self.end(request, how)

    @precondition(lambda self: self.model.leases)
    @rule(data=st.data())
    def claim_asked_again(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(sorted(self.model.leases)))
        found = self.lab.lanes.claim("worker", request)
        self.model.route()
        assert isinstance(found, Claimed)
        assert found.job_id == self.model.claim(request, self.lab.now)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        request = data.draw(st.sampled_from(self.requests))
        args = (request, "worker", "a", "no-job", 0)
        reply = self.lab.lanes.scripts.run(self.lab.redis, "renew", *args)
        assert reply[0].decode() == self.model.renew(request, self.lab.now)

    @precondition(lambda self: self.requests)
    @rule(data=st.data(), how=st.sampled_from(["done", "failed", "yielded", "released"]))
    def settle(self, data: st.DataObject, how: str) -> None:
        self.end(data.draw(st.sampled_from(self.requests[-8:])), how)

    def end(self, request: str, how: str) -> None:
        settled = self.lab.lanes.settle(request, how)
        assert settled == self.model.settle(request, how, self.lab.now)

    @rule(seconds=st.sampled_from([0.000001, 0.1, 0.7, 1.9, 2.0, 40.0]))
    def time_passes(self, seconds: float) -> None:
        self.lab.sleep(seconds)

    @rule()
    def reap(self) -> None:
        lapses = self.lab.lanes.reap()
        assert [it.job_id for it in lapses] == self.model.reap(self.lab.now, 16)
        self.model.forget(16)

    @rule(
        tenant=TENANTS,
        cap=st.integers(0, 3),
        weight=st.sampled_from([0.5, 1.0, 3.0]),
        paused=st.booleans(),
    )
    def limit(self, tenant: str, cap: int, weight: float, paused: bool) -> None:
        self.lab.lanes.set_limits({tenant: Limit(cap, weight, paused)})
        self.model.set_limit(tenant, cap, weight, paused)

    @precondition(lambda self: self.model.jobs)
    @rule(data=st.data(), deleted=st.booleans())
    def cancel_or_delete(self, data: st.DataObject, deleted: bool) -> None:
        """As stock RQ does it: the id stays where it is, and is found dead later."""
        job = data.draw(st.sampled_from(sorted(self.model.jobs)))
        if deleted:
            self.lab.redis.delete(f"rq:job:{job}")
            del self.model.jobs[job]
        else:
            self.lab.redis.hset(f"rq:job:{job}", "status", "canceled")
            self.model.jobs[job].status = "canceled"

    @precondition(lambda self: self.model.jobs)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(sorted(self.model.jobs)))
        self.lab.lanes.remove(job)
        tenant = self.model.jobs[job].tenant
        lane = self.model.lanes.get(tenant, [])
        self.model.inbox = [it for it in self.model.inbox if it != job]
        if job in lane:
            self.model.lanes[tenant] = [it for it in lane if it != job]
            self.model.place(tenant, self.model.stand(tenant))

    @rule(on=st.booleans())
    def suspension(self, on: bool) -> None:
        """RQ's workers see it; the scripts only tell of it."""
        (suspend if on else resume)(self.lab.redis)
        self.model.suspended = on

    @precondition(lambda self: self.model.jobs)
    @rule(data=st.data(), tenant=TENANTS)
    def push_a_dependent(self, data: st.DataObject, tenant: str) -> None:
        """It is in no list, until its parents let it go."""
        ids = st.lists(st.sampled_from(sorted(self.model.jobs)), max_size=3, unique=True)
        parents = data.draw(ids)
        self.number += 1
        job = f"job-{self.number}"
        fields = {"status": "deferred", "tenant": tenant, "dependency_ids": json.dumps(parents)}
        self.lab.redis.hset(f"rq:job:{job}", mapping=fields)
        self.model.jobs[job] = Job(tenant, status="deferred", depends_on=tuple(parents))

    @rule()
    def look_while_the_lanes_are_closed(self) -> None:
        """As after a loss, before the limits are loaded."""
        epoch = self.lab.lanes.keys.prefix + "epoch"
        kept = self.lab.redis.getdel(epoch)
        self.model.open = False
        self.jobs_are_told_what_keeps_them()
        self.lab.redis.set(epoch, kept)
        self.model.open = True

    @rule()
    def everything_is_lost(self) -> None:
        if self.number % 7 == 0:
            self.begin()

    @invariant()
    def redis_is_as_the_model_says(self) -> None:
        for name in ("ready", "parked", "resting"):
            assert self.lab.scores(name) == getattr(self.model, name), name
        assert self.lab.scores("deadlines") == self.model.deadlines
        for tenant in ("", "a", "b", "c:d", "ü"):
            assert self.lab.lane(tenant) == self.model.lanes.get(tenant, [])
            assert len(self.lab.leases(tenant)) == self.model.live(tenant)
            assert self.lab.mean(tenant) == self.model.means.get(tenant)
        for job_id, job in self.model.jobs.items():
            assert self.lab.status(job_id) == job.status

    @invariant()
    def jobs_are_told_what_keeps_them(self) -> None:
        """The oldest, the latest and one between; and the tenants of these in a snapshot."""
        jobs = sorted(self.model.jobs, key=len)
        chosen = {jobs[0], jobs[self.number % len(jobs)], jobs[-1]} if jobs else set()
        for job in (*chosen, "no-job"):
            code, facts = lanereasons.explain(self.model, job, self.lab.now)
            told = self.lab.lanes.explain(job)
            assert (told.code, told.facts.keys()) == (code, facts.keys()), job
            times = {name for name in facts if name in ("seconds", "last_seen")}
            assert all(told.facts[name] == facts[name] for name in facts.keys() - times), job
            assert all(abs(told.facts[name] - facts[name]) < 0.001 for name in times), job
        tenants = {self.model.jobs[job].tenant for job in chosen}
        for tenant, state in self.lab.lanes.snapshot(tenants).tenants.items():
            assert state.reason == lanereasons.reason(self.model, tenant, self.lab.now)

    @invariant()
    def the_clock_never_goes_back(self) -> None:
        clock = int(self.lab.redis.get(self.lab.lanes.keys.prefix + "clock") or 0)
        assert clock == self.model.clock
        assert clock >= self.clock
        self.clock = clock

    @invariant()
    def nobody_is_above_the_cap_by_a_claim(self) -> None:
        """A cap may be lowered below what runs; no claim is made above it."""
        for tenant in self.model.ready:
            assert self.model.live(tenant) < self.model.ceiling(tenant)

    @invariant()
    def idle_tenants_leave_nothing_behind(self) -> None:
        for tenant in self.model.resting:
            assert not self.model.lanes.get(tenant)
            assert not self.model.live(tenant)


@pytest.mark.parametrize(
    ("fairness", "examples", "steps"), [("seconds", 60, 15), ("seconds", 25, 60), ("turns", 25, 30)]
)
def test_the_scripts_do_what_the_model_says(
    closed: Lab, settings: pytest.FixtureRequest, fairness: str, examples: int, steps: int
) -> None:
    """Whatever happens in whatever order, Redis holds exactly what the plain model holds."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "FAIRNESS": fairness}
    Lanes.lab, Lanes.turns = closed, fairness == "turns"
    run_state_machine_as_test(
        Lanes,
        settings=hypothesis_settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
            database=None,
        ),
    )
