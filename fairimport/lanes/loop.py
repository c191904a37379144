"""The work loop: it lives through every Redis error, and ends when it is asked to."""

from __future__ import annotations

import logging
import os
import random
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import django
from django.apps import apps
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry
from rq.defaults import DEFAULT_LOGGING_DATE_FORMAT, DEFAULT_LOGGING_FORMAT
from rq.exceptions import DequeueTimeout, StopRequested
from rq.queue import Queue
from rq.utils import ensure_job_list, now
from rq.worker import DequeueStrategy, WorkerStatus

from fairimport.lanes import maintenance
from fairimport.lanes.claims import Claim
from fairimport.lanes.following import follow_up
from fairimport.lanes.job import LaneJob, lane_job_class
from fairimport.lanes.presence import Presence
from fairimport.lanes.queue import LaneQueue

__all__ = ["Loop"]

logger = logging.getLogger("fairimport.lanes")

LONGEST_PAUSE = 2.0  # seconds of back-off, however long Redis is away
BEAT = 1.0  # seconds between two signs of life, looks for a suspension, and maintenance


class Loop(Presence):
    """RQ's worker with a steady loop. Whatever queues are named, they become lane queues."""

    queue_class = LaneQueue
    job_class = LaneJob
    _out_of_work = False

    def __init__(self, queues: Any, *args: Any, **kwargs: Any) -> None:
        if not apps.ready:
            django.setup()  # RQ's own commands know nothing of Django
        kwargs["queue_class"] = type(self).queue_class
        kwargs["job_class"] = lane_job_class(kwargs.get("job_class") or type(self).job_class)
        kwargs.setdefault("log_job_description", False)  # arguments may be somebody's data
        super().__init__([_as_lanes(queue) for queue in ensure_job_list(queues)], *args, **kwargs)
        if self.queues:
            self.serializer = self.queues[0].serializer
        for queue in self.queues:
            queue.worker_name = self.name
        self.claim: Claim | None = None
        self._taken: tuple[LaneJob, LaneQueue] | None = None
        self.parent_pid = os.getpid()
        self._asleep = False
        self._next_beat = 0.0

    @property
    def connection_timeout(self) -> int:
        """Seconds without an answer after which Redis is taken for away."""
        return 5

    def work(
        self,
        burst: bool = False,
        logging_level: str | None = None,
        date_format: str = DEFAULT_LOGGING_DATE_FORMAT,
        log_format: str = DEFAULT_LOGGING_FORMAT,
        max_jobs: int | None = None,
        max_idle_time: int | None = None,
        with_scheduler: bool = False,
        dequeue_strategy: DequeueStrategy = DequeueStrategy.DEFAULT,
    ) -> bool:
        """As RQ's; return whether any job was worked on.

        `with_scheduler` starts no process, which would outlive a worker that is killed: what is due
        is enqueued by every fair worker's maintenance.
        """
        self._dequeue_strategy = dequeue_strategy
        self._prepare()
        done = 0
        try:
            self._insist(lambda: self.bootstrap(logging_level, date_format, log_format))
            while not self._is_over(done, max_jobs):
                done += self._insist(lambda: self._turn(burst, max_idle_time)) or 0
        except StopRequested:
            logger.info("worker.stops name=%s", self.name)
        finally:
            self.teardown()
        return bool(done)

    def _prepare(self) -> None:
        self.parent_pid = self.pid = os.getpid()
        self.connection.set_retry(Retry(NoBackoff(), 1))
        # Each horse connects anew: without naming its driver that is two round trips less.
        self.connection.connection_pool.connection_kwargs["driver_info"] = None
        self._install_signal_handlers()

    def _is_over(self, done: int, max_jobs: int | None) -> bool:
        enough = max_jobs is not None and done >= max_jobs
        return self._stop_requested or self._out_of_work or enough

    def _turn(self, burst: bool, max_idle_time: int | None) -> int:
        """Take one job and work on it; 0 when there is none and none is to be waited for."""
        self._release_unsettled()
        found = self.dequeue_job_and_maintain_ttl(None if burst else 1, max_idle_time)
        if found is None:
            self._out_of_work = True
            return 0
        job, queue = self._taken = found
        self.claim = job.claim
        if self._stop_requested:
            return 0  # released by the teardown: nothing of it was begun
        self.execute_job(job, queue)
        return 1

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[LaneJob, LaneQueue] | None:
        """Wait for a job; None when burst mode or the longest idle time has ended it."""
        began = time.monotonic()
        while not self._stop_requested:
            self._look_around(burst=timeout is None)
            try:
                found = self.queue_class.dequeue_any(self._ordered_queues, timeout)
            except DequeueTimeout:
                if max_idle_time is not None and time.monotonic() - began >= max_idle_time:
                    return None
                self._state = WorkerStatus.IDLE
                continue
            if found is not None:
                self._state = WorkerStatus.BUSY
                self.reorder_queues(found[1])
                logger.debug("job.claimed job=%s queue=%s", found[0].id, found[1].name)
            return found
        return None

    def teardown(self) -> None:
        """Release what is held, and say goodbye; Redis may be away."""
        for part in (self._release_unsettled, super().teardown, self._forget):
            try:
                part()
            except RedisError as error:
                logger.warning("worker.teardown_failed name=%s error=%s", self.name, error)

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Stop: wake up when asleep, else tell the running job to end at its next good moment."""
        if os.getpid() != self.parent_pid:
            return  # a horse that has not set its own handlers yet
        self._shutdown_requested_date = now()
        signal.signal(signal.SIGINT, self.request_force_stop)
        signal.signal(signal.SIGTERM, self.request_force_stop)
        self._stop_requested = True
        if self.claim is not None:
            self.claim.stop()
        if self._asleep or any(queue.asleep for queue in self.queues):
            raise StopRequested

    def _look_around(self, *, burst: bool) -> None:
        """Once a second: a sign of life, a suspension, RQ's and our own maintenance."""
        if time.monotonic() < self._next_beat:
            return
        self._asleep = True
        try:
            self.check_for_suspension(burst)
        finally:
            self._asleep = False
        if self.should_run_maintenance_tasks:
            self.run_maintenance_tasks()
        for queue in self.queues:
            maintenance.look_after(queue)
        self._next_beat = time.monotonic() + BEAT

    def run_maintenance_tasks(self) -> None:
        """As RQ's; a job in its registries that cannot be read ends no worker."""
        try:
            super().run_maintenance_tasks()
        except RedisError:
            raise
        except Exception:
            logger.exception("maintenance.failed name=%s", self.name)
            self.last_cleaned_at = now()  # type: ignore[assignment]

    def _insist(self, action: Callable[[], Any]) -> Any:
        """Do it until Redis lets it be done."""
        pause = 0.05
        while not self._stop_requested:
            try:
                return action()
            except (RedisError, OSError) as error:
                logger.warning("redis.trouble name=%s error=%s", self.name, error)
                pause = min(pause * 2, LONGEST_PAUSE)
                self._asleep = True
                try:
                    time.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - only to spread
                finally:
                    self._asleep = False
        return None

    def _release_unsettled(self) -> None:
        """Give back a job whose end is not known to be written; if it is, do what follows it."""
        if self._taken is None:
            return
        job, queue = self._taken
        claim = job.claim
        if not claim.is_settled and not queue.lanes.settle(claim.lease_id, "released"):
            follow_up(queue, job)
        self._taken = self.claim = None


def _as_lanes(queue: Any) -> Any:
    if isinstance(queue, Queue) and not isinstance(queue, LaneQueue):
        return LaneQueue(queue.name, connection=queue.connection, job_class=queue.job_class)
    return queue
