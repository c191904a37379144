"""Why a job waits: one code with the facts of the state that decides, to the letter."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rq.suspension import resume, suspend

from fairimport import lanes
from fairimport.lanes import Limit, Reason
from fairimport.runs import waiting
from tests.lanelab import Lab

OWN = {"tenant": "a", "status": "queued"}


def told(lab: Lab, job: str) -> list[Any]:
    """The code and all facts."""
    reason = lab.lanes.explain(job)
    return [reason.code, dict(reason.facts)]


def alive(lab: Lab) -> None:
    """A worker looks, and finds nothing that it may take."""
    lab.redis.zadd(lab.lanes.keys.workers, {"worker": lab.now})


# -- which reason it is ------------------------------------------------------------------------


def shut(lab: Lab) -> None:
    """Redis has just come back, and a worker has seen it."""
    lab.redis.delete(lab.lanes.keys.prefix + "epoch")


def nobody(lab: Lab) -> None:
    """Every worker was last seen long ago."""
    lab.redis.zadd(lab.lanes.keys.workers, {"worker": lab.now - 60_000_000})


# Done in this order, none undoes another.
HINDRANCES: dict[str, Callable[[Lab], None]] = {
    "at_cap": lambda lab: lab.lanes.set_limits({"a": Limit(1)}),
    "limits_not_loaded": shut,
    "no_worker": nobody,
    "suspended": lambda lab: suspend(lab.redis),
    "paused": lambda lab: lab.lanes.set_limits({"a": Limit(1, paused=True)}),
}
PAIRS = list(itertools.combinations(HINDRANCES, 2))
ORDER = ("paused", "suspended", "no_worker", "limits_not_loaded", "at_cap", "behind")


@pytest.fixture
def routed(lab: Lab) -> Lab:
    """One of two slots is used, and a job waits in the lane; a worker has just looked."""
    lab.push("other", "a")
    lab.claim()
    lab.push("job", "a")
    lab.lanes.route()
    return lab


@pytest.fixture
def unrouted(lab: Lab) -> Lab:
    """The same with the job in RQ's list."""
    lab.push("other", "a")
    lab.claim()
    lab.push("job", "a")
    return lab


@pytest.fixture
def waits(lab: Lab) -> Lab:
    """A job of tenant a, routed, that nothing but others' turns keeps."""
    lab.push("job", "a")
    lab.lanes.route()
    alive(lab)
    return lab


def reasons(lab: Lab) -> set[str]:
    """What the job is told, and what its tenant in the snapshot."""
    return {lab.lanes.explain("job").code, lab.lanes.snapshot(["a"]).tenants["a"].reason}


def test_a_job_that_nothing_keeps_waits_for_its_turn(routed: Lab) -> None:
    """The last of all reasons."""
    assert reasons(routed) == {"behind"}


@pytest.mark.parametrize("code", HINDRANCES)
def test_one_hindrance_is_the_reason(routed: Lab, code: str) -> None:
    """Of the job, and of its tenant in the snapshot."""
    HINDRANCES[code](routed)
    assert reasons(routed) == {code}


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_of_two_hindrances_one_order_decides(routed: Lab, pair: tuple[str, str]) -> None:
    """The same for a job and for its tenant."""
    for code in pair:
        HINDRANCES[code](routed)
    assert reasons(routed) == {min(pair, key=ORDER.index)}


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_a_job_in_rqs_list_has_the_same_reason(unrouted: Lab, pair: tuple[str, str]) -> None:
    """It need not be routed to be kept by what keeps its tenant."""
    for code in pair:
        HINDRANCES[code](unrouted)
    assert reasons(unrouted) == {min(pair, key=ORDER.index)}


# -- what is told with it ----------------------------------------------------------------------


