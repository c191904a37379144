"""Jobs that tell a test what a worker sees."""

from __future__ import annotations

from django.db import connection


def shown_lock_timeout() -> str:
    """The limit under which this worker's connection waits for locks (PostgreSQL)."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        return str(cursor.fetchone()[0])
