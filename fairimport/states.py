"""The life of a run as one table; everything else about states is derived from it."""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "ACTIVE",
    "ENDED",
    "STOPPING",
    "TRANSITIONS",
    "WORKING",
    "Event",
    "State",
    "events_of",
    "may_move",
    "sources_of",
]


class State(StrEnum):
    """Where a run is between its upload and its end."""

    RECEIVED = "received"
    READING = "reading"
    MAPPING = "mapping"
    CHECKING = "checking"
    READY = "ready"
    QUEUED = "queued"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"
    FINISHED = "finished"
    FAILED = "failed"


class Event(StrEnum):
    """What in the world moves a run; the customer's verbs come first."""

    CHOOSE = "choose"
    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    RETRY = "retry"
    READ = "read"
    CHECK = "check"
    CLAIM = "claim"
    DRAIN = "drain"
    COMPLETE = "complete"
    BREAK = "break"


S, E = State, Event

TRANSITIONS: dict[State, dict[State, Event]] = {
    S.RECEIVED: {
        S.READING: E.READ,  # a worker opens the file
        S.CANCELLED: E.CANCEL,  # the customer picked the wrong file
        S.FAILED: E.BREAK,  # the file or its importer is gone before anybody read it
    },
    S.READING: {
        S.MAPPING: E.READ,  # the columns are known
        S.CANCELLED: E.CANCEL,  # the customer does not wait for the columns
        S.FAILED: E.BREAK,  # nothing can be read from the file
    },
    S.MAPPING: {
        S.READING: E.CHOOSE,  # another sheet or encoding was chosen: the file is read again
        S.CHECKING: E.CHOOSE,  # every question is answered
        S.CANCELLED: E.CANCEL,  # the customer leaves it, or nobody came back for `keep_days`
        S.FAILED: E.BREAK,  # the importer was removed from the site
    },
    S.CHECKING: {
        S.READY: E.CHECK,  # the last row was checked
        S.MAPPING: E.CHOOSE,  # the customer changes the columns meanwhile
        S.CANCELLED: E.CANCEL,  # nothing was written, so nothing has to drain
        S.FAILED: E.BREAK,  # the stored rows or the importer are gone
    },
    S.READY: {
        S.QUEUED: E.START,  # the customer has seen the check and the cost
        S.MAPPING: E.CHOOSE,  # the check showed that a column is wrong
        S.CANCELLED: E.CANCEL,  # the check showed that it is the wrong file
        S.FAILED: E.BREAK,  # the importer was removed from the site
    },
    S.QUEUED: {
        S.RUNNING: E.CLAIM,  # a worker took the first chunk
        S.PAUSED: E.PAUSE,  # nothing has begun, so nothing has to drain
        S.CANCELLED: E.CANCEL,  # nothing has begun, so nothing has to drain
        S.FINISHED: E.COMPLETE,  # the corrected file that came back held no row of this run
        S.FAILED: E.BREAK,  # the importer was removed from the site
    },
    S.RUNNING: {
        S.PAUSING: E.PAUSE,  # asked; slices still commit the rows in hand
        S.CANCELLING: E.CANCEL,  # asked; slices still commit the rows in hand
        S.FINISHED: E.COMPLETE,  # the last row has its outcome
        S.FAILED: E.BREAK,  # the importer was removed from the site
    },
    S.PAUSING: {
        S.PAUSED: E.DRAIN,  # the last slice let go
        S.RUNNING: E.RESUME,  # the customer changed their mind before it drained
        S.CANCELLING: E.CANCEL,  # the customer wants to end it after all
        S.FINISHED: E.COMPLETE,  # the rows in hand were the last ones
        S.FAILED: E.BREAK,  # the importer was removed from the site
    },
    S.PAUSED: {
        S.QUEUED: E.RESUME,  # the customer goes on
        S.CANCELLED: E.CANCEL,  # the customer ends it here
    },
    S.CANCELLING: {
        S.CANCELLED: E.DRAIN,  # the last slice let go
        S.FINISHED: E.COMPLETE,  # the rows in hand were the last ones
        S.FAILED: E.BREAK,  # the importer was removed from the site
    },
    S.CANCELLED: {},
    S.FINISHED: {
        S.QUEUED: E.RETRY,  # the customer sends the rejected rows again
    },
    S.FAILED: {
        S.QUEUED: E.RETRY,  # what broke was mended; rows that have an outcome keep it
    },
}

ENDED = frozenset(s for s, edges in TRANSITIONS.items() if set(edges.values()) <= {E.RETRY})
"""Only the customer's retry leads out of these."""

ACTIVE = frozenset(State) - ENDED
"""A worker or the customer has something to do."""

STOPPING = frozenset(s for s, edges in TRANSITIONS.items() if E.DRAIN in edges.values())
"""Asked to stop; what is in hand is still committed."""

WORKING = frozenset({S.RECEIVED, S.READING, S.CHECKING, S.QUEUED, S.RUNNING})
"""A ticket must stand in the tenant's lane or be under a lease."""


def may_move(source: State, target: State) -> bool:
    """Whether the table has this edge."""
    return target in TRANSITIONS[source]


def sources_of(target: State) -> frozenset[State]:
    """The states from which `target` can be reached in one move."""
    return frozenset(s for s, edges in TRANSITIONS.items() if target in edges)


def events_of(state: State) -> frozenset[Event]:
    """What can happen to a run in this state."""
    return frozenset(TRANSITIONS[state].values())