def test_behind_counts_tenants_and_claims(waits: Lab) -> None:
    """Eligible tenants before its own, jobs before it in its lane, and both together."""
    lab = waits
    for job, tenant in (("two", "a"), ("b1", "b"), ("c1", "c")):
        lab.push(job, tenant)
    lab.lanes.route()
    row = {**OWN, "cap": 2, "waiting": 2}
    assert told(lab, "job") == ["behind", {**row, "before": 0, "tenants": 0, "claims": 0}]
    assert told(lab, "two") == ["behind", {**row, "before": 1, "tenants": 0, "claims": 1}]
    c1 = {"tenant": "c", "status": "queued", "cap": 2, "waiting": 1, "before": 0}
    assert told(lab, "c1") == ["behind", {**c1, "tenants": 2, "claims": 2}]
    lab.claim()
    assert told(lab, "two")[1] | row == {**row, "waiting": 1, "before": 0} | {
        "tenants": 2,
        "claims": 2,
        "waiting": 2,
    }


def test_a_job_that_is_not_routed_counts_who_comes_before(lab: Lab) -> None:
    """In RQ's list and the landing list; and the tenants that it will find before its own."""
    for job, tenant in (("b1", "b"), ("c1", "c")):
        lab.push(job, tenant)
    lab.lanes.route()
    for number in range(4):
        lab.push(f"j{number}", "a")
    for _ in range(2):
        lab.redis.lmove(lab.lanes.keys.inbox, lab.lanes.keys.landing, "LEFT", "RIGHT")
    alive(lab)
    row = {**OWN, "cap": 2, "waiting": 0, "tenants": 2}
    for number in range(4):
        assert told(lab, f"j{number}") == ["behind", {**row, "inbox": number}]
    late = lab.virtual_time("c")
    assert late is not None
    lab.redis.zadd(lab.lanes.keys.prefix + "ready", {"c": late + 2})
    assert told(lab, "j0")[1]["tenants"] == 1  # c is ahead of the clock: it enters before c


def test_a_tenant_that_is_ahead_enters_where_it_stands(lab: Lab) -> None:
    """Who rests with a debt finds those before it whose virtual time is less."""
    prefix = lab.lanes.keys.prefix
    lab.redis.set(prefix + "clock", 10)
    lab.redis.zadd(prefix + "resting", {"a": 500})
    lab.redis.zadd(prefix + "ready", {"b": 400, "c": 500, "d": 501})
    lab.push("job", "a")
    alive(lab)
    assert told(lab, "job")[1]["tenants"] == 2


def test_at_cap_names_the_jobs_that_hold_the_slots(lab: Lab) -> None:
    """Those of live leases only, the earliest deadline first."""
    for job in ("one", "two", "three"):
        lab.push(job, "a")
    lab.claim()
    lab.sleep(0.5)
    lab.claim()
    facts = {**OWN, "cap": 2, "waiting": 1, "before": 0}
    assert told(lab, "three") == ["at_cap", {**facts, "jobs": ["one", "two"]}]
    lab.lanes.set_limits({"a": Limit(1)})
    facts["cap"] = 1
    assert told(lab, "three") == ["at_cap", {**facts, "jobs": ["one", "two"]}]
    lab.sleep(1.499999)
    assert told(lab, "three") == ["at_cap", {**facts, "jobs": ["one", "two"]}]
    lab.sleep(0.000001)
    assert told(lab, "three") == ["at_cap", {**facts, "jobs": ["two"]}]


def test_a_slot_of_a_lapsed_lease_is_free(lab: Lab) -> None:
    """The claim takes it back before it counts, so nobody is told to wait for it."""
    lab.lanes.set_limits({"a": Limit(1)})
    for job in ("one", "two"):
        lab.push(job, "a")
    lab.claim()
    lab.sleep(2)
    assert told(lab, "two")[0] == "behind"


