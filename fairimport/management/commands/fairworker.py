"""`manage.py fairworker`: workers for the lanes."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connections
from rq.logutils import setup_loghandlers

from fairimport.conf import settings
from fairimport.connections import limit_waits
from fairimport.lanes.queue import LaneQueue
from fairimport.lanes.supervisor import Supervisor
from fairimport.lanes.worker import FairSimpleWorker, FairWorker
from fairimport.management.arguments import queue_name

LEVELS = {0: "WARNING", 1: "INFO", 2: "DEBUG", 3: "DEBUG"}


class Command(BaseCommand):
    """Start workers; SIGTERM ends them after the row in hand, a second one at once."""

    help = "Work on the lanes of one or several queues, in order of priority."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Queues and how to work on them."""
        parser.add_argument(
            "queues", nargs="*", type=queue_name, help="queues, the most important one first"
        )
        parser.add_argument("--workers", type=int, default=1, help="worker processes (default: 1)")
        parser.add_argument("--burst", action="store_true", help="end when nothing is left to do")
        parser.add_argument("--simple", action="store_true", help="run jobs without forking")
        parser.add_argument("--max-jobs", type=int, help="end after this many jobs (each worker)")
        parser.add_argument("--name", help="the worker's name, for one worker")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run one worker here, or several as children that die with this process."""
        level = LEVELS[options["verbosity"]]
        setup_loghandlers(level, name="fairimport")
        names = options["queues"] or [settings.queue]
        kind = FairSimpleWorker if options["simple"] else FairWorker

        def work() -> None:
            queues = [LaneQueue.named(name) for name in names]
            worker = kind(queues, name=options["name"], connection=queues[0].connection)
            worker.work(burst=options["burst"], max_jobs=options["max_jobs"], logging_level=level)

        limit_waits()
        connections.close_all()
        if options["workers"] == 1:
            work()
            return
        restart = not options["burst"] and options["max_jobs"] is None
        Supervisor(options["workers"], work, restart=restart).run()
