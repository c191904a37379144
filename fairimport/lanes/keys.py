"""The names of all keys: RQ's, and ours, which scripts alone touch but for `owed`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rq.defaults import RQ_KEY_PREFIX

__all__ = ["Keys"]

_NAME = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of one queue. Everything lives on one Redis; the scripts derive keys from a prefix."""

    queue: str

    def __post_init__(self) -> None:
        """Refuse a name that RQ or a key could read in two ways: raises ValueError."""
        if not _NAME.fullmatch(self.queue):
            raise ValueError(f"not a queue name: {self.queue!r} (letters, digits, _ . and -)")

    @property
    def prefix(self) -> str:
        """What all of our own keys begin with."""
        return f"fairimport:{self.queue}:"

    @property
    def inbox(self) -> str:
        """RQ's own list of the queue, where every push lands."""
        return f"{self.rq}queue:{self.queue}"

    @property
    def landing(self) -> str:
        """Where a waking worker moves an id out of the inbox."""
        return self.prefix + "landing"

    @property
    def workers(self) -> str:
        """When each worker last claimed or renewed."""
        return self.prefix + "workers"

    @property
    def owed(self) -> str:
        """Jobs that ended badly, as long as it is not known that what follows that was done."""
        return self.prefix + "owed"

    def lane(self, tenant: str) -> str:
        """A tenant's waiting jobs."""
        return f"{self.prefix}lane:{tenant}"

    def lease(self, lease_id: str) -> str:
        """The hash of a lease: there as long as it is held, and never changed meanwhile."""
        return f"{self.prefix}lease:{lease_id}"

    @property
    def rq(self) -> str:
        """What all of RQ's keys begin with."""
        return f"{RQ_KEY_PREFIX}:"

    def for_scripts(self) -> list[str]:
        """KEYS of every script, in the order in which the prelude names them."""
        return [
            self.prefix,
            self.inbox,
            f"{self.rq}wip:{self.queue}",
            f"{self.rq}failed:{self.queue}",
            self.rq,
        ]
