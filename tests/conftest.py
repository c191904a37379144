"""Fixtures of every tier: real servers that the suite starts and ends itself.

* `redis_server`: a clean Redis of our own for this test (`.url`, `.socket`, `.client()`, `.pid`,
  `.stop()`, `.start(empty=True)`); `RQ_QUEUES["imports"]` points at it.
* `db`, `transactional_db` (pytest-django): SQLite, or PostgreSQL in the suite's second pass. Mark a
  test `both_databases` to run it in both passes, `postgres` to run it in the second one only.
* `fairworkers(count, ...)`: real `manage.py fairworker` processes on the same Redis and database;
  use it together with `transactional_db`.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from redis import Redis

from demo_site.servers import PostgresServer, RedisServer
from tests.fairworkers import FairWorkers

FORBID_SKIPS = os.environ.get("FAIRIMPORT_FORBID_SKIPS") == "1"
TIER_SECONDS = {"unit": 2, "integration": 90, "acceptance": 600, "browser": 300}
ON_POSTGRES = os.environ.get("FAIRIMPORT_TEST_DB") == "postgres"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of this pass; without a PostgreSQL its tests are skipped by name."""
    wanted = {"both_databases", "postgres"} if ON_POSTGRES else None
    every = [(_belongs(item, wanted), item) for item in items]
    config.hook.pytest_deselected(items=[item for belongs, item in every if not belongs])
    items[:] = [item for belongs, item in every if belongs]
    if ON_POSTGRES and not PostgresServer.available():
        for item in items:
            item.add_marker(pytest.mark.skip(reason="no PostgreSQL server on this machine"))


def _belongs(item: pytest.Item, wanted: set[str] | None) -> bool:
    names = {marker.name for marker in item.iter_markers()}
    return bool(names & wanted) if wanted else "postgres" not in names


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Where skips are forbidden, a skipped test is a failed one."""
    report = yield
    if FORBID_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which is forbidden here: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what each tier took of its budget, so that a slow test is noticed while it is new."""
    took: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                took[report.nodeid.split("/")[1]] += report.duration
    spent = [f"{tier} {took[tier]:.0f} s of {most}" for tier, most in TIER_SECONDS.items()]
    terminalreporter.write_line(f"time: {', '.join(spent)}")


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """A worker that ran within a test leaves Ctrl-C to the suite again."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def _own_redis() -> Iterator[RedisServer]:
    server = RedisServer(django_settings.REDIS_DIR)
    yield server
    server.stop()


@pytest.fixture
def redis_server(_own_redis: RedisServer) -> RedisServer:
    """A running, empty Redis that the suite owns; a test may stop, kill and restart it."""
    if not _own_redis.answers():
        _own_redis.stop()
        _own_redis.start(empty=True)
    with _own_redis.client() as client:
        client.config_set("maxmemory", 0)
        client.config_set("maxmemory-policy", "noeviction")
        client.flushall()
        client.script_flush()
    return _own_redis


@pytest.fixture
def redis(redis_server: RedisServer) -> Iterator[Redis]:
    """A client of the clean server."""
    with redis_server.client() as client:
        yield client


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of the clean server."""
    return redis_server.url


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The suite's PostgreSQL; a test may stop and start it (its data stays)."""
    Path(django_settings.TEST_DIR).chmod(0o711)  # it may run as another user
    server = PostgresServer(django_settings.POSTGRES_DIR)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, request: pytest.FixtureRequest
) -> None:
    """Start the database server before pytest-django makes the test database."""
    if ON_POSTGRES:
        request.getfixturevalue("postgres_server")


@pytest.fixture
def fairworkers(redis_server: RedisServer, tmp_path: Path) -> Iterator[FairWorkers]:
    """Start real workers: `fairworkers(2, LEASE=1.5)`; all of them end with the test."""
    starter = FairWorkers(redis_server, tmp_path)
    yield starter
    starter.kill_all()
