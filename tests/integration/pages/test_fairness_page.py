"""The operator's page about fairness, from real numbers."""

from __future__ import annotations

import re
import time

import pytest
from rq.suspension import suspend

from fairimport.lanes import Limit, get_lanes

pytestmark = [pytest.mark.django_db]

ADDRESS = "/admin/fairimport/tenantlimit/fairness/"


def page(client) -> str:
    """The page, in one line."""
    answer = client.get(ADDRESS)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_it_says_when_nobody_has_work(operator, redis_server):
    """An idle system is no empty page."""
    get_lanes().load_limits({"acme": Limit(cap=4)})
    said = page(operator)
    assert "Nobody waited in the last five minutes." in said
    assert "No tenant has work" in said


def test_it_says_when_limits_are_not_loaded(operator, redis_server):
    """Redis came back empty, and no worker has filled it yet."""
    assert "The limits are not loaded in Redis" in page(operator)


def test_it_shows_each_tenant_with_work(operator, wait):
    """Waiting, in flight of its cap, and who paused it."""
    get_lanes().load_limits(
        {
            "acme": Limit(cap=3),
            "birch": Limit(cap=2, paused=True, paused_by="olga"),
        },
        wait=0,
    )
    wait("acme", "birch")
    said = page(operator)
    row = '<th scope="row">acme</th> <td>no worker is alive</td> <td class="fi-num">1</td>'
    assert row in said
    assert '<td class="fi-num">0 / 3</td>' in said
    assert "<td>paused by olga</td>" in said
    assert "Wait p95" in said


def test_it_says_why_each_tenant_waits(operator, wait):
    """In words, with the time of a pause; nothing where nothing waits."""
    lanes = get_lanes()
    held = Limit(cap=2, paused=True, paused_by="olga", paused_at=time.time())
    lanes.load_limits({"acme": Limit(cap=1), "birch": held, "cedar": Limit(cap=0)}, wait=0)
    for _ in range(2):
        wait("acme", "birch", "cedar", "dora", "elm")
    assert lanes.claim("worker").tenant == "acme"
    said = page(operator)
    assert "<td>at its cap</td>" in said
    assert "<td>paused by olga since " in said
    assert "<td>paused by its cap of 0</td>" in said
    assert "<td>next in line</td>" in said
    assert "<td>behind 1 tenant</td>" in said


def test_it_says_when_work_is_suspended(operator, wait):
    """Over the numbers and with each tenant, and what ends it."""
    lanes = get_lanes()
    lanes.load_limits({}, wait=0)
    wait("acme")
    suspend(lanes.connection)
    said = page(operator)
    assert "nothing is handed out until “rq resume” is run" in said
    assert "<td>all work is suspended</td>" in said
    assert "Workers: suspended · leases held: 0" in said
    suspend(lanes.connection, 60)
    assert re.search(r"nothing is handed out for another (60.0|59.\d) s, or until", page(operator))


def test_names_of_tenants_are_only_text(operator, wait):
    """A tenant's key may come from a sign-up form."""
    name = "<img src=x onerror=alert(1)>"
    get_lanes().load_limits({name: Limit(cap=1)})
    wait(name)
    said = page(operator)
    assert "&lt;img src=x" in said
    assert "<img src=x" not in said
