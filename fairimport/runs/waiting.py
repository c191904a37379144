"""Why a run waits, in words that a customer understands; each with a stable code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from fairimport.lanes import LaneState, Snapshot
from fairimport.models import Chunk, ImportRun
from fairimport.states import State

__all__ = ["Reason", "closing", "in_short", "is_fresh", "redis_down", "why"]

PASSING = frozenset({"no_worker", "at_cap", "behind"})
"""What keeps a run from its next turn only: nothing is said of it while rows are finished."""


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


def why(run: ImportRun, lanes: Snapshot, *, moves: bool) -> Reason | None:
    """What keeps a run that has work from moving; the scripts have decided which reason it is."""
    own = lanes.tenants[run.tenant]
    if moves and own.reason in PASSING:
        return None
    return Reason(own.reason, _WORDS[own.reason](run, lanes, own))


def _paused(run: ImportRun, lanes: Snapshot, own: LaneState) -> str:
    facts = {"who": own.paused_by, "since": _when(own.paused_at) if own.paused_at else ""}
    if own.paused and own.paused_by and own.paused_at:
        return _("Paused by the operator (%(who)s, since %(since)s).") % facts
    if own.paused and own.paused_by:
        return _("Paused by the operator (%(who)s).") % facts
    return _("Paused by the operator.")


def _suspended(run: ImportRun, lanes: Snapshot, own: LaneState) -> str:
    left = lanes.suspended_left_s
    if left is None:
        return _("All work is stopped by the operator. It goes on when they resume it.")
    until = _when(timezone.now().timestamp() + left + 59)
    text = _("All work is stopped by the operator until %(until)s and goes on by itself then.")
    return text % {"until": until}


def _no_worker(run: ImportRun, lanes: Snapshot, own: LaneState) -> str:
    if lanes.last_seen is None:
        return _("No worker is running. It starts by itself once one is.")
    ago = timesince(_moment(lanes.last_seen))
    return _("No worker is running (the last one was seen %(ago)s ago).") % {"ago": ago}


def _not_loaded(run: ImportRun, lanes: Snapshot, own: LaneState) -> str:
    if lanes.workers:
        return _("The queue has just restarted. Work goes on within seconds.")
    return _("The queue has restarted. Work goes on as soon as a worker has looked at it.")


def _at_cap(run: ImportRun, lanes: Snapshot, own: LaneState) -> str:
    """Names the imports that use the slots; slots may also be used by other kinds of jobs."""
    held = Chunk.objects.held().filter(run__tenant=run.tenant).exclude(run=run)
    names = sorted(set(held.values_list("run__filename", flat=True)))
    if not names:
        text = ngettext("The slot is busy.", "All %(n)d slots are busy.", own.cap)
        return text % {"n": own.cap}
    text = ngettext(
        "The slot is busy with %(files)s.", "All %(n)d slots are busy with %(files)s.", own.cap
    )
    files = ", ".join(f"“{name}”" for name in names[:3])
    return text % {"n": own.cap, "files": files}


def _behind(run: ImportRun, lanes: Snapshot, own: LaneState) -> str:
    if own.ahead is None:
        return _("Waiting to be queued.")
    if own.ahead == 0:
        return _("Next in line for a worker.")
    text = ngettext(
        "Waiting for a turn behind %(n)d other customer.",
        "Waiting for a turn behind %(n)d other customers.",
        own.ahead,
    )
    return text % {"n": own.ahead}


_WORDS: Mapping[str, Callable[[ImportRun, Snapshot, LaneState], str]] = {
    "paused": _paused,
    "suspended": _suspended,
    "no_worker": _no_worker,
    "limits_not_loaded": _not_loaded,
    "at_cap": _at_cap,
    "behind": _behind,
}


def in_short(lane: LaneState) -> str:
    """Why a tenant's jobs wait, in a few words for the operator; empty when none does."""
    if lane.reason == "paused":
        return _paused_in_short(lane)
    if not lane.waiting:
        return ""
    if lane.reason != "behind" or lane.ahead is None:
        return str(_SHORT[lane.reason])
    if lane.ahead == 0:
        return _("next in line")
    text = ngettext("behind %(n)d tenant", "behind %(n)d tenants", lane.ahead)
    return text % {"n": lane.ahead}


def _paused_in_short(lane: LaneState) -> str:
    if not lane.paused:
        return _("paused by its cap of 0")
    who = lane.paused_by or _("the operator")
    if lane.paused_at is None:
        return _("paused by %(who)s") % {"who": who}
    return _("paused by %(who)s since %(since)s") % {"who": who, "since": _when(lane.paused_at)}


_SHORT = {
    "suspended": gettext_lazy("all work is suspended"),
    "no_worker": gettext_lazy("no worker is alive"),
    "limits_not_loaded": gettext_lazy("limits are not loaded"),
    "at_cap": gettext_lazy("at its cap"),
    "behind": gettext_lazy("to be routed"),
}


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=timezone.get_current_timezone())


def _when(seconds: float) -> str:
    """The time of a day, with the date unless it is near."""
    moment = _moment(seconds)
    near = abs(moment - timezone.now()) < timedelta(hours=12)
    return date_format(moment, "TIME_FORMAT" if near else "SHORT_DATETIME_FORMAT")
