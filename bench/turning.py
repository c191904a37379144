"""One worker in a process of its own, for `bench turn`: `python -m bench.turning KIND`.

Reads numbers, one a line. For each it works off so many no-op jobs on the Redis of `REDIS_URL` and
answers with a line of JSON: jobs a second, and the requests a job that it and its horses sent.
A pipeline is one request: what is counted is waiting for Redis.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from redis import Redis
from redis.connection import AbstractConnection

from bench import rig

if TYPE_CHECKING:
    from rq import Queue
    from rq.worker.base import BaseWorker

__all__ = ["noop"]

TENANTS = 20
_requests = multiprocessing.Value("q", 0)


def noop() -> None:
    """What a job does that does nothing."""


def main(kind: str) -> None:
    """Answer until the input ends."""
    _count_requests()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(work_off(kind, int(line))) + "\n")
        sys.stdout.flush()


def work_off(kind: str, jobs: int) -> dict[str, float]:
    """Run a burst worker; measure from the end of its first job to the end of its last."""
    connection = Redis.from_url(os.environ["REDIS_URL"])
    given = jobs + 1
    worker = _stock(kind, connection, given) if kind.startswith("stock") else _ours(kind, given)
    ends: list[tuple[float, int]] = []
    execute: Any = worker.execute_job

    def noted(*args: Any) -> None:
        execute(*args)
        ends.append((time.perf_counter(), _requests.value))

    vars(worker)["execute_job"] = noted
    worker.work(burst=True, logging_level="CRITICAL")
    (began, before), (ended, after) = ends[0], ends[jobs]
    return {"jobs_per_s": jobs / (ended - began), "round_trips": (after - before) / jobs}


def _stock(kind: str, connection: Redis, jobs: int) -> BaseWorker:
    from rq import Queue, SimpleWorker, Worker
    from rq.serializers import JSONSerializer

    queue = Queue("stock", connection=connection, serializer=JSONSerializer)
    _enqueue([queue] * jobs)
    of: Any = SimpleWorker if kind.endswith("simple") else Worker
    worker: BaseWorker = of([queue], connection=connection, serializer=JSONSerializer)
    return worker


def _ours(kind: str, jobs: int) -> BaseWorker:
    from fairimport.lanes import get_lanes, hooks, lane
    from fairimport.lanes.worker import FairSimpleWorker, FairWorker

    hooks._maintenance.clear()  # the runs' database is no part of this
    get_lanes().load_limits({}, wait=0)
    queue = lane("")
    _enqueue([lane(f"t{number % TENANTS}") for number in range(jobs)])
    of: Any = FairSimpleWorker if kind.endswith("simple") else FairWorker
    worker: BaseWorker = of([queue], connection=queue.connection)
    return worker


def _enqueue(queues: list[Queue]) -> None:
    for queue in queues:
        queue.enqueue_call("bench.turning.noop")


def _count_requests() -> None:
    send: Any = AbstractConnection.send_packed_command

    def counted(self: AbstractConnection, *args: Any, **kwargs: Any) -> Any:
        with _requests.get_lock():
            _requests.value += 1
        return send(self, *args, **kwargs)

    AbstractConnection.send_packed_command = counted  # type: ignore[method-assign]


if __name__ == "__main__":
    rig.set_up()
    with rig.fairimport(job_functions=("bench",)):
        main(sys.argv[1])