def test_a_pause_names_who_and_since_when(waits: Lab) -> None:
    """A cap of 0 is a pause by nobody."""
    lab = waits
    facts = {**OWN, "before": 0, "waiting": 1}
    lab.lanes.set_limits({"a": Limit(3, paused=True, paused_by="ops", paused_at=12.5)})
    assert told(lab, "job") == ["paused", {**facts, "cap": 3, "by": "ops", "at": 12.5}]
    lab.lanes.set_limits({"a": Limit(3, paused=True)})
    assert told(lab, "job") == ["paused", {**facts, "cap": 3, "by": ""}]
    lab.lanes.set_limits({"a": Limit(0)})
    assert told(lab, "job") == ["paused", {**facts, "cap": 0}]


def test_a_default_cap_of_0_is_a_pause_by_nobody(waits: Lab, settings: Any) -> None:
    """The setting, for tenants without a limit of their own."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "CAP": 0}
    assert told(waits, "job") == ["paused", {**OWN, "cap": 0, "before": 0, "waiting": 1}]


def test_a_default_cap_counts_at_once(lab: Lab, settings: Any) -> None:
    """Also for those who were parked under another one; they will enter at the clock."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "CAP": 1}
    for job in ("one", "two"):
        lab.push(job, "a")
    lab.claim()
    assert set(lab.scores("parked")) == {"a"}
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "CAP": 2}
    row = {**OWN, "before": 0, "waiting": 1, "cap": 2}
    assert told(lab, "two") == ["behind", {**row, "tenants": 0, "claims": 0}]


def test_a_suspension_tells_what_is_left_of_it(waits: Lab) -> None:
    """Seconds when it ends by itself, nothing when it does not."""
    lab = waits
    facts = {**OWN, "before": 0, "waiting": 1, "cap": 2}
    suspend(lab.redis)
    assert told(lab, "job") == ["suspended", facts]
    suspend(lab.redis, 86_400)
    before = lab.redis.pttl("rq:suspended")
    code, more = told(lab, "job")
    left = more.pop("seconds_left")
    assert (code, more) == ("suspended", facts)
    assert lab.redis.pttl("rq:suspended") <= left * 1000 <= before
    resume(lab.redis)
    assert told(lab, "job")[0] == "behind"


@pytest.mark.parametrize(("lease", "seconds"), [(2.0, 5.0), (3.0, 6.0)])
def test_no_worker_tells_when_one_was_last_seen(
    waits: Lab, settings: Any, lease: float, seconds: float
) -> None:
    """After two leases without a sign, five seconds at least; to the microsecond."""
    lab = waits
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": lease}
    seen = lab.now / 1_000_000
    lab.sleep(seconds)
    assert told(lab, "job")[0] == "behind"
    lab.sleep(0.000001)
    facts = {**OWN, "before": 0, "waiting": 1, "cap": 2}
    assert told(lab, "job") == ["no_worker", {**facts, "last_seen": seen}]
    lab.redis.delete(lab.lanes.keys.workers)
    assert told(lab, "job") == ["no_worker", facts]


def test_a_worker_that_has_ended_was_seen_when_it_ended(waits: Lab) -> None:
    """It is not waited for; the time is that of its end, for a day."""
    lab = waits
    lab.lanes.forget_worker("worker")
    code, facts = told(lab, "job")
    assert (code, facts["last_seen"]) == ("no_worker", lab.now / 1_000_000)
    assert (lab.lanes.workers().count, lab.lanes.workers().last_seen) == (0, facts["last_seen"])
    assert 86_000 < lab.redis.ttl(lab.lanes.keys.prefix + "left") <= 86_400


def test_a_sign_is_as_good_as_a_claim(waits: Lab) -> None:
    """A worker that works for another queue gives it; who goes takes no other's away."""
    lab = waits
    lab.sleep(10)
    call = lab.lanes.sign_call("other")
    assert lab.redis.execute_command(*call.by_text()) == [b"signed"]
    assert told(lab, "job")[0] == "behind"
    assert lab.scores("workers") == {"worker": lab.now - 10_000_000, "other": lab.now}
    lab.lanes.forget_worker("worker")
    assert lab.scores("workers") == {"other": lab.now}


