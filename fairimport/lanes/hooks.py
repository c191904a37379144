"""Where the layer above hangs its work: the lanes know no models.

A hook must not raise; what it raises is logged and changes nothing for the worker.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from fairimport.lanes.job import LaneJob
    from fairimport.lanes.lanes import Lanes

__all__ = ["on_horse_death", "on_lapse", "on_maintenance"]

logger = logging.getLogger("fairimport.lanes")

Maintenance = Callable[["Lanes"], object]
HorseDeath = Callable[["LaneJob", str, bool], object]
OnLapse = Callable[[str, str], object]
Hook = TypeVar("Hook", bound=Callable[..., object])

_maintenance: list[Maintenance] = []
_horse_death: list[HorseDeath] = []
_lapse: list[OnLapse] = []


def on_maintenance(hook: Maintenance) -> Maintenance:
    """Call `hook(lanes)` about once a second, in one worker at a time; closed lanes, too."""
    return _add(_maintenance, hook)


def on_horse_death(hook: HorseDeath) -> HorseDeath:
    """Call `hook(job, lease_id, parent_saw)` after the job's code took its process down."""
    return _add(_horse_death, hook)


def on_lapse(hook: OnLapse) -> OnLapse:
    """Call `hook(job_id, tenant)` after a lease lapsed: its worker is dead, frozen or cut off."""
    return _add(_lapse, hook)


def has_maintenance() -> bool:
    """Whether anybody above knows the truth about limits."""
    return bool(_maintenance)


def maintain(lanes: Lanes) -> None:
    """Tell the layer above that it may look after its runs."""
    for hook in _maintenance:
        _call(hook, lanes)


def horse_died(job: LaneJob, lease_id: str, *, parent_saw: bool) -> None:
    """Tell of a process that died in the job's own code."""
    for hook in _horse_death:
        _call(hook, job, lease_id, parent_saw)


def lapsed(job_id: str, tenant: str) -> None:
    """Tell of a lease that nobody renewed."""
    for hook in _lapse:
        _call(hook, job_id, tenant)


def _add(hooks: list[Hook], hook: Hook) -> Hook:
    if hook not in hooks:
        hooks.append(hook)
    return hook


def _call(hook: Callable[..., object], *args: Any) -> None:
    try:
        hook(*args)
    except Exception:
        logger.exception("hook.failed hook=%s", getattr(hook, "__qualname__", hook))
