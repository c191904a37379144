"""Equal worker-seconds, weights, and that nothing can be used to get ahead or to starve another."""

from __future__ import annotations

import itertools
import string
from collections import Counter

import pytest

from fairimport.lanes import Limit
from fairimport.lanes.lanes import Idle
from tests.lanelab import Crowd, Lab

LENGTHS = {"long": 34.0, "short": 1.0}


def fill(lab: Lab, tenant: str, jobs: int) -> None:
    """Push many jobs of a tenant at once."""
    with lab.redis.pipeline(transaction=False) as pipeline:
        for number in range(jobs):
            job = f"{tenant}-{number}"
            mapping = {"status": "queued", "tenant": tenant, "data": "x"}
            pipeline.hset(f"rq:job:{job}", mapping=mapping)
            pipeline.rpush(lab.lanes.keys.inbox, job)
        pipeline.execute()
    lab.lanes.route()


@pytest.fixture
def patient(lab: Lab, settings: pytest.FixtureRequest) -> Lab:
    """The lab with leases longer than any job."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": 600, "CAP": 10}
    return lab


def test_long_and_short_jobs_end_with_equal_worker_seconds(patient: Lab) -> None:
    """34 s against 1 s jobs: half of the turns would be 97 % of the time; seconds are equal."""
    fill(patient, "long", 200)
    fill(patient, "short", 4500)
    crowd = Crowd(patient, 4, LENGTHS.__getitem__)
    crowd.run(4000)
    assert crowd.used["long"] / crowd.used["short"] == pytest.approx(1, abs=0.01)
    assert Counter(crowd.served)["short"] > 3700


def test_weights_are_shares_of_worker_seconds(patient: Lab) -> None:
    """Weights 3 to 1 end within two per cent of three to one, whatever the jobs' lengths."""
    patient.lanes.set_limits({"long": Limit(10, weight=3.0)})
    fill(patient, "long", 600)
    fill(patient, "short", 5000)
    crowd = Crowd(patient, 4, LENGTHS.__getitem__)
    crowd.run(2500)
    assert crowd.used["long"] / crowd.used["short"] == pytest.approx(3, rel=0.02)