def test_the_latest_sign_counts_also_after_another_has_ended(waits: Lab) -> None:
    """Of those who live and those who said goodbye."""
    lab = waits
    lab.redis.set(lab.lanes.keys.prefix + "left", lab.now - 7)
    lab.sleep(10)
    assert told(lab, "job")[1]["last_seen"] == (lab.now - 10_000_000) / 1_000_000


def test_lanes_without_any_sign_are_closed_rather_than_deserted(closed: Lab) -> None:
    """After Redis lost everything nobody has shown itself yet, and all may be well."""
    lab = closed
    lab.push("job", "a")
    assert told(lab, "job") == ["limits_not_loaded", {**OWN, "cap": 2, "waiting": 0, "inbox": 0}]
    lab.lanes.load_limits({}, wait=0)
    assert told(lab, "job")[0] == "no_worker"


def test_lanes_that_will_open_are_closed_until_then(closed: Lab) -> None:
    """Running workers are given time to say what they hold."""
    lab = closed
    lab.push("job", "a")
    alive(lab)
    lab.lanes.load_limits({}, wait=1)
    assert told(lab, "job")[0] == "limits_not_loaded"
    lab.sleep(1)
    assert told(lab, "job")[0] == "behind"


# -- jobs that do not wait in a lane -----------------------------------------------------------


def test_a_running_job_names_its_worker(lab: Lab) -> None:
    """And how long it has run."""
    lab.push("job", "a")
    lab.claim()
    lab.sleep(0.75)
    running = {"tenant": "a", "status": "started", "worker": "worker", "seconds": 0.75}
    assert told(lab, "job") == ["running", running]


def test_a_lapsed_job_names_who_lost_it(lab: Lab) -> None:
    """From its deadline on; it goes back to its lane with the next claim of any worker."""
    lab.push("job", "a")
    lab.claim()
    lab.sleep(1.999999)
    assert told(lab, "job")[0] == "running"
    lab.sleep(0.000001)
    facts = {"tenant": "a", "status": "started", "worker": "worker"}
    assert told(lab, "job") == ["lapsed", {**facts, "seconds": 0}]
    lab.sleep(0.5)
    assert told(lab, "job") == ["lapsed", {**facts, "seconds": 0.5}]
    suspend(lab.redis)
    assert told(lab, "job") == ["suspended", {**facts, "seconds": 0.5}]
    resume(lab.redis)
    lab.sleep(60)
    code, more = told(lab, "job")
    assert (code, more["seconds"], more["last_seen"]) == ("no_worker", 60.5, lab.now / 1e6 - 62.5)


def test_a_started_job_without_a_lease_is_named_as_that(lab: Lab) -> None:
    """A stock worker took it, or Redis lost the lease."""
    started = {"status": "started", "worker_name": "stock"}
    lab.redis.hset("rq:job:job", mapping={**started, "tenant": "a"})
    facts = {"tenant": "a", "status": "started", "worker": "stock"}
    assert told(lab, "job") == ["no_lease", facts]
    lab.redis.hset("rq:job:job", "lease", "gone")
    assert told(lab, "job") == ["no_lease", facts]
    lab.redis.hdel("rq:job:job", "worker_name")
    assert told(lab, "job") == ["no_lease", {"tenant": "a", "status": "started"}]


def test_a_queued_job_in_no_list_is_nowhere(lab: Lab) -> None:
    """RQ calls it queued, and nobody would ever find it."""
    lab.push("other", "a")
    lab.redis.hset("rq:job:job", mapping={"status": "queued", "tenant": "a"})
    assert told(lab, "job") == ["nowhere", OWN]


def test_a_scheduled_job_names_its_time(lab: Lab) -> None:
    """That of its own queue's schedule; None is known when no schedule has it."""
    facts = {"tenant": "a", "status": "scheduled"}
    lab.push("job", "a", status="scheduled")
    assert told(lab, "job") == ["scheduled", facts]
    lab.redis.zadd("rq:scheduled:imports", {"job": 1_900_000_000})
    assert told(lab, "job") == ["scheduled", {**facts, "at": 1_900_000_000}]
    lab.redis.hset("rq:job:job", "origin", "reports")
    assert told(lab, "job") == ["scheduled", facts]
    lab.redis.zadd("rq:scheduled:reports", {"job": 1_900_000_001})
    assert told(lab, "job") == ["scheduled", {**facts, "at": 1_900_000_001}]


