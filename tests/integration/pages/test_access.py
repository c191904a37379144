"""Whose pages are these: two companies, every address, every method."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from fairimport import urls
from fairimport.states import State
from tests.integration.pages.conftest import GOOD, MIXED, PASSWORD, body, no_writes

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
FILLED = {"verb": "start", "form": "xlsx"}


def addresses(pk: uuid.UUID) -> dict[str, str]:
    """Every address of the app that names a run, made from the url patterns themselves."""
    found = {}
    for pattern in urls.urlpatterns:
        names = set(pattern.pattern.regex.groupindex) | set(pattern.pattern.converters)
        if "pk" in names:
            given = {name: FILLED[name] for name in names if name != "pk"}
            found[pattern.name] = reverse(f"fairimport:{pattern.name}", kwargs={"pk": pk, **given})
    return found


NAMES = sorted(addresses(uuid.uuid4()))


def test_the_matrix_holds_every_address():
    """A new address is in the matrix at once; these are the ones that name a run."""
    in_use = {
        name for name in get_resolver("fairimport.urls").reverse_dict if isinstance(name, str)
    }
    assert set(NAMES) == in_use - {"list", "upload", "example"}
    assert len(NAMES) == 8


@pytest.mark.parametrize("state", [State.MAPPING, State.READY, State.RUNNING, State.FINISHED])
def test_a_run_of_another_tenant_does_not_exist(make_run, birch, state):
    """404 on pages, fragments, files and verbs alike, whatever the method, and nothing changes."""
    run = make_run(MIXED, state)
    with no_writes():
        for name, address in addresses(run.pk).items():
            for method in METHODS:
                assert getattr(birch, method)(address).status_code == 404, (name, method)
    run.refresh_from_db()
    assert run.state == state


def test_a_run_that_never_was_looks_the_same(birch):
    """Nobody learns which ids exist."""
    for address in addresses(uuid.uuid4()).values():
        assert {getattr(birch, method)(address).status_code for method in METHODS} == {404}


def test_its_own_tenant_gets_it(make_run, acme):
    """The matrix is no proof unless the owner is let in."""
    run = make_run(MIXED, State.FINISHED)
    answers = {}
    for name, address in addresses(run.pk).items():
        answer = acme.get(address)
        body(answer)
        answers[name] = answer.status_code
    assert answers == {
        "ask_cancel": 302,
        "columns": 302,
        "corrected": 405,
        "fragment": 200,
        "rejected": 200,
        "run": 200,
        "source": 200,
        "verb": 405,
    }


def test_strangers_are_sent_to_sign_in(make_run, client):
    """And come back to a page that can be read, never to a verb."""
    run = make_run(GOOD, State.READY)
    for address in addresses(run.pk).values():
        for method in ("get", "post"):
            answer = getattr(client, method)(address)
            assert answer.status_code == 302
            assert answer.url.startswith("/sign-in/?next=/imports/")
    run.refresh_from_db()
    assert run.state == State.READY


def test_an_expired_session_says_so_and_leads_back(make_run, client, person):
    """One clear sentence on the sign-in page, then the run's own page."""
    run = make_run(GOOD, State.READY)
    answer = client.post(reverse("fairimport:verb", args=[run.pk, "start"]), follow=True)
    assert "Your session has ended. Sign in and do it again." in answer.content.decode()
    person("ada")
    back = client.post(
        answer.request["PATH_INFO"],
        {"username": "ada", "password": PASSWORD, "next": f"/imports/{run.pk}/"},
    )
    assert back.url == f"/imports/{run.pk}/"


def test_a_polling_page_whose_session_ended_goes_to_sign_in(make_run, client):
    """The fragment would show a sign-in form inside the page; the whole page goes there instead."""
    run = make_run(GOOD, State.RUNNING)
    answer = client.get(
        reverse("fairimport:fragment", args=[run.pk]), headers={"HX-Request": "true"}
    )
    assert answer.headers["HX-Redirect"] == f"/sign-in/?next=/imports/{run.pk}/"
    assert not answer.content


def test_somebody_without_a_tenant_gets_a_page_that_says_so(operator):
    """The operator belongs to nobody: 403 with words, not an error."""
    for name in ("list", "upload"):
        answer = operator.get(reverse(f"fairimport:{name}"))
        assert answer.status_code == 403
        assert "belongs to nobody" in answer.content.decode()


@pytest.mark.parametrize("name", ["list", "upload"])
def test_permissions_are_asked_for(sign_in, name):
    """A colleague without the permission gets words, too."""
    answer = sign_in("dan", "acme", permissions=False).get(reverse(f"fairimport:{name}"))
    assert answer.status_code == 403
    assert "may not do that" in answer.content.decode()


def test_permissions_are_asked_for_on_each_run(make_run, sign_in):
    """View, add and change are Django's own permissions."""
    run = make_run(MIXED, State.FINISHED)
    nobody = sign_in("dan", "acme", permissions=False)
    for address in addresses(run.pk).values():
        assert nobody.get(address).status_code == 403


def test_a_list_shows_only_its_own_tenants_runs(make_run, acme, birch):
    """Neither name nor number of somebody else's files."""
    make_run(GOOD, State.MAPPING, name="secret-prices.csv")
    assert "secret-prices" in acme.get("/imports/").content.decode()
    assert "secret-prices" not in birch.get("/imports/").content.decode()


@pytest.mark.parametrize("path", ["?page=0", "?page=x", "?page=999", "?page=-1"])
def test_any_page_number_shows_a_page(make_run, acme, path):
    """No 500 for a number that somebody typed."""
    make_run(GOOD, State.MAPPING)
    assert acme.get(f"/imports/{path}").status_code == 200


@pytest.mark.parametrize("state", [State.MAPPING, State.READY, State.RUNNING, State.FINISHED])
def test_reading_never_writes(make_run, acme, state):
    """GET changes nothing in the database, whatever the page."""
    run = make_run(MIXED, state)
    for address in addresses(run.pk).values():
        with no_writes():
            body(acme.get(address))
    with no_writes():
        acme.get(reverse("fairimport:list"))


def test_posts_need_the_token(make_run, person):
    """CSRF is checked on each verb and on both uploads."""
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person("ada"))
    run = make_run(MIXED, State.READY)
    for name, address in addresses(run.pk).items():
        if name in ("verb", "columns", "corrected"):
            assert strict.post(address).status_code == 403
    assert strict.post(reverse("fairimport:upload")).status_code == 403
    run.refresh_from_db()
    assert run.state == State.READY
