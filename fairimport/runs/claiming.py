"""Who works on which chunk: taking one inside the cap, holding it by its token, letting it go.

Locks are taken in one order: limit, run, chunk.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum

from django.db import transaction
from django.db.models import F, Max
from django.db.models.functions import Coalesce, Now

from fairimport.conf import settings
from fairimport.errors import LeaseLost
from fairimport.models import Chunk, ImportRun, TenantLimit
from fairimport.querysets import from_now
from fairimport.runs.feeding import may_begin
from fairimport.runs.payloads import lines_of, pack
from fairimport.states import State

__all__ = ["Held", "Refusal", "fenced", "let_go", "take"]

log = logging.getLogger(__name__)


class Refusal(StrEnum):
    """Why a ticket gets no chunk."""

    STOPPED = "stopped"  # the run has ended, is asked to stop, or may not begin yet
    AT_CAP = "at_cap"  # the tenant's chunks in work are as many as its cap
    NOTHING = "nothing"  # every chunk with work left is held by others, or there is none


@dataclass(slots=True)
class Held:
    """A chunk that this process works on until somebody takes it with a greater token."""

    chunk: Chunk
    token: int
    state: State

    @property
    def checks(self) -> bool:
        """Whether rows are checked only."""
        return self.state == State.CHECKING

    @property
    def position(self) -> int:
        """The next row's position in the payload."""
        return self.chunk.checked if self.checks else self.chunk.next_row


def hold_seconds() -> float:
    """How long a silent worker's chunk counts against the cap, unless its ticket takes it back."""
    return float(settings.row_timeout + settings.lease)


def take(run: ImportRun, ticket: str) -> Held | Refusal:
    """Take the chunk that this ticket holds, else one that nobody works on, inside the cap.

    The tenant's limit is locked and its chunks in work are counted, so the cap holds even when
    Redis has just forgotten every lease.
    """
    with transaction.atomic():
        limit = TenantLimit.objects.locked(run.tenant)
        fresh = ImportRun.objects.locked(run.pk)
        if fresh is None or not _may_work(fresh):
            _drop_own(run, ticket)
            return Refusal.STOPPED
        chunk = _own(fresh, ticket)
        if chunk is None:
            held = Chunk.objects.held().filter(run__tenant=run.tenant).count()
            if limit.paused or held >= limit.cap:
                return Refusal.AT_CAP
            chunk = _next(fresh)
        if chunk is None:
            return Refusal.NOTHING
        if fresh.state == State.QUEUED:
            fresh.move(State.RUNNING, started_at=Coalesce("started_at", Now()))
        return _hold(chunk, ticket, State(fresh.state))


def _may_work(run: ImportRun) -> bool:
    """Whether rows may be worked on; none is before the importer's `before_run` is done."""
    if run.state == State.QUEUED:
        return may_begin(run)
    return run.state in (State.CHECKING, State.RUNNING)


def _own(run: ImportRun, ticket: str) -> Chunk | None:
    """The chunk that this ticket held when its worker died, or froze."""
    own = run.chunks.left_in(State(run.state)).filter(holder=ticket)
    found: Chunk | None = own.select_for_update(no_key=True).first()
    return found


def _next(run: ImportRun) -> Chunk | None:
    waiting = run.chunks.left_in(State(run.state)).takeable()
    found: Chunk | None = waiting.order_by("retry", "index").for_claim().first()
    return found


def _hold(chunk: Chunk, ticket: str, state: State) -> Held:
    """Write the taking down; a chunk that was not let go has seen a worker die."""
    chunk.suspect = chunk.suspect or bool(chunk.holder)
    chunk.token += 1
    chunk.holder = ticket
    Chunk.objects.filter(pk=chunk.pk).update(
        token=chunk.token,
        holder=ticket,
        suspect=chunk.suspect,
        held_until=from_now(hold_seconds()),
    )
    log.debug("chunk.claimed chunk=%s token=%d ticket=%s", chunk, chunk.token, ticket)
    return Held(chunk, chunk.token, state)


def _drop_own(run: ImportRun, ticket: str) -> None:
    """What a dead worker held of a run that is asked to stop is let go, so that it can stop."""
    own = Chunk.objects.filter(run_id=run.pk, holder=ticket)
    own.update(holder="", held_until=None)


def fenced(held: Held) -> Chunk:
    """The held chunk, locked and fresh; `LeaseLost` when somebody else took it.

    Call it first in the transaction that writes rows: until its end nobody can take the chunk. Its
    `run_state` is that of the run now; its `run` is as it was when the chunk was taken.
    """
    mine = Chunk.objects.filter(pk=held.chunk.pk, token=held.token)
    mine = mine.defer("payload").annotate(run_state=F("run__state")).order_by()
    locked: Chunk | None = mine.select_for_update(no_key=True, of=("self",)).first()
    if locked is None:
        log.warning("chunk.fence_rejected chunk=%s token=%d", held.chunk, held.token)
        raise LeaseLost(f"chunk {held.chunk} was given to somebody else")
    locked.run = held.chunk.run
    return locked


def let_go(held: Held) -> None:
    """Give an unfinished chunk back, split if other slots would otherwise have nothing to do."""
    with transaction.atomic():
        limit = TenantLimit.objects.locked(held.chunk.run.tenant)
        try:
            chunk = fenced(held)
        except LeaseLost:
            return
        chunk.holder, chunk.held_until = "", None
        fields: list[str] = ["holder", "held_until"]
        if _split_tail(chunk, held, limit.cap):
            fields += ["size", "payload"]
        chunk.save(update_fields=fields)


def _split_tail(chunk: Chunk, held: Held, cap: int) -> bool:
    """Share the rows left among the slots that are free and have no chunk waiting for them."""
    position = chunk.checked if held.checks else chunk.next_row
    left = chunk.size - position
    if left < 2 or chunk.suspect:
        return False
    others = Chunk.objects.exclude(pk=chunk.pk)
    busy = others.held().filter(run__tenant=chunk.run.tenant).count()
    waiting = others.filter(run=chunk.run).left_in(held.state).takeable().count()
    parts = min(cap - busy - waiting, left)
    if parts < 2:
        return False
    _deal_out(chunk, position, parts)
    return True


def _deal_out(chunk: Chunk, position: int, parts: int) -> None:
    lines = lines_of(chunk.payload)
    left = len(lines) - position
    cuts = [position + left * n // parts for n in range(parts + 1)]
    last = Chunk.objects.filter(run=chunk.run).aggregate(last=Max("index"))["last"]
    Chunk.objects.bulk_create(
        Chunk(
            run=chunk.run,
            index=last + n,
            retry=chunk.retry,
            size=cuts[n + 1] - cuts[n],
            payload=pack(lines[cuts[n] : cuts[n + 1]]),
        )
        for n in range(1, parts)
    )
    chunk.size = cuts[1]
    chunk.payload = pack(lines[: cuts[1]])
