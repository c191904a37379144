"""Fair lanes for RQ: one queue, a line of jobs per tenant, served in equal worker-seconds.

    from fairimport.lanes import lane
    lane("acme").enqueue(send_invoice, 42)

Knows Django's settings and no models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairimport.conf import settings
from fairimport.lanes import hooks
from fairimport.lanes.adoption import adopt
from fairimport.lanes.claims import Claim, Yield, current_claim
from fairimport.lanes.job import LaneJob
from fairimport.lanes.lanes import Lanes
from fairimport.lanes.queue import LaneQueue
from fairimport.lanes.values import (
    LaneState,
    Lapse,
    Lease,
    Limit,
    Reason,
    Snapshot,
    WorkerStatus,
)
from fairimport.lanes.worker import FairSimpleWorker, FairWorker

if TYPE_CHECKING:
    from redis import Redis

__all__ = [
    "Claim",
    "FairSimpleWorker",
    "FairWorker",
    "LaneJob",
    "LaneQueue",
    "LaneState",
    "Lanes",
    "Lapse",
    "Lease",
    "Limit",
    "Reason",
    "Snapshot",
    "WorkerStatus",
    "Yield",
    "adopt",
    "current_claim",
    "explain",
    "get_lanes",
    "hooks",
    "lane",
    "workers_alive",
]


def lane(tenant: str, queue: str | None = None) -> LaneQueue:
    """The queue bound to a tenant; enqueue on it as on any RQ queue.

    As with django-rq, `enqueue` waits for the commit of an open transaction, and returns None then.
    """
    bound = LaneQueue.named(queue or settings.queue)
    bound.tenant = tenant
    return bound


def get_lanes(queue: str | None = None, connection: Redis | None = None) -> Lanes:
    """The scheduler of a queue; by default that of `FAIRIMPORT["QUEUE"]` on its own Redis."""
    name = queue or settings.queue
    return Lanes.of(name, connection or LaneQueue.named(name).connection)


def explain(job: LaneJob | str, queue: str | None = None) -> Reason:
    """Why a job is waiting: a stable code and its facts."""
    if isinstance(job, str):
        return get_lanes(queue).explain(job)
    return get_lanes(job.origin, job.connection).explain(job.id)


def workers_alive(queue: str | None = None) -> WorkerStatus:
    """How many workers showed a sign of life lately, and when the last one did."""
    return get_lanes(queue).workers()
