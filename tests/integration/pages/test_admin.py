"""The operator's pages: limits with what is in flight, imports with their verbs."""

from __future__ import annotations

import pytest
from django.urls import reverse

from fairimport.lanes import get_lanes
from fairimport.models import ImportRun, TenantLimit
from fairimport.states import State
from tests.integration.pages.conftest import GOOD, MIXED, no_writes

pytestmark = [pytest.mark.django_db]

LIMITS = "/admin/fairimport/tenantlimit/"
RUNS = "/admin/fairimport/importrun/"


@pytest.fixture
def limit(db) -> TenantLimit:
    """Acme's limit."""
    return TenantLimit.objects.create(tenant="acme", cap=4)


def page(client, address: str) -> str:
    """A page of the admin, in one line."""
    answer = client.get(address)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def change(limit: TenantLimit, **changes) -> dict:
    """What the form of a limit sends."""
    return {"cap": limit.cap, "weight": limit.weight, **changes}


def press(client, address: str, action: str, *chosen) -> str:
    """Use an action of a list."""
    sent = {"action": action, "_selected_action": [str(one.pk) for one in chosen]}
    return client.post(address, sent, follow=True).content.decode()


def test_a_cap_is_set(operator, limit):
    """And kept."""
    operator.post(f"{LIMITS}{limit.pk}/change/", change(limit, cap=1))
    limit.refresh_from_db()
    assert limit.cap == 1


def test_a_new_cap_is_pushed_to_the_lanes(
    operator, limit, redis_server, django_capture_on_commit_callbacks
):
    """It counts from the next claim on."""
    with django_capture_on_commit_callbacks(execute=True):
        operator.post(f"{LIMITS}{limit.pk}/change/", change(limit, cap=2))
    assert get_lanes().snapshot(["acme"]).tenants["acme"].cap == 2


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"cap": -1}, "Ensure this value is greater than or equal to 0."),
        ({"cap": "many"}, "Enter a whole number."),
        ({"cap": ""}, "This field is required."),
        ({"weight": 0}, "Ensure this value is greater than or equal to"),
        ({"weight": -1}, "Ensure this value is greater than or equal to"),
        ({"weight": 1e9}, "Ensure this value is less than or equal to"),
        ({"weight": "nan"}, "Enter a number."),
    ],
)
def test_impossible_limits_are_refused(operator, limit, sent, said):
    """With words, on the form."""
    answer = operator.post(f"{LIMITS}{limit.pk}/change/", change(limit, **sent))
    assert said in answer.content.decode()
    limit.refresh_from_db()
    assert (limit.cap, limit.weight) == (4, 1.0)


def test_a_cap_of_0_is_said_to_be_a_pause(operator, limit):
    """0 is allowed, and its meaning is spelled out."""
    answer = operator.post(f"{LIMITS}{limit.pk}/change/", change(limit, cap=0), follow=True)
    said = answer.content.decode()
    assert "A cap of 0 pauses acme." in said
    assert "0 (paused)" in said


def test_a_pause_keeps_who_and_since_when(operator, limit):
    """Shown in the list, and gone with the pause."""
    operator.post(f"{LIMITS}{limit.pk}/change/", change(limit, paused="on"))
    limit.refresh_from_db()
    assert (limit.paused, limit.paused_by) == (True, "olga")
    assert limit.paused_at is not None
    assert "by olga since" in page(operator, LIMITS)
    operator.post(f"{LIMITS}{limit.pk}/change/", change(limit))
    limit.refresh_from_db()
    assert (limit.paused, limit.paused_by, limit.paused_at) == (False, "", None)


def test_saving_something_else_keeps_the_pause_as_it_was(operator, limit):
    """Another operator who sets the cap did not pause it."""
    operator.post(f"{LIMITS}{limit.pk}/change/", change(limit, paused="on"))
    TenantLimit.objects.update(paused_by="pia")
    operator.post(f"{LIMITS}{limit.pk}/change/", change(limit, paused="on", cap=2))
    limit.refresh_from_db()
    assert limit.paused_by == "pia"


def test_tenants_are_paused_from_the_list(operator, limit):
    """Two actions; those that are paused already are left alone."""
    other = TenantLimit.objects.create(tenant="birch", paused=True, paused_by="pia")
    assert "1 tenant changed." in press(operator, LIMITS, "pause", limit, other)
    limit.refresh_from_db()
    other.refresh_from_db()
    assert (limit.paused_by, other.paused_by) == ("olga", "pia")
    assert "2 tenants changed." in press(operator, LIMITS, "go_on", limit, other)
    assert not TenantLimit.objects.filter(paused=True).exists()


def test_the_list_shows_what_waits(operator, limit, wait):
    """Beside each limit, from the lanes."""
    wait("acme")
    assert '<td class="field-waiting">1</td>' in page(operator, LIMITS)


def test_the_list_asks_redis_once(operator, limit, redis_server):
    """One round trip for the page, however many tenants."""
    for n in range(20):
        TenantLimit.objects.create(tenant=f"t{n}")
    page(operator, LIMITS)
    with redis_server.client() as redis:
        before = redis.info("commandstats")["cmdstat_evalsha"]["calls"]
        page(operator, LIMITS)
        after = redis.info("commandstats")["cmdstat_evalsha"]["calls"]
    assert after - before == 1


