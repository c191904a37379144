"""How a worker is known to be there: RQ's record of it, ours, and the commands that it hears."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError
from rq import worker_registration
from rq.utils import now
from rq.worker import BaseWorker

if TYPE_CHECKING:
    from redis import Redis
    from redis.client import Pipeline

    from fairimport.lanes.queue import LaneQueue

__all__ = ["Presence"]

logger = logging.getLogger("fairimport.lanes")

PAUSE = 2.0  # seconds before commands are listened to again


class Presence(BaseWorker):
    """RQ's registration of workers, which outlives a Redis that forgets everything."""

    queues: list[LaneQueue]  # type: ignore[assignment]

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Show that we live, and register again: Redis may have forgotten everything."""
        self.last_heartbeat = now()
        target = self.connection.pipeline(transaction=False) if pipeline is None else pipeline
        target.hset(self.key, mapping={**self.serialize(), "state": self.get_state()})
        worker_registration.register(self, target)
        target.expire(self.key, timeout or self.worker_ttl + 60)
        for queue in self.queues:
            target.execute_command(*queue.lanes.sign_call(self.name).by_text())
        if pipeline is None:
            target.execute()

    def register_birth(self) -> None:
        """Register; a worker of this name that was killed just before is no hindrance."""
        self.birth_date = now()
        self.connection.delete(self.key)
        self.heartbeat()

    def unsubscribe(self) -> None:
        """As RQ's; but the thread is told first, so that the reply which wakes it up ends it."""
        if self.pubsub_thread:
            self.pubsub_thread.stop()
        super().unsubscribe()

    def _pubsub_exception_handler(self, exc: Exception, pubsub: Any, pubsub_thread: Any) -> None:
        """Commands like "stop this job" come over a subscription, which lives through it too."""
        if not isinstance(exc, RedisError | OSError):
            raise exc
        logger.warning("redis.trouble name=%s error=%s", self.name, exc)
        time.sleep(PAUSE)

    def _beat(self, connection: Redis) -> None:
        """Show over a renewal's connection that we live."""
        with connection.pipeline(transaction=False) as pipeline:
            self.heartbeat(pipeline=pipeline)
            pipeline.execute()

    def _forget(self) -> None:
        for queue in self.queues:
            queue.lanes.forget_worker(self.name)
