"""The contract of each script, on a Redis whose time we move."""

from __future__ import annotations

import os
import re
from importlib import resources

import pytest
from redis import Redis
from redis.exceptions import ResponseError

from demo_site.servers import RedisServer
from fairimport.lanes import Limit
from fairimport.lanes.claims import Claim
from fairimport.lanes.lanes import Claimed, Closed, Idle, Lanes
from fairimport.lanes.scripts import CLOCK_LINE, Scripts
from tests.lanelab import BEGIN, CLOCK, Lab

LUA = resources.files("fairimport.lanes") / "lua"
NAMES = sorted(file.name.removesuffix(".lua") for file in LUA.iterdir() if file.name[0] != "_")


def held(lab: Lab, found: Claimed) -> Claim:
    """The claim as a worker has it."""
    return Claim(
        lease_id=found.lease_id,
        tenant=found.tenant,
        job_id=found.job_id,
        started_monotonic=0.0,
    )


@pytest.mark.parametrize("name", NAMES)
def test_each_script_is_one_sitting_with_a_header(name: str) -> None:
    """Flags, what it is, its reply and its cost; then the time; at most sixty lines."""
    lines = (LUA / f"{name}.lua").read_text().splitlines()
    code = [line for line in lines if not line.startswith(("--", "#!"))]
    header = "\n".join(line for line in lines if line.startswith("--"))
    assert lines[0].startswith("#!lua")
    assert lines[1].startswith(f"-- {name}: ")
    assert "-- RETURN" in header
    assert "-- COST" in header
    assert code[0] == CLOCK_LINE
    assert len(lines) < 65


@pytest.mark.parametrize("name", NAMES)
def test_a_script_carries_only_what_it_uses(lab: Lab, name: str) -> None:
    """Every shared function in it is named a second time."""
    text = Scripts(lab.lanes.keys).call(name).text
    functions = re.findall(r"^local function (\w+)", text, flags=re.MULTILINE)
    assert {"clock"} <= set(functions) < _functions_of_all_scripts()
    assert [it for it in functions if len(re.findall(rf"\b{it}\b", text)) < 2] == []


def _functions_of_all_scripts() -> set[str]:
    text = "\n".join(file.read_text() for file in LUA.iterdir())
    return set(re.findall(r"^local function (\w+)", text, flags=re.MULTILINE))


def test_the_simulators_clock_replaces_one_line(lab: Lab) -> None:
    """With another clock each script differs from the real one in that line alone."""
    for name in NAMES:
        real = Scripts(lab.lanes.keys).call(name).text.splitlines()
        simulated = Scripts(lab.lanes.keys, CLOCK).call(name).text.splitlines()
        different = [pair for pair in zip(real, simulated, strict=True) if pair[0] != pair[1]]
        assert different == [(CLOCK_LINE, CLOCK)]


def test_no_script_reads_time_but_through_the_clock() -> None:
    """`TIME` is asked for in one place."""
    text = "\n".join(file.read_text() for file in LUA.iterdir())
    assert len(re.findall(r'"TIME"', text)) == 1


# -- route -----------------------------------------------------------------------------------


def test_route_keeps_the_order_of_each_tenant(lab: Lab) -> None:
    """Ids go to their tenants' lanes in the order in which they were pushed."""
    for number in range(2500):
        lab.push(f"j{number}", f"t{number % 3}")
    assert lab.lanes.route() == 2500
    assert lab.lane("t1") == [f"j{number}" for number in range(1, 2500, 3)]
    assert lab.redis.llen(lab.lanes.keys.inbox) == 0


def test_route_takes_what_a_waking_worker_moved_first(lab: Lab) -> None:
    """The landing list is older than RQ's list."""
    lab.push("first", "a")
    lab.redis.lmove(lab.lanes.keys.inbox, lab.lanes.keys.landing, "LEFT", "RIGHT")
    lab.push("second", "a")
    lab.lanes.route()
    assert lab.lane("a") == ["first", "second"]


