"""When the layer above looks after its runs: often, and by one worker at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairimport.conf import settings
from fairimport.lanes import hooks

if TYPE_CHECKING:
    from fairimport.lanes.lanes import Lanes

__all__ = ["look_after"]

PAUSE_MS = 1000  # between two rounds, of whichever worker


def look_after(lanes: Lanes) -> bool:
    """Run the maintenance hooks, unless a worker does or just did; return whether they ran.

    Without any hook nobody knows a truth about limits, so the defaults are it.
    """
    lock = lanes.keys.prefix + "maintenance"
    longest = round(max(settings.lease, 10) * 1000)
    if not lanes.connection.set(lock, 1, nx=True, px=longest):
        return False
    try:
        if hooks.has_maintenance():
            hooks.maintain(lanes)
        elif not lanes.is_loaded():
            lanes.load_limits({})
        lanes.reap()
    finally:
        lanes.connection.set(lock, 1, px=PAUSE_MS)
    return True
