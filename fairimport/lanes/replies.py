"""The scripts' tagged replies as values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from fairimport.lanes.values import MICRO, Lapse

__all__ = ["Claimed", "Closed", "Idle", "claimed", "lapses", "text", "word"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A job under a lease, with its hash as RQ stores it."""

    lease_id: str
    tenant: str
    job_id: str
    elapsed: float
    fields: dict[bytes, bytes]
    lapses: tuple[Lapse, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Nobody is eligible. `wait` is the time to the next deadline, in seconds."""

    wait: float | None
    live: int
    lapses: tuple[Lapse, ...] = ()


@dataclass(frozen=True, slots=True)
class Closed:
    """The limits are not loaded, so nothing is handed out."""

    lapses: tuple[Lapse, ...] = ()


def claimed(request: str, reply: Sequence[Any], before: list[Lapse]) -> Claimed | Idle | Closed:
    """What a claim answered; `before` are lapses of calls that did not come to an end."""
    match [word(reply), *reply[1:]]:
        case ["claimed", tenant, job, elapsed, lapsed, flat]:
            return Claimed(
                lease_id=request,
                tenant=text(tenant),
                job_id=text(job),
                elapsed=elapsed / MICRO,
                fields=dict(zip(flat[::2], flat[1::2], strict=True)),
                lapses=(*before, *lapses(lapsed)),
            )
        case ["idle", wait, live, lapsed]:
            seconds = max(wait, 0) / MICRO if wait != -1 else None
            return Idle(wait=seconds, live=live, lapses=(*before, *lapses(lapsed)))
        case ["closed"]:
            return Closed(tuple(before))
    raise RedisError(f"claim answered {reply!r}")


def lapses(rows: Iterable[Sequence[bytes]]) -> list[Lapse]:
    """The rows of a reap."""
    return [
        Lapse(job_id=text(job), tenant=text(tenant), given_up=verdict == b"given_up")
        for job, tenant, verdict in rows
    ]


def word(reply: Sequence[Any]) -> str:
    """The tag of a reply."""
    return text(reply[0])


def text(value: bytes | str) -> str:
    """A name out of a reply."""
    return value.decode() if isinstance(value, bytes) else value