def test_the_pages_work_while_redis_is_down(operator, limit, redis_server):
    """And say so; limits can be set."""
    redis_server.stop()
    assert "Redis does not answer" in page(operator, LIMITS)
    assert "Redis does not answer" in page(operator, f"{LIMITS}fairness/")
    answer = operator.post(f"{LIMITS}{limit.pk}/change/", change(limit, cap=3))
    assert answer.status_code == 302
    limit.refresh_from_db()
    assert limit.cap == 3


def test_a_limit_is_never_deleted_or_renamed(operator, limit):
    """Work of a tenant without a limit would never be handed out."""
    assert operator.post(f"{LIMITS}{limit.pk}/delete/", {"post": "yes"}).status_code == 403
    operator.post(f"{LIMITS}{limit.pk}/change/", change(limit, tenant="other"))
    limit.refresh_from_db()
    assert limit.tenant == "acme"


def test_caps_are_for_those_who_may(client, person, limit):
    """Staff without the permission gets no form, and no numbers of other tenants."""
    user = person("sam", "")
    user.is_staff = True
    user.save()
    client.force_login(user)
    for address in (LIMITS, f"{LIMITS}{limit.pk}/change/", f"{LIMITS}fairness/"):
        assert client.get(address).status_code == 403


def test_all_imports_are_listed_with_their_states(operator, make_run):
    """Of all tenants."""
    make_run(GOOD, State.READY, tenant="acme", name="one.csv")
    make_run(MIXED, State.FINISHED, tenant="birch", name="two.csv")
    said = page(operator, RUNS)
    assert "one.csv" in said
    assert '<span class="fi-admin-pill fi-admin-ask">Ready to start</span>' in said
    assert '<span class="fi-admin-pill fi-admin-good">Finished</span>' in said


def test_an_import_is_read_only(operator, make_run):
    """Facts, the sum, and no field to fill in."""
    run = make_run(MIXED, State.FINISHED)
    said = page(operator, f"{RUNS}{run.pk}/change/")
    assert "4 rows = 2 created" in said
    assert 'name="state"' not in said
    operator.post(f"{RUNS}{run.pk}/change/", {"state": "queued", "tenant": "birch"})
    run.refresh_from_db()
    assert (run.state, run.tenant) == (State.FINISHED, "acme")
    assert operator.post(f"{RUNS}{run.pk}/delete/", {"post": "yes"}).status_code == 403
    assert operator.get(f"{RUNS}add/").status_code == 403


@pytest.mark.parametrize("state", State)
def test_each_state_has_its_page_in_the_admin(operator, make_run, state):
    """Also failed ones and those that nobody has read."""
    run = make_run(MIXED, state)
    with no_writes():
        page(operator, f"{RUNS}{run.pk}/change/")


@pytest.mark.parametrize(
    ("action", "before", "after"),
    [
        ("pause", State.QUEUED, State.PAUSED),
        ("resume", State.PAUSED, State.QUEUED),
        ("cancel", State.READY, State.CANCELLED),
        ("retry", State.FINISHED, State.QUEUED),
    ],
)
def test_verbs_are_actions(operator, make_run, action, before, after):
    """The operator says the same verbs as the customer."""
    run = make_run(MIXED, before)
    assert "1 import was told so." in press(operator, RUNS, action, run)
    run.refresh_from_db()
    assert run.state == after


def test_an_action_says_which_imports_could_not(operator, make_run):
    """The others are done."""
    runs = [make_run(GOOD, State.QUEUED), make_run(GOOD, State.FINISHED)]
    said = press(operator, RUNS, "pause", *runs)
    assert "1 import was told so." in said
    assert "1 could not, because of the state they are in." in said


def test_viewers_have_no_verbs(client, person, make_run):
    """Whoever may only look has no actions."""
    run = make_run(GOOD, State.QUEUED)
    user = person("sam", "", permissions=False)
    user.is_staff = True
    user.save()
    user.user_permissions.set(_permission("view_importrun"))
    client.force_login(user)
    assert "Pause the chosen imports" not in page(client, RUNS)
    press(client, RUNS, "pause", run)
    run.refresh_from_db()
    assert run.state == State.QUEUED


def _permission(name: str):
    from django.contrib.auth.models import Permission

    return Permission.objects.filter(codename=name)


def test_names_of_files_are_only_text_in_the_admin(operator, make_run):
    """The operator's browser runs nobody's script."""
    run = make_run(GOOD, State.MAPPING, name="<script>alert(1)</script>.csv")
    for address in (RUNS, f"{RUNS}{run.pk}/change/"):
        assert "<script>alert" not in page(operator, address)


def test_the_admin_costs_few_queries(operator, make_run, django_assert_max_num_queries):
    """A list of imports does not count the rows of each."""
    for _ in range(4):
        make_run(GOOD, State.MAPPING)
    with django_assert_max_num_queries(10):
        page(operator, RUNS)
    assert ImportRun.objects.count() == 4


def test_fairness_is_linked_from_the_limits(operator, limit, redis_server):
    """One click from where caps are set."""
    assert reverse("admin:fairimport_fairness") in page(operator, LIMITS)
