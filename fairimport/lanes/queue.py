"""`LaneQueue`: an RQ queue whose jobs are taken in fair order. Pushing is RQ's own."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import django_rq
from django.conf import settings as django_settings
from django.core.exceptions import ImproperlyConfigured
from django_rq.queues import DjangoRQ
from rq.exceptions import DequeueTimeout
from rq.job import Job
from rq.queue import Queue
from rq.serializers import JSONSerializer
from rq.utils import as_text

from fairimport.conf import settings
from fairimport.lanes import lapses, maintenance
from fairimport.lanes.claims import Claim
from fairimport.lanes.job import LaneJob, inherit, lane_job_class
from fairimport.lanes.lanes import Claimed, Closed, Idle, Lanes

if TYPE_CHECKING:
    from redis import Redis

__all__ = ["LaneQueue"]

LONGEST_SLEEP = 1.0  # seconds without a look at the lanes: a raised cap has no bell
SEVERAL_SLEEP = 0.2  # the same, when other queues could wake up too
NOT_FAIR = (
    "Only fair workers may work on lanes: `manage.py fairworker`,"
    " or `manage.py rqworker --worker-class fairimport.lanes.FairWorker`."
)

_connections: dict[tuple[str, str], Redis] = {}


class LaneQueue(DjangoRQ):
    """A queue with lanes. Bound to a `tenant` by `lane()`; without one, jobs inherit theirs."""

    job_class = LaneJob
    tenant: str | None = None
    worker_name: str = ""
    """The fair worker that takes jobs from it, if one does."""
    asleep: bool = False
    """Whether it waits for work: the only time when a signal may interrupt it."""

    def __init__(self, name: str = "default", *args: Any, **kwargs: Any) -> None:
        """As RQ's; but the serializer is the queue's own (JSON unless set), whatever is passed.

        A job class of the host's own is kept, with what `LaneJob` adds.
        """
        config = getattr(django_settings, "RQ_QUEUES", {}).get(name, {})
        kwargs["serializer"] = config.get("SERIALIZER") or JSONSerializer
        kwargs["job_class"] = lane_job_class(kwargs.get("job_class") or LaneJob)
        super().__init__(name, *args, **kwargs)
        if self.connection.connection_pool.connection_kwargs.get("decode_responses"):
            raise ImproperlyConfigured("RQ needs the bytes as they are: no decode_responses")
        self.lanes = Lanes.of(name, self.connection)
        self._request: str | None = None

    @classmethod
    def named(cls, name: str) -> LaneQueue:
        """The queue as `RQ_QUEUES` configures it; one pool of connections a process and queue."""
        key = (name, repr(django_settings.RQ_QUEUES[name]))
        if key not in _connections:
            _connections[key] = django_rq.get_connection(name)
        queue = django_rq.get_queue(name, queue_class=cls, connection=_connections[key])
        return cast("LaneQueue", queue)

    # -- pushing -----------------------------------------------------------------------------

    def create_job(self, *args: Any, **kwargs: Any) -> Job:
        """As RQ's, with the tenant of this queue, else that of the running job."""
        job = super().create_job(*args, **kwargs)
        if isinstance(job, LaneJob):
            inherit(job, self)
        return job

    def _enqueue_job(
        self, job: Job, pipeline: Any = None, at_front: bool = False, unique: bool = False
    ) -> Job:
        if at_front and isinstance(job, LaneJob):
            job.front = True
        return super()._enqueue_job(job, pipeline=pipeline, at_front=at_front, unique=unique)

    # -- taking ------------------------------------------------------------------------------

    @classmethod
    def dequeue_any(
        cls,
        queues: Iterable[Queue],
        timeout: int | None,
        connection: Redis | None = None,
        job_class: Any = None,
        serializer: Any = None,
        death_penalty_class: Any = None,
    ) -> tuple[LaneJob, LaneQueue] | None:
        """Take the next job in fair order, of the first queue that has one.

        Raises `DequeueTimeout` after `timeout` seconds, and `ImproperlyConfigured` for a worker
        that would not keep its leases. None is RQ's burst mode: return None when
        nothing unpaused waits and nobody holds a lease that could come back.
        """
        lane_queues = [queue for queue in queues if isinstance(queue, LaneQueue)]
        if not all(queue.worker_name for queue in lane_queues):
            raise ImproperlyConfigured(NOT_FAIR)
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            found, idle = _take_first(lane_queues)
            if found is not None:
                return found
            if until is None and all(isinstance(it, Idle) and not it.live for it in idle):
                return None
            left = LONGEST_SLEEP if until is None else until - time.monotonic()
            if left <= 0:
                raise DequeueTimeout(timeout, [queue.key for queue in lane_queues])
            lane_queues[0].doze(left, idle)

    def take(self) -> LaneJob | Idle | Closed:
        """Route and claim, without waiting. A job that cannot be read is failed, not raised."""
        while True:
            self._request = self._request or uuid.uuid4().hex
            sent = time.monotonic()
            found = self.lanes.claim(self.worker_name, self._request)
            self._request = None
            lapses.report(self, found.lapses)
            if isinstance(found, Closed):
                maintenance.look_after(self)
            if not isinstance(found, Claimed):
                return found
            job = self._load(found, sent)
            if job is not None:
                return job

    def doze(self, seconds: float, idle: Sequence[Idle | Closed]) -> None:
        """Sleep until a push to this queue, the next deadline, or `seconds` have passed."""
        longest = LONGEST_SLEEP if len(idle) == 1 else SEVERAL_SLEEP
        deadlines = [it.wait for it in idle if isinstance(it, Idle) and it.wait is not None]
        wait = max(min(seconds, longest, *deadlines), 0.01)
        keys = self.lanes.keys
        self.asleep = True
        try:
            self.connection.execute_command(
                "BLMOVE", keys.inbox, keys.landing, "LEFT", "RIGHT", wait
            )
        finally:
            self.asleep = False

    def _load(self, found: Claimed, sent: float) -> LaneJob | None:
        try:
            job = self.job_class(
                found.job_id, connection=self.connection, serializer=self.serializer
            )
            job.restore(found.fields)
        except Exception as error:
            lapses.refuse(self, found, f"{type(error).__name__}: {error}")
            return None
        job.claim = Claim(
            lease_id=found.lease_id,
            tenant=found.tenant,
            job_id=found.job_id,
            started_monotonic=sent - found.elapsed,
        )
        job.claim.extend(sent - found.elapsed + settings.lease)
        return job

    # -- what RQ's and django-rq's pages ask -------------------------------------------------

    @property
    def count(self) -> int:
        """Jobs that wait: in RQ's list, or in a lane."""
        return self._unrouted() + sum(length for _, length in self.lanes.lengths())

    def get_job_ids(self, offset: int = 0, length: int = -1) -> list[str]:
        """Waiting ids: those of RQ's list, then the lanes, that of the next tenant first."""
        wanted = None if length < 0 else offset + length
        ids = [self._ids(self.lanes.keys.landing), self._ids(self.key)]
        flat = [job for part in ids for job in part]
        for tenant, _ in self.lanes.lengths():
            if wanted is not None and len(flat) >= wanted:
                break
            flat += self._ids(self.lanes.keys.lane(tenant))
        return flat[offset:wanted]

    def get_job_position(self, job_or_id: Job | str) -> int | None:
        """Jobs before it: in its own lane, or in RQ's list when it is not routed yet."""
        job_id = job_or_id.id if isinstance(job_or_id, Job) else job_or_id
        tenant = as_text(self.connection.hget(self.job_class.key_for(job_id), "tenant") or "")
        for key in (self.lanes.keys.lane(tenant), self.lanes.keys.landing, self.key):
            place = self.connection.lpos(key, job_id)
            if place is not None:
                return cast(int, place)
        return None

    def remove(self, job_or_id: Job | str, pipeline: Any = None) -> Any:
        """As RQ's, and out of its lane."""
        removed = super().remove(job_or_id, pipeline=pipeline)
        job_id = job_or_id.id if isinstance(job_or_id, Job) else job_or_id
        tenant = getattr(job_or_id, "tenant", None) or ""
        return removed if pipeline is not None else removed + self.lanes.remove(job_id, tenant)

    def empty(self) -> int:
        """Drop every waiting job, as RQ's; return how many."""
        self.lanes.route()
        return int(super().empty()) + self.lanes.drain()

    def delete(self, delete_jobs: bool = True) -> None:
        """As RQ's: nobody waits any longer; `delete_jobs=False` keeps the jobs' hashes."""
        if not delete_jobs:
            self.lanes.route()
            for tenant, _ in list(self.lanes.lengths()):
                for job_id in self._ids(self.lanes.keys.lane(tenant)):
                    self.lanes.remove(job_id, tenant)
        super().delete(delete_jobs)

    def _unrouted(self) -> int:
        return int(self.connection.llen(self.key)) + int(
            self.connection.llen(self.lanes.keys.landing)
        )

    def _ids(self, key: str) -> list[str]:
        return [as_text(job) for job in self.connection.lrange(key, 0, -1)]


def _take_first(
    queues: Iterable[LaneQueue],
) -> tuple[tuple[LaneJob, LaneQueue] | None, list[Idle | Closed]]:
    """Ask queues in their order: a job, or what each of them said instead."""
    idle: list[Idle | Closed] = []
    for queue in queues:
        found = queue.take()
        if isinstance(found, LaneJob):
            return (found, queue), idle
        idle.append(found)
    return None, idle
