"""The truth about imports: runs, their chunks, rejected rows, and what a tenant may use at once."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from django.conf import settings as django_settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from fairimport.conf import settings
from fairimport.importers import Importer, registry
from fairimport.querysets import ChunkQuerySet, RunQuerySet, TenantLimitQuerySet
from fairimport.signals import run_moved
from fairimport.states import ACTIVE, ENDED, Event, State, events_of, may_move

__all__ = ["Chunk", "ImportRun", "KeyIndex", "RejectedRow", "TenantLimit"]

STATE_LABELS: dict[str, str | Promise] = {
    State.RECEIVED: _("received"),
    State.READING: _("reading the file"),
    State.MAPPING: _("waiting for your choices"),
    State.CHECKING: _("checking all rows"),
    State.READY: _("checked, not started"),
    State.QUEUED: _("waiting for its turn"),
    State.RUNNING: _("running"),
    State.PAUSING: _("pausing"),
    State.PAUSED: _("paused"),
    State.CANCELLING: _("cancelling"),
    State.CANCELLED: _("cancelled"),
    State.FINISHED: _("finished"),
    State.FAILED: _("failed"),
}


def default_cap() -> int:
    return int(settings.cap)


def default_weight() -> float:
    return float(settings.weight)


class TenantLimit(models.Model):
    """What a tenant may use at once; lanes hold a copy that is pushed on commit."""

    tenant = models.CharField(_("tenant"), max_length=190, unique=True)
    cap = models.PositiveIntegerField(
        _("cap"),
        default=default_cap,
        help_text=_("Most slots at once; 0 pauses the tenant. Running work is never stopped."),
    )
    weight = models.FloatField(
        _("weight"),
        default=default_weight,
        validators=[MinValueValidator(0.01), MaxValueValidator(1000)],
        help_text=_("Share relative to others; 1 is normal."),
    )
    paused = models.BooleanField(_("paused"), default=False)
    paused_by = models.CharField(_("paused by"), max_length=190, blank=True)
    paused_at = models.DateTimeField(_("paused at"), null=True, blank=True)

    objects = TenantLimitQuerySet.as_manager()

    class Meta:
        verbose_name = _("tenant's limit")
        verbose_name_plural = _("tenants' limits")
        ordering = ("tenant",)
        constraints = (
            models.CheckConstraint(condition=Q(weight__gt=0), name="fairimport_weight_positive"),
        )

    def __str__(self) -> str:
        return self.tenant or str(_("(no tenant)"))


class ImportRun(models.Model):
    """One upload from intake to its end."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.CharField(_("tenant"), max_length=190)
    importer = models.CharField(_("importer"), max_length=190)
    """`app_label.ClassName`."""
    state = models.CharField(_("state"), max_length=16, default=State.RECEIVED)
    state_changed_at = models.DateTimeField(_("state changed at"), db_default=Now())
    token = models.CharField(max_length=64, default=uuid.uuid4)
    """The upload form's token: the same form sent twice is one run."""

    filename = models.CharField(_("file"), max_length=255)
    """As the customer called it; never part of a path."""
    size = models.PositiveBigIntegerField(_("bytes"))
    sha256 = models.CharField(max_length=64)
    source = models.CharField(max_length=255, blank=True)
    """Storage name of the upload; empty once purged."""
    spool = models.CharField(max_length=255, blank=True)
    """Storage name of the rows as read; dropped when the run ends."""

    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    created_by = models.ForeignKey(
        django_settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    language = models.CharField(max_length=16, blank=True)
    """The uploader's language, for messages that workers write."""
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    purged_at = models.DateTimeField(_("purged at"), null=True, blank=True)

    facts = models.JSONField(default=dict, blank=True)
    """The survey of the file."""
    mapping = models.JSONField(default=dict, blank=True)
    """Field name to column position, from 1."""
    options = models.JSONField(default=dict, blank=True)
    questions = models.JSONField(default=list, blank=True)
    """Codes of what only the customer can answer."""
    warnings = models.JSONField(default=list, blank=True)
    """What was noticed, each as `code` or `code:argument`."""
    check_result = models.JSONField(default=dict, blank=True)
    """What the check of all rows found; empty until it is complete."""
    error_code = models.CharField(max_length=64, blank=True)
    error_facts = models.JSONField(default=dict, blank=True)

    total = models.PositiveIntegerField(_("rows"), null=True, blank=True)
    """Rows of the file; None until all are stored."""
    wants_reader_at = models.DateTimeField(db_default=Now())
    """Since when it waits for the tenant's one reading or splitting job."""
    job_token = models.PositiveIntegerField(default=0)
    """Grows when a reading or splitting job begins; an older one writes nothing."""
    split_offset = models.PositiveBigIntegerField(default=0)
    """How far into the spool splitting has come, in bytes."""
    attempts = models.PositiveSmallIntegerField(default=0)
    """Reading or splitting jobs begun since the last one that got on."""
    correction = models.JSONField(default=dict, blank=True)
    """The last corrected file: `source` while it waits, then `rows` taken, or a `code`."""
    before_done_at = models.DateTimeField(null=True, blank=True)
    after_done_at = models.DateTimeField(null=True, blank=True)
    row_seconds = models.FloatField(null=True, blank=True)
    """Worker-seconds that a row cost, once the run ended."""

    objects = RunQuerySet.as_manager()

    class Meta:
        verbose_name = _("import")
        verbose_name_plural = _("imports")
        ordering = ("-created_at",)
        indexes = (
            models.Index(fields=("tenant", "-created_at"), name="fairimport_run_recent"),
            models.Index(fields=("state", "state_changed_at"), name="fairimport_run_state"),
            models.Index(fields=("tenant", "sha256"), name="fairimport_run_content"),
        )
        constraints = (
            models.UniqueConstraint(fields=("tenant", "token"), name="fairimport_run_token"),
            models.CheckConstraint(
                condition=Q(state__in=sorted(State)), name="fairimport_run_known_state"
            ),
        )

    def __str__(self) -> str:
        return self.filename

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE

    @property
    def has_ended(self) -> bool:
        return self.state in ENDED

    def get_state_display(self) -> str:
        """The state in words."""
        return str(STATE_LABELS[self.state])

    def get_importer(self) -> type[Importer]:
        """The host's class, or `UnknownImporter` when it was renamed or removed."""
        return registry.get(self.importer)

    def can(self, verb: str) -> bool:
        """Whether a button with this verb (an `Event` of the customer) makes sense."""
        if verb == Event.RETRY:
            return self._can_retry()
        return verb in events_of(State(self.state))

    def _can_retry(self) -> bool:
        if Event.RETRY not in events_of(State(self.state)) or self.purged_at:
            return False
        if self.state == State.FAILED:
            return self.started_at is not None and self.chunks.unfinished().exists()
        return self.rejected_rows.exists()

    def move(self, target: State, **values: Any) -> bool:
        """Move by compare-and-set from the state this object knows; False if somebody was faster.

        `values` are written with it. The signal is sent on commit.
        """
        source = State(self.state)
        if not may_move(source, target):
            return False
        moved = (
            type(self)
            .objects.filter(pk=self.pk, state=source)
            .update(state=target, state_changed_at=Now(), **values)
        )
        if not moved:
            self.refresh_from_db(fields=["state"])
            return False
        self.state = target
        self.refresh_from_db(fields=[*values, "state_changed_at"])
        send = partial(run_moved.send_robust, type(self), run=self, source=source, target=target)
        transaction.on_commit(send, robust=True)
        return True

    def earlier_upload(self) -> ImportRun | None:
        """The last run of this tenant and importer with the very same bytes before this one."""
        same = (
            type(self)
            .objects.for_tenant(self.tenant)
            .filter(importer=self.importer, sha256=self.sha256, created_at__lt=self.created_at)
        )
        found: ImportRun | None = same.order_by("-created_at").first()
        return found


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
