"""The operator's page about fairness, from real numbers."""

from __future__ import annotations

import pytest

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
        }
    )
    wait("acme", "birch")
    said = page(operator)
    assert '<th scope="row">acme</th> <td class="fi-num">1</td>' in said
    assert '<td class="fi-num">0 / 3</td>' in said
    assert "<td>olga</td>" in said


def test_names_of_tenants_are_only_text(operator, wait):
    """A tenant's key may come from a sign-up form."""
    name = "<img src=x onerror=alert(1)>"
    get_lanes().load_limits({name: Limit(cap=1)})
    wait(name)
    said = page(operator)
    assert "&lt;img src=x" in said
    assert "<img src=x" not in said
