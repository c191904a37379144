"""What the database knows is made true in Redis again, whatever was lost in between.

Called by the workers' maintenance (one worker at a time) and by a command; safe at any moment.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from django.db import close_old_connections, connections

from fairimport.conf import settings
from fairimport.lanes import Lanes, get_lanes
from fairimport.models import ImportRun
from fairimport.runs import feeding, finishing, limits, retention
from fairimport.states import STOPPING

__all__ = ["Reconciled", "maintain", "reconcile"]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """What a pass did."""

    loaded: bool
    tickets: int
    concluded: int
    purged: int


def maintain(lanes: Lanes) -> None:
    """The workers' maintenance hook: reconcile the queue that runs stand in."""
    if lanes.keys.queue != settings.queue:
        return
    close_old_connections()
    try:
        _rounds.step(lanes)
    finally:
        connections.close_all()  # the worker forks, and a socket must not be shared


def reconcile(lanes: Lanes | None = None) -> Reconciled:
    """Load limits if Redis lost them, feed every unfinished run, conclude what drained, purge."""
    lanes = lanes or get_lanes()
    loaded = not lanes.is_loaded()
    if loaded:
        limits.load(lanes)
    else:
        limits.push_all(lanes)
    done = Reconciled(
        loaded=loaded,
        tickets=feeding.feed_all(),
        concluded=_conclude_all(),
        purged=retention.purge() + retention.sweep(),
    )
    log.debug("reconciled %s", done)
    return done


def _conclude_all() -> int:
    """Runs whose slices died while they were asked to stop, or after their last row."""
    stopping = ImportRun.objects.in_state(*STOPPING).values_list("pk", "state")
    return sum(finishing.conclude(pk) != state for pk, state in stopping)


class _Rounds:
    """Tickets are looked after in every round, limits and purging in one of many."""

    PURGE_S = 600.0
    SWEEP_S = 6 * 3600.0
    PUSH_S = 10.0

    def __init__(self) -> None:
        self.pushed = self.purged = float("-inf")
        self.swept = time.monotonic()

    def step(self, lanes: Lanes) -> None:
        now = time.monotonic()
        if not lanes.is_loaded():
            limits.load(lanes)
            self.pushed = now
        elif now - self.pushed > self.PUSH_S:
            limits.push_all(lanes)
            self.pushed = now
        feeding.feed_all()
        _conclude_all()
        if now - self.purged > self.PURGE_S:
            retention.purge()
            self.purged = now
        if now - self.swept > self.SWEEP_S:
            retention.sweep()
            self.swept = now


_rounds = _Rounds()