def test_route_drops_what_is_not_queued(lab: Lab) -> None:
    """Cancelled, deleted and finished jobs go nowhere."""
    lab.push("gone", "a")
    lab.redis.delete("rq:job:gone")
    lab.push("cancelled", "a", status="canceled")
    lab.push("good", "a")
    lab.lanes.route()
    assert lab.lane("a") == ["good"]


def test_route_gives_an_orphan_the_tenant_of_the_job_before_it(lab: Lab) -> None:
    """A dependent without a tenant has that of its first dependency, and keeps it."""
    lab.push("parent", "a", status="finished")
    lab.redis.hset("rq:job:child", mapping={"status": "queued", "dependency_id": "parent"})
    lab.redis.rpush(lab.lanes.keys.inbox, "child")
    lab.lanes.route()
    assert lab.lane("a") == ["child"]
    assert lab.redis.hget("rq:job:child", "tenant") == b"a"


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        ({"front": "1"}, True),
        ({"enqueue_at_front": "1"}, True),
        ({"enqueue_at_front_on_retry": "1"}, False),
        ({"enqueue_at_front_on_retry": "1", "ended_at": "2026-01-01"}, True),
    ],
)
def test_route_knows_all_marks_of_the_front(lab: Lab, fields: dict[str, str], first: bool) -> None:
    """Ours and RQ's, as RQ means them; ours counts once."""
    lab.push("old", "a")
    lab.lanes.route()
    lab.push("new", "a", **fields)
    lab.lanes.route()
    assert (lab.lane("a")[0] == "new") is first
    assert not lab.redis.hexists("rq:job:new", "front")


def test_route_loses_nothing_when_redis_refuses_writes(lab: Lab) -> None:
    """Out of memory refuses the whole script, before its first write."""
    lab.push("j", "a")
    lab.redis.config_set("maxmemory", 1)
    with pytest.raises(ResponseError, match="used memory"):
        lab.lanes.route()
    lab.redis.config_set("maxmemory", 0)
    assert lab.redis.lrange(lab.lanes.keys.inbox, 0, -1) == [b"j"]
    assert lab.lane("a") == []


# -- claim -----------------------------------------------------------------------------------


def test_nothing_is_handed_out_before_the_limits_are_loaded(closed: Lab) -> None:
    """Without the epoch, and until the running workers had time to speak, lanes are closed."""
    closed.push("j", "a")
    assert isinstance(closed.lanes.claim("w"), Closed)
    closed.lanes.load_limits({"a": Limit(1)}, wait=0.5)
    assert isinstance(closed.lanes.claim("w"), Closed)
    closed.sleep(0.5)
    assert isinstance(closed.lanes.claim("w"), Claimed)


def test_a_claim_asked_again_is_the_same_claim(lab: Lab) -> None:
    """A lost reply costs nothing: the request's id finds its lease."""
    lab.push("one", "a")
    lab.push("two", "a")
    first = lab.claim("request")
    lab.sleep(0.5)
    again = lab.claim("request")
    assert (first.job_id, again.job_id) == ("one", "one")
    assert (first.elapsed, again.elapsed) == (0, 0.5)
    assert lab.leases("a") == ["request"]
    assert lab.lane("a") == ["two"]


def test_a_claim_writes_rqs_marks_of_a_started_job(lab: Lab) -> None:
    """Status, worker and execution are there from the same moment as the lease."""
    lab.push("j", "a")
    found = lab.claim("lease")
    assert found.fields[b"status"] == b"started"
    assert lab.redis.zscore("rq:wip:imports", "j:lease") == float("inf")
    assert lab.redis.hget("rq:execution:j:lease", "worker_name") == b"worker"
    assert lab.redis.smembers("rq:worker:worker:executions") == {b"j:lease"}


def test_an_idle_claim_knows_when_to_look_again(lab: Lab) -> None:
    """The next deadline, and whether anything is still held."""
    assert lab.lanes.claim("w") == Idle(wait=None, live=0)
    lab.push("j", "a")
    lab.claim()
    lab.sleep(0.5)
    assert lab.lanes.claim("w") == Idle(wait=1.5, live=1)


