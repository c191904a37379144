"""Connections of workers do not wait for ever."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from django.db import DatabaseError, connection
from django.db.backends.signals import connection_created
from pytest_django.fixtures import Settings as DjangoSettings

from fairimport.connections import limit_waits

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def limited(settings: DjangoSettings) -> Iterator[None]:
    """This process opens its connections as a worker does."""
    settings.FAIRIMPORT = {"LEASE": 0.5, "ROW_TIMEOUT": 60}
    limit_waits()
    connection.close()
    yield
    connection_created.disconnect(dispatch_uid="fairimport.connections")
    connection.close()


def _shown(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])


@pytest.mark.usefixtures("limited")
def test_a_worker_on_any_database_can_query() -> None:
    """On SQLite there is nothing to set, and nothing breaks."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        assert cursor.fetchone() == (1,)


class TestOnPostgres:
    """What only PostgreSQL can do."""

    pytestmark = pytest.mark.postgres

    @pytest.mark.usefixtures("limited")
    def test_waits_are_limited_by_the_lease(self) -> None:
        """Locks and idle transactions end with the lease, statements after a row's time."""
        assert _shown("lock_timeout") == "500ms"
        assert _shown("idle_in_transaction_session_timeout") == "500ms"
        assert _shown("statement_timeout") == "60500ms"

    @pytest.mark.usefixtures("limited")
    def test_a_frozen_transaction_loses_its_connection(self) -> None:
        """Whoever sleeps in a transaction for longer than the lease commits nothing."""
        connection.set_autocommit(False)
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        time.sleep(0.9)
        with pytest.raises(DatabaseError):
            connection.commit()

    def test_other_processes_keep_their_own_limits(self) -> None:
        """A web process is not touched."""
        assert _shown("lock_timeout") == "0"
