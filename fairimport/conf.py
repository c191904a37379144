"""The one reader of the `FAIRIMPORT` setting.

`settings` is read anew after `override_settings`, so no module keeps a value of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from django.conf import settings as django_settings
from django.core.signals import setting_changed

__all__ = ["Settings", "given", "read", "settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a host may set, under the same names in upper case, in `FAIRIMPORT`."""

    tenant: str = ""
    """Dotted path of `callable(request) -> str | None`: whose request is this."""
    queue: str = "imports"
    """Name of the RQ queue that the lanes stand on."""
    cap: int = 4
    """Live leases that a new tenant may hold at once."""
    weight: float = 1.0
    """Share of a new tenant relative to others."""
    fairness: str = "seconds"
    """What is shared equally: worker-`seconds`, or `turns`."""
    slice: float = 1.0
    """Seconds of rows that one claim works through; 0 makes every claim one row."""
    lease: float = 15.0
    """Seconds until the lease of a silent worker lapses; renewed every third of it."""
    max_lapses: int = 3
    """Deaths of a worker on one job, or on one row, before it is given up."""
    row_timeout: float = 60.0
    """Seconds that one row may take before it is rejected."""
    chunk_rows: int = 500
    """Most rows of a chunk."""
    job_functions: tuple[str, ...] = ()
    """Dotted prefixes of functions that lanes may call besides those of installed apps."""
    webhook_hosts: tuple[str, ...] = ()
    """Hosts that webhooks of jobs on lanes may call."""
    storage: str = "default"
    """Alias in `STORAGES` where uploaded files are kept."""
    keep_days: int = 30
    """Days that files and rejected rows of an ended import are kept."""
    max_upload_mib: int = 100
    """Largest accepted upload, in MiB."""
    uploads_per_minute: int = 30
    """Most uploads of one person within a minute; 0 sets no limit."""
    max_unpacked_mib: int = 512
    """Largest size of a workbook once unpacked, in MiB."""
    max_unpack_ratio: int = 100
    """Largest unpacked over packed size of a workbook that unpacks to more than 10 MiB."""
    max_rows: int = 200_000
    """Most rows of a file."""
    max_columns: int = 512
    """Most columns of a file."""
    max_field_chars: int = 1_000_000
    """Most characters of a cell."""
    timezone: str = ""
    """IANA name of the zone that times without one are in; empty is Django's `TIME_ZONE`."""
    reader_memory_mib: int = 1024
    """Address space of the process that reads a file, in MiB."""
    reader_cpu_s: int = 120
    """CPU seconds that reading one file may take."""
    reader_wall_s: int = 300
    """Wall clock seconds that reading one file may take."""


class _Reader:
    """Stands for the current `Settings`; builds them on first use."""

    _current: Settings | None = None

    def __getattr__(self, name: str) -> Any:
        if self._current is None:
            self._current = read(given())
        return getattr(self._current, name)

    def forget(self, *, setting: str, **_: Any) -> None:
        """Read again at the next use, because a test or a host changed the setting."""
        if setting == "FAIRIMPORT":
            self._current = None


def given() -> Mapping[str, Any]:
    """What the host wrote; an empty dict when that is nothing, or not a dict (a check says so)."""
    written = getattr(django_settings, "FAIRIMPORT", {})
    return written if isinstance(written, Mapping) else {}


def read(written: Mapping[str, Any]) -> Settings:
    """Build `Settings` from keys in upper case; unknown keys are left to the system checks."""
    names = {field.name.upper(): field.name for field in fields(Settings)}
    return Settings(**{names[key]: value for key, value in written.items() if key in names})


_reader = _Reader()
setting_changed.connect(_reader.forget)
settings = cast(Settings, _reader)
