"""What follows the end of a job that nobody heard of: it is done, and never twice."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from redis.exceptions import RedisError
from rq.callbacks import execute_failure_callback
from rq.exceptions import AbandonedJobError, InvalidJobOperation
from rq.job import JobStatus
from rq.queue import Queue
from rq.rate_limit import RateLimitRegistry
from rq.utils import as_text

from fairimport.lanes.job import claim_of
from fairimport.lanes.keys import Keys
from fairimport.lanes.lanes import Lanes

if TYPE_CHECKING:
    from rq.job import Job

__all__ = ["follow_up", "follow_up_all", "is_written"]

logger = logging.getLogger("fairimport.lanes")

ENDED = (JobStatus.FINISHED, JobStatus.FAILED)


def is_written(job: Job, *, kept: bool) -> bool:
    """Whether RQ has an end of the job under its claim; `kept`: unless it ended badly, a result.

    A transaction that ended it has also ended its lease, and left a result that names it.
    """
    claim, lanes = claim_of(job), Lanes.of(job.origin, job.connection)
    if job.connection.exists(lanes.keys.lease(claim.lease_id)):
        return False
    result = job.latest_result()
    if result is None and not job.connection.exists(job.key):
        return not kept
    return result is not None and result.execution_id == claim.lease_id


def follow_up(queue: Queue, job: Job) -> None:
    """Let go whatever waits for the end of a job, if it has ended: dependents, RQ's rate limit.

    Each of them moves in a transaction that somebody else's makes void, so it makes no difference
    who has done how much of it before, or does it just now. Raises redis' errors alone: a dependent
    that cannot be read is no trouble of ours.
    """
    for other in Queue.all(connection=queue.connection):
        _enqueue_ready(queue, other)
    try:
        if job.get_status() in ENDED:
            queue.enqueue_dependents(job, refresh_job_status=False)
    except InvalidJobOperation:
        logger.debug("job.gone job=%s", job.id)  # it has left its dependents ready
    except RedisError:
        raise
    except Exception:
        logger.exception("dependents.unreadable job=%s", job.id)
    if job.has_rate_limit:
        RateLimitRegistry.from_job(job).release_stale_and_enqueue(job.id)
    queue.connection.srem(Keys(queue.name).owed, job.id)


def follow_up_all(queue: Queue) -> None:
    """Do it for jobs that were given up, or whose worker died just after it wrote their end."""
    _enqueue_ready(queue, queue)
    for member in queue.connection.smembers(Keys(queue.name).owed):
        job = _load(queue, as_text(member))
        _finish_given_up(queue, job)
        follow_up(queue, job)


def _enqueue_ready(queue: Queue, other: Queue) -> None:
    """Enqueue what RQ holds ready, one by one: RQ logs what cannot be read, and goes no further."""
    for job_id in other.ready_job_registry.get_job_ids(cleanup=False):
        queue.enqueue_ready_jobs_by_queue({other.name: [job_id]})


def _finish_given_up(queue: Queue, job: Job) -> None:
    """Do RQ's part of a failure, once, if the job was given up: its callback, result, webhooks."""
    marked = queue.connection.hdel(job.key, "given_up")
    if not marked or job.get_status(refresh=False) != JobStatus.FAILED:
        return
    error = AbandonedJobError(f"its worker died or was cut off {job.id}")
    try:
        execute_failure_callback(job, queue.death_penalty_class, AbandonedJobError, error, None)
    except Exception:
        logger.exception("callback.failed job=%s", job.id)
    with queue.connection.pipeline() as pipeline:
        job._handle_failure(job._exc_info or "", pipeline)
        pipeline.execute()
    job.send_webhooks(JobStatus.FAILED, exc_string=job._exc_info or "")


def _load(queue: Queue, job_id: str) -> Job:
    """A job with what can be read of it, if it is there at all."""
    job = queue.job_class(job_id, connection=queue.connection, serializer=queue.serializer)
    with suppress(Exception):  # Redis' own errors come again with the next call
        job.refresh()
    return job
