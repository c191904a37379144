"""How a cell is refused."""

from __future__ import annotations

from typing import Any

from fairimport.errors import FairImportError

__all__ = ["CellRejected"]


class CellRejected(FairImportError):
    """A cell cannot become a value of its column's kind.

    `code` is a stable row error code, `raw` what the cell shows, `facts` fill the message.
    """

    def __init__(self, code: str, raw: str, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.raw = raw
        self.facts = facts
