"""What the scripts answer and leave behind, to the letter: the second part of `test_mutants.py`."""

from __future__ import annotations

import json
from typing import Any

from fairimport.lanes import Limit
from fairimport.lanes.lanes import Claimed, Closed, Idle
from tests.lanelab import Lab


def longest_wait(lab: Lab, tenant: str) -> int:
    """Microseconds of the tenant's longest wait in the running minute."""
    key = f"{lab.lanes.keys.prefix}slow:{lab.now // 60_000_000}"
    return round(lab.redis.zscore(key, tenant))


def resting(lab: Lab, count: int) -> None:
    """So many tenants rest whom the clock has just reached."""
    prefix = lab.lanes.keys.prefix
    lab.redis.set(prefix + "clock", 100)
    for number in range(count):
        lab.redis.zadd(prefix + "resting", {f"r{number:02d}": 100})


# -- route -----------------------------------------------------------------------------------


def routed(lab: Lab, most: int) -> list[int]:
    """The raw reply: ids taken, ids left."""
    return [int(it) for it in lab.lanes.scripts.run(lab.redis, "route", most)[1:]]


def test_route_takes_as_many_as_it_is_asked_to(lab: Lab) -> None:
    """The landing list first; it tells how many it took, and how many both lists still have."""
    for number in range(6):
        lab.push(f"j{number}", "a")
    for _ in range(3):
        lab.redis.lmove(lab.lanes.keys.inbox, lab.lanes.keys.landing, "LEFT", "RIGHT")
    assert routed(lab, 1) == [1, 5]
    assert routed(lab, 2) == [2, 3]
    assert lab.lane("a") == ["j0", "j1", "j2"]
    lab.redis.lmove(lab.lanes.keys.inbox, lab.lanes.keys.landing, "LEFT", "RIGHT")
    assert routed(lab, 2) == [2, 1]
    assert routed(lab, 2) == [1, 0]
    assert routed(lab, 2) == [0, 0]
    assert lab.lane("a") == [f"j{number}" for number in range(6)]


def test_those_at_the_front_keep_rqs_order(lab: Lab) -> None:
    """RQ's list has the latest first; so has the lane, before all others."""
    lab.push("old", "a")
    lab.lanes.route()
    for job in ("third", "second", "first"):
        lab.push(job, "a", front="1")
    lab.push("last", "a")
    lab.lanes.route()
    assert lab.lane("a") == ["third", "second", "first", "old", "last"]


def test_a_retry_that_never_ended_is_no_retry(lab: Lab) -> None:
    """RQ writes an empty time for a job that has not ended."""
    lab.push("old", "a")
    lab.push("new", "a", enqueue_at_front_on_retry="1", ended_at="")
    lab.push("zero", "a", front="0", enqueue_at_front="0")
    lab.lanes.route()
    assert lab.lane("a") == ["old", "new", "zero"]


def test_a_job_of_nobody_is_of_the_tenant_without_a_name(lab: Lab) -> None:
    """Alone, or after a job that has no tenant either; it is written down."""
    lab.redis.hset("rq:job:parent", "status", "finished")
    lab.redis.hset("rq:job:child", mapping={"status": "queued", "dependency_id": "parent"})
    lab.redis.hset("rq:job:alone", "status", "queued")
    lab.redis.rpush(lab.lanes.keys.inbox, "child", "alone")
    lab.lanes.route()
    assert lab.lane("") == ["child", "alone"]
    assert lab.redis.hget("rq:job:child", "tenant") == b""
    assert lab.redis.hget("rq:job:alone", "tenant") == b""
    lab.push("own", "b", dependency_id="parent")
    lab.lanes.route()
    assert lab.lane("b") == ["own"]


# -- claim -----------------------------------------------------------------------------------


def test_a_wait_that_begins_in_the_future_is_none(lab: Lab) -> None:
    """Clocks of hosts differ; a wait is never below zero, and zero exactly."""
    lab.push("job", "acme", since=lab.now + 5_000_000)
    lab.claim()
    assert longest_wait(lab, "acme") == 0


def test_a_claim_takes_sixteen_lapses_back_at_most(lab: Lab) -> None:
    """The next one goes on, so that no claim is held up by a crowd of dead workers."""
    lab.lanes.set_limits({"a": Limit(17)})
    for number in range(17):
        lab.push(f"j{number}", "a", ticket="1")
    for _ in range(17):
        lab.claim()
    lab.sleep(3)
    assert len(lab.claim().lapses) == 16
    assert len(lab.claim().lapses) == 1


