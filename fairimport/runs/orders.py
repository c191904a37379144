"""What the texts of a column settle: day or month first, point or comma."""

from __future__ import annotations

from fairimport.sheets.survey import DateEvidence, DecimalEvidence

__all__ = ["MIXED", "mark_of", "order_of"]

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


def mark_of(decimals: DecimalEvidence) -> str:
    """The comma when some texts of the column can have no other decimal mark, and none can have
    a point; else "", which leaves the point."""
    return "," if decimals.comma and not decimals.point else ""
