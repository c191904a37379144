"""The fairness numbers: from the scripts' buckets to what people read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairimport.lanes.bounds import Contest, Contestant, contest, wait_bound
from fairimport.lanes.values import LaneState, Snapshot

__all__ = ["quantile", "snapshot"]

MICRO = 1_000_000


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
    seconds, jobs = every.get("us", 0) / MICRO, int(every.get("jobs", 0))
    states = {
        tenant: _state(tenant, _dict(row), of=of, seconds=seconds, jobs=jobs)
        for tenant, row in _dict(raw["tenants"]).items()
    }
    return Snapshot(
        loaded=bool(raw["open"]),
        tenants=states,
        eligible=int(raw["eligible"]),
        inbox=int(raw["inbox"]),
        live=int(raw["live"]),
        longest_run=int(every.get("run", 0)),
        longest_run_contended=int(every.get("contended", 0)),
        longest_turn_s=of.turn,
        lapses=int(every.get("lapses", 0)),
        workers=int(raw["workers"]),
        last_seen=float(raw["seen"]) / MICRO if raw.get("seen") else None,
    )


def _state(
    tenant: str,
    row: dict[str, Any],
    *,
    of: Contest,
    seconds: float,
    jobs: int,
) -> LaneState:
    numbers = _dict(row["stats"])
    bins = {int(key[1:]): int(count) for key, count in numbers.items() if key[0] == "w"}
    own_seconds, own_jobs = numbers.get("us", 0) / MICRO, int(numbers.get("jobs", 0))
    ahead = row.get("ahead")
    one = None
    if ahead is not None:
        one = Contestant(
            tenant=tenant,
            virtual=row["v"] / MICRO,
            weight=float(row["weight"]),
            rivals=int(row["rivals"]),
        )
    return LaneState(
        tenant=tenant,
        waiting=int(row["waiting"]),
        in_flight=int(row["in_flight"]),
        cap=int(row["cap"]),
        weight=float(row["weight"]),
        paused=bool(row["paused"]),
        paused_by=row["by"],
        paused_at=row.get("at"),
        ahead=int(ahead) if ahead is not None else None,
        wait_p50_s=quantile(bins, 0.5),
        wait_p95_s=quantile(bins, 0.95),
        wait_p99_s=quantile(bins, 0.99),
        wait_max_s=quantile(bins, 1.0),
        wait_bound_s=wait_bound(of, one) if one else None,
        seconds=own_seconds,
        jobs=own_jobs,
        share_seconds=own_seconds / seconds if seconds else None,
        share_jobs=own_jobs / jobs if jobs else None,
    )


def _dict(value: Any) -> dict[str, Any]:
    """An empty Lua table is written as a list or an object; both are an empty dict here."""
    return dict(value) if value else {}
