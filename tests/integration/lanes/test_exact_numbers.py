"""The fairness numbers and the snapshot, to the letter: what Redis holds and what is told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rq.suspension import resume, suspend

from fairimport.lanes import Limit
from tests.lanelab import Lab


def stored(lab: Lab, name: str) -> dict[str, int | str]:
    """A hash of ours, with numbers as numbers."""
    found = lab.redis.hgetall(lab.lanes.keys.prefix + name)
    texts = {key.decode(): value.decode() for key, value in found.items()}
    return {key: int(it) if it.lstrip("-").isdigit() else it for key, it in texts.items()}


def minute(lab: Lab) -> int:
    """The running one."""
    return lab.now // 60_000_000


def looked_at(lab: Lab, most: int = 9, *tenants: str) -> dict[str, Any]:
    """The raw reply of the script."""
    found: dict[str, Any] = json.loads(lab.lanes.scripts.run(lab.redis, "snapshot", most, *tenants))
    return found


# -- what is kept ------------------------------------------------------------------------------


def test_a_minute_holds_these_numbers(lab: Lab) -> None:
    """Sums and largest ones for all, sums and waits for the tenant; each for seven minutes."""
    now = minute(lab)
    for job in ("one", "two"):
        lab.push(job, "a", since=lab.now)
    lab.sleep(0.003)
    lab.work(1.5)
    lab.work(0.5)
    assert stored(lab, f"stats:{now}") == {
        "us": 2_000_000,
        "jobs": 2,
        "turn": 1_500_000,
        "over": 500_000,
        "last": "a",
        "raw": 2,
        "against": 0,
        "run": 2,
        "contended": 0,
    }
    assert stored(lab, "tenant:a") == {
        f"{now}:us": 2_000_000,
        f"{now}:jobs": 2,
        f"{now}:w16": 1,
        f"{now}:w84": 1,
        "mean": 1_375_000,
        "tidy": now,
    }
    assert lab.redis.zscore(f"{lab.lanes.keys.prefix}slow:{now}", "a") == 1_503_000
    for name in (f"stats:{now}", "tenant:a", f"slow:{now}"):
        assert 419 <= lab.redis.ttl(lab.lanes.keys.prefix + name) <= 420


def test_a_turn_of_no_time_is_the_longest_of_none(lab: Lab) -> None:
    """And none went on longer than its guess."""
    lab.push("one", "a")
    lab.work(0)
    numbers = stored(lab, f"stats:{minute(lab)}")
    assert (numbers["turn"], numbers["over"], numbers["jobs"]) == (0, 0, 1)


def test_every_key_of_a_claim_lives_seven_minutes(lab: Lab) -> None:
    """Before its first settlement, too; and a lapse alone leaves none behind for longer."""
    lab.push("one", "a")
    lab.claim()
    now = minute(lab)
    for name in (f"stats:{now}", "tenant:a", f"slow:{now}"):
        assert 419 <= lab.redis.ttl(lab.lanes.keys.prefix + name) <= 420
    lab.sleep(300)
    lab.lanes.reap()
    assert stored(lab, f"stats:{minute(lab)}")["lapses"] == 1
    assert 419 <= lab.redis.ttl(f"{lab.lanes.keys.prefix}stats:{minute(lab)}") <= 420


def test_a_turn_longer_than_the_window_is_counted_where_it_ends(lab: Lab) -> None:
    """Its tenant's numbers have expired meanwhile; they are made again, for seven minutes."""
    lab.push("one", "a")
    found = lab.claim()
    lab.redis.delete(f"{lab.lanes.keys.prefix}tenant:a")
    lab.sleep(480)
    assert lab.lanes.settle(found.lease_id, "done")
    us, jobs = f"{minute(lab)}:us", f"{minute(lab)}:jobs"
    assert stored(lab, "tenant:a") == {us: 480_000_000, jobs: 1, "mean": 480_000_000} | {
        "tidy": minute(lab)
    }
    assert 419 <= lab.redis.ttl(f"{lab.lanes.keys.prefix}tenant:a") <= 420


@pytest.mark.parametrize(("micros", "seconds"), [(60_000_000, 99), (60_000_001, 420)])
def test_a_turn_of_a_minute_needs_no_more_time_to_live(lab: Lab, micros: int, seconds: int) -> None:
    """What its claim gave lasts until no window sees its end; after a longer one it begins anew."""
    lab.push("one", "a")
    found = lab.claim()
    lab.redis.expire(f"{lab.lanes.keys.prefix}tenant:a", 99)
    lab.sleep(micros / 1_000_000)
    assert lab.lanes.settle(found.lease_id, "done")
    assert seconds - 1 <= lab.redis.ttl(f"{lab.lanes.keys.prefix}tenant:a") <= seconds


