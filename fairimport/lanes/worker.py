"""The workers: `FairWorker` runs each job in a horse of its own, `FairSimpleWorker` in itself."""

from __future__ import annotations

import errno
import gc
import logging
import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from django.db import close_old_connections, connections
from rq.exceptions import InvalidJobOperation
from rq.job import JobStatus
from rq.utils import now
from rq.worker import SimpleWorker, Worker
from rq.worker.base import SHUTDOWN_SIGNAL

from fairimport.lanes import hooks
from fairimport.lanes.children import die_with_parent, wait_for
from fairimport.lanes.job import LaneJob, claim_of
from fairimport.lanes.loop import Loop
from fairimport.lanes.renewal import Renewal, RenewalThread
from fairimport.lanes.settling import Settling

if TYPE_CHECKING:
    from rq.executions import Execution
    from rq.job import Job
    from rq.queue import Queue

__all__ = ["FairSimpleWorker", "FairWorker"]

logger = logging.getLogger("fairimport.lanes")

GRACE = 5.0  # seconds beyond a job's timeout, before its horse is killed from outside
SIGNALS = {signal.SIGTERM, signal.SIGINT}


class FairWorker(Loop, Settling, Worker):
    """Each job runs in a forked process: one that dies takes its horse along, not the worker."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._renewal = Renewal(self.name, self._beat)

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run a claimed job in a horse, keep its lease meanwhile, and clear up after it."""
        execution = self.prepare_execution(job)
        self._renewal.begin(claim_of(job))
        self.fork_work_horse(job, queue)
        self.monitor_work_horse(job, queue, execution)

    def fork_work_horse(self, job: Job, queue: Queue) -> None:
        """As RQ's; signals wait until the horse has its own handlers, and it shares no database."""
        connections.close_all()
        with suppress(Exception):  # imported here once, instead of in each horse
            job.func  # noqa: B018
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            super().fork_work_horse(job, queue)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def setup_work_horse_signals(self) -> None:
        """In the horse: die with the parent; SIGTERM asks the job to end when it can."""
        claim = self.claim
        gc.freeze()  # a collection in the horse copies no page that it shares with the worker
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, lambda *_: claim.stop() if claim else None)
        die_with_parent(self.parent_pid)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def monitor_work_horse(self, job: Job, queue: Queue, execution: Execution) -> None:
        """Wait for the horse, renew its lease, and end it when the lease or its time is over."""
        job.started_at = now()
        claim = claim_of(job)
        lanes = self.lanes_of(job)
        seconds = job.timeout or -1
        limit = time.monotonic() + seconds + GRACE if seconds > 0 else None
        while not wait_for(self.horse_pid, self._patience(claim.deadline, limit)):
            if claim.lost():
                logger.warning("lease.lost job=%s worker=%s", job.id, self.name)
                self.kill_horse()
            elif limit is not None and time.monotonic() > limit:
                logger.warning("horse.overdue job=%s worker=%s", job.id, self.name)
                self.kill_horse()
            elif not self._renewal.seconds_left():
                self._renewal.renew(lanes)
        _, status, usage = self.wait_for_horse()
        pid, self._horse_pid = self._horse_pid, 0
        self.executions.pop(execution.id, None)
        if status != os.EX_OK and not claim.is_settled:
            self._clear_up(job, queue, execution, (pid, status, usage))

    def kill_horse(self, sig: signal.Signals = SHUTDOWN_SIGNAL) -> None:
        """Kill the horse and its children; also before it has a process group of its own."""
        try:
            if os.getpgid(self.horse_pid) == self.horse_pid:
                os.killpg(self.horse_pid, sig)
            else:
                os.kill(self.horse_pid, sig)
        except OSError as error:
            if error.errno != errno.ESRCH:
                raise

    def _patience(self, deadline: float, limit: float | None) -> float:
        moments = [deadline] if limit is None else [deadline, limit]
        left = min(moments) - time.monotonic() + 0.001
        return min(left, self._renewal.seconds_left()) if left > 0 else 0.01

    def _clear_up(self, job: Job, queue: Queue, execution: Execution, end: tuple[Any, ...]) -> None:
        """After a horse that did not end well: by whose fault, and what becomes of the job."""
        claim = claim_of(job)
        logger.warning("horse.died job=%s status=%s", job.id, end[1])
        if claim.lost():
            return
        if self._stopped_job_id == job.id:
            self._handle_stopped_job(job, queue, execution)
        elif not cast(LaneJob, job).ticket:
            self._fail_as_rq_does(job, queue, execution, end)
        elif not claim.has_returned:
            hooks.horse_died(cast(LaneJob, job), claim.lease_id, parent_saw=True)

    def _fail_as_rq_does(
        self, job: Job, queue: Queue, execution: Execution, end: tuple[Any, ...]
    ) -> None:
        try:
            over = job.get_status() in (JobStatus.FINISHED, JobStatus.FAILED)
        except InvalidJobOperation:
            return  # finished, and its result was not to be kept
        if not over and not claim_of(job).has_returned:
            job.ended_at = now()
            self.handle_work_horse_killed(job, *end)
            why = f"Work-horse terminated unexpectedly; waitpid returned {end[1]}"
            self.handle_job_failure(job, queue=queue, exc_string=why, execution=execution)


class FairSimpleWorker(Loop, Settling, SimpleWorker):
    """Works lanes in its own process; a thread keeps the lease. A job that dies takes it along."""

    _keeper: RenewalThread | None = None

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run a claimed job here and now."""
        execution = self.prepare_execution(job)
        keeper = self._keep()
        keeper.begin(claim_of(job), self.lanes_of(job))
        try:
            self.perform_job(job, queue, execution)
        finally:
            keeper.end()
            self.executions.clear()
            close_old_connections()

    def teardown(self) -> None:
        """As any worker's; and its thread ends with it."""
        super().teardown()
        if self._keeper is not None:
            self._keeper.close()
            self._keeper = None

    def _keep(self) -> RenewalThread:
        if self._keeper is None:
            self._keeper = RenewalThread(Renewal(self.name, self._beat))
            self._keeper.start()
        return self._keeper
