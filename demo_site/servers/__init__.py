"""Private servers for the demo, the story, the tests and the benchmarks.

Needs neither Django nor the package. A server that is started here has its own folder, listens on
a unix socket only, and ends with the process that started it, whatever happens to that one.
"""

from __future__ import annotations

from demo_site.servers.errors import AlreadyRunning, NoServer
from demo_site.servers.postgres import PostgresServer
from demo_site.servers.redis import RedisServer, socket_in, url_of

__all__ = ["AlreadyRunning", "NoServer", "PostgresServer", "RedisServer", "socket_in", "url_of"]
