"""`manage.py fairtop`, for people and for machines."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command
from rq.suspension import suspend

from demo_site.servers import RedisServer
from fairimport.lanes import Lanes, Limit
from tests.lanelab import Lab

TENANT = {
    "tenant",
    "waiting",
    "in_flight",
    "cap",
    "weight",
    "paused",
    "wait_p50_s",
    "wait_p95_s",
    "wait_p99_s",
    "wait_bound_s",
    "share_seconds",
    "share_jobs",
    "reason",
}


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal with room for all columns."""
    monkeypatch.setenv("COLUMNS", "160")


def fairtop(*arguments: str) -> str:
    """What the command prints."""
    out = io.StringIO()
    call_command("fairtop", *arguments, stdout=out)
    return out.getvalue()


def test_the_json_has_the_keys_that_checks_rely_on(lanes: Lanes, lab: Lab) -> None:
    """One object, with every tenant that has something to tell."""
    lanes.set_limits({"acme": Limit(3, 2.0), "birch": Limit(1, paused=True)})
    for number in range(5):
        lab.push(f"a{number}", "acme")
    lab.push("b", "birch")
    lanes.settle(lanes.claim("w", "first").lease_id, "done")
    lanes.claim("w")
    seen = json.loads(fairtop("--once", "--json"))
    assert set(seen) == {
        "queue",
        "workers",
        "suspended",
        "suspended_left_s",
        "live",
        "tenants",
        "longest_run",
        "longest_run_contended",
        "lapses",
    }
    tenants = {row["tenant"]: row for row in seen["tenants"]}
    assert set(tenants["acme"]) == TENANT
    assert (tenants["acme"]["in_flight"], tenants["acme"]["waiting"]) == (1, 3)
    assert (tenants["birch"]["paused"], tenants["birch"]["cap"]) == (True, 1)
    assert (seen["queue"], seen["workers"], seen["longest_run"]) == ("imports", 1, 2)
    assert tenants["acme"]["wait_bound_s"] is not None
    acme = tenants["acme"]
    assert acme["wait_p50_s"] <= acme["wait_p95_s"] <= acme["wait_p99_s"]
    assert (acme["reason"], tenants["birch"]["reason"]) == ("behind", "paused")
    assert (seen["live"], seen["suspended"], seen["suspended_left_s"]) == (1, False, None)


def test_the_json_knows_no_reason_where_nothing_waits(lanes: Lanes, lab: Lab) -> None:
    """Null, and not the reason that a job would have."""
    lab.push("a", "acme")
    lanes.claim("w")
    [row] = json.loads(fairtop("--json"))["tenants"]
    assert (row["waiting"], row["reason"]) == (0, None)


def test_a_suspension_is_told_with_what_is_left(lanes: Lanes, lab: Lab) -> None:
    """In the JSON by itself, in the table over all tenants."""
    lab.push("a", "acme")
    lanes.route()
    suspend(lab.redis)
    seen = json.loads(fairtop("--json"))
    assert (seen["suspended"], seen["suspended_left_s"]) == (True, None)
    assert seen["tenants"][0]["reason"] == "suspended"
    assert "suspended until rq resume" in fairtop("--once")
    suspend(lab.redis, 60)
    assert 50 < json.loads(fairtop("--json"))["suspended_left_s"] <= 60


def test_one_job_is_explained(lanes: Lanes, lab: Lab) -> None:
    """The code and its facts, in a line or as an object."""
    lab.push("job", "acme")
    lanes.set_limits({"acme": Limit(3, paused=True, paused_by="olga")})
    facts = {"tenant": "acme", "status": "queued", "cap": 3, "by": "olga", "waiting": 0, "inbox": 0}
    told = json.loads(fairtop("--job", "job", "--json"))
    assert told == {"job": "job", "code": "paused", "facts": facts}
    assert fairtop("--job", "job").startswith('job: paused by="olga" cap=3 inbox=0 status="queued"')


def test_the_table_is_for_people(lanes: Lanes, lab: Lab) -> None:
    """Slots of the cap, and nothing where nobody knows."""
    lab.push("a", "acme")
    lanes.claim("w")
    printed = fairtop("--once")
    assert "acme" in printed
    assert "1 of 2" in printed


def test_the_table_says_why_tenants_wait(lanes: Lanes, lab: Lab, wide: None) -> None:
    """In a few words."""
    facts = Limit(1, paused=True, paused_by="olga")
    lanes.set_limits({"full": Limit(1), "held": facts, "none": Limit(0)})
    for tenant in ("full", "held", "none", "next"):
        for number in range(2):
            lab.push(f"{tenant}{number}", tenant)
    lanes.claim("w")
    printed = fairtop("--once")
    for words in ("at its cap", "paused by olga", "paused by its cap of 0", "next in line"):
        assert words in printed
    for number in range(3):
        lanes.claim(f"w{number}")
    lab.redis.delete(lanes.keys.prefix + "epoch")
    assert "limits are not loaded" in fairtop("--once")
    lab.redis.delete(lanes.keys.workers)
    lanes.load_limits({}, wait=0)
    assert "no worker is alive" in fairtop("--once")
    suspend(lab.redis)
    assert "all work is suspended" in fairtop("--once")


def test_the_table_fits_eighty_columns(
    lanes: Lanes, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words are wrapped, and none is cut off; a long name takes more lines."""
    monkeypatch.setenv("COLUMNS", "80")
    lab.push("a", "acme.example.com")
    lanes.route()
    suspend(lab.redis)
    printed = fairtop("--once")
    assert all(len(line) <= 80 for line in printed.splitlines())
    assert "suspended" in printed.split("why it")[1]
    assert "\N{HORIZONTAL ELLIPSIS}" not in printed


@pytest.mark.parametrize("command", [["fairtop", "--queue", "nope"], ["fairworker", "nope"]])
def test_an_unknown_queue_is_one_sentence(command: list[str]) -> None:
    """It names those that there are."""
    with pytest.raises(CommandError, match="RQ_QUEUES has no 'nope'; it has: imports"):
        call_command(*command)


def test_a_silent_redis_is_one_sentence(redis_server: RedisServer) -> None:
    """No traceback."""
    redis_server.stop()
    with pytest.raises(CommandError, match="Redis does not answer"):
        fairtop("--once")