def test_a_claim_forgets_sixteen_who_rest_at_most(lab: Lab) -> None:
    """Those whom the clock has passed; the others go with later claims."""
    resting(lab, 17)
    lab.push("job", "a")
    lab.claim()
    assert lab.scores("resting") == {"r16": 100}


def test_an_idle_claim_waits_for_the_earliest_deadline(lab: Lab) -> None:
    """Not for the last one."""
    lab.push("one", "a")
    lab.push("two", "a")
    lab.claim()
    lab.sleep(0.5)
    lab.claim()
    assert lab.lanes.claim("w") == Idle(wait=1.5, live=2)


def test_a_load_that_lowers_a_cap_lets_nothing_in(lab: Lab) -> None:
    """The tenant is ready still; the claim that meets it sees the cap, and parks it."""
    lab.push("one", "a")
    lab.push("two", "a")
    found = lab.claim()
    assert set(lab.scores("ready")) == {"a"}
    lab.lanes.load_limits({"a": Limit(1)}, wait=0)
    assert isinstance(lab.lanes.claim("w"), Idle)
    assert set(lab.scores("parked")) == {"a"}
    assert lab.lanes.settle(found.lease_id, "done")
    assert lab.claim().job_id == "two"


def test_the_clock_passes_who_rests_once_nobody_works(lab: Lab) -> None:
    """Nobody is left to whom they owe anything; while a lease lives the clock stands."""
    clock = lab.lanes.keys.prefix + "clock"
    resting(lab, 1)
    lab.redis.zadd(lab.lanes.keys.prefix + "resting", {"ahead": 900, "more": 1000})
    lab.push("job", "a")
    found = lab.claim()
    before = int(lab.redis.get(clock))
    assert before < 900
    assert isinstance(lab.lanes.claim("w"), Idle)
    assert int(lab.redis.get(clock)) == before
    lab.redis.zadd(lab.lanes.keys.prefix + "parked", {"a": 50})
    assert lab.lanes.settle(found.lease_id, "done")
    assert isinstance(lab.lanes.claim("w"), Idle)
    assert int(lab.redis.get(clock)) == 1000


def test_who_rests_comes_back_to_its_account(lab: Lab) -> None:
    """Who is ahead of the clock and has nothing waiting rests; it does not come back for free."""
    lab.push("held", "b")
    lab.claim()
    lab.push("one", "a")
    lab.work(1.5)
    v = lab.virtual_time("a")
    assert lab.scores("resting") == {"a": v}
    assert "a" not in lab.scores("ready")
    lab.push("two", "a")
    lab.lanes.route()
    assert lab.scores("ready") == {"a": v}
    assert lab.scores("resting") == {}


def test_turns_after_seconds_go_behind_all_who_wait(lab: Lab, settings: Any) -> None:
    """Whatever virtual time the others had when the host changed its mind."""
    for job in ("b1", "b2"):
        lab.push(job, "b")
    lab.work(5)
    lab.push("a1", "a")
    lab.push("a2", "a")
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "FAIRNESS": "turns"}
    assert [lab.claim().tenant for _ in range(2)] == ["a", "b"]


# -- settle, renew ---------------------------------------------------------------------------


def test_time_that_goes_back_uses_nothing(lab: Lab) -> None:
    """Redis' clock may be set; nothing negative is learned, counted or told."""
    lab.push("job", "a")
    found = lab.claim()
    lab.sleep(-1)
    row = json.loads(lab.lanes.scripts.run(lab.redis, "snapshot", 9))["working"]["a"]
    assert row["v"] - row["account"] == 1_000_000
    lab.push("next", "a")
    lab.lanes.route()
    assert lab.lanes.scripts.run(lab.redis, "settle", found.lease_id, "done") == [b"settled", 0]
    assert lab.mean("a") == 0


def test_means_move_by_an_eighth(lab: Lab) -> None:
    """Of the difference, rounded to the microsecond; a release teaches nothing."""
    for number in range(4):
        lab.push(f"j{number}", "a")
    lab.push("b", "b")
    for micros, mean in ((3, 3), (7, 4), (0, 4), (1_000_000, 125_004)):
        found = next(it for it in iter(lab.claim, None) if it.tenant == "a")
        lab.sleep(micros / 1_000_000)
        assert lab.lanes.settle(found.lease_id, "done")
        assert lab.mean("a") == mean


