"""A stored range of rows of a run."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from fairimport.models.run import ImportRun
from fairimport.querysets import ChunkQuerySet

__all__ = ["Chunk"]


class Chunk(models.Model):
    """A stored range of rows of a run, its cursors, and the outcomes of its rows.

    A chunk of a retry holds rows that were rejected before: each success there takes one from
    `rejected`, so that the sum over all chunks of a run is its total at every moment.
    """

    run = models.ForeignKey(ImportRun, models.CASCADE, related_name="chunks")
    index = models.PositiveIntegerField()
    retry = models.BooleanField(default=False)
    size = models.PositiveIntegerField()
    payload = models.BinaryField(null=True)
    """Compressed sheet rows; None once the last row has its outcome."""

    checked = models.PositiveIntegerField(default=0)
    good = models.PositiveIntegerField(default=0)
    bad = models.PositiveIntegerField(default=0)
    causes = models.JSONField(default=list)
    """What the check found here, a row of counts for each cause."""

    next_row = models.PositiveIntegerField(default=0)
    created = models.PositiveIntegerField(default=0)
    updated = models.PositiveIntegerField(default=0)
    unchanged = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    rejected = models.IntegerField(default=0)

    token = models.PositiveBigIntegerField(default=0)
    """Grows with each taking; only the newest may write."""
    holder = models.CharField(max_length=64, blank=True)
    """Id of the ticket that works here, or worked here when its worker died."""
    held_until = models.DateTimeField(null=True)
    """Counts against the cap until then; None when nobody works here."""

    suspect = models.BooleanField(default=False)
    """A worker died here: rows are marked and committed one by one."""
    marked = models.PositiveIntegerField(null=True)
    """The row in hand, when the chunk is suspect."""
    deaths = models.PositiveSmallIntegerField(default=0)
    """Horses that died while their parent lived."""
    died_at = models.PositiveIntegerField(null=True)
    """The row that was marked at the last death."""
    lapses = models.PositiveSmallIntegerField(default=0)
    """Workers that died whole, or databases that refused, since the last commit."""

    seconds = models.FloatField(default=0.0)
    """Worker-seconds spent on rows that have an outcome."""
    pace = models.JSONField(default=list)
    """Pairs of ten-second bucket and rows done in it, the newest last."""
    worked_at = models.DateTimeField(null=True)

    objects = ChunkQuerySet.as_manager()

    class Meta:
        ordering = ("index",)
        indexes = (
            models.Index(
                fields=("held_until",),
                name="fairimport_chunk_held",
                condition=Q(held_until__isnull=False),
            ),
        )
        constraints = (
            models.UniqueConstraint(fields=("run", "index"), name="fairimport_chunk_index"),
            models.CheckConstraint(
                condition=Q(next_row__lte=F("size")) & Q(checked__lte=F("size")),
                name="fairimport_chunk_cursors",
            ),
            models.CheckConstraint(
                condition=Q(checked=F("good") + F("bad")), name="fairimport_chunk_check_adds_up"
            ),
            models.CheckConstraint(
                condition=Q(
                    retry=False,
                    rejected__gte=0,
                    next_row=F("created")
                    + F("updated")
                    + F("unchanged")
                    + F("skipped")
                    + F("rejected"),
                )
                | Q(
                    retry=True,
                    rejected__lte=0,
                    rejected__gte=-F("next_row"),
                    rejected=-(F("created") + F("updated") + F("unchanged") + F("skipped")),
                ),
                name="fairimport_chunk_outcomes_add_up",
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id}/{self.index}"
