"""Real workers for the lanes' acceptance tests; a lease is 1.5 seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from demo_site.servers import RedisServer
from fairimport.lanes import Lanes, get_lanes
from tests.background import until
from tests.fairworkers import FairWorkers, WorkerProcess

LEASE = 1.5
SETTINGS = {"JOB_FUNCTIONS": ["tests.lanejobs"], "LEASE": LEASE, "CAP": 3}

Start = Callable[..., list[WorkerProcess]]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _settings(settings: pytest.FixtureRequest, transactional_db: None) -> None:
    settings.FAIRIMPORT = {**settings.FAIRIMPORT, **SETTINGS}


@pytest.fixture
def start(fairworkers: FairWorkers) -> Start:
    """Start workers with this suite's settings."""

    def begin(count: int = 1, *arguments: str, **more: Any) -> list[WorkerProcess]:
        return fairworkers(count, *arguments, **{**SETTINGS, **more})

    return begin


@pytest.fixture
def lanes(redis_server: RedisServer) -> Lanes:
    """Open lanes."""
    lanes = get_lanes()
    lanes.load_limits({}, wait=0)
    return lanes


def eventually(true: Callable[[], object], seconds: float = 10.0) -> float:
    """Wait until something is true; return how long it took."""
    began = time.monotonic()
    until(true, seconds)
    return time.monotonic() - began


@pytest.fixture(name="eventually")
def _eventually() -> Callable[..., float]:
    return eventually