def test_a_tenant_keeps_its_mean_and_what_a_window_may_see(lab: Lab) -> None:
    """What is older than five minutes goes, once in six, so that a tenant's numbers do not grow."""
    lab.sleep(40)
    first = minute(lab)
    sizes = []
    for number in range(20):
        lab.push(f"j{number}", "a", since=lab.now)
        lab.work(1)
        sizes.append(len(stored(lab, "tenant:a")))
        assert stored(lab, "tenant:a")["tidy"] == first + number // 6 * 6
        lab.sleep(59)
    assert max(sizes) == 2 + 3 * 11
    kept = stored(lab, "tenant:a")
    assert kept.pop("mean") == 1_000_000
    assert kept.pop("tidy") == first + 18
    assert {int(name.split(":")[0]) for name in kept} == set(range(first + 13, first + 20))


def test_a_cut_off_turn_teaches_nothing(lab: Lab) -> None:
    """It is counted, but the mean is that of whole turns."""
    lab.push("one", "a")
    lab.claim()
    lab.sleep(2)
    lab.lanes.reap()
    assert stored(lab, "tenant:a")[f"{minute(lab)}:jobs"] == 1
    assert lab.mean("a") is None


@pytest.mark.parametrize(
    ("micros", "bin_"),
    [
        (0, "w0"),
        (44, "w0"),
        (45, "w1"),
        (1000, "w8"),
        (3000, "w16"),
        (979585, "w79"),
        (979586, "w80"),
    ],
)
def test_waits_are_counted_by_eighths_of_octaves(lab: Lab, micros: int, bin_: str) -> None:
    """Of a millisecond more than the wait, to the nearest."""
    lab.push("one", "a", since=lab.now)
    lab.sleep(micros / 1_000_000)
    lab.claim()
    assert stored(lab, "tenant:a") == {f"{minute(lab)}:{bin_}": 1}


def test_the_fifty_longest_waits_are_kept(lab: Lab) -> None:
    """One a tenant, its longest; the shortest of fifty-one is dropped."""
    for number in range(51):
        lab.push(f"j{number}", f"t{number:02d}", since=lab.now - 1000 * (number + 1))
    for number in range(51):
        lab.push(f"again{number}", f"t{number:02d}", since=lab.now)
    for _ in range(102):
        lab.claim()
    kept = lab.scores(f"slow:{minute(lab)}")
    assert kept == {f"t{number:02d}": 1000 * (number + 1) for number in range(1, 51)}


def test_runs_are_counted_claim_by_claim(lab: Lab) -> None:
    """All in a row, and those in a row while somebody else was eligible."""
    lab.lanes.set_limits({"a": Limit(99, weight=1000.0), "b": Limit(99, weight=0.001)})
    for number in range(9):
        lab.push(f"a{number}", "a")
    seen = []
    for pushed in ("", "b1", "", "", "b2", "", "-b2", "b3"):
        if pushed.startswith("-"):
            lab.lanes.remove(pushed[1:])
        elif pushed:
            lab.push(pushed, "b")
        tenant = lab.claim().tenant
        run = stored(lab, f"stats:{minute(lab)}")
        assert run["last"] == tenant
        seen.append((tenant, run["raw"], run["against"]))
    begun = [("a", 1, 0), ("b", 1, 1), ("a", 1, 0), ("a", 2, 0)]
    assert seen == [*begun, ("a", 3, 1), ("a", 4, 2), ("a", 5, 0), ("a", 6, 1)]
    numbers = stored(lab, f"stats:{minute(lab)}")
    assert (numbers["run"], numbers["contended"]) == (6, 2)


@pytest.mark.parametrize(("minutes", "raw"), [(1, 2), (5, 2), (6, 1)])
def test_a_run_goes_on_in_the_next_minute(lab: Lab, minutes: int, raw: int) -> None:
    """Unless nothing was claimed for as long as a window is."""
    lab.push("one", "a")
    lab.push("two", "a")
    lab.claim()
    first = minute(lab)
    lab.sleep(60 * minutes)
    lab.redis.zadd(f"{lab.lanes.keys.prefix}deadlines", {lab.leases("a")[0]: lab.now + 1})
    lab.claim()
    assert minute(lab) == first + minutes
    assert stored(lab, f"stats:{minute(lab)}") == {
        "last": "a",
        "raw": raw,
        "against": 0,
        "run": raw,
        "contended": 0,
    }


