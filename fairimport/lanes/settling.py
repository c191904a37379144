"""How a worker ends a job: RQ's record and our lease in one transaction, or neither."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from redis.exceptions import WatchError
from rq.executions import Execution
from rq.job import Job, JobStatus
from rq.utils import now
from rq.worker import BaseWorker

from fairimport.errors import LeaseLost
from fairimport.lanes.claims import Claim, Yield, hold
from fairimport.lanes.job import claim_of
from fairimport.lanes.lanes import Lanes

if TYPE_CHECKING:
    from redis.client import Pipeline
    from rq.queue import Queue

__all__ = ["Settling"]

logger = logging.getLogger("fairimport.lanes")


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
        failed = job.get_status(refresh=False) == JobStatus.FAILED
        self._settle_in(pipeline, job, claim, "failed" if failed else "done")
        self.executions.pop(execution.id, None)

    def _finalize_success(
        self, job: Job, queue: Queue, execution: Execution, return_value: Any
    ) -> None:
        if isinstance(return_value, Yield) or return_value is Yield:
            self._finalize_yield(job, queue, execution, front=getattr(return_value, "front", False))
        else:
            super()._finalize_success(job, queue, execution, return_value)
        claim_of(job).settled()

    def _finalize_failure(
        self, job: Job, queue: Queue, execution: Execution, exc_info: tuple[Any, Any, Any]
    ) -> None:
        """As RQ's; but who has lost the right to work says nothing about the job."""
        lost = isinstance(exc_info[1], LeaseLost)
        try:
            if not lost:
                super()._finalize_failure(job, queue, execution, exc_info)
        except LeaseLost:
            lost = True
        if lost:
            logger.warning("lease.lost job=%s worker=%s", job.id, self.name)
            self.lanes_of(job).settle(claim_of(job).lease_id, "yielded")
            self.executions.pop(execution.id, None)

    def _finalize_yield(
        self, job: Job, queue: Queue, execution: Execution, *, front: bool = False
    ) -> None:
        self.handle_execution_ended(job, queue, 0)
        with self.connection.pipeline() as pipeline:
            how = "released" if front else "yielded"
            self._settle_in(pipeline, job, claim_of(job), how)
            try:
                pipeline.execute()
            except WatchError as error:
                raise LeaseLost(f"the lease on {job.id} is gone") from error
        self.executions.pop(execution.id, None)
        logger.debug("job.yielded job=%s", job.id)

    def _settle_in(self, pipeline: Pipeline, job: Job, claim: Claim, how: str) -> None:
        """Add the settling to a transaction that fails if the lease ends before it runs.

        The lease's hash never changes while it is held, so watching it is exact. RQ's pipelines
        have sent nothing yet, whether or not they were told that a MULTI has begun.
        """
        lanes = self.lanes_of(job)
        key = lanes.keys.lease(claim.lease_id)
        pipeline.immediate_execute_command("WATCH", key)
        if not pipeline.immediate_execute_command("EXISTS", key):
            raise LeaseLost(f"the lease on {job.id} is gone")
        pipeline.explicit_transaction = True
        pipeline.execute_command(*lanes.settle_call(claim.lease_id, how).by_text())
