"""Say whether everything is right."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management import BaseCommand

from fairimport.doctor import examine


class Command(BaseCommand):
    """One line a finding; exit code 1 if something is to be done."""

    help = "Check settings, database, storage, Redis, lanes, workers and imports."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the findings as they are made."""
        wrong = False
        for finding in examine():
            mark = self.style.SUCCESS("ok  ") if finding.ok else self.style.ERROR("BAD ")
            line = f"{mark} {finding.about}: {finding.text}"
            self.stdout.write(line if finding.ok else f"{line}. {finding.advice}")
            wrong = wrong or not finding.ok
        if wrong:
            sys.exit(1)
