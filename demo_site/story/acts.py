"""The two ways to run the same work: on one first-in-first-out list, and on fair lanes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import django_rq
from django.core.files.base import ContentFile
from rq.job import Job, JobStatus

from demo_site.story.jobs import send_invoice, work_through
from demo_site.story.models import Delivery
from fairimport import progress
from fairimport.lanes import get_lanes, lane
from fairimport.models import ImportRun
from fairimport.runs import control, intake
from fairimport.states import State

__all__ = ["Act", "Lanes", "OneList", "Scene"]

BIG = "big"
IMPORTER = "story.Deliveries"
PATIENCE_S = 240.0
TO_COME = {JobStatus.QUEUED, JobStatus.STARTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """How much work there is: rows of the big tenant, and the other tenants' jobs."""

    rows: int
    row_seconds: float
    tenants: int
    workers: int
    cap: int

    def arrivals(self) -> list[tuple[float, str]]:
        """When which small tenant asks for its job: seconds after the start, two jobs each.

        The same every time; all within the first four fifths of the big import's best time.
        """
        random = Random(self.rows)  # noqa: S311  (arrivals, not secrets)
        span = 0.8 * self.rows * self.row_seconds / self.workers
        names = [f"small-{n:03}" for n in range(self.tenants)] * 2
        return sorted((random.uniform(0, span), name) for name in names)


@dataclass(slots=True)
class Act:
    """One playing of a scene. `play` returns what was measured."""

    scene: Scene
    jobs: list[Job] = field(default_factory=list)
    most_in_flight: int = 0

    def play(self) -> dict[str, Any]:
        """Start the big import, let the small jobs arrive, wait for the end of all."""
        Delivery.objects.all().delete()
        is_done = self.start_big()
        began, big_s = time.monotonic(), None
        arrivals = self.scene.arrivals()
        while arrivals or big_s is None or not self._small_ones_ended():
            now = time.monotonic() - began
            while arrivals and arrivals[0][0] <= now:
                _, tenant = arrivals.pop(0)
                self.jobs.append(self.enqueue(tenant, len(self.jobs)))
            if big_s is None and is_done():
                big_s = time.monotonic() - began
            if now > PATIENCE_S:
                raise RuntimeError(f"the story did not end within {PATIENCE_S:.0f} s")
            self.look()
            time.sleep(0.02)
        waits = sorted(self._waits())
        measured = {"small_wait_p50_s": _quantile(waits, 0.5)}
        measured |= {"small_wait_p99_s": _quantile(waits, 0.99), "big_s": round(big_s, 3)}
        return measured

    def effects(self) -> tuple[int, int]:
        """Rows and jobs without an effect, and effects beyond the first."""
        wanted = {(BIG, number) for number in range(1, self.scene.rows + 1)}
        wanted |= {(job.args[0], job.args[1]) for job in self.jobs}
        found = list(Delivery.objects.values_list("tenant", "number"))
        return len(wanted - set(found)), len(found) - len(set(found))

    def start_big(self) -> Callable[[], bool]:
        """Put the big tenant's work there; return what says whether it is done."""
        raise AssertionError("an act says how its big import starts")

    def enqueue(self, tenant: str, number: int) -> Job:
        """Put a small tenant's job there."""
        raise AssertionError("an act says where its jobs wait")

    def look(self) -> None:
        """Watch, several times a second."""

    def _small_ones_ended(self) -> bool:
        return all(job.get_status() not in TO_COME for job in self.jobs)

    def _waits(self) -> list[float]:
        for job in self.jobs:
            job.refresh()
        return [
            (job.started_at - job.enqueued_at).total_seconds()
            for job in self.jobs
            if job.started_at and job.enqueued_at
        ]


class OneList(Act):
    """One list, first in, first out; RQ's own queue and workers."""

    def start_big(self) -> Callable[[], bool]:
        """Enqueue the rows, as many in a job as fit into a second."""
        queue = django_rq.get_queue("one-list")
        rows, seconds = self.scene.rows, self.scene.row_seconds
        size = max(round(1 / seconds), 1) if seconds else 100
        for first in range(1, rows + 1, size):
            count = min(size, rows + 1 - first)
            queue.enqueue(work_through, BIG, first, count, seconds, result_ttl=600)
        return lambda: Delivery.objects.filter(tenant=BIG).count() >= rows

    def enqueue(self, tenant: str, number: int) -> Job:
        """At the end of the list, as everybody."""
        queue = django_rq.get_queue("one-list")
        return queue.enqueue(send_invoice, tenant, number, result_ttl=600)


class Lanes(Act):
    """A lane for each tenant; the big import goes the way of an upload."""

    def start_big(self) -> Callable[[], bool]:
        """Upload a file, wait for its check, and press Start."""
        lines = "\n".join(str(number) for number in range(1, self.scene.rows + 1))
        upload = ContentFile(f"number\n{lines}\n".encode(), name="deliveries.csv")
        token = f"story-{self.scene.rows}-{time.time_ns()}"
        run = intake.receive(tenant=BIG, user=None, importer=IMPORTER, upload=upload, token=token)
        _until(run, State.MAPPING)
        control.choose(run, mapping=run.mapping, options=run.options)
        _until(run, State.READY)
        control.start(run)
        return lambda: progress.of(ImportRun.objects.get(pk=run.pk)).state == State.FINISHED

    def enqueue(self, tenant: str, number: int) -> Job:
        """On the tenant's own lane."""
        job: Job = lane(tenant).enqueue(send_invoice, tenant, number, result_ttl=600)
        return job

    def look(self) -> None:
        """Count the big tenant's leases in Redis itself."""
        self.most_in_flight = max(self.most_in_flight, len(get_lanes().leases(BIG)))

    def runs(self) -> dict[str, int]:
        """The longest runs of claims given to one tenant, as the scripts counted them."""
        seen = get_lanes().snapshot()
        runs = (seen.longest_run, seen.longest_run_contended)
        return dict(zip(("longest_run", "longest_run_contended"), runs, strict=True))


def _until(run: ImportRun, state: State) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while run.state != state:
        if run.state == State.FAILED or time.monotonic() > deadline:
            raise RuntimeError(f"the big import is {run.state} {run.error_code}, not {state}")
        time.sleep(0.05)
        run.refresh_from_db()


def _quantile(ordered: list[float], share: float) -> float | None:
    if not ordered:
        return None
    return round(ordered[min(int(share * len(ordered)), len(ordered) - 1)], 3)
