"""What can become of a row, and how an importer says so."""

from __future__ import annotations

from enum import StrEnum

from fairimport.errors import FairImportError

__all__ = ["Outcome", "Reject", "Skip"]


class Outcome(StrEnum):
    """What became of a row; every accepted row ends in exactly one."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    REJECTED = "rejected"


class Reject(FairImportError):
    """Raised by an importer: this row is refused, for a reason that the customer can act on.

    `field` names the column that is to blame; `code` is stable and for programs.
    """

    def __init__(self, message: str, *, field: str | None = None, code: str = "rejected") -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.code = code


class Skip(FairImportError):
    """Raised by an importer: nothing is to be done for this row, and that is no mistake."""
