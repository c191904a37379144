"""`manage.py fairimport_reconcile`: make true in Redis what the database knows, now."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from fairimport.runs.reconcile import reconcile

__all__ = ["Command"]


class Command(BaseCommand):
    """Workers do this by themselves about once a second; this is for when none runs."""

    help = "Load limits into Redis, give every unfinished import its tickets, drop old data."

    def handle(self, *args: Any, **options: Any) -> None:
        """Reconcile once and say what was done."""
        done = reconcile()
        self.stdout.write(
            f"limits loaded: {'yes' if done.loaded else 'they were there'}, "
            f"tickets added: {done.tickets}, imports concluded: {done.concluded}, "
            f"imports purged: {done.purged}"
        )
