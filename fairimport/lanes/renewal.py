"""Keeping a lease while its job runs: renewed every third of it, given up by the local clock."""

from __future__ import annotations

import dataclasses
import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from redis.backoff import NoBackoff
from redis.connection import ConnectionPool
from redis.exceptions import RedisError
from redis.retry import Retry
from rq.connections import parse_connection

from fairimport.conf import settings

if TYPE_CHECKING:
    from redis import Redis

    from fairimport.lanes.claims import Claim
    from fairimport.lanes.lanes import Lanes

__all__ = ["Renewal", "RenewalThread"]

logger = logging.getLogger("fairimport.lanes")


class Renewal:
    """Renews one claim at a time over a connection of its own, which is made when first needed."""

    def __init__(self, worker: str, beat: Callable[[Redis], object]) -> None:
        self._worker = worker
        self._beat = beat
        self._connection: Redis | None = None
        self._claim: Claim | None = None
        self._due = 0.0

    def begin(self, claim: Claim) -> None:
        """Take up a claim that was just made."""
        self._claim = claim
        self._due = claim.started_monotonic + settings.lease / 3

    def seconds_left(self) -> float:
        """Time to the next call of `renew`."""
        return max(self._due - time.monotonic(), 0.0)

    def renew(self, lanes: Lanes) -> None:
        """Renew; set the claim's flags by the answer. Without an answer try again soon."""
        claim, sent = self._claim, time.monotonic()
        if claim is None:
            return
        try:
            own = dataclasses.replace(lanes, connection=self._connect(lanes.connection))
            verdict = own.renew(claim, self._worker)
            self._beat(own.connection)
        except (RedisError, OSError) as error:
            logger.warning("lease.not_renewed job=%s error=%s", claim.job_id, error)
            self._due = time.monotonic() + settings.lease / 12
            return
        if verdict == "lost":
            claim.lose()
        else:
            claim.extend(sent + settings.lease)
        if verdict == "stop":
            claim.stop()
        self._due = sent + settings.lease / 3

    def _connect(self, like: Redis) -> Redis:
        if self._connection is None:
            client, kind, kwargs = parse_connection(like)
            timeout = settings.lease / 6
            own = {"socket_timeout": timeout, "socket_connect_timeout": timeout}
            retry = {"retry": Retry(NoBackoff(), 0)}
            pool = ConnectionPool(connection_class=kind, **{**kwargs, **own, **retry})
            self._connection = client(connection_pool=pool)
        return self._connection


class RenewalThread(threading.Thread):
    """Renews the claim of a worker that runs its jobs itself."""

    def __init__(self, renewal: Renewal) -> None:
        super().__init__(name="fairimport-renewal", daemon=True)
        self._renewal = renewal
        self._work: tuple[Claim, Lanes] | None = None
        self._over = threading.Event()

    def begin(self, claim: Claim, lanes: Lanes) -> None:
        """Keep this claim until `end`."""
        self._renewal.begin(claim)
        self._work = (claim, lanes)

    def end(self) -> None:
        """Keep nothing."""
        self._work = None

    def close(self) -> None:
        """End the thread; one that waits for Redis just now ends by itself, a little later."""
        self._over.set()
        self.join(timeout=1.0)

    def run(self) -> None:
        """Look several times a lease, whether a renewal is due."""
        while not self._over.wait(settings.lease / 12):
            work = self._work
            if work is not None and not self._renewal.seconds_left() and not work[0].lost():
                self._renewal.renew(work[1])
