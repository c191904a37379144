"""Print what an import of a file would find."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from fairimport import wording
from fairimport.importers import Importer, UnknownImporter, registry
from fairimport.runs.choices import parse_choices
from fairimport.runs.preview import Preview, Trial, preview

EXIT_CODES = {"row_errors": 1, "file_error": 2, "needs_choice": 3}
SHOWN = 10


class Command(BaseCommand):
    """Reads a file as an upload is read; writes nothing."""

    help = (
        "Show what would be read from a file: outcome, header, columns, warnings, row errors and "
        "rows. Exit code 0, 1 some rows are refused, 2 the file is refused, 3 a choice is needed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--importer", help="app_label.ClassName; default: the file's columns")
        parser.add_argument("--tenant", default="", help="whose records are looked up")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="a choice, such as sheet=Jan, date_order=DMY, decimal=, or encoding=cp1252",
        )
        parser.add_argument("--json", action="store_true", help="one object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read the file and print it."""
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"{path} is not a file")
        try:
            choices = parse_choices(options["set"])
            importer = _importer(options["importer"])
        except (ValueError, UnknownImporter) as error:
            raise CommandError(str(error)) from error
        trial = Trial(tenant=options["tenant"], options=choices)
        found = preview(path, importer, trial, filename=path.name)
        if options["json"]:
            self.stdout.write(json.dumps(found.to_json(), ensure_ascii=False))
        else:
            self._print(found)
        if code := EXIT_CODES.get(found.outcome):
            sys.exit(code)

    def _print(self, found: Preview) -> None:
        self.stdout.write(f"outcome: {found.outcome}")
        if found.error:
            self.stdout.write(wording.refusal(found.error, found.facts))
            return
        if found.needs:
            self.stdout.write(f"needs:   {found.needs} (answer with --set)")
        self._print_columns(found)
        for noticed in found.warnings:
            self.stdout.write(f"warning: {noticed}: {wording.warning(noticed)}")
        self.stdout.write(f"rows:    {len(found.rows)} good, {found.bad_rows} bad")
        for number, reason in found.rejected[:SHOWN]:
            self.stdout.write(f"  row {number}, {reason.column}: {reason.code}: {reason.message}")
        for number, values in found.rows[:SHOWN]:
            texts = ("" if value is None else value[1] for value in values)
            self.stdout.write(f"  row {number}: {' | '.join(texts)}")

    def _print_columns(self, found: Preview) -> None:
        survey, binding = found.survey, found.binding
        if survey is None or binding is None:
            return
        where = f"sheet {survey.sheet!r}, " if survey.sheet else ""
        self.stdout.write(f"read:    {survey.format}, {where}header in row {survey.header_row}")
        meant = {position: field for field, position in binding.mapping.items()}
        kinds = {column.name: column.kind for column in binding.columns}
        for facts in survey.columns:
            field = meant.get(facts.position)
            taken = f"{field} ({kinds[field]})" if field else "not imported"
            held = ", ".join(f"{count} {kind}" for kind, count in facts.kinds.items())
            self.stdout.write(f"  {facts.letter} {facts.label!r} -> {taken}; {held}")


def _importer(name: str | None) -> Importer | None:
    return registry.get(name)() if name else None
