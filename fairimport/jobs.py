"""Functions that RQ calls by their dotted path. These names are for ever: tickets hold them.

Each may be called at any time, again and again: the database says whether there is anything to do.
None of them fails its ticket; what cannot go on fails its run.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from uuid import UUID

from django.db import close_old_connections
from rq import get_current_job

from fairimport.lanes import Yield, current_claim
from fairimport.runs import correcting, finishing, reading, slices, splitting
from fairimport.runs.rowwork import where

__all__ = ["after", "before", "correct", "read", "slice_rows", "split"]

log = logging.getLogger(__name__)
PAUSE_S = 0.5
"""Seconds that a ticket rests when it could do nothing, so that its lane does not spin."""


def read(run: str) -> Yield | None:
    """Look into a run's file."""
    return _surely(lambda: reading.read(UUID(run)))


def split(run: str) -> Yield | None:
    """Store a run's rows, for one slice."""
    return _surely(lambda: splitting.split(UUID(run), should_stop=should_stop))


def slice_rows(run: str) -> Yield | None:
    """Work on a run's rows, for one slice."""

    def work() -> bool:
        turn = slices.work(UUID(run), _ticket(), should_stop=should_stop)
        if turn == slices.Turn.WAIT:
            rest()
        return turn == slices.Turn.DONE

    return _surely(work)


def correct(run: str) -> Yield | None:
    """Take rows from a corrected file."""
    return _surely(lambda: correcting.correct(UUID(run)))


def before(run: str) -> Yield | None:
    """Call an importer's `before_run`."""
    return _surely(lambda: finishing.before(UUID(run)))


def after(run: str) -> Yield | None:
    """Call an importer's `after_run`."""
    return _surely(lambda: finishing.after(UUID(run)))


def should_stop() -> bool:
    """Whether the worker wants this job to end at the next good moment."""
    claim = current_claim()
    return claim is not None and claim.should_stop()


def rest(seconds: float = PAUSE_S) -> None:
    """Wait a little, unless the worker is asked to stop."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and not should_stop():
        time.sleep(0.05)


def _surely(call: Callable[[], bool | None]) -> Yield | None:
    """Call it; answer with a yield when it says False, or when it broke."""
    close_old_connections()
    try:
        return Yield() if call() is False else None
    except Exception as error:  # a database that is away: the ticket waits in its lane
        log.warning("ticket.broke ticket=%s %s", _ticket(), where(error))
        close_old_connections()
        rest(1.0)
        return Yield()


def _ticket() -> str:
    claim = current_claim()
    if claim is not None:
        return claim.job_id
    job = get_current_job()
    return job.id if job is not None else "no-ticket"