def test_the_cap_holds_and_the_slot_comes_back(lab: Lab) -> None:
    """Cap 2: the third waits until one is settled."""
    for name in ("one", "two", "three"):
        lab.push(name, "a")
    first, _ = lab.claim(), lab.claim()
    assert isinstance(lab.lanes.claim("w"), Idle)
    lab.lanes.settle(first.lease_id, "done")
    assert lab.claim().job_id == "three"


def test_two_thousand_dead_ids_do_not_hold_up_a_claim(lab: Lab) -> None:
    """The call goes on where the first one had enough."""
    for number in range(2100):
        lab.push(f"dead{number}", "a")
    lab.lanes.route()
    for number in range(2100):
        lab.redis.delete(f"rq:job:dead{number}")
    lab.push("alive", "a")
    assert lab.claim().job_id == "alive"


def test_a_guess_is_the_mean_of_the_turns(lab: Lab) -> None:
    """The first guess is a slice; then the mean of what was used, charged in advance."""
    for number in range(3):
        lab.push(f"j{number}", "a")
    lab.work(9.0 / 8)
    before = lab.virtual_time("a")
    assert lab.mean("a") == 1_125_000
    lab.claim()
    assert lab.virtual_time("a") - before == 1_125_000


# -- renew, settle ---------------------------------------------------------------------------


def test_renewing_charges_time_as_it_passes(lab: Lab) -> None:
    """Beyond the guess a long job weighs on its tenant while it runs; settling adds nothing."""
    lab.push("j", "a")
    found = lab.claim()
    begun = lab.virtual_time("a")
    for _ in range(6):
        lab.sleep(1.0)
        assert lab.lanes.renew(held(lab, found), "worker") == "renewed"
    assert lab.virtual_time("a") - begun == 5_000_000
    lab.lanes.settle(found.lease_id, "done")
    assert lab.virtual_time("a") - begun == 5_000_000


def test_a_paused_tenants_worker_is_told_to_stop(lab: Lab) -> None:
    """Its lease goes on: nothing that runs is killed."""
    lab.push("j", "a")
    found = lab.claim()
    lab.lanes.set_limits({"a": Limit(3, paused=True)})
    lab.sleep(1.5)
    assert lab.lanes.renew(held(lab, found), "worker") == "stop"
    lab.sleep(1.5)
    assert lab.lanes.reap() == []


def test_a_lapsed_lease_cannot_be_renewed(lab: Lab) -> None:
    """Once it was taken back it is lost."""
    lab.push("j", "a")
    found = lab.claim()
    lab.sleep(2.0)
    lab.lanes.reap()
    assert lab.lanes.renew(held(lab, found), "worker") == "lost"


def test_after_a_loss_of_everything_workers_say_what_they_hold(lab: Lab) -> None:
    """While lanes are closed a renewal registers its lease again; then the cap counts it."""
    lab.lanes.set_limits({"a": Limit(1)})
    lab.push("j", "a")
    claim = held(lab, lab.claim())
    lab.redis.flushall()
    lab.sleep(0)
    assert lab.lanes.renew(claim, "worker") == "renewed"
    lab.push("next", "a")
    lab.lanes.load_limits({"a": Limit(1)}, wait=0)
    assert isinstance(lab.lanes.claim("w"), Idle)
    lab.lanes.settle(claim.lease_id, "done")
    assert lab.claim().job_id == "next"


def test_leases_are_renewed_and_settled_when_memory_is_full(lab: Lab) -> None:
    """Nothing that runs is lost because Redis takes no new data."""
    lab.push("j", "a")
    found = lab.claim()
    lab.redis.config_set("maxmemory", 1)
    assert lab.lanes.renew(held(lab, found), "worker") == "renewed"
    assert lab.lanes.settle(found.lease_id, "done")