def test_a_deferred_job_names_the_jobs_it_waits_for(lab: Lab) -> None:
    """Those that have not finished, with how they are."""
    for job, status in (("done", "finished"), ("bad", "failed"), ("now", "started")):
        lab.redis.hset(f"rq:job:{job}", "status", status)
    parents = json.dumps(["done", "bad", "now", "lost"])
    lab.push("job", "a", status="deferred", dependency_ids=parents)
    facts = {"tenant": "a", "status": "deferred"}
    depends_on = {"bad": "failed", "now": "started", "lost": "gone"}
    assert told(lab, "job") == ["deferred", {**facts, "depends_on": depends_on}]
    lab.push("free", "a", status="deferred")
    assert told(lab, "free") == ["deferred", {**facts, "depends_on": {}}]


def test_a_job_of_another_queue_says_which(lab: Lab) -> None:
    """These lanes decide nothing about it."""
    for status in ("queued", "started"):
        lab.push("job", "a", status=status, origin="reports")
        facts = {"tenant": "a", "status": status, "queue": "reports"}
        assert told(lab, "job") == ["other_queue", facts]
    lab.push("job", "a", status="queued", origin="imports")
    assert told(lab, "job")[0] == "no_worker"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("finished", "finished"),
        ("failed", "failed"),
        ("stopped", "stopped"),
        ("canceled", "cancelled"),
        ("created", "created"),
    ],
)
def test_a_job_that_waits_for_nothing_says_how_it_ended(lab: Lab, status: str, code: str) -> None:
    """RQ's own word for it, in whichever queue."""
    lab.push("job", "a", status=status, origin="reports")
    assert told(lab, "job") == [code, {"tenant": "a", "status": status}]


def test_a_job_without_a_hash_is_unknown(lab: Lab) -> None:
    """Its time to live has passed, or it was deleted, or never was."""
    lab.redis.rpush(lab.lanes.keys.inbox, "job")
    assert lab.lanes.explain("job") == Reason(code="unknown", facts={"tenant": ""})


def test_a_job_without_a_tenant_belongs_to_its_parents(lab: Lab) -> None:
    """As routing will decide it; else to the tenant of nobody."""
    lab.redis.hset("rq:job:parent", mapping={"status": "finished", "tenant": "a"})
    fields = {"status": "queued", "dependency_id": "parent"}
    lab.redis.hset("rq:job:job", mapping=fields)
    lab.redis.rpush(lab.lanes.keys.inbox, "job")
    lab.lanes.set_limits({"a": Limit(0)})
    assert told(lab, "job") == ["paused", {**OWN, "cap": 0, "waiting": 0, "inbox": 0}]
    lab.redis.delete("rq:job:parent")
    assert told(lab, "job")[1]["tenant"] == ""


def test_every_code_is_in_the_docs_and_has_words() -> None:
    """What the scripts may say is what the page lists, and what pages and `fairtop` can say."""
    lua = Path(lanes.__file__).parent / "lua"
    text = (lua / "explain.lua").read_text() + (lua / "_reasons.lua").read_text()
    told_ones = set(re.findall(r'(?:told\((?:still or )?|return |and |or )"([a-z_]{4,})"', text))
    order = {*ORDER, "suspended", "no_worker"}
    assert order <= told_ones | {"limits_not_loaded"}
    listed = (Path(lanes.__file__).parents[2] / "docs" / "reasons.md").read_text()
    for code in sorted(told_ones | order):
        assert f"`{code}`" in listed, code
    assert set(waiting._WORDS) == set(ORDER)
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", listed, re.MULTILINE)
    assert tuple(rows) == ORDER
