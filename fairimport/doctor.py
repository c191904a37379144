"""Is everything right? One finding for each thing that must be, with what to do if it is not."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from redis import Redis
from redis.exceptions import RedisError
from rq import Worker

from fairimport.checks import check_settings
from fairimport.conf import settings
from fairimport.lanes import LaneQueue, Snapshot, get_lanes
from fairimport.models import ImportRun
from fairimport.runs import feeding
from fairimport.states import STOPPING

__all__ = ["Finding", "examine"]

OLDEST_REDIS = 7
FULL = 0.9
MOMENT_S = 1.0
MOST_RUNS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was looked at, how it is, and what to do about it (empty when it is right)."""

    about: str
    text: str
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Nothing is to be done."""
        return not self.advice


def examine() -> Iterator[Finding]:
    """Look at settings, database, storage, Redis, lanes, workers and runs, in this order.

    An examination that cannot be made is a finding, too; those behind it still take place.
    """
    for about, look in EXAMINATIONS.items():
        try:
            yield from look()
        except (DatabaseError, RedisError, OSError) as error:
            yield Finding(about=about, text=_first_line(error), advice=UNREACHABLE[type_of(error)])


def _settings() -> Iterator[Finding]:
    messages = check_settings()
    for message in messages:
        yield Finding(about="settings", text=str(message.msg), advice=str(message.hint))
    if not messages:
        yield Finding(about="settings", text="nothing to say")


def _database() -> Iterator[Finding]:
    executor = MigrationExecutor(connection)
    targets = [key for key in executor.loader.graph.leaf_nodes() if key[0] == "fairimport"]
    missing = [migration.name for migration, _ in executor.migration_plan(targets)]
    if missing:
        text = f"{len(missing)} migrations are not applied, from {missing[0]}"
        yield Finding(about="database", text=text, advice="Run manage.py migrate.")
    else:
        yield Finding(about="database", text=f"{connection.vendor}, migrated")


def _storage() -> Iterator[Finding]:
    storage = storages[settings.storage]
    wanted = f"fairimport/doctor-{uuid.uuid4().hex}"
    stored = storage.save(wanted, ContentFile(b"doctor"))
    try:
        with storage.open(stored) as content:
            same = content.read() == b"doctor"
    finally:
        storage.delete(stored)
    text = "can be written and read" if same else "gives back something else than was stored"
    advice = "" if same else "Look at what stands behind STORAGES."
    yield Finding(about="storage", text=text, advice=advice)


def _redis() -> Iterator[Finding]:
    client: Redis = get_lanes().connection
    server: dict[str, Any] = client.info("server")
    memory: dict[str, Any] = client.info("memory")
    name = "Valkey" if "valkey_version" in server else "Redis"
    version = str(server.get("valkey_version") or server["redis_version"])
    old = int(version.split(".")[0]) < OLDEST_REDIS
    advice = f"Use Redis or Valkey {OLDEST_REDIS}.0 or later, patched." if old else ""
    yield Finding(about="redis", text=f"{name} {version}", advice=advice)
    policy = str(memory.get("maxmemory_policy", "unknown"))
    advice = "" if policy == "noeviction" else "Set maxmemory-policy to noeviction."
    yield Finding(about="redis", text=f"eviction policy {policy}", advice=advice)
    most, used = int(memory.get("maxmemory", 0)), int(memory["used_memory"])
    if most and used > FULL * most:
        text = f"{used / most:.0%} of its memory is used"
        yield Finding(about="redis", text=text, advice="Raise maxmemory, or find what fills it.")


def _lanes() -> Iterator[Finding]:
    loaded = get_lanes().is_loaded()
    advice = "" if loaded else "A fairworker loads them as soon as it runs."
    yield Finding(about="lanes", text="limits loaded" if loaded else "no limits yet", advice=advice)


def _workers() -> Iterator[Finding]:
    seen = get_lanes().snapshot([])
    if seen.suspended:
        yield Finding(about="workers", text=_suspended(seen.suspended_left_s), advice=RESUME)
        return  # nobody claims, so nobody can be told from a stock worker
    advice = "" if seen.workers else f"Start some: manage.py fairworker {settings.queue}"
    yield Finding(about="workers", text=_alive(seen), advice=advice)
    for name in _stock_workers():
        text = f"{name} is a stock RQ worker on {settings.queue!r}, past all fairness"
        yield Finding(about="workers", text=text, advice="Stop it, and start fairworker instead.")


def _alive(seen: Snapshot) -> str:
    if seen.workers or seen.last_seen is None:
        return f"{seen.workers} alive"
    return f"0 alive (last seen {time.time() - seen.last_seen:.0f} s ago)"


def _suspended(left: float | None) -> str:
    until = "" if left is None else f" for another {left:.0f} s"
    registered = Worker.count(queue=LaneQueue.named(settings.queue))
    return f"suspended{until}, {registered} registered: nothing is handed out"


def _stock_workers() -> list[str]:
    """Names of workers that listen to the queue, and have never claimed from its lanes."""
    lanes = get_lanes()
    known: Any = lanes.connection.zrange(lanes.keys.workers, 0, -1)
    fair = {name.decode() for name in known}
    listening = Worker.all(queue=LaneQueue.named(settings.queue))
    return sorted(worker.name for worker in listening if worker.name not in fair)


def _runs() -> Iterator[Finding]:
    stuck = [f"{run} has no ticket in any lane" for run in sorted(_without_ticket())]
    since = timezone.now() - timedelta(seconds=settings.row_timeout + 2 * settings.lease)
    slow = ImportRun.objects.in_state(*STOPPING).filter(state_changed_at__lt=since)
    stuck += [f"{run.pk} is still {run.state}" for run in slow[:MOST_RUNS]]
    for text in stuck:
        yield Finding(about="runs", text=text, advice="Run manage.py fairimport_reconcile.")
    if not stuck:
        yield Finding(about="runs", text="none is stuck")


def _without_ticket() -> set[str]:
    """Runs that lack a ticket, and still lack it a moment later: some are just changing hands."""
    missing = {ticket.id: ticket.run for ticket in feeding.missing()}
    if missing:
        time.sleep(MOMENT_S)
        missing = {ticket.id: ticket.run for ticket in feeding.missing() if ticket.id in missing}
    return set(missing.values())


def type_of(error: Exception) -> str:
    """What could not be reached."""
    if isinstance(error, DatabaseError):
        return "database"
    return "redis" if isinstance(error, RedisError) else "storage"


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


RESUME = (
    "When work may go on: rq resume --url with this Redis (manage.py rqresume asks the Redis of the"
    " queue 'default')."
)
UNREACHABLE = {
    "database": "Is the database up? Look at DATABASES.",
    "redis": "Is Redis up? Look at RQ_QUEUES.",
    "storage": "May this user write there? Look at STORAGES and MEDIA_ROOT.",
}
EXAMINATIONS: dict[str, Callable[[], Iterator[Finding]]] = {
    "settings": _settings,
    "database": _database,
    "storage": _storage,
    "redis": _redis,
    "lanes": _lanes,
    "workers": _workers,
    "runs": _runs,
}