def test_settling_twice_changes_nothing(lab: Lab) -> None:
    """The second answer is "gone", and no number moves."""
    lab.push("j", "a")
    lab.push("k", "a")
    found = lab.claim()
    lab.sleep(0.3)
    assert lab.lanes.settle(found.lease_id, "done")
    before = lab.virtual_time("a"), lab.lanes.snapshot(["a"])
    assert not lab.lanes.settle(found.lease_id, "done")
    assert (lab.virtual_time("a"), lab.lanes.snapshot(["a"])) == before


def test_a_stale_settle_touches_no_later_lease(lab: Lab) -> None:
    """The old holder of a job that was given away ends nothing."""
    lab.push("j", "a")
    old = lab.claim()
    lab.sleep(2.0)
    new = lab.claim()
    assert new.job_id == "j"
    assert not lab.lanes.settle(old.lease_id, "yielded")
    assert lab.leases("a") == [new.lease_id]
    assert lab.lane("a") == []


@pytest.mark.parametrize(
    ("how", "lane", "status"),
    [
        ("done", ["k"], "started"),
        ("failed", ["k"], "started"),
        ("yielded", ["k", "j"], "queued"),
        ("released", ["j", "k"], "queued"),
    ],
)
def test_the_ways_to_settle(lab: Lab, how: str, lane: list[str], status: str) -> None:
    """Done and failed are RQ's to record; a yield goes to the back, a release to the front."""
    lab.push("j", "a")
    lab.push("k", "a")
    found = lab.claim()
    lab.lanes.settle(found.lease_id, how)
    assert (lab.lane("a"), lab.status("j")) == (lane, status)
    assert lab.redis.zcard("rq:wip:imports") == 0


def test_a_job_cancelled_while_it_ran_is_not_put_back(lab: Lab) -> None:
    """A yield, a release and a lapse respect what RQ calls the job by then."""
    lab.push("j", "a")
    found = lab.claim()
    lab.redis.hset("rq:job:j", "status", "canceled")
    lab.lanes.settle(found.lease_id, "yielded")
    assert (lab.lane("a"), lab.status("j")) == ([], "canceled")


# -- reap ------------------------------------------------------------------------------------


def test_a_lapse_gives_the_slot_and_the_job_back(lab: Lab) -> None:
    """The slot is free within the lease time by itself: the next claim reaps."""
    lab.lanes.set_limits({"a": Limit(1)})
    lab.push("j", "a")
    lab.push("k", "a")
    lab.claim()
    lab.sleep(1.999)
    assert isinstance(lab.lanes.claim("w"), Idle)
    lab.sleep(0.001)
    found = lab.claim()
    assert found.job_id == "j"
    assert [lapse.job_id for lapse in found.lapses] == ["j"]


@pytest.mark.parametrize(("ticket", "status"), [("0", "failed"), ("1", "queued")])
def test_only_a_hosts_job_is_given_up(lab: Lab, ticket: str, status: str) -> None:
    """After three lapses in a row; our own tickets go on for ever."""
    lab.push("j", "a", **({"ticket": "1"} if ticket == "1" else {}))
    for _ in range(3):
        lab.claim()
        lab.sleep(2.0)
        lab.lanes.reap()
    assert lab.status("j") == status
    assert (lab.redis.zscore("rq:failed:imports", "j") is not None) is (status == "failed")


def test_a_good_end_forgives_earlier_lapses(lab: Lab) -> None:
    """Lapses are counted since the last yield or end."""
    lab.push("j", "a")
    for _ in range(4):
        lab.claim()
        lab.sleep(2.0)
        lab.lanes.reap()
        lab.lanes.settle(lab.claim().lease_id, "yielded")
    assert lab.status("j") == "queued"


