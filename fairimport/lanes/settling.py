"""How a worker ends a job: RQ's record and our lease in one transaction, or neither."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from redis.exceptions import RedisError, WatchError
from rq.exceptions import InvalidJobOperation
from rq.executions import Execution
from rq.job import Job, JobStatus
from rq.utils import now
from rq.worker import BaseWorker

from fairimport.errors import LeaseLost
from fairimport.lanes.claims import Claim, Yield, hold
from fairimport.lanes.following import follow_up, is_written
from fairimport.lanes.job import claim_of
from fairimport.lanes.lanes import Lanes

if TYPE_CHECKING:
    from redis.client import Pipeline
    from rq.queue import Queue

__all__ = ["Settling"]

logger = logging.getLogger("fairimport.lanes")

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0  # seconds between two tries to write an ending
Written = TypeVar("Written")


class Settling(BaseWorker):
    """The endings of RQ's worker, fenced by the lease. Runs where the job runs."""

    def lanes_of(self, job: Job) -> Lanes:
        """The lanes that a job came from."""
        return Lanes.of(job.origin, self.connection)

    def prepare_execution(self, job: Job) -> Execution:
        """The claim has written RQ's marks already; the execution's id is the lease's."""
        claim = claim_of(job)
        execution = Execution(claim.lease_id, job.id, self.connection, worker_name=self.name)
        execution._job = job
        self.executions[execution.id] = execution
        return execution

    def prepare_job_execution(self, job: Job, remove_from_intermediate_queue: bool = False) -> None:
        """Nothing is left to write; show in `ps` what runs."""
        self.procline(f"Processing {job.id} from {job.origin}")

    def perform_job(self, job: Job, queue: Queue, execution: Execution) -> bool:
        """As RQ's, with the claim at hand for the job's code."""
        hold(claim_of(job))
        try:
            return bool(super().perform_job(job, queue, execution))
        finally:
            hold(None)

    def handle_execution_ended(self, job: Job, queue: Queue, heartbeat_ttl: int) -> None:
        """The job's own code has ended: what goes wrong from here on is not its doing."""
        job.ended_at = now()
        claim_of(job).returned()

    def cleanup_execution(
        self, job: Job, pipeline: Pipeline, execution: Execution | None = None
    ) -> None:
        """Settle the lease in RQ's ending transaction; raises `LeaseLost` when it is gone.

        RQ calls this in each of its endings, before it sends the transaction.
        """
        claim: Claim | None = getattr(job, "claim", None)
        if claim is None or execution is None:
            super().cleanup_execution(job, pipeline, execution)
            return
        status = job.get_status(refresh=False)
        self._settle_in(pipeline, job, claim, "failed" if status == JobStatus.FAILED else "done")
        if status in (JobStatus.FAILED, JobStatus.STOPPED):
            pipeline.sadd(self.lanes_of(job).keys.owed, job.id)
        self.executions.pop(execution.id, None)

    def handle_job_success(self, job: Job, queue: Queue, *args: Any, **kwargs: Any) -> None:
        """As RQ's, until it is written: the job's code has ended well and shall not run again."""
        ending = super().handle_job_success
        self._end(job, queue, lambda: ending(job, queue, *args, **kwargs))
        claim_of(job).settled()

    def handle_job_retry(self, job: Job, queue: Queue, *args: Any, **kwargs: Any) -> None:
        """As RQ's, until it is written; one retry too many is a failure."""
        ending = super().handle_job_retry
        self._end(job, queue, lambda: ending(job, queue, *args, **kwargs))
        if job.get_status(refresh=False) == JobStatus.FAILED:
            self._follow_failure(job, queue, "")
        else:
            claim_of(job).settled()

    def handle_job_failure(
        self,
        job: Job,
        queue: Queue,
        started_job_registry: Any = None,
        exc_string: str = "",
        execution: Execution | None = None,
    ) -> None:
        """As RQ's; but who has lost the right to work says nothing about the job."""
        try:
            super().handle_job_failure(job, queue, started_job_registry, exc_string, execution)
            self._follow_failure(job, queue, exc_string)
        except LeaseLost:
            self._give_up(job)

    def _release_slot_safely(self, job: Job) -> None:
        """As RQ's: its last step after a failure that it knows to be written."""
        super()._release_slot_safely(job)
        claim_of(job).settled()
        with suppress(RedisError):  # somebody's maintenance will do it all again, to no effect
            self.connection.srem(self.lanes_of(job).keys.owed, job.id)

    def _finalize_success(
        self, job: Job, queue: Queue, execution: Execution, return_value: Any
    ) -> None:
        if isinstance(return_value, Yield) or return_value is Yield:
            self._finalize_yield(job, queue, execution, front=getattr(return_value, "front", False))
        else:
            super()._finalize_success(job, queue, execution, return_value)

    def _finalize_failure(
        self, job: Job, queue: Queue, execution: Execution, exc_info: tuple[Any, Any, Any]
    ) -> None:
        if isinstance(exc_info[1], LeaseLost):
            self._give_up(job)
        else:
            super()._finalize_failure(job, queue, execution, exc_info)

    def _give_up(self, job: Job) -> None:
        """Write nothing; the lease is gone, or somebody else's turn in a moment."""
        claim = claim_of(job)
        logger.warning("lease.lost job=%s worker=%s", job.id, self.name)
        self.lanes_of(job).settle(claim.lease_id, "yielded")
        self.executions.pop(claim.lease_id, None)

    def _follow_failure(self, job: Job, queue: Queue, exc_string: str) -> None:
        """After a failure that RQ may have written without hearing of it: what it left out then.

        One that is not written leaves the lease; its worker releases the job, and it runs again.
        """
        claim = claim_of(job)
        if claim.is_settled or not self._insist_on(job, lambda: is_written(job, kept=True)):
            return
        if job.get_status(refresh=False) == JobStatus.FAILED:
            job.send_webhooks(JobStatus.FAILED, exc_string=exc_string)
        self._insist_on(job, lambda: follow_up(queue, job))
        claim.settled()

    def _end(self, job: Job, queue: Queue, ending: Callable[[], None]) -> None:
        """Do one of RQ's endings until it is written, be it unheard, and what follows it."""

        def write() -> None:
            try:
                ending()
            except (LeaseLost, InvalidJobOperation) as error:  # the lease, or the job, is gone
                kept = job.get_result_ttl(self.default_result_ttl) != 0
                if not is_written(job, kept=kept):
                    raise LeaseLost(f"{job.id} is no longer ours to end") from error
                follow_up(queue, job)

        self._insist_on(job, write)

    def _finalize_yield(
        self, job: Job, queue: Queue, execution: Execution, *, front: bool = False
    ) -> None:
        self.handle_execution_ended(job, queue, 0)
        self._insist_on(job, lambda: self._write_yield(job, "released" if front else "yielded"))
        claim_of(job).settled()
        self.executions.pop(execution.id, None)
        logger.debug("job.yielded job=%s", job.id)

    def _write_yield(self, job: Job, how: str) -> None:
        with self.connection.pipeline() as pipeline:
            self._settle_in(pipeline, job, claim_of(job), how)
            try:
                pipeline.execute()
            except WatchError as error:
                raise LeaseLost(f"the lease on {job.id} is gone") from error

    def _insist_on(self, job: Job, write: Callable[[], Written]) -> Written:
        """Write an ending; again while Redis is away or refuses it, as long as the lease is ours.

        What was written without our hearing of it has ended the lease, so nothing counts twice.
        """
        before, pause = vars(job).copy(), FIRST_PAUSE
        while True:
            try:
                return write()
            except RedisError as error:
                if claim_of(job).lost():
                    raise LeaseLost(f"the end of {job.id} could not be written") from error
                logger.warning("redis.trouble job=%s error=%s", job.id, error)
            vars(job).update(before)  # RQ counts retries and repeats before it writes them
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _settle_in(self, pipeline: Pipeline, job: Job, claim: Claim, how: str) -> None:
        """Add the settling to a transaction that fails if the lease ends before it runs.

        The lease's hash never changes while it is held, so watching it is exact. A job that was
        deleted meanwhile is not to be written again. RQ's pipelines have sent nothing yet, whether
        or not they were told that a MULTI has begun.
        """
        lanes = self.lanes_of(job)
        key = lanes.keys.lease(claim.lease_id)
        pipeline.immediate_execute_command("WATCH", key)
        if pipeline.immediate_execute_command("EXISTS", key, job.key) < 2:
            raise LeaseLost(f"the lease on {job.id} is gone, or the job itself")
        pipeline.explicit_transaction = True
        pipeline.execute_command(*lanes.settle_call(claim.lease_id, how).by_text())
