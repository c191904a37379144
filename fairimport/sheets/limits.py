"""The limits that reading keeps to; plain numbers, so that the child needs no Django."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["MIB", "Limits"]

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """See the settings of the same names in `fairimport.conf`."""

    max_upload_mib: int = 100
    max_unpacked_mib: int = 512
    max_unpack_ratio: int = 100
    max_rows: int = 200_000
    max_columns: int = 512
    max_field_chars: int = 1_000_000
    reader_memory_mib: int = 1024
    reader_cpu_s: int = 120
    reader_wall_s: int = 300

    def to_json(self) -> dict[str, Any]:
        """Return the limits as plain JSON for the child."""
        return asdict(self)
