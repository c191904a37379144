"""Errors that are named for the event they report; one root for all of them."""

from __future__ import annotations

from typing import Any

__all__ = ["FairImportError", "FileRefused", "IllegalMove", "LeaseLost"]


class FairImportError(Exception):
    """The root of every error that this package raises on purpose."""


class LeaseLost(FairImportError):
    """The caller's lease or chunk was given to somebody else; nothing more may be written."""


class IllegalMove(FairImportError):
    """A run cannot make this move from the state that it is in."""

    def __init__(self, state: str, verb: str) -> None:
        super().__init__(f"an import that is {state} cannot {verb}")
        self.state = state
        self.verb = verb


class FileRefused(FairImportError):
    """A file cannot be read: `code` is a stable file error code, `facts` fill its message."""

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts
