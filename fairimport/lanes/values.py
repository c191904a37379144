"""The values that cross the border of the lanes; all frozen, times in seconds since the epoch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "MICRO",
    "LaneState",
    "Lapse",
    "Lease",
    "Limit",
    "Reason",
    "Snapshot",
    "WorkerStatus",
]

MICRO = 1_000_000
"""The scripts' times are microseconds."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What the operator allows a tenant: live leases, share, and whether it is paused."""

    cap: int
    weight: float = 1.0
    paused: bool = False
    paused_by: str = ""
    paused_at: float | None = None

    def __post_init__(self) -> None:
        """Refuse what no script could keep: raises ValueError."""
        if self.cap < 0:
            raise ValueError("a cap is 0 or more live leases")
        if not 0.001 <= self.weight <= 1000:
            raise ValueError("a weight is between 0.001 and 1000")

    def to_json(self) -> str:
        """Say it as the scripts read it."""
        return json.dumps(
            {
                "cap": self.cap,
                "weight": self.weight,
                "paused": self.paused,
                "by": self.paused_by,
                "at": self.paused_at,
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right of a worker to work on one job until the deadline on Redis' clock."""

    id: str
    tenant: str
    job_id: str
    worker: str
    started: float
    deadline: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapse:
    """A lease whose deadline passed; `given_up` when its job has failed for good by it."""

    job_id: str
    tenant: str
    given_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneState:
    """One tenant as the scripts see it; None means that nobody knows."""

    tenant: str
    waiting: int
    in_flight: int
    cap: int
    weight: float
    paused: bool
    paused_by: str = ""
    paused_at: float | None = None
    reason: str = "behind"
    """Why its waiting jobs wait, if it has any: a code of `Lanes.explain`."""
    ahead: int | None = None
    """Eligible tenants that come before it; None when it is not eligible itself."""
    wait_p50_s: float | None = None
    wait_p95_s: float | None = None
    wait_p99_s: float | None = None
    wait_max_s: float | None = None
    wait_bound_s: float | None = None
    seconds: float = 0.0
    """Worker-seconds over the window of the numbers (five minutes)."""
    jobs: int = 0
    share_seconds: float | None = None
    share_jobs: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The lanes of one queue at one moment, read in one round trip."""

    loaded: bool
    tenants: Mapping[str, LaneState]
    eligible: int = 0
    """Tenants that could be claimed from now."""
    inbox: int = 0
    """Jobs that are not routed to a lane yet."""
    live: int = 0
    """Leases of all tenants."""
    longest_run: int = 0
    longest_run_contended: int = 0
    longest_turn_s: float = 0.0
    lapses: int = 0
    workers: int = 0
    last_seen: float | None = None
    """When any worker last gave a sign of life; None when nobody ever did."""
    suspended: bool = False
    """RQ's `suspend` was called: no worker claims, of whatever queue."""
    suspended_left_s: float | None = None
    """Seconds until the suspension ends by itself; None when it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a job is where it is: a stable code and the facts that words are made of."""

    code: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """Workers that listen to a queue, and when the last sign of any was seen."""

    count: int
    last_seen: float | None
