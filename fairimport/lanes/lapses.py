"""What Python adds to a lapse: the hooks above, and RQ's record of a job that was given up."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rq.callbacks import execute_failure_callback
from rq.exceptions import AbandonedJobError, NoSuchJobError
from rq.job import JobStatus
from rq.rate_limit import release_slot

from fairimport.lanes import hooks

if TYPE_CHECKING:
    from fairimport.lanes.lanes import Claimed
    from fairimport.lanes.queue import LaneQueue
    from fairimport.lanes.values import Lapse

__all__ = ["refuse", "report"]

logger = logging.getLogger("fairimport.lanes")


def report(queue: LaneQueue, lapses: Iterable[Lapse]) -> None:
    """Log lapses, tell the hooks, and finish what the script began for jobs that were given up."""
    for lapse in lapses:
        logger.warning(
            "lease.lapsed job=%s tenant=%s given_up=%s", lapse.job_id, lapse.tenant, lapse.given_up
        )
        hooks.lapsed(lapse.job_id, lapse.tenant)
        if lapse.given_up:
            _record(queue, lapse.job_id)


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


def _record(queue: LaneQueue, job_id: str) -> None:
    try:
        job = queue.fetch_job(job_id)
    except NoSuchJobError:
        return
    if job is None:
        return
    error = AbandonedJobError(f"its worker died or was cut off {job_id}")
    try:
        execute_failure_callback(job, queue.death_penalty_class, AbandonedJobError, error, None)
    except Exception:
        logger.exception("callback.failed job=%s", job_id)
    with queue.connection.pipeline() as pipeline:
        job._handle_failure(job._exc_info or "", pipeline)
        pipeline.execute()
    job.send_webhooks(JobStatus.FAILED, exc_string=job._exc_info or "")
    queue.enqueue_dependents(job)
    release_slot(job)
