"""`manage.py fairtop`, for people and for machines."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import CommandError, call_command

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
    "wait_p99_s",
    "wait_bound_s",
    "share_seconds",
    "share_jobs",
}


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


def test_the_table_is_for_people(lanes: Lanes, lab: Lab) -> None:
    """Slots of the cap, and nothing where nobody knows."""
    lab.push("a", "acme")
    lanes.claim("w")
    printed = fairtop("--once")
    assert "acme" in printed
    assert "1 of 2" in printed


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
