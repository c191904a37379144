"""What Python adds to a lapse, and the end of a job that cannot be read."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rq.job import JobStatus

from fairimport.lanes import hooks
from fairimport.lanes.following import follow_up_all

if TYPE_CHECKING:
    from fairimport.lanes.lanes import Claimed
    from fairimport.lanes.queue import LaneQueue
    from fairimport.lanes.values import Lapse

__all__ = ["refuse", "report"]

logger = logging.getLogger("fairimport.lanes")


def report(queue: LaneQueue, lapses: Sequence[Lapse]) -> None:
    """Log lapses, tell the hooks, and do what follows for jobs that were given up."""
    for lapse in lapses:
        logger.warning(
            "lease.lapsed job=%s tenant=%s given_up=%s", lapse.job_id, lapse.tenant, lapse.given_up
        )
        hooks.lapsed(lapse.job_id, lapse.tenant)
    if any(lapse.given_up for lapse in lapses):
        follow_up_all(queue)


def refuse(queue: LaneQueue, found: Claimed, why: str) -> None:
    """Fail a claimed job that cannot be read, so that it does not come back for ever."""
    logger.error("job.refused job=%s why=%s", found.job_id, why)
    key = queue.job_class.key_for(found.job_id)
    with queue.connection.pipeline() as pipeline:
        pipeline.hset(key, mapping={"status": JobStatus.FAILED, "exc_info": why})
        pipeline.zadd(queue.failed_job_registry.key, {found.job_id: "+inf"})
        pipeline.sadd(queue.lanes.keys.owed, found.job_id)
        pipeline.execute_command(*queue.lanes.settle_call(found.lease_id, "failed").by_text())
        pipeline.execute()
