"""`manage.py fairtop`: the tenants now, live in the terminal or once for machines."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from redis.exceptions import RedisError
from rich.console import Console
from rich.live import Live
from rich.table import Table

from fairimport.conf import settings
from fairimport.lanes import LaneState, Snapshot, get_lanes
from fairimport.management.arguments import queue_name

REFRESH = 1.0  # seconds

TENANT_KEYS = (
    "tenant",
    "waiting",
    "in_flight",
    "cap",
    "weight",
    "paused",
    "wait_p50_s",
    "wait_p99_s",
    "wait_bound_s",
    "share_seconds",
    "share_jobs",
)


class Command(BaseCommand):
    """Show what the scripts themselves keep: no worker is asked."""

    help = "Show tenants: waiting, in flight of cap, waits, shares of worker-seconds and of jobs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Once or live, for people or machines."""
        parser.add_argument("--once", action="store_true", help="print once and end")
        parser.add_argument("--json", action="store_true", help="one JSON object; implies --once")
        parser.add_argument(
            "--queue", type=queue_name, help="the queue (default: FAIRIMPORT['QUEUE'])"
        )
        parser.add_argument("--top", type=int, default=50, help="most tenants (default: 50)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one snapshot, or a table that follows the lanes until Ctrl-C."""
        queue, top = options["queue"] or settings.queue, options["top"]
        try:
            if options["json"]:
                facts = as_json(queue, get_lanes(queue).snapshot(top=top))
                self.stdout.write(json.dumps(facts))
            elif options["once"]:
                console = Console()
                with console.capture() as printed:
                    console.print(table(queue, get_lanes(queue).snapshot(top=top)))
                self.stdout.write(printed.get())
            else:
                self._live(queue, top)
        except RedisError as error:
            raise CommandError(f"Redis does not answer: {error}") from error

    def _live(self, queue: str, top: int) -> None:
        lanes = get_lanes(queue)
        try:
            with Live(table(queue, lanes.snapshot(top=top)), auto_refresh=False) as live:
                while True:
                    time.sleep(REFRESH)
                    live.update(table(queue, lanes.snapshot(top=top)), refresh=True)
        except KeyboardInterrupt:
            return


def as_json(queue: str, seen: Snapshot) -> dict[str, Any]:
    """The contract of `fairtop --json`; times in seconds, shares of 1."""
    return {
        "queue": queue,
        "workers": seen.workers,
        "tenants": [
            {key: getattr(state, key) for key in TENANT_KEYS} for state in seen.tenants.values()
        ],
        "longest_run": seen.longest_run,
        "longest_run_contended": seen.longest_run_contended,
        "lapses": seen.lapses,
    }


def table(queue: str, seen: Snapshot) -> Table:
    """One row a tenant; the busiest first."""
    closed = "" if seen.loaded else " - closed, limits are not loaded"
    drawn = Table(
        title=f"{queue}: {seen.workers} workers, {seen.live} in flight, {seen.inbox} to be routed"
        f"{closed}",
        caption=f"longest run of one tenant {seen.longest_run}, while others waited "
        f"{seen.longest_run_contended}; {seen.lapses} lapses; numbers of the last five minutes",
    )
    drawn.add_column("tenant")
    for name in ("waiting", "in flight", "weight", "wait p50", "wait p99", "bound", "time", "jobs"):
        drawn.add_column(name, justify="right")
    for state in sorted(seen.tenants.values(), key=lambda it: (-it.seconds, it.tenant)):
        drawn.add_row(*_cells(state))
    return drawn


def _cells(state: LaneState) -> list[str]:
    flight = f"{state.in_flight} of {state.cap}" + (" paused" if state.paused else "")
    waits = (state.wait_p50_s, state.wait_p99_s, state.wait_bound_s)
    shares = (state.share_seconds, state.share_jobs)
    return [
        state.tenant or "(none)",
        str(state.waiting),
        flight,
        f"{state.weight:g}",
        *("-" if seconds is None else f"{seconds:.2f} s" for seconds in waits),
        *("-" if share is None else f"{share:.0%}" for share in shares),
    ]
