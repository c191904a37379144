"""What is kept of single rows."""

from __future__ import annotations

from django.db import models

from fairimport.models.run import ImportRun

__all__ = ["KeyIndex", "RejectedRow"]


class RejectedRow(models.Model):
    """A row that was refused, with its cells as the customer sent them."""

    run = models.ForeignKey(ImportRun, models.CASCADE, related_name="rejected_rows")
    number = models.PositiveIntegerField()
    """The row's number as a person sees it in the file."""
    cells = models.BinaryField()
    """The encoded sheet row: a customer's cells may hold what JSON columns refuse."""
    reasons = models.JSONField()
    """Each with `field`, `column`, `code`, `raw`, `message`."""

    class Meta:
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("run", "number"), name="fairimport_rejected_row"),
        )

    def __str__(self) -> str:
        return f"{self.run_id}: {self.number}"


class KeyIndex(models.Model):
    """Digests of a run's keys with their row numbers, to find duplicates in the file."""

    run = models.OneToOneField(ImportRun, models.CASCADE, related_name="key_index")
    digests = models.BinaryField(default=bytes)

    def __str__(self) -> str:
        return str(self.run_id)
