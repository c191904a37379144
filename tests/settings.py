"""The demo site's settings with servers that the test suite starts itself.

Everything is known before anything runs: Redis and PostgreSQL stand on sockets in `TEST_DIR`, and
the database has the same name for the tests and for the processes that they start, which use this
module too. So a `fairworker` in a child process sees the rows of a `transactional_db` test.

`FAIRIMPORT_TEST_DB` chooses the database: `sqlite` (a file, WAL, immediate) or `postgres`.
`FAIRIMPORT_OVERRIDES` (JSON) changes keys of `FAIRIMPORT` in a child process.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from pathlib import Path


def _new_dir() -> str:
    """A folder that is gone when this process ends; its forks leave it alone."""
    made, owner = tempfile.mkdtemp(prefix="fairimport-"), os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(made, ignore_errors=True))
    return made


TEST_DIR = Path(os.environ.get("FAIRIMPORT_TEST_DIR") or _new_dir())
os.environ["FAIRIMPORT_TEST_DIR"] = str(TEST_DIR)  # for the processes that the tests start
os.environ["DEMO_DIR"] = str(TEST_DIR / "demo")
os.environ.pop("REDIS_URL", None)
os.environ.pop("DATABASE_URL", None)

from demo_site.servers import socket_in, url_of  # noqa: E402
from demo_site.settings import *  # noqa: E402, F403
from demo_site.settings import FAIRIMPORT, INSTALLED_APPS, SQLITE_OPTIONS  # noqa: E402

TEST_DB = os.environ.get("FAIRIMPORT_TEST_DB", "sqlite")
REDIS_DIR = TEST_DIR / "redis"
POSTGRES_DIR = TEST_DIR / "postgres"
REDIS_URL = url_of(socket_in(REDIS_DIR))
RQ_QUEUES = {"imports": {"URL": REDIS_URL}}

if TEST_DB == "postgres":
    _database = {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": str(POSTGRES_DIR),
        "USER": "postgres",
        "NAME": "fairimport",
        "TEST": {"NAME": "fairimport"},
    }
else:
    _database = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(TEST_DIR / "tests.sqlite3"),
        "TEST": {"NAME": str(TEST_DIR / "tests.sqlite3")},
        "OPTIONS": SQLITE_OPTIONS,
    }
DATABASES = {"default": _database}

INSTALLED_APPS = [*INSTALLED_APPS, "tests.warehouse"]
DEBUG = False
MEDIA_ROOT = TEST_DIR / "media"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
FAIRIMPORT = {
    **FAIRIMPORT,
    "LEASE": 2.0,
    **json.loads(os.environ.get("FAIRIMPORT_OVERRIDES", "{}")),
}