def test_the_window_is_the_running_minute_and_five_before(lab: Lab) -> None:
    """Sums are added up, of runs, turns and excesses the largest counts."""
    lab.sleep(40)
    assert lab.now % 60_000_000 == 0
    first = minute(lab)
    for index in range(7):
        us = 10 ** (index + 1)
        row = {"us": us, "jobs": 1, "run": 9 - index, "contended": 7, "turn": us, "over": index + 1}
        row |= {"last": "a", "raw": 77, "against": 77}
        name = f"{lab.lanes.keys.prefix}stats:{first - index}"
        lab.redis.hset(name, mapping=row)
        own = {
            f"{first - index}:{what}": count for what, count in (("us", us), ("jobs", 2), ("w3", 1))
        }
        lab.redis.hset(f"{lab.lanes.keys.prefix}tenant:a", mapping=own)
    seen = looked_at(lab, 9, "a")
    assert seen["all"] == {
        "us": 1_111_110,
        "jobs": 6,
        "run": 9,
        "contended": 7,
        "turn": 1_000_000,
        "over": 6,
    }
    assert seen["tenants"]["a"]["stats"] == {"us": 1_111_110, "jobs": 12, "w3": 6}


# -- what is told ------------------------------------------------------------------------------


def test_a_snapshot_has_these_facts_and_no_others(lab: Lab) -> None:
    """Of the lanes, of the tenants asked for, and of those who work."""
    paused = Limit(4, paused=True, paused_by="ops", paused_at=12.5)
    lab.lanes.set_limits({"a": Limit(3, weight=2.0), "p": paused})
    for job in ("a1", "a2", "b1", "b2", "p1", "p2", "a3"):
        lab.push(job, job[0])
    lab.lanes.route()
    lab.claim()
    lab.sleep(0.25)
    lab.claim()
    lab.sleep(0.5)
    lab.push("late", "a")
    lab.push("later", "a")
    lab.redis.lmove(lab.lanes.keys.inbox, lab.lanes.keys.landing, "LEFT", "RIGHT")
    seen = looked_at(lab, 9, "a", "p", "z")
    assert seen.pop("all") == {"turn": 750_000, "run": 1, "over": 0, "contended": 1}
    stats = {name: row.pop("stats") for name, row in seen["tenants"].items()}
    assert stats == {"a": {"w0": 1}, "p": {}, "z": {}}
    rest = {"weight": 1, "by": "", "paused": False, "in_flight": 0, "v": 0, "reason": "behind"}
    assert seen.pop("tenants") == {
        "a": {**rest, "weight": 2, "waiting": 2, "ahead": 0, "cap": 3, "in_flight": 1, "rivals": 0}
        | {"v": 500_001},
        "p": {**rest, "at": 12.5, "paused": True, "waiting": 2, "cap": 4, "by": "ops"}
        | {"reason": "paused"},
        "z": {**rest, "waiting": 0, "cap": 2},
    }
    assert seen.pop("working") == {
        "a": {"weight": 2, "live": 1, "ready": True, "v": 500_001, "account": 375_001},
        "b": {"weight": 1, "live": 1, "ready": True, "v": 1_000_002, "account": 500_002},
    }
    assert (int(seen.pop("first")), int(seen.pop("seen"))) == (500_001, lab.now - 500_000)
    assert seen == {
        "eligible": 2,
        "weight": 2,
        "live": 2,
        "open": True,
        "turns": False,
        "clock": 750_002,
        "inbox": 2,
        "cap": 4,
        "workers": 1,
    }


def test_what_is_used_up_is_not_charged_ahead(lab: Lab) -> None:
    """Beyond its guess a claim owes nothing; several of a tenant are added up."""
    lab.push("a1", "a")
    lab.push("a2", "a")
    lab.claim()
    lab.sleep(1.75)
    row = looked_at(lab)["working"]["a"]
    assert (row["live"], row["account"]) == (1, row["v"])
    lab.claim()
    row = looked_at(lab)["working"]["a"]
    assert (row["live"], row["v"] - row["account"]) == (2, 1_000_000)


def test_rivals_are_counted_to_the_microsecond(lab: Lab) -> None:
    """Up to what all running claims may cost beyond their guesses, over the tenant's weight."""
    prefix = lab.lanes.keys.prefix
    lab.lanes.set_limits({"a": Limit(3, weight=2.0)})
    for number in range(3):
        lab.push(f"a{number}", "a")
    lab.claim()
    lab.claim()
    lab.sleep(1.5)
    v = lab.virtual_time("a")
    assert v is not None
    others = {"near": v + 1, "far": v + 500_000, "beyond": v + 500_001}
    lab.redis.zadd(prefix + "ready", others)
    rows = looked_at(lab, 9, "a", "near", "far")["tenants"]
    assert [rows[name]["rivals"] for name in ("a", "near", "far")] == [2, 1, 2]