def test_an_end_forgives_every_lapse(lab: Lab) -> None:
    """A single one, too; a job that comes again begins with none. Its lease knows of them."""
    lab.push("job", "a")
    lease = f"{lab.lanes.keys.prefix}lease:"
    assert lab.redis.hget(lease + lab.claim().lease_id, "lapses") == b"0"
    lab.sleep(2.0)
    assert lab.lanes.reap()
    assert lab.redis.hget("rq:job:job", "lapses") == b"1"
    found = lab.claim()
    assert lab.redis.hget(lease + found.lease_id, "lapses") == b"1"
    assert lab.lanes.settle(found.lease_id, "yielded")
    assert not lab.redis.hexists("rq:job:job", "lapses")


def test_a_release_forgives_no_lapse(lab: Lab) -> None:
    """It is no end: the third lapse gives up although the job was released in between."""
    lab.push("job", "a")
    for _ in range(2):
        lab.claim()
        lab.sleep(2.0)
        lab.lanes.reap()
    assert lab.lanes.settle(lab.claim().lease_id, "released")
    lab.claim()
    lab.sleep(2.0)
    assert [lapse.given_up for lapse in lab.lanes.reap()] == [True]


def test_a_job_that_rq_queued_meanwhile_goes_back_to_its_lane(lab: Lab) -> None:
    """Its execution is still under the lease; the job must not be lost."""
    lab.push("job", "a")
    found = lab.claim()
    lab.redis.hset("rq:job:job", "status", "queued")
    assert lab.lanes.settle(found.lease_id, "yielded")
    assert lab.lane("a") == ["job"]


def test_a_renewal_is_a_sign_of_life_and_moves_both_deadlines(lab: Lab) -> None:
    """Of the worker that renews, now; the term is that of the claim."""
    lab.push("job", "a")
    found = lab.claim()
    lab.sleep(1.25)
    run = lab.lanes.scripts.run
    assert run(lab.redis, "renew", found.lease_id, "w2", "a", "job", 0) == [b"renewed"]
    until = lab.now + 2_000_000
    assert lab.scores("workers")["w2"] == lab.now
    assert lab.scores("deadlines") == lab.scores("leases:a") == {found.lease_id: until}


def test_a_lease_that_redis_lost_is_told_whole(closed: Lab) -> None:
    """What is charged is what was used until then; it is charged on from there."""
    lab = closed
    lab.lanes.set_limits({"a": Limit(2, weight=2.0)})
    run = lab.lanes.scripts.run
    assert run(lab.redis, "renew", "lost", "w", "a", "job", 750_000) == [b"renewed"]
    prefix = lab.lanes.keys.prefix
    kept = {
        key.decode(): it.decode() for key, it in lab.redis.hgetall(prefix + "lease:lost").items()
    }
    assert float(kept.pop("weight")) == 2.0
    assert kept == {
        "tenant": "a",
        "job": "job",
        "worker": "w",
        "started": str(lab.now - 750_000),
        "guess": "750000",
        "term": "2000000",
        "lapses": "0",
    }
    assert 419 <= lab.redis.ttl(prefix + "tenant:a") <= 420
    assert lab.scores("parked") == {"a": 0}
    assert lab.scores("leases:a") == lab.scores("deadlines") == {"lost": lab.now + 2_000_000}
    lab.sleep(1)
    assert run(lab.redis, "renew", "lost", "w", "a", "job", 0) == [b"renewed"]
    assert lab.scores("parked") == {"a": 500_000}


def test_a_tenant_in_no_set_is_not_brought_into_one_by_a_renewal(lab: Lab) -> None:
    """Its lease goes on all the same."""
    lab.push("job", "a")
    found = lab.claim()
    lab.redis.delete(lab.lanes.keys.prefix + "parked")
    lab.sleep(1.5)
    run = lab.lanes.scripts.run
    assert run(lab.redis, "renew", found.lease_id, "w", "a", "job", 0) == [b"renewed"]
    assert lab.scores("parked") == lab.scores("ready") == lab.scores("resting") == {}


# -- reap ------------------------------------------------------------------------------------


def test_a_reap_does_as_much_as_it_is_asked_to(lab: Lab) -> None:
    """So many lapses, and so many tenants forgotten; the earliest deadlines first."""
    lab.lanes.set_limits({"a": Limit(3)})
    for number in range(3):
        lab.push(f"j{number}", "a", ticket="1")
    for _ in range(3):
        lab.claim()
        lab.sleep(0.1)
    lab.sleep(3)
    resting(lab, 3)
    assert [lapse.job_id for lapse in lab.lanes.reap(2)] == ["j0", "j1"]
    assert set(lab.scores("resting")) == {"r02"}


