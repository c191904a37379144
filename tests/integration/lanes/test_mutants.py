"""What `python -m bench mutate` found untested: a test for each fault that nobody noticed."""

from __future__ import annotations

import json
import math
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis import Redis

from fairimport.lanes import Limit
from fairimport.lanes.claims import Claim
from fairimport.lanes.lanes import Claimed, Idle, Lanes
from tests.lanelab import Lab

MICRO = timedelta(microseconds=1)


def held(found: Claimed) -> Claim:
    """The claim as a worker has it."""
    return Claim(
        lease_id=found.lease_id,
        tenant=found.tenant,
        job_id=found.job_id,
        started_monotonic=0.0,
    )


def longest_wait(lab: Lab, tenant: str) -> int:
    """Microseconds of the tenant's longest wait in the running minute."""
    key = f"{lab.lanes.keys.prefix}slow:{lab.now // 60_000_000}"
    return round(lab.redis.zscore(key, tenant))


@pytest.mark.parametrize(
    "day",
    [
        *(datetime(2026, month, 17, 6, 7, 8, 123457, tzinfo=UTC) for month in range(1, 13)),
        datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2024, 3, 1, tzinfo=UTC),
        datetime(2025, 12, 31, 12, 30, tzinfo=UTC),
        datetime(2099, 12, 31, tzinfo=UTC),
        datetime(2100, 3, 1, tzinfo=UTC),
        datetime(2101, 1, 1, tzinfo=UTC),
        datetime(2400, 3, 1, tzinfo=UTC),
        datetime(2401, 1, 1, tzinfo=UTC),
    ],
    ids=lambda day: day.date().isoformat(),
)
def test_rqs_times_are_read_as_what_they_are(lab: Lab, day: datetime) -> None:
    """A wait is counted from the moment that RQ wrote, to the microsecond, on any day."""
    lab.now = (day - datetime(1970, 1, 1, tzinfo=UTC)) // MICRO
    lab.sleep(2.5)
    lab.push("job", "acme", enqueued_at=day.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    lab.claim()
    assert longest_wait(lab, "acme") == 2_500_000


def test_a_job_that_came_back_waits_since_then(lab: Lab) -> None:
    """Not since RQ enqueued it: it has been served in between."""
    began = datetime.fromtimestamp(lab.now / 1_000_000, UTC)
    lab.push("job", "acme", enqueued_at=began.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))
    first = lab.claim()
    lab.sleep(1.0)
    assert lab.lanes.settle(first.lease_id, "yielded")
    lab.sleep(0.25)
    lab.claim()
    assert longest_wait(lab, "acme") == 250_000


def test_a_wait_of_unknown_begin_is_none(lab: Lab) -> None:
    """A hash without times, as other tools write it, counts as no wait at all."""
    lab.push("job", "acme", enqueued_at="yesterday")
    lab.sleep(3)
    lab.claim()
    assert longest_wait(lab, "acme") == 0


def test_an_execution_has_rqs_times_in_seconds(lab: Lab) -> None:
    """RQ reads `created_at` and `last_heartbeat` as seconds with a fraction."""
    lab.sleep(0.25)
    lab.push("job", "acme")
    found = lab.claim()
    stored = lab.redis.hgetall(f"rq:execution:job:{found.lease_id}")
    seconds = f"{lab.now / 1_000_000:.6f}".encode()
    assert stored[b"created_at"] == stored[b"last_heartbeat"] == seconds
    assert stored[b"id"] == found.lease_id.encode()
    assert stored[b"job_id"] == b"job"
    assert stored[b"worker_name"] == b"worker"


# -- what a claim writes, and its end takes away ---------------------------------------------


def test_a_started_job_has_its_marks_and_loses_them(lab: Lab) -> None:
    """RQ's registries know the execution while it lasts, for no clean-up's clock, and not after."""
    lab.push("job", "acme", since=lab.now)
    lab.redis.expire("rq:job:job", 1000)
    found = lab.claim()
    member = f"job:{found.lease_id}"
    assert lab.redis.ttl("rq:job:job") == -1
    assert not lab.redis.hexists("rq:job:job", "since")
    assert lab.redis.zscore("rq:executions:job", found.lease_id) == math.inf
    assert lab.redis.zscore("rq:wip:imports", member) == math.inf
    assert lab.redis.smembers("rq:worker:worker:executions") == {member.encode()}
    assert lab.redis.hget("rq:worker:worker", "state") == b"busy"
    assert lab.lanes.settle(found.lease_id, "done")
    left = {key.decode() for key in lab.redis.scan_iter("rq:*")}
    assert left == {"rq:job:job", "rq:worker:worker"}