def test_turns_share_claims_instead(patient: Lab, settings: pytest.FixtureRequest) -> None:
    """With FAIRNESS = "turns" both tenants get every second claim, however long it takes."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "FAIRNESS": "turns"}
    fill(patient, "long", 300)
    fill(patient, "short", 300)
    crowd = Crowd(patient, 1, LENGTHS.__getitem__)
    crowd.run(200)
    assert Counter(crowd.served) == {"long": 100, "short": 100}
    assert all(a != b for a, b in itertools.pairwise(crowd.served))


@pytest.mark.parametrize("ahead", [1, 3])
def test_a_stream_of_new_tenants_starves_nobody(patient: Lab, ahead: int) -> None:
    """With `ahead` one-job tenants always waiting, the old tenant still gets its fair part."""
    fill(patient, "old", 300)
    minted = itertools.count()
    crowd = Crowd(patient, 1, lambda tenant: 1.0)

    def mint() -> None:
        waiting = patient.redis.zcard(patient.lanes.keys.prefix + "ready") - 1
        waiting += patient.redis.llen(patient.lanes.keys.inbox)
        for _ in range(ahead - waiting):
            patient.push(f"minted-{next(minted)}", f"new-{next(minted)}")

    crowd.run(240, between=mint)
    assert crowd.used["old"] / crowd.used.total() >= 0.9 / (ahead + 1)


def test_no_name_is_favoured(patient: Lab) -> None:
    """Tenants that came together are served in the order of their arrival, and once a round."""
    names = list(reversed(string.ascii_lowercase))
    for name in names:
        fill(patient, name, 8)
    crowd = Crowd(patient, 1, lambda tenant: 0.3)
    crowd.run(26)
    assert crowd.served == names
    crowd.run(26 * 6)
    assert set(Counter(crowd.served).values()) == {7}


def test_absence_gives_no_credit(patient: Lab) -> None:
    """Who comes back after a long time shares from then on; it does not take what it missed."""
    fill(patient, "busy", 400)
    crowd = Crowd(patient, 1, lambda tenant: 1.0)
    crowd.run(200)
    fill(patient, "back", 100)
    crowd.run(100)
    assert Counter(crowd.served[-100:])["back"] == pytest.approx(50, abs=1)


def test_coming_and_going_gives_no_credit(patient: Lab) -> None:
    """Whose lane runs empty after each long job pays for it all the same when it comes back."""
    fill(patient, "steady", 3000)
    numbers = itertools.count()
    crowd = Crowd(patient, 1, lambda tenant: 10.0 if tenant == "flicker" else 1.0)

    def push_when_empty() -> None:
        if not patient.lane("flicker") and not patient.leases("flicker"):
            patient.push(f"flicker-{next(numbers)}", "flicker")

    crowd.run(600, between=push_when_empty)
    assert crowd.used["flicker"] / crowd.used.total() == pytest.approx(0.5, abs=0.02)


def test_a_paused_tenant_does_not_pin_the_clock(patient: Lab) -> None:
    """After a pause a tenant starts at the clock that went on without it."""
    fill(patient, "paused", 300)
    fill(patient, "other", 300)
    patient.lanes.set_limits({"paused": Limit(10, paused=True)})
    crowd = Crowd(patient, 1, lambda tenant: 1.0)
    crowd.run(100)
    assert set(crowd.served) == {"other"}
    patient.lanes.set_limits({"paused": Limit(10)})
    crowd.run(50)
    assert Counter(crowd.served[-50:])["paused"] == pytest.approx(25, abs=1)


def test_no_worker_idles_while_a_tenant_is_eligible(patient: Lab) -> None:
    """Ten workers, caps of two, seven tenants: ten jobs run at every moment."""
    patient.lanes.set_limits({name: Limit(2) for name in "abcdefg"})
    for name in "abcdefg":
        fill(patient, name, 60)
    crowd = Crowd(patient, 10, lambda tenant: 1.0 + ord(tenant) / 100)
    crowd.run(10)
    for _ in range(100):
        crowd.run(1)
        assert patient.redis.zcard(patient.lanes.keys.prefix + "deadlines") == 10


def test_the_first_claim_passes_ten_thousand_tenants_at_their_cap(
    patient: Lab, settings: pytest.FixtureRequest
) -> None:
    """The last of 10,001 tenants is served by the first claim, at the cost of one."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "CAP": 1}
    for name in ("first", "second"):
        _one_job_each(patient, name, 10_000)
    for start in range(0, 10_000, 500):
        numbers = range(start, start + 500)
        calls = [patient.lanes.scripts.call("claim", f"lease-{it}", "w", "now") for it in numbers]
        patient.lanes.scripts.run_all(patient.redis, calls)
    assert isinstance(patient.lanes.claim("worker"), Idle)
    patient.push("mine", "last")
    patient.lanes.route()
    before = _commands(patient)
    assert patient.claim().job_id == "mine"
    assert _commands(patient) - before < 60


def _one_job_each(lab: Lab, name: str, tenants: int) -> None:
    with lab.redis.pipeline(transaction=False) as pipeline:
        for number in range(tenants):
            mapping = {"status": "queued", "tenant": f"t{number}"}
            pipeline.hset(f"rq:job:{name}-{number}", mapping=mapping)
            pipeline.rpush(lab.lanes.keys.inbox, f"{name}-{number}")
        pipeline.execute()
    lab.lanes.route()


def _commands(lab: Lab) -> int:
    """Calls that scripts and clients have made so far."""
    stats = lab.redis.info("commandstats")
    return sum(row["calls"] for name, row in stats.items() if not name.startswith("cmdstat_info"))
