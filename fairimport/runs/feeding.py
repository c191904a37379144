"""Tickets: a run that has work stands in its tenant's lane, with as many tickets as it can use."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Count, F, Q
from redis.exceptions import RedisError

from fairimport.conf import settings
from fairimport.importers import Importer, UnknownImporter
from fairimport.lanes import get_lanes, lane
from fairimport.models import Chunk, ImportRun, TenantLimit
from fairimport.states import WORKING, State

__all__ = [
    "feed",
    "feed_all",
    "feed_reader",
    "forget",
    "has_hook",
    "may_begin",
    "missing",
    "reader_soon",
    "slice_ticket",
    "soon",
]

log = logging.getLogger(__name__)
JOBS = "fairimport.jobs"
GRACE_S = 30.0
"""What RQ's timer gives a job beyond what it may take by its own clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A job that must stand in a lane or be under a lease: one of `fairimport.jobs`, for a run."""

    id: str
    job: str
    run: str
    tenant: str
    front: bool = False


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
    if _is_at_the_reader(run):
        return feed_reader(run.tenant)
    return _top_up(_tickets([run]))


def feed_reader(tenant: str) -> int:
    """See that the first run that waits for this tenant's one reading or splitting job has it."""
    first = ImportRun.objects.for_tenant(tenant).at_the_reader().first()
    return _top_up(_reader_ticket(first)) if first is not None else 0


def feed_all() -> int:
    """The same for every run that has work, with few queries and one look at Redis."""
    return _enqueue(missing())


def missing() -> list[Ticket]:
    """Tickets of all runs that should be in a lane or under a lease, and are not."""
    readers = {run.tenant: run for run in reversed(ImportRun.objects.at_the_reader())}
    unhooked = Q(state=State.FINISHED, after_done_at=None)
    runs = ImportRun.objects.filter(Q(state__in=WORKING) | unhooked)
    others = [run for run in runs.defer("facts") if not _is_at_the_reader(run)]
    first = [ticket for run in readers.values() for ticket in _reader_ticket(run)]
    return _missing([*first, *_tickets(others)])


def _is_at_the_reader(run: ImportRun) -> bool:
    waits = run.state in (State.RECEIVED, State.READING)
    return waits or (run.state == State.CHECKING and run.total is None)


def _reader_ticket(run: ImportRun) -> list[Ticket]:
    if run.state == State.CHECKING:
        return [_ticket(run, "split")]
    return [_ticket(run, "read", front=True)]


def _tickets(runs: Iterable[ImportRun]) -> list[Ticket]:
    """What these runs need, beside reading and splitting."""
    wanted: list[Ticket] = []
    working: list[ImportRun] = []
    for run in runs:
        if run.state == State.FINISHED:
            if not run.after_done_at and has_hook(run, "after_run"):
                wanted.append(_ticket(run, "after"))
        elif run.state not in (State.CHECKING, State.QUEUED, State.RUNNING):
            continue
        elif run.correction.get("source"):
            wanted.append(_ticket(run, "correct", front=True))
        elif run.state == State.QUEUED and not may_begin(run):
            wanted.append(_ticket(run, "before"))
        else:
            working.append(run)
    return [*wanted, *_slice_tickets(working)]


def _slice_tickets(runs: list[ImportRun]) -> list[Ticket]:
    """At most the cap, at most the unfinished chunks; one for a run that only has to end.

    Ids of tickets that hold a chunk come first: the same id takes the chunk back at once.
    """
    if not runs:
        return []
    left, holders = _chunks_left(runs)
    caps = TenantLimit.objects.caps_of({run.tenant for run in runs})
    wanted = []
    for run in runs:
        most = max(1, min(caps[run.tenant], left.get(run.pk, 0)))
        fresh = (slice_ticket(run, n) for n in range(most))
        ids = dict.fromkeys([*holders[run.pk], *fresh])
        wanted += [_ticket(run, "slice_rows", id=id) for id in islice(ids, most)]
    return wanted


def _chunks_left(runs: list[ImportRun]) -> tuple[Mapping[Any, int], Mapping[Any, list[str]]]:
    checks = Q(run__state=State.CHECKING, checked__lt=F("size"))
    rows = ~Q(run__state=State.CHECKING) & Q(next_row__lt=F("size"))
    chunks = Chunk.objects.filter(checks | rows, run__in=runs).order_by()
    left = dict(chunks.values_list("run").annotate(n=Count("pk")))
    holders: dict[Any, list[str]] = defaultdict(list)
    for run, holder in chunks.held().values_list("run", "holder"):
        holders[run].append(holder)
    return left, holders


def _ticket(run: ImportRun, job: str, *, id: str = "", front: bool = False) -> Ticket:
    return Ticket(
        id=id or f"{job}-{run.pk.hex}", job=job, run=run.pk.hex, tenant=run.tenant, front=front
    )


def slice_ticket(run: ImportRun, n: int) -> str:
    """The id of a run's n-th ticket for rows."""
    return f"slice-{run.pk.hex}-{n}"


def has_hook(run: ImportRun, name: str) -> bool:
    """Whether the run's importer wrote this optional method."""
    try:
        return getattr(run.get_importer(), name) is not getattr(Importer, name)
    except UnknownImporter:
        return False


def may_begin(run: ImportRun) -> bool:
    """Whether the importer's `before_run` is done, if there is one."""
    return run.before_done_at is not None or not has_hook(run, "before_run")


def forget(run: ImportRun) -> None:
    """Take waiting tickets of an ended run out of Redis once the transaction is committed."""
    cap = TenantLimit.objects.cap_of(run.tenant)
    ids = [slice_ticket(run, n) for n in range(max(cap, 1))]
    _once_committed(lambda: [get_lanes().remove(ticket, run.tenant) for ticket in ids])


def _top_up(tickets: list[Ticket]) -> int:
    return _enqueue(_missing(tickets))


def _missing(tickets: list[Ticket]) -> list[Ticket]:
    held = get_lanes().holding(ticket.id for ticket in tickets) if tickets else set()
    return [ticket for ticket in tickets if ticket.id not in held]


def _enqueue(tickets: list[Ticket]) -> int:
    for ticket in tickets:
        lane(ticket.tenant).enqueue_call(  # type: ignore[no-untyped-call]
            f"{JOBS}.{ticket.job}",
            args=(ticket.run,),
            job_id=ticket.id,
            timeout=int(_seconds(ticket.job) + GRACE_S),
            result_ttl=0,
            failure_ttl=24 * 3600,
            description=f"{ticket.job} {ticket.run}",
            at_front=ticket.front,
        )
    return len(tickets)


def _seconds(job: str) -> float:
    """What a job of this kind may take by its own clock."""
    if job in ("read", "correct"):
        return float(settings.reader_wall_s)
    if job == "slice_rows":
        return float(settings.slice + settings.row_timeout)
    return 600.0
