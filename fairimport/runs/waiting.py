"""Why a run waits, in words that a customer understands; each with a stable code."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fairimport.lanes import LaneState, Snapshot
from fairimport.models import Chunk, ImportRun
from fairimport.states import State

__all__ = ["Reason", "closing", "is_fresh", "redis_down", "why"]


@dataclass(frozen=True, slots=True)
class Reason:
    """A stable code and its sentence."""

    code: str
    text: str


def closing(state: State) -> Reason:
    if state == State.PAUSING:
        return Reason("closing", _("Pausing: the rows in hand are still being finished."))
    return Reason("closing", _("Cancelling: the rows in hand are still being finished."))


def redis_down() -> Reason:
    return Reason(
        "redis_down", _("The queue cannot be reached just now. Work goes on when it is back.")
    )


def is_fresh(moment: datetime | None, seconds: float) -> bool:
    """Whether this was less than so many seconds ago."""
    return moment is not None and (timezone.now() - moment).total_seconds() < seconds


def why(run: ImportRun, lanes: Snapshot, own: LaneState | None, *, moves: bool) -> Reason | None:
    """What keeps a run that has work from moving; the first reason that is true."""
    if not lanes.loaded:
        text = _("The queue has just restarted. Work goes on within seconds.")
        return Reason("limits_not_loaded", text)
    if own is not None and (own.paused or own.cap == 0):
        return _paused(own)
    if moves:
        return None
    if not lanes.workers:
        return _no_worker(lanes.last_seen)
    if own is not None and own.in_flight >= own.cap:
        return _at_cap(run, own)
    return _behind(own)


def _paused(own: LaneState) -> Reason:
    if own.paused and own.paused_by:
        return Reason("paused", _("Paused by the operator (%(who)s).") % {"who": own.paused_by})
    return Reason("paused", _("Paused by the operator."))


def _no_worker(seen: float | None) -> Reason:
    if seen is None:
        return Reason("no_worker", _("No worker is running. It starts by itself once one is."))
    ago = timesince(datetime.fromtimestamp(seen, tz=timezone.get_current_timezone()))
    text = _("No worker is running (the last one was seen %(ago)s ago).") % {"ago": ago}
    return Reason("no_worker", text)


def _at_cap(run: ImportRun, own: LaneState) -> Reason:
    """Names the imports that use the slots; slots may also be used by other kinds of jobs."""
    held = Chunk.objects.held().filter(run__tenant=run.tenant).exclude(run=run)
    names = sorted(set(held.values_list("run__filename", flat=True)))
    if not names:
        text = ngettext("The slot is busy.", "All %(n)d slots are busy.", own.cap)
        return Reason("at_cap", text % {"n": own.cap})
    text = ngettext(
        "The slot is busy with %(files)s.", "All %(n)d slots are busy with %(files)s.", own.cap
    )
    files = ", ".join(f"“{name}”" for name in names[:3])
    return Reason("at_cap", text % {"n": own.cap, "files": files})


def _behind(own: LaneState | None) -> Reason:
    if own is None or own.ahead is None:
        return Reason("queueing", _("Waiting to be queued."))
    if own.ahead == 0:
        return Reason("behind", _("Next in line for a worker."))
    text = ngettext(
        "Waiting for a turn behind %(n)d other customer.",
        "Waiting for a turn behind %(n)d other customers.",
        own.ahead,
    )
    return Reason("behind", text % {"n": own.ahead})
