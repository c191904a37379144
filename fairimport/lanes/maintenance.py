"""When the layer above looks after its runs: often, and by one worker at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rq.scheduler import RQScheduler

from fairimport.conf import settings
from fairimport.lanes import hooks, lapses
from fairimport.lanes.following import follow_up_all

if TYPE_CHECKING:
    from fairimport.lanes.queue import LaneQueue

__all__ = ["look_after"]

PAUSE_MS = 1000  # between two rounds, of whichever worker


def look_after(queue: LaneQueue) -> bool:
    """Reap, enqueue what is due or left behind, run the hooks; unless a worker does or just did.

    Where nobody above knows a truth about limits, the defaults are it.
    """
    lanes = queue.lanes
    lock = lanes.keys.prefix + "maintenance"
    longest = round(max(settings.lease, 10) * 1000)
    if not lanes.connection.set(lock, 1, nx=True, px=longest):
        return False
    try:
        hooks.maintain(lanes)
        has_truth = hooks.has_maintenance() and queue.name == settings.queue
        if not has_truth and not lanes.is_loaded():
            lanes.load_limits({})
        lapses.report(queue, lanes.reap())
        follow_up_all(queue)
        _enqueue_due(queue)
    finally:
        lanes.connection.set(lock, 1, px=PAUSE_MS)
    return True


def _enqueue_due(queue: LaneQueue) -> None:
    """Do the work of RQ's scheduler for this queue, unless such a process does it."""
    if not queue.scheduled_job_registry.get_jobs_to_schedule(chunk_size=1):
        return
    scheduler = RQScheduler([queue], connection=queue.connection, serializer=queue.serializer)
    if scheduler.acquire_locks():
        try:
            scheduler.enqueue_scheduled_jobs()
        finally:
            scheduler.release_locks()
