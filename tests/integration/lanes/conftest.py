"""Fixtures of the lanes' tests."""

from __future__ import annotations

import pytest
from redis import Redis

from demo_site.servers import RedisServer
from fairimport.lanes import get_lanes
from fairimport.lanes.lanes import Lanes
from tests.lanelab import Lab


@pytest.fixture(autouse=True)
def _allow_test_jobs(settings: pytest.FixtureRequest) -> None:
    settings.FAIRIMPORT = {
        **settings.FAIRIMPORT,
        "JOB_FUNCTIONS": ("tests.lanejobs",),
        "CAP": 2,
        "LEASE": 2.0,
        "SLICE": 1.0,
    }


@pytest.fixture
def closed(redis: Redis) -> Lab:
    """Lanes whose limits nobody has loaded."""
    return Lab(redis)


@pytest.fixture
def lab(closed: Lab) -> Lab:
    """Open lanes with Redis' time in our hands. Cap 2, lease 2 s, first guess 1 s."""
    closed.lanes.load_limits({}, wait=0)
    return closed


@pytest.fixture
def lanes(redis_server: RedisServer) -> Lanes:
    """Open lanes on Redis' real time, as the queue's own code makes them."""
    lanes = get_lanes()
    lanes.load_limits({}, wait=0)
    return lanes
