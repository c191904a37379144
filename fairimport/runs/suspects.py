"""Rows that take their process down: marked before they are tried, counted, at last given up."""

from __future__ import annotations

import logging

from django.db.models import F

from fairimport.conf import settings
from fairimport.errors import LeaseLost
from fairimport.models import Chunk
from fairimport.querysets import ChunkQuerySet
from fairimport.runs.claiming import Held

__all__ = ["MOST_LAPSES", "condemned", "count_death", "count_lapse", "mark", "never_opens"]

log = logging.getLogger(__name__)
MOST_LAPSES = 10
"""Deaths of whole machines, and refusals of the database, that one row may see."""


def condemned(held: Held) -> bool:
    """Whether the next row has ended so many workers that it is not tried again."""
    chunk = held.chunk
    if not chunk.suspect or chunk.marked != held.position:
        return False
    return chunk.deaths >= settings.max_lapses or chunk.lapses >= MOST_LAPSES


def never_opens(held: Held) -> bool:
    """Whether so many tries ended before any row was marked that the rows cannot be to blame."""
    return held.chunk.marked is None and held.chunk.lapses > MOST_LAPSES


def mark(held: Held) -> None:
    """Note the next row before it is tried, so that a death has a name."""
    chunk = held.chunk
    if chunk.died_at is not None and chunk.died_at != held.position:
        chunk.deaths, chunk.died_at = 0, None  # those deaths were another row's
    chunk.marked = held.position
    mine = Chunk.objects.filter(pk=chunk.pk, token=held.token)
    if not mine.update(marked=chunk.marked, deaths=chunk.deaths, died_at=chunk.died_at):
        raise LeaseLost(f"chunk {chunk} was given to somebody else")


def count_death(ticket: str) -> None:
    """A horse died and its parent lives: the row in hand is to blame, or one near it."""
    _of(ticket).update(suspect=True, deaths=F("deaths") + 1, died_at=F("marked"))


def count_lapse(ticket: str) -> None:
    """A lease lapsed: a machine died, or a process froze. Rows are blamed only after many."""
    _of(ticket).update(suspect=True, lapses=F("lapses") + 1)


def _of(ticket: str) -> ChunkQuerySet:
    return Chunk.objects.filter(holder=ticket).exclude(held_until=None)
