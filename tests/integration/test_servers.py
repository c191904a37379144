"""The private servers that demo, story and tests stand on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from demo_site.servers import AlreadyRunning, PostgresServer, RedisServer, socket_in
from tests.background import runs, until

CHILD = """
import sys, time
from pathlib import Path
from demo_site.servers import RedisServer
server = RedisServer(Path(sys.argv[1])).start()
print(server.pid, flush=True)
time.sleep(60)
"""


def test_a_server_starts_empty_and_never_evicts(redis_server: RedisServer) -> None:
    """Each test gets a clean server with noeviction."""
    with redis_server.client() as client:
        assert client.dbsize() == 0
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


def test_a_server_can_be_stopped_and_started_again(redis_server: RedisServer) -> None:
    """A restart without a log on disk loses everything, which tests of faults rely on."""
    with redis_server.client() as client:
        client.set("here", 1)
    redis_server.stop()
    assert not redis_server.answers()
    redis_server.start(empty=True)
    with redis_server.client() as client:
        assert client.exists("here") == 0


def test_a_durable_server_keeps_its_data(tmp_path: Path) -> None:
    """The demo's server has its keys again after a restart."""
    server = RedisServer(tmp_path / "redis", durable=True).start()
    try:
        with server.client() as client:
            client.set("here", 1)
        server.stop()
        server.start()
        with server.client() as client:
            assert client.get("here") == b"1"
        server.stop()
        server.start(empty=True)
        with server.client() as client:
            assert client.get("here") is None
    finally:
        server.stop()


def test_a_folder_has_one_server(redis_server: RedisServer) -> None:
    """A second start in the same folder says so instead of starting another."""
    with pytest.raises(AlreadyRunning):
        RedisServer(redis_server.folder).start()


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_ends_with_the_process_that_started_it(tmp_path: Path, signum: int) -> None:
    """Whatever kills the owner, its server is gone within seconds."""
    owner = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "redis")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    with owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        os.kill(owner.pid, signum)
        owner.wait(timeout=10)
    assert until(lambda: not runs(pid), 5)


def test_a_long_folder_gets_a_short_socket_path(tmp_path: Path) -> None:
    """Paths of unix sockets must be short: a deep folder's server has its socket elsewhere."""
    assert len(str(socket_in(tmp_path / ("x" * 120)))) < 100
    assert socket_in(Path("/run/here")) == Path("/run/here/redis.sock")


@pytest.mark.postgres
@pytest.mark.django_db
def test_the_postgres_of_the_suite_is_the_database_of_the_tests(
    postgres_server: PostgresServer,
) -> None:
    """In the second pass Django talks to the server that the suite started."""
    with connection.cursor() as cursor:
        cursor.execute("show unix_socket_directories")
        assert cursor.fetchone() == (postgres_server.host,)


@pytest.mark.both_databases
@pytest.mark.django_db(transaction=True)
def test_a_child_process_sees_committed_rows(django_user_model: type) -> None:
    """A process that a test starts works on the same database as the test."""
    django_user_model.objects.create(username="ada")
    code = "from django.contrib.auth.models import User; print(User.objects.get().username)"
    answer = subprocess.run(
        [sys.executable, "manage.py", "shell", "-v", "0", "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "ada"
