"""Play the story on real workers: one list against fair lanes, at three sizes."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from demo_site.servers import NoServer
from demo_site.story.stage import play

COLUMNS = ("rows", "policy", "small wait p50", "p99", "big import", "in flight", "longest run")


class Command(BaseCommand):
    """Each act has its own Redis, database and workers; nothing of yours is touched."""

    help = "Measure how long small tenants wait beside a big import: one list against fair lanes."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The size of the story; the defaults take about four minutes."""
        parser.add_argument("--rows", type=int, default=400, help="rows of the largest size")
        parser.add_argument("--row-ms", type=float, default=280.0, help="milliseconds of a row")
        parser.add_argument("--tenants", type=int, default=20, help="other tenants, two jobs each")
        parser.add_argument("--workers", type=int, default=4)
        parser.add_argument("--cap", type=int, default=4, help="slots of the big tenant")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Play all, then tell."""
        if min(options[name] for name in ("rows", "tenants", "workers", "cap")) < 1:
            raise CommandError("Give numbers of at least 1 for rows, tenants, workers and cap.")
        rows = options["rows"]
        try:
            sizes = [self._size(max(size, 1), options) for size in (rows // 4, rows // 2, rows)]
        except (NoServer, RuntimeError) as error:
            raise CommandError(str(error)) from None
        told = _told(sizes, options["cap"])
        if options["json"]:
            self.stdout.write(json.dumps(told, indent=1))
        else:
            _print(told)
        if told["lost"] or told["twice"] or told["max_in_flight"] > told["cap"]:
            raise CommandError("Work was lost or done twice, or the cap was passed.")

    def _size(self, rows: int, options: dict[str, Any]) -> dict[str, Any]:
        scene = {
            "rows": rows,
            "row_seconds": options["row_ms"] / 1000,
            "tenants": options["tenants"],
            "workers": options["workers"],
            "cap": options["cap"],
        }
        size: dict[str, Any] = {"rows": rows, "lost": 0, "twice": 0}
        for act in ("fifo", "lanes"):
            self.stderr.write(f"{rows} rows, {act} ...")
            played = play(act, scene)
            size[act] = played["measured"]
            size["lost"] += played["lost"]
            size["twice"] += played["twice"]
        size["ratio_p99"] = _ratio(size["fifo"], size["lanes"])
        return size


def _ratio(fifo: dict[str, Any], lanes: dict[str, Any]) -> float:
    return round(float(fifo["small_wait_p99_s"]) / max(float(lanes["small_wait_p99_s"]), 0.001), 1)


def _told(sizes: list[dict[str, Any]], cap: int) -> dict[str, Any]:
    sums = {name: sum(size.pop(name) for size in sizes) for name in ("lost", "twice")}
    most = max(size["lanes"]["max_in_flight"] for size in sizes)
    return {
        "sizes": sizes,
        "ratio_p99": sizes[-1]["ratio_p99"],
        "max_in_flight": most,
        "cap": cap,
        **sums,
    }


def _print(told: dict[str, Any]) -> None:
    table = Table(title="How long small tenants wait beside one big import")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for size in told["sizes"]:
        for policy in ("fifo", "lanes"):
            table.add_row(*_cells(size["rows"], policy, size[policy]))
    console = Console()
    console.print(table)
    console.print(
        f"At the largest size the small tenants' p99 wait is {told['ratio_p99']} times as long on "
        f"one list. Cap {told['cap']}, most in flight {told['max_in_flight']}; "
        f"lost {told['lost']}, done twice {told['twice']}."
    )


def _cells(rows: int, policy: str, measured: dict[str, Any]) -> list[str]:
    return [
        str(rows),
        policy,
        f"{measured['small_wait_p50_s']:.2f} s",
        f"{measured['small_wait_p99_s']:.2f} s",
        f"{measured['big_s']:.1f} s",
        str(measured.get("max_in_flight", "")),
        str(measured.get("longest_run", "")),
    ]
