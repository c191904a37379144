"""From the reply of the script `snapshot` to the numbers that people read."""

from __future__ import annotations

from typing import Any

import pytest

from fairimport.lanes import LaneState
from fairimport.lanes.stats import snapshot


def state(**numbers: int) -> LaneState:
    """The lane of a tenant with these numbers, of two seconds and eight jobs in all."""
    row: dict[str, Any] = {"waiting": 0, "in_flight": 0, "cap": 4, "weight": 1, "paused": False}
    row |= {"by": "", "v": 0, "reason": "behind", "stats": numbers}
    raw: dict[str, Any] = {"all": {"us": 2_000_000, "jobs": 8}, "tenants": {"a": row}}
    raw |= {"open": True, "eligible": 0, "inbox": 0, "live": 0, "workers": 1, "turns": False}
    return snapshot({**raw, "cap": 4, "weight": 1, "working": []}).tenants["a"]


def test_each_quantile_is_its_own() -> None:
    """Of a hundred waits ninety are short, five longer, four long, and one is the longest."""
    lane = state(w0=90, w40=5, w80=4, w96=1)
    assert lane.wait_p50_s == 0
    assert lane.wait_p95_s == pytest.approx(0.031)
    assert lane.wait_p99_s == pytest.approx(1.023)
    assert lane.wait_max_s == pytest.approx(4.095)


def test_nobody_waited_is_not_a_wait_of_nothing() -> None:
    """None instead of 0."""
    lane = state()
    assert (lane.wait_p50_s, lane.wait_p95_s, lane.wait_p99_s, lane.wait_max_s) == (None,) * 4


def test_shares_are_of_all_tenants() -> None:
    """Of the worker-seconds and of the jobs of the same minutes."""
    lane = state(us=500_000, jobs=6)
    assert (lane.seconds, lane.jobs) == (0.5, 6)
    assert (lane.share_seconds, lane.share_jobs) == (0.25, 0.75)
