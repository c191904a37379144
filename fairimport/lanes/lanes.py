"""`Lanes`: the scripts of one queue as methods, and their tagged replies as values."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rq.utils import now, utcformat

from fairimport.conf import settings
from fairimport.lanes import stats
from fairimport.lanes.keys import Keys
from fairimport.lanes.replies import (
    Claimed,
    Closed,
    Idle,
    claimed,
    lapses,
    text,
    word,
)
from fairimport.lanes.scripts import Call, Scripts
from fairimport.lanes.values import MICRO, Lapse, Lease, Limit, Reason, Snapshot, WorkerStatus

if TYPE_CHECKING:
    from redis import Redis

    from fairimport.lanes.claims import Claim

__all__ = ["Claimed", "Closed", "Idle", "Lanes"]

ROUTE_MOST = 1000
STRETCH = 1000  # tenants or limits of one call, so that no call blocks Redis for long


@dataclass(frozen=True, slots=True)
class Lanes:
    """The fair scheduler of one queue. Every method raises redis' own errors."""

    keys: Keys
    connection: Redis
    scripts: Scripts

    @classmethod
    def of(cls, queue: str, connection: Redis, *, clock: str | None = None) -> Lanes:
        """The lanes of a queue; `clock` is for the simulator alone."""
        keys = Keys(queue)
        return cls(keys, connection, Scripts(keys, clock) if clock else Scripts(keys))

    # -- what workers do ---------------------------------------------------------------------

    def route(self) -> int:
        """Bring every waiting id from RQ's list to its lane; return how many were taken."""
        total = 0
        while True:
            _, taken, left = self._run("route", ROUTE_MOST)
            total += int(taken)
            if not left or not taken:
                return total

    def claim(self, worker: str, request: str | None = None) -> Claimed | Idle | Closed:
        """Take the next job in fair order. Asked again with a request id, answer the same claim."""
        request = request or uuid.uuid4().hex
        route = self.scripts.call("route", ROUTE_MOST)
        routed, reply = self.scripts.run_all(self.connection, [route, self._claim(worker, request)])
        before: list[Lapse] = []
        while word(reply) == "again":
            before += lapses(reply[1])
            reply = self._run_call(self._claim(worker, request))
        if routed[2]:
            self.route()
        return claimed(request, reply, before)

    def renew(self, claim: Claim, worker: str) -> str:
        """Move a lease's deadline on; answer "renewed", "stop" (end soon) or "lost"."""
        elapsed = round((time.monotonic() - claim.started_monotonic) * MICRO)
        return word(self._run("renew", claim.lease_id, worker, claim.tenant, claim.job_id, elapsed))

    def settle(self, lease_id: str, how: str) -> bool:
        """End a lease as "done", "failed", "yielded" or "released"; False when it was gone."""
        return word(self._run("settle", lease_id, how)) == "settled"

    def settle_call(self, lease_id: str, how: str) -> Call:
        """The same, to be put into somebody's transaction."""
        return self.scripts.call("settle", lease_id, how)

    def reap(self, limit: int = 16) -> list[Lapse]:
        """Give lapsed leases' jobs back to the front of their lanes; return what lapsed."""
        return lapses(self._run("reap", limit)[1])

    # -- limits ------------------------------------------------------------------------------

    def set_limits(self, limits: Mapping[str, Limit]) -> None:
        """Set limits of some tenants; effective with the next claim."""
        for stretch in _stretches(limits):
            self._run("limits", "set", 0, *stretch)

    def load_limits(self, limits: Mapping[str, Limit], *, wait: float | None = None) -> None:
        """Replace all limits and open the lanes.

        Lanes that were closed open after `wait` seconds (a third of a lease unless given), so that
        workers which outlived Redis have said by then what they hold.
        """
        wait = settings.lease / 3 if wait is None else wait
        self.connection.delete(self.keys.prefix + "staged", self.keys.prefix + "peaks:staged")
        for stretch in _stretches(limits):
            self._run("limits", "stage", 0, *stretch)
        self._run("limits", "load", round(wait * MICRO))

    def is_loaded(self) -> bool:
        """Whether somebody has loaded the limits since Redis last lost everything."""
        return bool(self.connection.exists(self.keys.prefix + "epoch"))

    # -- looking -----------------------------------------------------------------------------

    def snapshot(self, tenants: Iterable[str] | None = None, top: int = 50) -> Snapshot:
        """The tenants now: those named, else the `top` that matter most. One round trip."""
        names = list(tenants) if tenants is not None else []
        most = top if tenants is None else len(names)
        return stats.snapshot(json.loads(self._run("snapshot", most, *names)))

    def leases(self, tenant: str) -> list[Lease]:
        """What the tenant's workers hold, the earliest deadline first."""
        return [
            Lease(
                id=text(id_),
                tenant=tenant,
                job_id=text(job),
                worker=text(worker),
                started=float(started) / MICRO,
                deadline=float(deadline) / MICRO,
            )
            for id_, job, worker, started, deadline in self._run("leases", tenant)[1]
        ]

    def explain(self, job_id: str) -> Reason:
        """Why a job is where it is, from the same state that decides: see `docs/reasons.md`."""
        code, facts = self._run("explain", job_id)
        return Reason(code=text(code), facts=json.loads(facts))

    def holds(self, job_id: str) -> bool:
        """Whether a job waits in RQ's list or a lane, or is under a live lease."""
        return bool(self.holding([job_id]))

    def holding(self, job_ids: Iterable[str]) -> set[str]:
        """Those of the jobs that wait or are under a live lease."""
        ids = list(job_ids)
        return {text(job) for job in self._run("holding", *ids)[1]} if ids else set()

    def workers(self) -> WorkerStatus:
        """Workers that gave a sign within two leases, by Redis' clock."""
        seen = self.snapshot([])
        return WorkerStatus(count=seen.workers, last_seen=seen.last_seen)

    def forget_worker(self, worker: str) -> None:
        """Note that a worker has ended, so that nobody waits for its next sign."""
        self._run("sign", worker, "gone")

    def sign_call(self, worker: str) -> Call:
        """Note that a worker is there, whichever of its queues it works for; for a pipeline."""
        return self.scripts.call("sign", worker, "here")

    def lengths(self) -> Iterator[tuple[str, int]]:
        """Tenants and how many jobs wait in their lanes, those first that are served first."""
        for which in ("ready", "parked"):
            first = 0
            while True:
                stretch = self._run("waiting", which, first, first + STRETCH - 1)[1]
                yield from ((text(tenant), int(count)) for tenant, count in stretch if count)
                if len(stretch) < STRETCH:
                    break
                first += STRETCH

    # -- taking out --------------------------------------------------------------------------

    def remove(self, job_id: str, tenant: str = "") -> int:
        """Drop a waiting job from its lane; return how many places it was in."""
        return int(self._run("remove", job_id, tenant)[1])

    def drain(self) -> int:
        """Drop all waiting jobs of all lanes for good; return how many."""
        total = 0
        for tenant, _ in list(self.lengths()):
            while dropped := int(self._run("drain", tenant, STRETCH)[1]):
                total += dropped
        return total

    # -- inside ------------------------------------------------------------------------------

    def _run(self, name: str, *args: Any) -> Any:
        return self.scripts.run(self.connection, name, *args)

    def _run_call(self, call: Call) -> Any:
        return self.scripts.run_all(self.connection, [call])[0]

    def _claim(self, worker: str, request: str) -> Call:
        return self.scripts.call("claim", request, worker, utcformat(now()))


def _stretches(limits: Mapping[str, Limit]) -> Iterator[list[str]]:
    flat = [text for tenant, limit in limits.items() for text in (tenant, limit.to_json())]
    for first in range(0, len(flat), 2 * STRETCH):
        yield flat[first : first + 2 * STRETCH]
