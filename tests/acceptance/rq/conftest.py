"""The fixtures of `tests/integration/rq`, for tests that need workers in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demo_site.servers import RedisServer
from fairimport.lanes import FairWorker, LaneQueue
from tests.background import Child
from tests.integration.rq.conftest import (  # noqa: F401
    acme,
    background,
    kind,
    lanes,
    listener,
    most_at_once,
    notes,
    open_gate,
    short_lease,
    work,
)
from tests.proxy import LossyProxy


@pytest.fixture
def proxy(
    acme: LaneQueue,  # noqa: F811 - the test's own clients go past it
    tmp_path: Path,
    redis_server: RedisServer,
    settings: Any,
) -> Iterator[LossyProxy]:
    """What everybody but the test's own clients is connected through. A lease is long here."""
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, "LEASE": 20.0}
    proxy = LossyProxy(tmp_path / "proxy.sock", redis_server.socket)
    settings.RQ_QUEUES = {"imports": {"URL": proxy.url}}
    yield proxy
    proxy.close()


@pytest.fixture
def worker(proxy: LossyProxy, background: Any, kind: type[FairWorker]) -> Child:  # noqa: F811
    """A worker behind the proxy; a simple one settles in its own process, others in a horse."""
    return background(kind=kind)
