"""Tickets: a run that has work stands in its tenant's lane, with as many tickets as it can use."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import transaction
from redis.exceptions import RedisError

from fairimport.conf import settings
from fairimport.importers import Importer, UnknownImporter
from fairimport.lanes import get_lanes, lane
from fairimport.models import ImportRun, TenantLimit
from fairimport.states import State

__all__ = [
    "after_ticket",
    "feed",
    "feed_reader",
    "forget",
    "possible_tickets",
    "slice_ticket",
    "soon",
]

log = logging.getLogger(__name__)
JOBS = "fairimport.jobs"
GRACE = 30.0
"""Seconds beyond what a job may take by its own clock, before RQ's timer ends it."""


def soon(run: ImportRun) -> None:
    """Feed the run once the transaction is committed."""
    _once_committed(partial(feed, run.pk))


def reader_soon(tenant: str) -> None:
    """Let the tenant's next file be read once the transaction is committed."""
    _once_committed(partial(feed_reader, tenant))


def _once_committed(call: Callable[[], object]) -> None:
    """A Redis that is away is left to the reconciler: the database knows what is to be done."""

    def quietly() -> None:
        try:
            call()
        except RedisError as error:
            log.warning("run.not_fed error=%s", type(error).__name__)

    transaction.on_commit(quietly, robust=True)


def feed(pk: Any) -> int:
    """Top up the tickets of a run, whatever it waits for; return how many were added.

    Feeding twice adds nothing. Never call it inside a transaction: use `soon`.
    """
    run = ImportRun.objects.filter(pk=pk).first()
    if run is None:
        return 0
    if run.state in (State.RECEIVED, State.READING) or (
        run.state == State.CHECKING and run.total is None
    ):
        return feed_reader(run.tenant)
    if run.state in (State.CHECKING, State.QUEUED, State.RUNNING):
        return _feed_rows(run)
    if run.state == State.FINISHED and has_hook(run, "after_run") and not run.after_done_at:
        return _enqueue_missing(run, {after_ticket(run): "after"})
    return 0


def feed_reader(tenant: str) -> int:
    """See that the first run that waits for this tenant's one reading or splitting job has it."""
    first = ImportRun.objects.for_tenant(tenant).at_the_reader().first()
    if first is None:
        return 0
    if first.state == State.CHECKING:
        return _enqueue_missing(first, {f"split-{first.pk.hex}": "split"})
    return _enqueue_missing(first, {f"read-{first.pk.hex}": "read"}, front=True)


def _feed_rows(run: ImportRun) -> int:
    if run.correction.get("source"):
        return _enqueue_missing(run, {f"correct-{run.pk.hex}": "correct"}, front=True)
    if run.state != State.CHECKING and not run.before_done_at and has_hook(run, "before_run"):
        return _enqueue_missing(run, {f"before-{run.pk.hex}": "before"})
    cap = TenantLimit.objects.cap_of(run.tenant)
    left = run.chunks.left_in(State(run.state))[: max(cap, 1)].count()
    tickets = max(left, 1)  # a run whose last chunk is done still needs one to conclude it
    return _enqueue_missing(run, {slice_ticket(run, n): "slice_rows" for n in range(tickets)})


def slice_ticket(run: ImportRun, n: int) -> str:
    """The id of a run's n-th ticket."""
    return f"slice-{run.pk.hex}-{n}"


def after_ticket(run: ImportRun) -> str:
    """The id of the ticket that calls the importer's `after_run`."""
    return f"after-{run.pk.hex}"


def possible_tickets(run: ImportRun) -> list[str]:
    """The ids of all tickets that a run whose rows are in chunks may have."""
    cap = TenantLimit.objects.cap_of(run.tenant)
    names = ("correct", "before", "after")
    slices = [slice_ticket(run, n) for n in range(max(cap, 1))]
    return [*slices, *(f"{name}-{run.pk.hex}" for name in names)]


def has_hook(run: ImportRun, name: str) -> bool:
    """Whether the run's importer wrote this optional method."""
    try:
        return getattr(run.get_importer(), name) is not getattr(Importer, name)
    except UnknownImporter:
        return False


def forget(run: ImportRun) -> None:
    """Take waiting tickets of an ended run out of Redis once the transaction is committed."""
    cap = TenantLimit.objects.cap_of(run.tenant)
    ids = [slice_ticket(run, n) for n in range(max(cap, 1))]
    _once_committed(lambda: [get_lanes().remove(ticket) for ticket in ids])


def _enqueue_missing(run: ImportRun, tickets: dict[str, str], *, front: bool = False) -> int:
    missing = tickets.keys() - get_lanes().holding(list(tickets))
    queue = lane(run.tenant)
    for ticket in sorted(missing):
        name = tickets[ticket]
        queue.enqueue_call(  # type: ignore[no-untyped-call]
            f"{JOBS}.{name}",
            args=(run.pk.hex,),
            job_id=ticket,
            timeout=int(_seconds(name) + GRACE),
            result_ttl=0,
            failure_ttl=24 * 3600,
            description=f"{name} {run.pk}",
            at_front=front,
        )
    return len(missing)


def _seconds(name: str) -> float:
    """What a job of this kind may take by its own clock."""
    if name in ("read", "correct"):
        return float(settings.reader_wall_s)
    if name == "slice_rows":
        return float(settings.slice + settings.row_timeout)
    return 600.0
