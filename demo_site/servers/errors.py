"""Why a private server is not there, in words for whoever typed the command."""

from __future__ import annotations

__all__ = ["AlreadyRunning", "NoServer"]


class NoServer(RuntimeError):
    """No server program was found, or it did not come up; the message says what to do."""


class AlreadyRunning(RuntimeError):
    """Another process runs a server in this folder."""
