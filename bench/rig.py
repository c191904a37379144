"""What benchmarks stand on: Django's settings, a private Redis, a changed `FAIRIMPORT`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from redis import Redis

    from demo_site.servers import RedisServer

__all__ = ["fairimport", "private_redis", "server", "set_up"]


def set_up() -> None:
    """Make Django ready, with the demo site's settings unless the environment names others."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "demo_site.settings")
    django.setup()


@contextmanager
def server() -> Iterator[RedisServer]:
    """A Redis of our own, in a temporary folder and on a unix socket, gone at the end."""
    from demo_site.servers import RedisServer

    with tempfile.TemporaryDirectory(prefix="fairimport-bench-") as folder:
        redis = RedisServer(Path(folder) / "redis").start()
        try:
            yield redis
        finally:
            redis.stop()


@contextmanager
def private_redis() -> Iterator[Redis]:
    """A client of such a server."""
    with server() as redis, redis.client() as client:
        yield client


@contextmanager
def fairimport(**changed: Any) -> Iterator[None]:
    """Change keys of `FAIRIMPORT` for a while: `with fairimport(cap=20, lease=5.0):`."""
    from django.test.utils import override_settings

    from fairimport.conf import given

    keys = {name.upper(): value for name, value in changed.items()}
    with override_settings(FAIRIMPORT={**given(), **keys}):
        yield
