"""`manage.py fairtop`: the tenants now, live in the terminal or once for machines; or one job."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from redis.exceptions import RedisError
from rich.box import SIMPLE
from rich.console import Console
from rich.live import Live
from rich.table import Table

from fairimport.conf import settings
from fairimport.lanes import Lanes, LaneState, Reason, Snapshot, get_lanes
from fairimport.management.arguments import queue_name
from fairimport.runs import waiting

REFRESH = 1.0  # seconds

TENANT_KEYS = (
    "tenant",
    "waiting",
    "in_flight",
    "cap",
    "weight",
    "paused",
    "wait_p50_s",
    "wait_p95_s",
    "wait_p99_s",
    "wait_bound_s",
    "share_seconds",
    "share_jobs",
)
COLUMNS = ("waiting", "in flight", "wait p50/p95/p99", "bound", "time/jobs")


class Command(BaseCommand):
    """Show what the scripts themselves keep: no worker is asked."""

    help = (
        "Show tenants: waiting, in flight of cap, waits, shares of worker-seconds and of jobs, and"
        " why they wait. With --job: why that job is where it is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Once or live, for people or machines."""
        parser.add_argument("--once", action="store_true", help="print once and end")
        parser.add_argument("--json", action="store_true", help="one JSON object; implies --once")
        parser.add_argument("--job", metavar="ID", help="explain this job, and end")
        parser.add_argument(
            "--queue", type=queue_name, help="the queue (default: FAIRIMPORT['QUEUE'])"
        )
        parser.add_argument("--top", type=int, default=50, help="most tenants (default: 50)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print one snapshot or reason, or a table that follows the lanes until Ctrl-C."""
        queue, top = options["queue"] or settings.queue, options["top"]
        lanes = get_lanes(queue)
        try:
            if options["job"]:
                self._explain(options["job"], lanes, as_json=options["json"])
            elif options["json"]:
                self.stdout.write(json.dumps(as_json(queue, lanes.snapshot(top=top))))
            elif options["once"]:
                console = Console()
                with console.capture() as printed:
                    console.print(table(queue, lanes.snapshot(top=top)))
                self.stdout.write(printed.get())
            else:
                self._live(queue, lanes, top)
        except RedisError as error:
            raise CommandError(f"Redis does not answer: {error}") from error

    def _explain(self, job: str, lanes: Lanes, *, as_json: bool) -> None:
        reason = lanes.explain(job)
        facts = {"job": job, "code": reason.code, "facts": dict(reason.facts)}
        self.stdout.write(json.dumps(facts) if as_json else in_a_line(job, reason))

    def _live(self, queue: str, lanes: Lanes, top: int) -> None:
        try:
            with Live(table(queue, lanes.snapshot(top=top)), auto_refresh=False) as live:
                while True:
                    time.sleep(REFRESH)
                    live.update(table(queue, lanes.snapshot(top=top)), refresh=True)
        except KeyboardInterrupt:
            return


def as_json(queue: str, seen: Snapshot) -> dict[str, Any]:
    """The contract of `fairtop --json`; times in seconds, shares of 1.

    A tenant's `reason` is a code of `docs/reasons.md`, null when nothing of it waits.
    """
    return {
        "queue": queue,
        "workers": seen.workers,
        "suspended": seen.suspended,
        "suspended_left_s": seen.suspended_left_s,
        "live": seen.live,
        "tenants": [
            {key: getattr(state, key) for key in TENANT_KEYS}
            | {"reason": state.reason if state.waiting else None}
            for state in seen.tenants.values()
        ],
        "longest_run": seen.longest_run,
        "longest_run_contended": seen.longest_run_contended,
        "lapses": seen.lapses,
    }


def in_a_line(job: str, reason: Reason) -> str:
    """The code, then the facts by name."""
    facts = (f"{name}={json.dumps(fact)}" for name, fact in sorted(reason.facts.items()))
    return " ".join([f"{job}: {reason.code}", *facts])


def table(queue: str, seen: Snapshot) -> Table:
    """One row a tenant; the busiest first."""
    closed = "" if seen.loaded else " - closed, limits are not loaded"
    drawn = Table(
        box=SIMPLE,
        pad_edge=False,
        collapse_padding=True,
        title=f"{queue}: {crew(seen)}, in flight {seen.live}, to be routed {seen.inbox}{closed}",
        caption=f"longest run of one tenant {seen.longest_run}, while others waited "
        f"{seen.longest_run_contended}; lapses {seen.lapses}; waits in seconds, shares of "
        "worker-seconds and of jobs, all of the last five minutes",
    )
    drawn.add_column("tenant", overflow="fold")
    for name in COLUMNS:
        drawn.add_column(name, justify="right", no_wrap=True)
    drawn.add_column("why it waits", overflow="fold")
    for state in sorted(seen.tenants.values(), key=lambda it: (-it.seconds, it.tenant)):
        drawn.add_row(*_cells(state))
    return drawn


def crew(seen: Snapshot) -> str:
    """How many workers live; a suspended one gives no sign."""
    if not seen.suspended:
        return f"workers {seen.workers}"
    left = seen.suspended_left_s
    return "suspended until rq resume" + ("" if left is None else f" ({left:.0f} s at most)")


def _cells(state: LaneState) -> list[str]:
    waits = (state.wait_p50_s, state.wait_p95_s, state.wait_p99_s)
    shares = (state.share_seconds, state.share_jobs)
    return [
        (state.tenant or "(none)") + ("" if state.weight == 1 else f" x{state.weight:g}"),
        str(state.waiting),
        f"{state.in_flight} of {state.cap}",
        "/".join(_seconds(wait) for wait in waits),
        _seconds(state.wait_bound_s),
        "/".join("-" if share is None else f"{share:.0%}" for share in shares),
        waiting.in_short(state),
    ]


def _seconds(wait: float | None) -> str:
    """Three digits are enough."""
    if wait is None:
        return "-"
    return f"{wait:.2f}" if wait < 10 else f"{wait:.0f}"
