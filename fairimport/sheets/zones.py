"""In which zone a time without one is meant, and whether the clock there ever showed it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from django.conf import settings as django_settings

from fairimport.conf import settings
from fairimport.sheets.rejected import CellRejected

__all__ = ["Zone"]


@dataclass(frozen=True, slots=True)
class Zone:
    """The zone that the customer chose by its IANA name; "" is the one of the settings."""

    name: str = ""

    def localise(self, moment: datetime, shown: str) -> datetime:
        """The moment as Django wants it, aware with `USE_TZ`.

        In the chosen zone, or with an offset of its own, it is given in UTC; in the zone of the
        settings it keeps its wall time. Raises `CellRejected` with `shown` for a time that the
        clock skipped or showed twice.
        """
        zone = ZoneInfo(self.name or settings.timezone or django_settings.TIME_ZONE)
        if moment.tzinfo is not None:
            return self._as_set(moment.astimezone(UTC), zone)
        local = moment.replace(tzinfo=zone)
        if local.utcoffset() != local.replace(fold=1).utcoffset():
            back = local.astimezone(UTC).astimezone(zone).replace(tzinfo=None)
            code = "ambiguous_local_time" if back == moment else "nonexistent_local_time"
            raise CellRejected(code, shown, zone=zone.key)
        return self._as_set(local.astimezone(UTC) if self.name else local, zone)

    def _as_set(self, moment: datetime, zone: ZoneInfo) -> datetime:
        if django_settings.USE_TZ:
            return moment
        return moment.astimezone(zone).replace(tzinfo=None)