def test_eight_processes_reap_each_lease_once(lab: Lab, redis_server: RedisServer) -> None:
    """A hundred lapsed leases, eight reapers at once: each job is back exactly once."""
    lab.lanes.set_limits({"a": Limit(100)})
    for number in range(100):
        lab.push(f"j{number}", "a", ticket="1")
    for _ in range(100):
        lab.claim()
    lab.sleep(3)
    pids = []
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            lanes = Lanes.of("imports", Redis.from_url(redis_server.url), clock=CLOCK)
            while lanes.reap():
                pass
            os._exit(0)
        pids.append(pid)
    assert {os.waitpid(pid, 0)[1] for pid in pids} == {0}
    assert sorted(lab.lane("a")) == sorted(f"j{number}" for number in range(100))
    assert lab.lanes.snapshot().lapses == 100


def test_workers_that_are_long_gone_are_forgotten(lab: Lab) -> None:
    """A day after its last sign; workers that were killed said no goodbye."""
    lab.lanes.claim("old")
    lab.sleep(10)
    lab.lanes.claim("young")
    lab.sleep(86_395)
    lab.lanes.reap()
    assert lab.redis.zrange(lab.lanes.keys.workers, 0, -1) == [b"young"]


# -- limits ----------------------------------------------------------------------------------


def test_a_raised_cap_counts_at_once(lab: Lab) -> None:
    """A parked tenant is eligible again without any settle."""
    lab.lanes.set_limits({"a": Limit(1)})
    lab.push("j", "a")
    lab.push("k", "a")
    lab.claim()
    assert isinstance(lab.lanes.claim("w"), Idle)
    lab.lanes.set_limits({"a": Limit(2)})
    assert lab.claim().job_id == "k"


def test_a_lowered_cap_kills_nothing_and_lets_nothing_in(lab: Lab) -> None:
    """What runs goes on; the next claim waits until fewer run than the cap."""
    for number in range(4):
        lab.push(f"j{number}", "a")
    first, second = lab.claim(), lab.claim()
    lab.lanes.set_limits({"a": Limit(1)})
    lab.lanes.settle(first.lease_id, "done")
    assert isinstance(lab.lanes.claim("w"), Idle)
    lab.lanes.settle(second.lease_id, "done")
    assert lab.claim().job_id == "j2"


def test_loading_replaces_all_limits(lab: Lab) -> None:
    """A tenant that is not in the load has the default again; parked ones are looked at."""
    lab.lanes.set_limits({"a": Limit(0), "b": Limit(5)})
    lab.push("j", "a")
    assert isinstance(lab.lanes.claim("w"), Idle)
    lab.lanes.load_limits({f"t{number}": Limit(1) for number in range(2500)})
    assert lab.redis.hlen(lab.lanes.keys.prefix + "limits") == 2500
    assert lab.claim().job_id == "j"


@pytest.mark.parametrize(("cap", "weight"), [(-1, 1.0), (1, 0.0), (1, -2.0), (1, 1001.0)])
def test_impossible_limits_are_refused(cap: int, weight: float) -> None:
    """A cap is not negative, a weight is within a factor of a thousand."""
    with pytest.raises(ValueError, match=r"a cap is|a weight is"):
        Limit(cap, weight)


# -- looking ---------------------------------------------------------------------------------


def test_waits_are_kept_from_enqueued_to_claimed(lab: Lab) -> None:
    """From RQ's own time of enqueuing, and from the yield for a job that comes back."""
    assert BEGIN == 1_700_000_000_000_000
    for number, ago in enumerate((0, 1, 10)):
        stamp = f"2023-11-14T22:13:{20 - ago:02d}.000000Z"
        lab.push(f"j{number}", "a", enqueued_at=stamp)
    lab.lanes.set_limits({"a": Limit(3)})
    for _ in range(3):
        lab.claim()
    state = lab.lanes.snapshot(["a"]).tenants["a"]
    assert state.wait_p50_s == pytest.approx(1, rel=0.05)
    assert state.wait_p99_s == pytest.approx(10, rel=0.05)


def test_numbers_slide_out_of_the_window(lab: Lab) -> None:
    """After six minutes nothing counts any more, and every key has a time to live."""
    lab.push("j", "a")
    lab.work(1.5)
    state = lab.lanes.snapshot(["a"]).tenants["a"]
    assert (state.jobs, state.seconds) == (1, 1.5)
    for key in lab.redis.scan_iter("*stats:*"):
        assert 0 < lab.redis.ttl(key) <= 420
    lab.sleep(360)
    assert lab.lanes.snapshot(["a"]).tenants["a"].jobs == 0


