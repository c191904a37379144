"""A private PostgreSQL on a unix socket, for tests and benchmarks: it never syncs to disk."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from urllib.parse import quote

from demo_site.servers.errors import NoServer
from demo_site.servers.guarded import Guarded

__all__ = ["PostgresServer"]

SUPERUSER = "postgres"
SYSTEM_USER = "nobody"  # PostgreSQL refuses to run as root


class PostgresServer(Guarded):
    """A server of its own in `folder`, which is made, and which nobody else may use."""

    name = "PostgreSQL"
    stop_signal = signal.SIGINT  # "fast": roll back what is open and end

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        super().__init__(folder, user=SYSTEM_USER if os.geteuid() == 0 else None)
        if self.user:
            shutil.chown(folder, SYSTEM_USER)
        self.host = str(folder)
        self.user_name = SUPERUSER
        self._cluster = folder / "cluster"

    @staticmethod
    def available() -> bool:
        """Is there a PostgreSQL server program on this machine?"""
        return _programs() is not None

    def url(self, database: str) -> str:
        """The address of a database, in the form that DATABASE_URL takes."""
        return f"postgres://{SUPERUSER}@{quote(self.host, safe='')}/{database}"

    def start(self) -> PostgresServer:
        """Start the server, making its cluster first if there is none; raise NoServer."""
        programs = _programs()
        if programs is None:
            raise NoServer("No PostgreSQL server was found. Install one (Debian: postgresql).")
        if not self._cluster.exists():
            self._initdb(programs)
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": self.host,
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "max_connections": "100",
            "shared_buffers": "32MB",
        }
        pairs = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        command = [str(programs / "postgres"), "-D", str(self._cluster), *pairs]
        self.launch(command, answers=self.answers)
        return self

    def stop(self) -> None:
        """End the server: open transactions are rolled back, committed ones are kept."""
        self.halt()

    @property
    def pid(self) -> int:
        """The process id of the postmaster."""
        return int((self._cluster / "postmaster.pid").read_text().splitlines()[0])

    def answers(self) -> bool:
        """True when the server takes connections."""
        import psycopg

        try:
            with psycopg.connect(host=self.host, user=SUPERUSER, dbname="postgres"):
                return True
        except psycopg.OperationalError:
            return False

    def _initdb(self, programs: Path) -> None:
        command = [str(programs / "initdb"), "-D", str(self._cluster), "-U", SUPERUSER]
        options = ["--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]
        subprocess.run(  # noqa: S603  (a path found by us)
            [*command, *options],
            user=self.user,
            group=_group_of(self.user) if self.user else None,
            extra_groups=[] if self.user else None,
            cwd=self.folder,
            check=True,
            capture_output=True,
        )


def _programs() -> Path | None:
    newest_first = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -float(path.parent.name)
    )
    on_path = shutil.which("postgres")
    folders = [*newest_first, *([Path(on_path).parent] if on_path else [])]
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def _group_of(user: str) -> int:
    import pwd

    return pwd.getpwnam(user).pw_gid