def test_workers_are_forgotten_after_a_day_to_the_microsecond(lab: Lab) -> None:
    """At its end the mark goes, before it stays."""
    lab.lanes.claim("old")
    lab.sleep(0.000001)
    lab.lanes.claim("young")
    lab.sleep(86_399.999999)
    lab.lanes.reap()
    assert lab.redis.zrange(lab.lanes.keys.workers, 0, -1) == [b"young"]


# -- what is held ------------------------------------------------------------------------------


def test_holding_looks_into_every_place(lab: Lab) -> None:
    """Lane, landing list and RQ's list; a lease that is gone holds nothing."""
    for job in ("lane", "landing", "inbox"):
        lab.redis.hset(f"rq:job:{job}", mapping={"status": "queued", "tenant": "a"})
    lab.redis.rpush(lab.lanes.keys.lane("a"), "first", "lane")
    lab.redis.rpush(lab.lanes.keys.landing, "first", "landing")
    lab.redis.rpush(lab.lanes.keys.inbox, "first", "inbox")
    lab.redis.hset("rq:job:lost", mapping={"status": "started", "lease": "gone"})
    lab.redis.hset("rq:job:foreign", mapping={"status": "started"})
    lab.redis.hset("rq:job:over", mapping={"status": "finished", "tenant": "a"})
    lab.redis.rpush(lab.lanes.keys.lane("a"), "over")
    lab.redis.hset("rq:job:orphan", "status", "queued")
    lab.redis.rpush(lab.lanes.keys.lane(""), "orphan")
    asked = ["lane", "landing", "inbox", "lost", "foreign", "over", "orphan", "unknown"]
    assert lab.lanes.holding(asked) == {"lane", "landing", "inbox", "orphan"}


# -- taking out --------------------------------------------------------------------------------


def test_remove_takes_a_job_out_of_every_place(lab: Lab) -> None:
    """All of its copies, wherever they are; others stay where they are, and who waits is ready."""
    lab.push("job", "a")
    lab.push("other", "a")
    lab.lanes.route()
    lab.redis.rpush(lab.lanes.keys.lane("a"), "job")
    lab.redis.rpush(lab.lanes.keys.landing, "job", "x", "job")
    lab.redis.rpush(lab.lanes.keys.inbox, "job", "y", "job")
    assert lab.lanes.remove("job") == 6
    assert lab.lane("a") == ["other"]
    assert lab.redis.lrange(lab.lanes.keys.landing, 0, -1) == [b"x"]
    assert lab.redis.lrange(lab.lanes.keys.inbox, 0, -1) == [b"y"]
    assert set(lab.scores("ready")) == {"a"}
    assert lab.lanes.remove("other") == 1
    assert lab.scores("ready") == {}


def test_removing_nothing_moves_nobody(lab: Lab) -> None:
    """Least of all a tenant whose clean-up is due: looking is not touching."""
    lab.push("job", "a")
    prefix = lab.lanes.keys.prefix
    lab.redis.zadd(prefix + "parked", {"a": 7})
    assert lab.lanes.remove("unknown", "a") == 0
    assert lab.scores("parked") == {"a": 7}


def test_a_job_whose_hash_is_gone_is_found_by_its_tenant(lab: Lab) -> None:
    """As its caller remembers it; the hash counts if it is there."""
    lab.push("gone", "a")
    lab.push("there", "a")
    lab.lanes.route()
    lab.redis.delete("rq:job:gone")
    assert lab.lanes.remove("gone", "a") == 1
    assert lab.lanes.remove("there", "b") == 1
    assert lab.lane("a") == []


