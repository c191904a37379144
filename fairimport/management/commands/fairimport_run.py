"""`manage.py fairimport_run`: an import from the shell, through the same lanes as all others."""

from __future__ import annotations

import time
import uuid
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from fairimport import progress
from fairimport.errors import FileRefused
from fairimport.importers import UnknownImporter, registry
from fairimport.models import ImportRun
from fairimport.runs import control, intake
from fairimport.runs.choices import parse_choices
from fairimport.states import ENDED, State
from fairimport.wording import refusal

__all__ = ["Command"]

REJECTED, REFUSED, CHOICE = 1, 2, 3
"""Exit codes: some rows were rejected, the file was refused, a choice is needed."""
LOOK_S = 0.25


class Command(BaseCommand):
    """Uploads, checks and starts; with `--wait` it stays until the last row."""

    help = "Import a file for a tenant. Exit code 0: done, 1: some rows were rejected, "
    help += "2: the file was refused, 3: a choice is needed (give it with --set)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to import, for whom, and the answers to questions."""
        parser.add_argument("importer", help="app_label.ClassName, or ClassName where it is unique")
        parser.add_argument("file", type=Path)
        parser.add_argument("--tenant", required=True)
        parser.add_argument("--wait", action="store_true", help="stay until the last row")
        parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")

    def handle(self, *args: Any, **options: Any) -> None:
        """Go the customer's way; end with the exit code."""
        self.console = Console(stderr=True)
        try:
            chosen = parse_choices(options["set"])
        except ValueError as error:
            raise CommandError(str(error)) from error
        run = self._receive(
            _importer(options["importer"]), options["file"], options["tenant"], chosen
        )
        self._watch(run, State.MAPPING)
        self._choose(run)
        control.start(run)
        if not options["wait"]:
            self.stdout.write(f"started {run.pk}")
            return
        self._watch(run, State.FINISHED)
        self._report(run)

    def _receive(self, importer: str, path: Path, tenant: str, chosen: dict[str, Any]) -> ImportRun:
        try:
            with path.open("rb") as content, transaction.atomic():
                run = intake.receive(
                    tenant=tenant,
                    user=None,
                    importer=importer,
                    upload=File(content, name=path.name),
                    token=uuid.uuid4().hex,
                )
                ImportRun.objects.filter(pk=run.pk).update(options=chosen)
        except OSError as error:
            raise CommandError(str(error), returncode=REFUSED) from error
        except FileRefused as refused:
            raise CommandError(refusal(refused.code, refused.facts), returncode=REFUSED) from None
        return run

    def _choose(self, run: ImportRun) -> None:
        if not run.questions:
            control.choose(run, mapping=run.mapping, options=run.options)
        if run.questions:
            questions = ", ".join(run.questions)
            control.cancel(run)
            raise CommandError(
                f"this file needs an answer: {questions} (give it with --set NAME=VALUE)",
                returncode=CHOICE,
            )
        self._watch(run, State.READY)

    def _watch(self, run: ImportRun, target: State) -> None:
        """Draw the run's progress until it is there; a run that ends elsewhere ends the command."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
        )
        with Progress(*columns, console=self.console, transient=True) as bar:
            task = bar.add_task(run.filename, total=None, note="")
            while run.state != target and run.state not in ENDED:
                time.sleep(LOOK_S)
                run.refresh_from_db()
                now = progress.of(run)
                done = now.checked if run.state == State.CHECKING else now.done
                bar.update(task, completed=done, total=now.total, note=_note(run, now))
        if run.state == State.FAILED:
            raise CommandError(refusal(run.error_code, run.error_facts), returncode=REFUSED)
        if run.state != target:
            raise CommandError(f"the import is {run.state}", returncode=REFUSED)

    def _report(self, run: ImportRun) -> None:
        now = progress.of(run)
        parts = [f"{getattr(now, name)} {name}" for name in progress.OUTCOMES]
        self.stdout.write(f"{now.total} rows = " + " + ".join(parts))
        if now.rejected:
            raise SystemExit(REJECTED)


def _importer(name: str) -> str:
    known = [importer.get_name() for importer in registry.all()]
    found = [full for full in known if name in (full, full.rpartition(".")[2])]
    if len(found) == 1:
        return found[0]
    try:
        return registry.get(name).get_name()
    except UnknownImporter:
        raise CommandError(
            f"no importer is called {name!r}; there are: {', '.join(known)}", returncode=REFUSED
        ) from None


def _note(run: ImportRun, now: progress.Progress) -> str:
    """Why it waits, or how long it takes."""
    if now.reason is not None:
        return now.reason.text
    if now.eta is None:
        return run.get_state_display()
    low, high = now.eta
    return f"{low:.0f} to {high:.0f} s left, {now.basis}"
