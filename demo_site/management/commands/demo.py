"""Run the demo: its Redis, its workers and its site."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from demo_site.accounts import COMPANIES, OPERATOR
from demo_site.launcher import CannotStart, Launcher
from demo_site.programs import KeepsEnding
from demo_site.servers import NoServer


class Command(BaseCommand):
    """Start everything, say where, and stop everything on Ctrl-C.

    `PORT` (8000) and `WORKERS` (4) in the environment are honoured, as are `REDIS_URL` and
    `DATABASE_URL`, which are read by the settings.
    """

    help = "Run the demo site with its workers; Ctrl-C stops everything."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until asked to end."""
        launcher = Launcher(
            folder=settings.DEMO_DIR,
            port=_number("PORT", 8000, most=65535),
            workers=_number("WORKERS", 4, most=64),
            say=self._say,
        )
        try:
            launcher.run(greeting=_greeting())
        except (CannotStart, KeepsEnding, NoServer) as error:
            raise CommandError(str(error)) from None

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _number(name: str, default: int, *, most: int) -> int:
    given = os.environ.get(name) or str(default)
    if not given.isdecimal() or not 1 <= int(given) <= most:
        raise CommandError(f"{name} is {given!r}: give a whole number from 1 to {most}.")
    return int(given)


def _greeting() -> str:
    people = [*COMPANIES, OPERATOR]
    lines = [
        f"  {person.username} / {person.password}"
        f"   ({person.company_name or 'the operator, who also sees the admin'})"
        for person in people
    ]
    return "\n".join(["Sign in as:", *lines, "Ctrl-C stops everything."])
