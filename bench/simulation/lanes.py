"""Our lanes as a policy: the product's own scripts on a real Redis; only the clock is replaced."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.simulation.world import SECOND, Claim, Job
from fairimport.conf import settings
from fairimport.lanes.lanes import Lanes

if TYPE_CHECKING:
    from redis import Redis

    from fairimport.lanes.scripts import Call
    from fairimport.lanes.values import Limit

__all__ = ["CLOCK", "NOW", "LanesPolicy"]

NOW = "sim:now"
CLOCK = f"local now = tonumber(redis.call('GET', '{NOW}'))"
SCRIPTS = ("route", "claim", "settle", "renew", "limits", "snapshot", "reap")
STAMP = "2026-01-01T00:00:00.000000Z"
WORKER = "w0"


class LanesPolicy:
    """Pushes as RQ does, and claims as its worker does: route and claim in one round trip.

    What changes no decision before the next claim (pushes, settling) travels with that claim.
    Fairness, cap, slice and lease are those of `FAIRIMPORT`.
    """

    def __init__(self, redis: Redis, limits: Mapping[str, Limit] | None = None) -> None:
        self.redis = redis
        self.lanes = Lanes.of("sim", redis, clock=CLOCK)
        self.renewal: int | None = round(settings.lease * SECOND / 3)
        self._jobs: dict[str, Job] = {}
        self._waiting: list[tuple[Any, ...]] = []
        self._lapse: int | None = None
        self._requests = 0
        self._now = 1
        for name in SCRIPTS:
            redis.script_load(self.lanes.scripts.call(name).text)
        redis.set(NOW, 1)
        self.lanes.load_limits(limits or {}, wait=0)

    def push(self, now: int, job: Job) -> None:
        """Store the job's hash and put its id into RQ's list."""
        self._jobs[job.id] = job
        key = self.lanes.keys.rq + "job:" + job.id
        fields = ("status", "queued", "tenant", job.tenant, "since", now)
        self._later("HSET", key, *fields)
        self._later("RPUSH", self.lanes.keys.inbox, job.id)

    def take(self, now: int) -> Claim | None:
        """Route and claim; remember when the next lease lapses if there was nothing."""
        self._at(now)
        self._requests += 1
        lease = f"l{self._requests}"
        self._later_call(self.lanes.scripts.call("route", 1000))
        self._later_call(self.lanes.scripts.call("claim", lease, WORKER, STAMP))
        reply = self._flush()[-1]
        word = reply[0].decode()
        while word == "again":
            self._later_call(self.lanes.scripts.call("claim", lease, WORKER, STAMP))
            reply = self._flush()[-1]
            word = reply[0].decode()
        if word == "claimed":
            self._lapse = None
            return Claim(self._jobs[reply[2].decode()], lease, now)
        self._lapse = now + reply[1] if word == "idle" and reply[1] >= 0 else None
        return None

    def end(self, now: int, claim: Claim, *, again: bool) -> None:
        """Settle, at the time at which it happens."""
        self._at(now)
        self._later_call(self.lanes.settle_call(claim.lease, "yielded" if again else "done"))
        if not again:
            del self._jobs[claim.job.id]
            self._later("DEL", self.lanes.keys.rq + "job:" + claim.job.id)

    def renew(self, now: int, claim: Claim) -> None:
        """Move the deadline on and charge the time."""
        self._at(now)
        args = (claim.lease, WORKER, claim.job.tenant, claim.job.id, now - claim.started)
        self._later_call(self.lanes.scripts.call("renew", *args))
        self._flush()

    def next_lapse(self) -> int | None:
        """The next deadline, when the last look found nothing to hand out."""
        return self._lapse

    def set_limits(self, now: int, limits: Mapping[str, Limit]) -> None:
        """Change limits, effective with the next claim."""
        self._at(now)
        self._flush()
        self.lanes.set_limits(limits)

    def declare(self, now: int, *, workers: int, turn: int, over: int) -> None:
        """Say how many workers live, and how long a turn, or its stretch past a guess, can be.

        The scripts know both only from what they have seen; a promise must hold for what comes.
        """
        prefix = self.lanes.keys.prefix
        stats = f"{prefix}stats:{now // (60 * SECOND)}"
        self._later("HSET", stats, "turn", turn, "over", over)
        names = [part for number in range(workers) for part in (now, f"w{number}")]
        self._later("ZADD", self.lanes.keys.workers, *names)

    def snapshot(self, now: int, tenants: Sequence[str]) -> dict[str, Any]:
        """What the script says of these tenants, with everything routed."""
        self._at(now)
        self._later_call(self.lanes.scripts.call("route", 1000))
        self._later_call(self.lanes.scripts.call("snapshot", len(tenants), *tenants))
        found: dict[str, Any] = json.loads(self._flush()[-1])
        return found

    def _later(self, *command: Any) -> None:
        self._waiting.append(command)

    def _later_call(self, call: Call) -> None:
        self._waiting.append(call.by_sha())

    def _at(self, now: int) -> None:
        if now != self._now:
            self._later("SET", NOW, now)
            self._now = now

    def _flush(self) -> list[Any]:
        waiting, self._waiting = self._waiting, []
        with self.redis.pipeline(transaction=False) as pipeline:
            for command in waiting:
                pipeline.execute_command(*command)
            return list(pipeline.execute())