def test_redis_own_time_is_in_microseconds(lanes: Lanes, redis: Redis) -> None:
    """The real clock, which the other tests replace."""
    redis.hset("rq:job:job", mapping={"status": "queued", "tenant": "acme"})
    redis.rpush(lanes.keys.inbox, "job")
    before = time.time()
    assert isinstance(lanes.claim("worker"), Claimed)
    started = lanes.leases("acme")[0].started
    assert before - 0.001 <= started <= time.time() + 0.001
    assert started != int(started)


def test_a_lane_of_dead_ids_alone_is_an_empty_lane(lab: Lab) -> None:
    """The claim that finds out goes on, and the tenant is forgotten."""
    for job in ("gone", "stopped"):
        lab.push(job, "acme")
    lab.lanes.route()
    lab.redis.delete("rq:job:gone")
    lab.redis.hset("rq:job:stopped", "status", "stopped")
    assert isinstance(lab.lanes.claim("worker"), Idle)
    assert lab.scores("ready") == lab.scores("parked") == {}


# -- charging --------------------------------------------------------------------------------


def test_with_turns_no_time_is_charged(lab: Lab, settings: Any) -> None:
    """Neither as it passes nor at the end."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "FAIRNESS": "turns"}
    lab.push("job", "acme")
    lab.push("next", "acme")
    found = lab.claim()
    before = lab.virtual_time("acme")
    for _ in range(3):
        lab.sleep(1.5)
        assert lab.lanes.renew(held(found), "worker") == "renewed"
    assert lab.virtual_time("acme") == before
    assert lab.lanes.settle(found.lease_id, "done")
    assert lab.virtual_time("acme") == before


def test_a_heavy_tenant_is_charged_less_at_every_step(lab: Lab) -> None:
    """Guess, renewals and settlement are all over the weight that the claim was made with."""
    lab.lanes.set_limits({"acme": Limit(2, weight=4.0)})
    lab.push("job", "acme")
    lab.push("next", "acme")
    lab.lanes.route()
    begun = lab.virtual_time("acme")
    found = lab.claim()
    assert lab.virtual_time("acme") - begun == 250_000
    lab.sleep(1.8)
    assert lab.lanes.renew(held(found), "worker") == "renewed"
    assert lab.virtual_time("acme") - begun == 450_000
    lab.lanes.set_limits({"acme": Limit(2, weight=1.0)})
    lab.sleep(0.2)
    assert lab.lanes.settle(found.lease_id, "done")
    assert lab.virtual_time("acme") - begun == 500_000


# -- lapses ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure_ttl", "kept"), [(None, 31_536_000), ("100", 100), ("0", 0), ("-1", None)]
)
def test_a_job_that_is_given_up_is_kept_as_its_host_wants(
    lab: Lab, failure_ttl: str | None, kept: int | None
) -> None:
    """In RQ's failed registry for its failure TTL: a year unless set, for ever below zero."""
    marks = {"failure_ttl": failure_ttl} if failure_ttl else {}
    lab.push("job", "acme", **marks)
    lab.sleep(0.75)
    verdicts = []
    for _ in range(3):
        assert not lab.redis.exists(lab.lanes.keys.owed)
        lab.claim()
        lab.sleep(2.0)
        verdicts += lab.lanes.scripts.run(lab.redis, "reap", 16)[1]
    assert verdicts == [[b"job", b"acme", b"back"]] * 2 + [[b"job", b"acme", b"given_up"]]
    score = lab.redis.zscore("rq:failed:imports", "job")
    assert score == (-1 if kept is None else lab.now // 1_000_000 + kept)
    assert lab.redis.smembers(lab.lanes.keys.owed) == {b"job"}
    assert lab.redis.hmget("rq:job:job", "given_up", "lapses") == [b"1", None]
    assert lab.lane("acme") == []


def test_the_facade_tells_lapses_that_gave_up(lab: Lab) -> None:
    """From the words of the script."""
    lab.push("job", "acme")
    given_up = []
    for _ in range(3):
        lab.claim()
        lab.sleep(2.0)
        given_up += [lapse.given_up for lapse in lab.lanes.reap()]
    assert given_up == [False, False, True]


# -- what the bound is computed from ---------------------------------------------------------


def looked_at(lab: Lab, *tenants: str) -> dict[str, Any]:
    """The raw reply of the script."""
    found: dict[str, Any] = json.loads(lab.lanes.scripts.run(lab.redis, "snapshot", 9, *tenants))
    return found


def test_a_snapshot_says_who_works_and_what_is_charged_ahead(lab: Lab) -> None:
    """Account and virtual time differ by what guesses have not used up, over the weight."""
    lab.lanes.set_limits({"a": Limit(3, weight=2.0)})
    for job in ("a1", "a2", "b1"):
        lab.push(job, job[0])
    lab.lanes.route()
    lab.claim()
    lab.sleep(0.25)
    lab.claim()
    lab.sleep(0.5)
    seen = looked_at(lab, "a", "b")
    working = seen["working"]
    assert set(working) == {"a", "b"}
    for tenant, weight, ahead in (("a", 2.0, 250_000), ("b", 1.0, 500_000)):
        row = working[tenant]
        assert (row["live"], row["weight"]) == (1, weight)
        assert row["v"] == lab.virtual_time(tenant)
        assert row["v"] - row["account"] == ahead / weight
    assert (working["a"]["ready"], working["b"]["ready"]) == (True, False)
    assert (seen["all"]["turn"], seen["all"]["over"]) == (750_000, 0)
    assert (seen["cap"], seen["weight"]) == (3, 2.0)
    assert float(seen["first"]) == lab.virtual_time("a")


def test_the_longest_turn_and_excess_are_seen_while_they_run(lab: Lab) -> None:
    """And kept for the window once they are over."""
    lab.push("job", "a")
    found = lab.claim()
    lab.sleep(1.75)
    running = looked_at(lab, "a")["all"]
    assert (running["turn"], running["over"]) == (1_750_000, 750_000)
    assert lab.lanes.settle(found.lease_id, "done")
    kept = looked_at(lab, "a")["all"]
    assert (kept["turn"], kept["over"]) == (1_750_000, 750_000)
    lab.sleep(360)
    assert looked_at(lab, "a")["all"] == {"turn": 0, "over": 0}


def test_nothing_is_charged_ahead_with_turns(lab: Lab, settings: Any) -> None:
    """Order is all there is."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "FAIRNESS": "turns"}
    lab.push("job", "a")
    lab.claim()
    row = looked_at(lab, "a")["working"]["a"]
    assert row["v"] == row["account"]
    assert looked_at(lab, "a")["all"]["over"] == 0


def test_rivals_are_those_who_can_come_first(lab: Lab) -> None:
    """Up to where its own running claims may move a tenant."""
    for job in ("a1", "a2", "b1", "b2"):
        lab.push(job, job[0])
    lab.lanes.route()
    rows = looked_at(lab, "a", "b")["tenants"]
    assert (rows["a"]["rivals"], rows["b"]["rivals"]) == (0, 1)
    lab.claim()
    lab.sleep(1.5)
    rows = looked_at(lab, "a", "b")["tenants"]
    assert (rows["a"]["rivals"], rows["b"]["rivals"]) == (1, 0)


def test_loading_limits_forgets_what_was_largest(lab: Lab) -> None:
    """Largest cap and weight are those of the limits that are there."""
    lab.lanes.set_limits({"a": Limit(9, weight=5.0), "b": Limit(1, weight=0.5)})
    assert [looked_at(lab, "a")[name] for name in ("cap", "weight")] == [9, 5.0]
    lab.lanes.load_limits({"b": Limit(3, weight=0.5)}, wait=0)
    assert [looked_at(lab, "a")[name] for name in ("cap", "weight")] == [3, 0.5]
    lab.lanes.load_limits({}, wait=0)
    assert [looked_at(lab, "a")[name] for name in ("cap", "weight")] == [0, 0]
