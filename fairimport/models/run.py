"""One upload, from intake to its end."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from django.conf import settings as django_settings
from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from fairimport.importers import Importer, registry
from fairimport.querysets import RunQuerySet
from fairimport.signals import run_moved
from fairimport.states import ACTIVE, ENDED, Event, State, events_of, may_move

__all__ = ["ImportRun"]

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
