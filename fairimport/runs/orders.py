"""Whether the dates of a column have the day or the month first."""

from __future__ import annotations

from fairimport.sheets.survey import DateEvidence

__all__ = ["MIXED", "order_of"]

#: The column has dates with the day first and others with the month first.
MIXED = "mixed"


def order_of(dates: DateEvidence) -> str | None:
    """The order that the column's texts settle: DMY, MDY, YMD, "mixed", or "" when it does not
    matter; None when only the customer can tell."""
    if dates.dmy and dates.mdy:
        return MIXED
    if dates.dmy or dates.mdy:
        return "DMY" if dates.dmy else "MDY"
    if dates.either:
        return None
    return "YMD" if dates.ymd and not dates.same else ""
