"""Keys, claims and numbers, without Redis."""

from __future__ import annotations

import math
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairimport.lanes import Claim, Limit, hooks
from fairimport.lanes.keys import Keys
from fairimport.lanes.stats import quantile


@pytest.mark.parametrize("name", ["imports", "a.b-c_D9"])
def test_queue_names_make_keys(name: str) -> None:
    """A good name is the middle of its prefix."""
    assert Keys(name).prefix == f"fairimport:{name}:"


@pytest.mark.parametrize("name", ["", "a b", "a:b", "a\n"])
def test_names_that_keys_could_mix_up_are_refused(name: str) -> None:
    """A colon would let one queue write into another."""
    with pytest.raises(ValueError, match="not a queue name"):
        Keys(name)


def claim(seconds: float = 10) -> Claim:
    """A claim whose lease is surely ours for some seconds."""
    made = Claim(lease_id="l", tenant="t", job_id="j", started_monotonic=time.monotonic())
    made.extend(time.monotonic() + seconds)
    return made


def test_a_claim_stops_when_asked_or_when_its_time_is_over() -> None:
    """Both can be told without a call to anybody."""
    fresh, asked, late, lost = claim(), claim(), claim(-1), claim()
    asked.stop()
    lost.lose()
    assert [it.should_stop() for it in (fresh, asked, late, lost)] == [False, True, True, True]
    assert [it.lost() for it in (fresh, asked, late, lost)] == [False, False, True, True]


def test_a_claims_flags_are_shared_with_a_fork() -> None:
    """What the horse notes the worker sees, and the other way round."""
    shared = claim()
    pid = os.fork()
    if pid == 0:
        shared.returned()
        shared.settled()
        os._exit(0)
    os.waitpid(pid, 0)
    assert shared.has_returned
    assert shared.is_settled


@given(st.lists(st.floats(0.001, 3600), min_size=1, max_size=60))
def test_quantiles_are_right_within_five_per_cent(waits: list[float]) -> None:
    """The median and the 99th of a hundred, from bins as the scripts count them."""
    bins: dict[int, int] = {}
    for wait in waits:
        number = int(8 * math.log2(1 + wait * 1000) + 0.5)
        bins[number] = bins.get(number, 0) + 1
    for share in (0.5, 0.99):
        rank = max(math.ceil(share * len(waits)) - 1, 0)
        exact = sorted(waits)[rank]
        assert quantile(bins, share) == pytest.approx(exact, rel=0.05, abs=0.0001)
    assert quantile({}, 0.5) is None


def test_a_limit_is_frozen() -> None:
    """A changed limit is another limit."""
    with pytest.raises(AttributeError):
        Limit(3).cap = 4  # type: ignore[misc]


def test_a_hook_that_raises_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged; the next hook is called all the same."""
    heard = []

    def broken(job_id: str, tenant: str) -> None:
        raise RuntimeError("on purpose")

    def good(job_id: str, tenant: str) -> None:
        heard.append((job_id, tenant))

    hooks.on_lapse(broken)
    hooks.on_lapse(good)
    hooks.on_lapse(good)
    try:
        hooks.lapsed("j", "t")
    finally:
        hooks._lapse.remove(broken)
        hooks._lapse.remove(good)
    assert heard == [("j", "t")]
    assert "hook.failed" in caplog.text
