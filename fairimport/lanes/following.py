"""What follows the end of a job that nobody heard of: it is done, and never twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rq.job import JobStatus
from rq.queue import Queue
from rq.rate_limit import RateLimitRegistry

from fairimport.lanes.job import claim_of
from fairimport.lanes.lanes import Lanes

if TYPE_CHECKING:
    from rq.job import Job

__all__ = ["follow_up", "is_written"]

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
    who has done how much of it before, or does it just now.
    """
    ready = {
        other.name: ids
        for other in Queue.all(connection=queue.connection)
        if (ids := other.ready_job_registry.get_job_ids(cleanup=False))
    }
    queue.enqueue_ready_jobs_by_queue(ready)
    stored = queue.fetch_job(job.id)
    if stored is not None and stored.get_status(refresh=False) in ENDED:
        queue.enqueue_dependents(stored, refresh_job_status=False)
    if job.has_rate_limit:
        RateLimitRegistry.from_job(job).release_stale_and_enqueue(job.id)
