"""The fairness numbers: from the scripts' buckets to what people read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairimport.lanes.bounds import Contest, Contestant, contest, wait_bound
from fairimport.lanes.values import MICRO, LaneState, Snapshot

__all__ = ["quantile", "snapshot"]


def quantile(bins: Mapping[int, int], share: float) -> float | None:
    """Seconds below which `share` of the waits lie; right within five per cent, None without any.

    Bin n holds waits of about 2 ** (n / 8) - 1 milliseconds, as `_stats.lua` counts them.
    """
    total = sum(bins.values())
    if not total:
        return None
    seen = 0
    for number in sorted(bins):
        seen += bins[number]
        if seen >= share * total:
            return float(2 ** (number / 8) - 1) / 1000
    raise AssertionError("a share is at most 1")


def snapshot(raw: Mapping[str, Any]) -> Snapshot:
    """Read the reply of the script `snapshot`."""
    every = _dict(raw["all"])
    of = contest(raw)
    left = raw.get("suspended")
    return Snapshot(
        loaded=bool(raw["open"]),
        tenants={
            tenant: _state(tenant, _dict(row), of, every)
            for tenant, row in _dict(raw["tenants"]).items()
        },
        eligible=int(raw["eligible"]),
        inbox=int(raw["inbox"]),
        live=int(raw["live"]),
        longest_run=int(every.get("run", 0)),
        longest_run_contended=int(every.get("contended", 0)),
        longest_turn_s=of.turn,
        lapses=int(every.get("lapses", 0)),
        workers=int(raw["workers"]),
        last_seen=float(raw["seen"]) / MICRO if raw.get("seen") else None,
        suspended=left is not None,
        suspended_left_s=left / 1000 if left is not None and left >= 0 else None,
    )


def _state(tenant: str, row: Mapping[str, Any], of: Contest, every: Mapping[str, Any]) -> LaneState:
    numbers = _dict(row["stats"])
    ahead = row.get("ahead")
    return LaneState(
        tenant=tenant,
        waiting=int(row["waiting"]),
        in_flight=int(row["in_flight"]),
        cap=int(row["cap"]),
        weight=float(row["weight"]),
        paused=bool(row["paused"]),
        paused_by=row["by"],
        paused_at=row.get("at"),
        reason=row["reason"],
        ahead=int(ahead) if ahead is not None else None,
        wait_bound_s=wait_bound(of, _contestant(tenant, row)) if ahead is not None else None,
        **_waits(numbers),
        **_work(numbers, every),
    )


def _contestant(tenant: str, row: Mapping[str, Any]) -> Contestant:
    """A tenant of the ready set among the others there."""
    return Contestant(
        tenant=tenant,
        virtual=row["v"] / MICRO,
        weight=float(row["weight"]),
        rivals=int(row["rivals"]),
    )


def _waits(numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Quantiles of a tenant's waits in the window."""
    bins = {int(key[1:]): int(count) for key, count in numbers.items() if key[0] == "w"}
    return {
        "wait_p50_s": quantile(bins, 0.5),
        "wait_p95_s": quantile(bins, 0.95),
        "wait_p99_s": quantile(bins, 0.99),
        "wait_max_s": quantile(bins, 1.0),
    }


def _work(numbers: Mapping[str, Any], every: Mapping[str, Any]) -> dict[str, Any]:
    """A tenant's worker-seconds and jobs in the window, and its shares of everybody's."""
    used, jobs = numbers.get("us", 0), int(numbers.get("jobs", 0))
    all_used, all_jobs = every.get("us", 0), every.get("jobs", 0)
    return {
        "seconds": used / MICRO,
        "jobs": jobs,
        "share_seconds": used / all_used if all_used else None,
        "share_jobs": jobs / all_jobs if all_jobs else None,
    }


def _dict(value: Any) -> dict[str, Any]:
    """An empty Lua table is written as a list or an object; both are an empty dict here."""
    return dict(value) if value else {}
