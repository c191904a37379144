"""Database connections of workers give up by themselves.

A worker that freezes in mid-transaction holds locks that its successor waits for. PostgreSQL ends
such a transaction after a lease, so the successor goes on; the frozen worker finds its connection
gone and writes nothing more.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from fairimport.conf import settings

__all__ = ["limit_waits"]


def limit_waits() -> None:
    """Limit what connections opened from now on by this process, and by its children, wait for."""
    connection_created.connect(_limit, dispatch_uid="fairimport.connections")


def _limit(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
    if connection.vendor != "postgresql":
        return
    seconds = {
        "lock_timeout": settings.lease,
        "statement_timeout": settings.row_timeout + settings.lease,
        "idle_in_transaction_session_timeout": settings.lease,
    }
    with connection.cursor() as cursor:
        for name, value in seconds.items():
            cursor.execute("SELECT set_config(%s, %s, false)", [name, f"{round(value * 1000)}ms"])