def test_drain_drops_as_many_as_it_is_asked_to(lab: Lab) -> None:
    """The hash, its dependents and results go, as with RQ's `empty`; the tenant with the last."""
    for job in ("one", "two", "three"):
        lab.push(job, "a")
        lab.redis.sadd(f"rq:job:{job}:dependents", "x")
        lab.redis.xadd(f"rq:results:{job}", {"a": "b"})
    lab.lanes.route()
    run = lab.lanes.scripts.run
    assert run(lab.redis, "drain", "a", 2) == [b"drained", 2]
    left = {key.decode() for key in lab.redis.scan_iter("rq:*")}
    assert left == {"rq:job:three", "rq:job:three:dependents", "rq:results:three"}
    assert (lab.lane("a"), set(lab.scores("ready"))) == (["three"], {"a"})
    assert run(lab.redis, "drain", "a", 2) == [b"drained", 1]
    assert lab.scores("ready") == {}
    lab.redis.zadd(lab.lanes.keys.prefix + "parked", {"a": 7})
    assert run(lab.redis, "drain", "a", 2) == [b"drained", 0]
    assert lab.scores("parked") == {"a": 7}


# -- leases and lengths ------------------------------------------------------------------------


def test_all_leases_of_a_tenant_are_told(lab: Lab) -> None:
    """And of no other; the earliest deadline first."""
    lab.lanes.set_limits({"a": Limit(3)})
    for job in ("a1", "b1", "a2", "a3"):
        lab.push(job, job[0])
    names = [lab.claim().lease_id]
    for _ in range(3):
        lab.sleep(0.25)
        names.append(lab.claim().lease_id)
    rows = lab.lanes.scripts.run(lab.redis, "leases", "a")[1]
    assert [row[1] for row in rows] == [b"a1", b"a2", b"a3"]
    for row in rows:
        started = int(row[3])
        assert row[0].decode() in names
        assert int(row[4]) - started == 2_000_000
        assert row[2] == b"worker"


def test_lengths_are_told_by_stretches(lab: Lab) -> None:
    """Of the set asked for, from place to place, both included."""
    for number in range(4):
        for _ in range(number + 1):
            lab.push(f"{number}-{_}", f"t{number}")
    lab.lanes.route()
    run = lab.lanes.scripts.run
    assert run(lab.redis, "waiting", "ready", 1, 2) == [b"waiting", [[b"t1", 2], [b"t2", 3]]]
    assert run(lab.redis, "waiting", "parked", 0, 9) == [b"waiting", []]


# -- limits ------------------------------------------------------------------------------------


def test_limits_answer_what_they_did(closed: Lab) -> None:
    """Set, staged, or loaded with how many were placed anew; staged ones count after the load."""
    lab = closed
    run = lab.lanes.scripts.run
    prefix = lab.lanes.keys.prefix
    assert run(lab.redis, "limits", "set", 0, "a", Limit(0).to_json()) == [b"set"]
    for tenant in ("a", "b"):
        lab.push(tenant, tenant)
    lab.lanes.route()
    assert set(lab.scores("parked")) == {"a"}
    staged = ("b", Limit(7, weight=3.0).to_json(), "c", Limit(4, weight=9.0).to_json())
    assert run(lab.redis, "limits", "stage", 0, *staged) == [b"staged"]
    assert set(lab.scores("parked")) == {"a"}
    assert lab.redis.hkeys(prefix + "limits") == [b"a"]
    assert not lab.lanes.is_loaded()
    assert run(lab.redis, "limits", "load", 250_000) == [b"loaded", 1]
    assert lab.redis.hkeys(prefix + "limits") == [b"b", b"c"]
    assert {int(it) for it in lab.redis.hvals(prefix + "peaks")} == {7, 9}
    assert int(lab.redis.get(prefix + "epoch")) == lab.now + 250_000
    assert set(lab.scores("ready")) == {"a", "b"}
    lab.sleep(1)
    assert run(lab.redis, "limits", "load", 250_000) == [b"loaded", 0]
    assert int(lab.redis.get(prefix + "epoch")) == lab.now - 750_000
    assert not lab.redis.exists(prefix + "staged", prefix + "peaks:staged", prefix + "limits")


def test_limits_of_one_who_rests_do_not_move_it(lab: Lab) -> None:
    """It has nothing waiting; where it stands is its account."""
    resting(lab, 1)
    lab.redis.set(lab.lanes.keys.prefix + "clock", 500)
    lab.lanes.set_limits({"r00": Limit(5)})
    assert lab.scores("resting") == {"r00": 100}


def test_lanes_are_open_at_the_moment_that_was_said(closed: Lab) -> None:
    """Then, and not a microsecond before."""
    closed.push("j", "a")
    closed.lanes.load_limits({}, wait=0.5)
    closed.sleep(0.499999)
    assert isinstance(closed.lanes.claim("w"), Closed)
    closed.sleep(0.000001)
    assert isinstance(closed.lanes.claim("w"), Claimed)
