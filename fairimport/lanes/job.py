"""`LaneJob`: an RQ job that knows its tenant and calls only what it may."""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from django.apps import apps
from rq.job import Job, JobStatus
from rq.utils import as_text, import_job_class

from fairimport.conf import settings
from fairimport.errors import FairImportError

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis.client import Pipeline
    from rq.queue import Queue

    from fairimport.lanes.claims import Claim

__all__ = ["FunctionRefused", "LaneJob"]

logger = logging.getLogger("fairimport.lanes")

OWN = "fairimport."


class FunctionRefused(FairImportError):
    """A job names a function that is not of an installed app, nor allowed by `JOB_FUNCTIONS`."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} is not a function of an installed app;"
            " FAIRIMPORT['JOB_FUNCTIONS'] may allow it"
        )


def check_allowed(name: str | None) -> None:
    """Raise `FunctionRefused` unless a dotted name is of an installed app or set as allowed.

    Whoever can write to Redis writes names of functions; this keeps them from `os.system`.
    """
    roots = {config.name for config in apps.get_app_configs()} | set(settings.job_functions)
    if name is None or not any(name == root or name.startswith(f"{root}.") for root in roots):
        raise FunctionRefused(name or "")


def allowed(found: Any) -> Any:
    """Return what a name stands for; raises `FunctionRefused` when it is at home elsewhere.

    A module of an installed app knows others by name: `app.tasks.os.system` begins well.
    """
    home = getattr(found, "__module__", None) or type(found).__module__
    check_allowed(f"{home}.{getattr(found, '__qualname__', type(found).__qualname__)}")
    return found


class LaneJob(Job):
    """A job whose hash has a plain `tenant`, and `front` and `ticket` while they are true.

    `front`: the next routing puts it at its lane's front. `ticket`: it is a job of our own, which
    never fails for good because its workers died.
    """

    tenant: str | None = None
    front: bool = False
    ticket: bool = False
    claim: Claim
    """What its worker holds; set by `LaneQueue.take`."""

    def restore(self, raw_data: Any) -> Any:
        """Read the stored hash, our fields included."""
        super().restore(raw_data)
        tenant = raw_data.get(b"tenant")
        self.tenant = tenant.decode() if tenant is not None else None
        self.front = raw_data.get(b"front") == b"1"
        self.ticket = raw_data.get(b"ticket") == b"1"

    def to_dict(self, include_meta: bool = True, include_result: bool = True) -> dict[str, Any]:
        """Write the hash, our fields included; what is not set leaves Redis' value alone."""
        stored: dict[str, Any] = super().to_dict(include_meta, include_result)
        if self.tenant is not None:
            stored["tenant"] = self.tenant
        if self.front:
            stored["front"] = "1"
        if self.ticket:
            stored["ticket"] = "1"
        return stored

    @property
    def func(self) -> Any:
        """The function to call; raises `FunctionRefused`."""
        if self.instance is None:
            check_allowed(self.func_name)
        else:
            allowed(type(self.instance))
        return allowed(super().func)

    @property
    def success_callback(self) -> Any:
        """As RQ's, of an allowed function; raises `FunctionRefused`."""
        return self._checked(
            self._success_callback_name, lambda: super(LaneJob, self).success_callback
        )

    @property
    def failure_callback(self) -> Any:
        """As RQ's, of an allowed function; raises `FunctionRefused`."""
        return self._checked(
            self._failure_callback_name, lambda: super(LaneJob, self).failure_callback
        )

    @property
    def stopped_callback(self) -> Any:
        """As RQ's, of an allowed function; raises `FunctionRefused`."""
        return self._checked(
            self._stopped_callback_name, lambda: super(LaneJob, self).stopped_callback
        )

    def send_webhooks(self, status: str, *, exc_string: str | None = None) -> None:
        """As RQ's, but only to `WEBHOOK_HOSTS`: Redis' word must not open our own network."""
        for webhook in self.webhooks:
            host = urlsplit(webhook.url).hostname
            if webhook.job_status != status:
                continue
            if host in settings.webhook_hosts:
                webhook.send(self, exc_string=exc_string)
            else:
                logger.error("webhook.refused job=%s host=%s (WEBHOOK_HOSTS)", self.id, host)

    def set_status(self, status: JobStatus, pipeline: Pipeline | None = None) -> None:
        """As RQ's, but "scheduled" is written together with the schedule.

        RQ writes it ahead; were the rest refused, the job would be in no list at all.
        """
        if status == JobStatus.SCHEDULED and pipeline is None:
            self._status = status
        else:
            super().set_status(status, pipeline=pipeline)

    def cancel(self, *args: Any, **kwargs: Any) -> dict[str, list[str]]:
        """As RQ's, and out of its lane at once."""
        moved: dict[str, list[str]] = super().cancel(*args, **kwargs)
        self._leave()
        return moved

    def delete(self, *args: Any, **kwargs: Any) -> None:
        """As RQ's, and out of its lane at once."""
        super().delete(*args, **kwargs)
        if kwargs.get("pipeline") is None and not args:
            self._leave()

    def requeue(self, at_front: bool = False) -> Job:
        """As RQ's; `at_front` is the front of its lane."""
        self.front = at_front
        return super().requeue(at_front=at_front)

    def get_position(self) -> int | None:
        """How many jobs come before it in its own lane and in RQ's list."""
        from fairimport.lanes.queue import LaneQueue

        return LaneQueue(self.origin, connection=self.connection).get_job_position(self.id)

    def _leave(self) -> None:
        from fairimport.lanes.lanes import Lanes

        if self.origin:
            Lanes.of(self.origin, self.connection).remove(self.id, self.tenant or "")

    @staticmethod
    def _checked(name: str | None, read: Callable[[], Any]) -> Any:
        if not name:
            return read()
        check_allowed(name)
        return allowed(read())


@cache
def lane_job_class(kind: type[Job] | str) -> type[LaneJob]:
    """A class of jobs, given as RQ takes it, that is a `LaneJob` as well."""
    found = import_job_class(kind) if isinstance(kind, str) else kind
    if issubclass(found, LaneJob):
        return found
    return LaneJob if found is Job else type(f"Lane{found.__name__}", (LaneJob, found), {})


def claim_of(job: Job) -> Claim:
    """What the worker of a job that `LaneQueue` handed out holds."""
    return cast(LaneJob, job).claim


def inherit(job: LaneJob, queue: Queue) -> None:
    """Give a job its tenant: that of its queue, of the job which enqueues it, of its parent."""
    from rq import get_current_job

    job.ticket = (job.func_name or "").startswith(OWN)
    job.tenant = getattr(queue, "tenant", None)
    if job.tenant is None:
        job.tenant = getattr(get_current_job(), "tenant", None)
    if job.tenant is None and job._dependency_ids:
        tenant = job.connection.hget(job.key_for(job._dependency_ids[0]), "tenant")
        job.tenant = as_text(tenant) if tenant is not None else None