def test_shares_are_of_all_tenants(lab: Lab) -> None:
    """Seconds against jobs: what tells a fair system from one that only counts."""
    lab.push("long", "a")
    lab.push("short", "b")
    assert (lab.work(1.5), lab.work(0.5)) == ("a", "b")
    seen = lab.lanes.snapshot()
    assert [seen.tenants[name].share_seconds for name in "ab"] == [0.75, 0.25]
    assert [seen.tenants[name].share_jobs for name in "ab"] == [0.5, 0.5]
    assert seen.longest_turn_s == 1.5


def test_runs_of_one_tenant_are_counted_raw_and_contended(lab: Lab) -> None:
    """Three in a row while nobody else waited, then turn by turn."""
    for number in range(6):
        lab.push(f"a{number}", "a")
    for _ in range(3):
        lab.work(0.1)
    for number in range(3):
        lab.push(f"b{number}", "b")
    for _ in range(4):
        lab.work(0.1)
    seen = lab.lanes.snapshot()
    assert seen.longest_run == 3
    assert seen.longest_run_contended == 1


def test_holding_tells_who_waits_or_works(lab: Lab) -> None:
    """In RQ's list, in a lane, under a lease; not when finished, lapsed away or unknown."""
    for name in ("running", "waiting", "done"):
        lab.push(name, "a")
    lab.claim()
    lab.push("inbox", "a")
    lab.redis.hset("rq:job:done", "status", "finished")
    asked = ["running", "waiting", "done", "inbox", "unknown"]
    assert lab.lanes.holding(asked) == {"running", "waiting", "inbox"}
    assert lab.lanes.holding([]) == set()
    assert lab.lanes.holds("waiting")


def test_a_lost_list_is_not_held(lab: Lab) -> None:
    """A job that is called queued and stands nowhere is not held: it must be fed again."""
    lab.push("j", "a")
    lab.lanes.route()
    lab.redis.delete(lab.lanes.keys.lane("a"))
    assert not lab.lanes.holds("j")


def test_leases_are_listed_with_their_times(lab: Lab) -> None:
    """Who works on what, since when, until when; in seconds."""
    lab.push("j", "a")
    found = lab.claim()
    lease = lab.lanes.leases("a")[0]
    assert (lease.id, lease.job_id, lease.worker) == (found.lease_id, "j", "worker")
    assert lease.started == BEGIN / 1_000_000
    assert lease.deadline == lease.started + 2.0


def test_a_snapshot_shows_who_matters(lab: Lab) -> None:
    """Tenants with leases or waiting jobs, and how many come before each."""
    for tenant in ("a", "b", "c"):
        for number in range(2):
            lab.push(f"{tenant}{number}", tenant)
    lab.claim()
    lab.push("new", "d")
    seen = lab.lanes.snapshot()
    assert (seen.loaded, seen.eligible, seen.inbox, seen.live) == (True, 3, 1, 1)
    assert (seen.tenants["a"].in_flight, seen.tenants["a"].waiting) == (1, 1)
    assert [seen.tenants[name].ahead for name in "bca"] == [0, 1, 2]
    assert len(lab.lanes.snapshot(top=2).tenants) == 2
    assert lab.lanes.snapshot(["zoe"]).tenants["zoe"].waiting == 0
    assert lab.lanes.snapshot([]).tenants == {}


def test_removing_a_waiting_job(lab: Lab) -> None:
    """It leaves its lane, and its tenant the ready set when that was all."""
    lab.push("j", "a")
    lab.lanes.route()
    lab.push("k", "a")
    assert lab.lanes.remove("j") == 1
    assert lab.scores("ready") == {}
    assert lab.lanes.remove("k") == 1
    assert lab.lanes.remove("never") == 0
