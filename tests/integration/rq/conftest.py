"""Fixtures: RQ's own API against lanes, worked by both kinds of fair workers."""

from __future__ import annotations

import http.server
import json
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from redis import Redis

from demo_site.servers import RedisServer
from fairimport.lanes import LaneQueue, get_lanes, hooks, lane
from fairimport.lanes.lanes import Lanes
from fairimport.lanes.worker import FairSimpleWorker, FairWorker
from tests.background import Background
from tests.integration.rq.jobs import GATE, MOST, NOTES

KINDS = [FairSimpleWorker, FairWorker]


@pytest.fixture(autouse=True)
def lanes(
    redis_server: RedisServer, settings: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Lanes:
    """Open lanes of an empty Redis, without any models above them. Cap 2."""
    settings.FAIRIMPORT = {
        **settings.FAIRIMPORT,
        "JOB_FUNCTIONS": ("tests.integration.rq",),
        "CAP": 2,
        "LEASE": 6.0,  # longer than any pause of a busy machine
    }
    connections.close_all()  # that of an earlier test is none of this one's business
    for name in ("_maintenance", "_horse_death", "_lapse"):
        monkeypatch.setattr(hooks, name, [])
    lanes = get_lanes()
    lanes.load_limits({}, wait=0)
    return lanes


@pytest.fixture
def short_lease(settings: pytest.FixtureRequest) -> float:
    """For tests that wait for a lapse or a renewal: the lease in seconds."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": 1.5}
    return 1.5


@pytest.fixture
def acme() -> LaneQueue:
    """The queue of one tenant."""
    return lane("acme")


@pytest.fixture(params=KINDS, ids=["simple", "forking"])
def kind(request: pytest.FixtureRequest) -> type[FairWorker]:
    """Both kinds of workers."""
    return request.param


@pytest.fixture
def work(kind: type[FairWorker]) -> Iterator[Callable[..., FairWorker]]:
    """Work until nothing is left: `work()`; return the worker."""
    before = {signum: signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)}

    def work(*names: str, max_jobs: int | None = None, **options: Any) -> FairWorker:
        queues = [LaneQueue.named(name) for name in names or ("imports",)]
        worker = kind(queues, connection=queues[0].connection, **options)
        worker.log_result_lifespan = False
        worker.work(burst=True, max_jobs=max_jobs, logging_level="ERROR")
        return worker

    yield work
    for signum, handler in before.items():
        signal.signal(signum, handler)


@pytest.fixture
def background(tmp_path: Path) -> Iterator[Background]:
    """Workers in processes of their own: `background(max_jobs=1)`; all end with the test."""
    starter = Background(tmp_path)
    yield starter
    starter.kill_all()


@pytest.fixture
def notes(redis: Redis) -> Callable[[], list[str]]:
    """What the jobs have noted, in order."""
    return lambda: [word.decode() for word in redis.lrange(NOTES, 0, -1)]


@pytest.fixture
def most_at_once(redis: Redis) -> Callable[[], int]:
    """How many jobs ran at once at the most."""
    return lambda: max((int(count) for count in redis.lrange(MOST, 0, -1)), default=0)


@pytest.fixture
def open_gate(redis: Redis) -> Callable[[], Any]:
    """Let the jobs through that wait at the gate."""
    return lambda: redis.set(GATE, 1)


class _Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append(json.loads(body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Be silent."""


@pytest.fixture
def listener() -> Iterator[Any]:
    """Somebody who hears webhooks."""
    server = http.server.HTTPServer(("127.0.0.1", 0), _Hook)
    server.heard = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