def test_a_lapsed_lease_is_not_in_flight(lab: Lab) -> None:
    """To the microsecond, for the tenant and in all; nobody has taken it back yet."""
    lab.push("a", "a")
    lab.push("b", "b")
    lab.claim()
    lab.sleep(0.5)
    lab.claim()
    lab.sleep(1.499999)
    seen = looked_at(lab, 9, "a", "b")
    assert [seen["tenants"][name]["in_flight"] for name in "ab"] == [1, 1]
    assert seen["live"] == 2
    lab.sleep(0.000001)
    seen = looked_at(lab, 9, "a", "b")
    assert [seen["tenants"][name]["in_flight"] for name in "ab"] == [0, 1]
    assert seen["live"] == 1


def test_a_snapshot_of_nobody_looks_at_no_tenant(lab: Lab) -> None:
    """None named and none wanted."""
    lab.push("a", "a")
    lab.lanes.route()
    assert not looked_at(lab, 0)["tenants"]


def test_a_suspension_is_told_in_milliseconds(lab: Lab) -> None:
    """-1 when only a resume ends it; nothing when there is none."""
    assert "suspended" not in looked_at(lab)
    suspend(lab.redis)
    assert looked_at(lab)["suspended"] == -1
    assert (lab.lanes.snapshot().suspended, lab.lanes.snapshot().suspended_left_s) == (True, None)
    suspend(lab.redis, 60)
    assert 50_000 < looked_at(lab)["suspended"] <= 60_000
    assert 50 < (lab.lanes.snapshot().suspended_left_s or 0) <= 60
    resume(lab.redis)
    assert (lab.lanes.snapshot().suspended, lab.lanes.snapshot().suspended_left_s) == (False, None)


def test_a_closed_snapshot_says_so(closed: Lab) -> None:
    """And knows nobody."""
    seen = looked_at(closed)
    assert seen["open"] is False
    assert "seen" not in seen
    assert "first" not in seen
    assert (seen["workers"], seen["cap"], seen["weight"], seen["clock"]) == (0, 0, 0, 0)


@pytest.mark.parametrize(("lease", "seconds"), [(2.0, 5.0), (3.0, 6.0)])
def test_a_worker_counts_for_two_leases_but_five_seconds_at_least(
    lab: Lab, settings: Any, lease: float, seconds: float
) -> None:
    """To the microsecond; `seen` is the last sign of any."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": lease}
    lab.lanes.claim("older")
    lab.sleep(0.000001)
    last = lab.now
    lab.lanes.claim("old")
    lab.sleep(seconds)
    seen = looked_at(lab)
    assert (seen["workers"], int(seen["seen"])) == (1, last)
    lab.lanes.claim("young")
    lab.sleep(-1)
    assert looked_at(lab)["workers"] == 3


def test_those_who_matter_are_told_first(lab: Lab) -> None:
    """Who is parked, who is ready, then the longest waits of the window; each once."""
    lab.sleep(40)
    prefix, now = lab.lanes.keys.prefix, minute(lab)

    def names(most: int) -> set[str]:
        return set(looked_at(lab, most)["tenants"] or ())

    lab.redis.zadd(f"{prefix}slow:{now}", {"s1": 5, "s2": 9, "p1": 7})
    lab.redis.zadd(f"{prefix}slow:{now - 5}", {"s3": 99})
    lab.redis.zadd(f"{prefix}slow:{now - 6}", {"s4": 999})
    assert names(9) == {"s1", "s2", "s3", "p1"}
    assert names(2) == {"s2", "p1"}
    assert names(1) == {"s2"}
    lab.redis.zadd(f"{prefix}ready", {"r1": 1, "r2": 2, "r3": 3})
    assert names(2) == {"r1", "r2"}
    lab.redis.zadd(f"{prefix}parked", {"p1": 9, "p2": 10})
    assert names(1) == {"p1"}
    assert names(2) == {"p1", "p2"}
    assert names(4) == {"p1", "p2", "r1", "r2"}
    assert names(7) == {"p1", "p2", "r1", "r2", "r3", "s1", "s2"}
    assert names(8) == {"p1", "p2", "r1", "r2", "r3", "s1", "s2", "s3"}
