"""What a worker holds while it works, and what a job function may say about its own end."""

from __future__ import annotations

import mmap
import struct
import time
from dataclasses import dataclass, field

__all__ = ["Claim", "Yield", "current_claim"]

_SIZE = 16  # a double: the local deadline; then one byte a flag
_STOP, _LOST, _RETURNED, _SETTLED = 8, 9, 10, 11


@dataclass(frozen=True, slots=True)
class Yield:
    """Return it from a job function: not finished, put this same job at the back of its lane.

    `front=True` puts it at the lane's front instead, as work given back undone.
    """

    front: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A job under a lease. Its flags are memory shared by a worker and its horse."""

    lease_id: str
    tenant: str
    job_id: str
    started_monotonic: float
    _shared: mmap.mmap = field(
        default_factory=lambda: mmap.mmap(-1, _SIZE), repr=False, compare=False
    )

    def should_stop(self) -> bool:
        """Whether to end at the next good moment: asked to, or the lease is lost. Costs no call."""
        return bool(self._shared[_STOP]) or self.lost()

    def lost(self) -> bool:
        """Whether the lease must be taken for gone, by the local clock: write nothing more."""
        return bool(self._shared[_LOST]) or time.monotonic() > self.deadline

    @property
    def deadline(self) -> float:
        """The local monotonic time until which the lease is surely ours."""
        return float(struct.unpack_from("d", self._shared, 0)[0])

    def extend(self, deadline: float) -> None:
        """Note that the lease is ours until then (local monotonic seconds)."""
        struct.pack_into("d", self._shared, 0, deadline)

    def stop(self) -> None:
        """Ask the job to end at the next good moment."""
        self._shared[_STOP] = 1

    def lose(self) -> None:
        """Note that the lease is gone."""
        self._shared[_LOST] = 1

    def returned(self) -> None:
        """Note that the job's own code has ended: what dies later is not its doing."""
        self._shared[_RETURNED] = 1

    @property
    def has_returned(self) -> bool:
        """Whether the job's own code has ended."""
        return bool(self._shared[_RETURNED])

    def settled(self) -> None:
        """Note that RQ has the end of the job, and the lease is settled with it."""
        self._shared[_SETTLED] = 1

    @property
    def is_settled(self) -> bool:
        """Whether the lease was settled together with RQ's record."""
        return bool(self._shared[_SETTLED])


_current: Claim | None = None


def current_claim() -> Claim | None:
    """The claim that the running job works under; None outside of a fair worker."""
    return _current


def hold(claim: Claim | None) -> None:
    """Make a claim the current one of this process, or none."""
    global _current
    _current = claim
