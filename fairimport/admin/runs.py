"""All imports with their states and verbs; facts are read-only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from fairimport import progress, wording
from fairimport.errors import IllegalMove
from fairimport.models import ImportRun
from fairimport.runs import control
from fairimport.states import State
from fairimport.templatetags.fairimport import importer_title, plain_name
from fairimport.views.counts import sum_line_of
from fairimport.views.faces import FACES

if TYPE_CHECKING:
    RunModelAdmin = admin.ModelAdmin[ImportRun]
else:
    RunModelAdmin = admin.ModelAdmin


FACTS = ("name", "tenant", "kind", "state_pill", "numbers", "reason", "failure")
TIMES = ("created_at", "created_by", "state_changed_at", "started_at", "finished_at")
FILE = ("size", "sha256", "mapping", "options", "noticed")


@admin.register(ImportRun)
class ImportRunAdmin(RunModelAdmin):
    """Imports of all tenants; changed only by their verbs."""

    list_display = ("name", "tenant", "kind", "state_pill", "total", "created_at")
    list_filter = ("state", "importer")
    list_select_related = ("created_by",)
    search_fields = ("filename", "tenant", "id")
    actions = ("pause", "resume", "cancel", "retry")
    fieldsets = (
        (None, {"fields": FACTS}),
        (gettext_lazy("Times"), {"fields": TIMES}),
        (gettext_lazy("File"), {"fields": FILE, "classes": ["collapse"]}),
    )
    readonly_fields = (*FACTS, *TIMES, *FILE)

    class Media:
        css = {"all": ("fairimport/admin.css",)}

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A run begins with an upload."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ImportRun | None = None) -> bool:
        """A run is cancelled, and purged when its time has come."""
        return False

    @admin.action(description=gettext_lazy("Pause the chosen imports"), permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[ImportRun]) -> None:
        """Pause."""
        by = str(request.user)
        _say(request, queryset, lambda run: control.pause(run, by))

    @admin.action(description=gettext_lazy("Resume the chosen imports"), permissions=["change"])
    def resume(self, request: HttpRequest, queryset: QuerySet[ImportRun]) -> None:
        """Resume."""
        _say(request, queryset, control.resume)

    @admin.action(description=gettext_lazy("Cancel the chosen imports"), permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[ImportRun]) -> None:
        """Cancel; what is written stays."""
        _say(request, queryset, control.cancel)

    @admin.action(description=gettext_lazy("Retry rejected rows"), permissions=["change"])
    def retry(self, request: HttpRequest, queryset: QuerySet[ImportRun]) -> None:
        """Try rejected rows, or what a failed run has left, again."""
        _say(request, queryset, control.retry_rejected)

    @admin.display(description=gettext_lazy("file"), ordering="filename")
    def name(self, run: ImportRun) -> str:
        """The customer's name for the file."""
        return plain_name(run.filename)

    @admin.display(description=gettext_lazy("importer"), ordering="importer")
    def kind(self, run: ImportRun) -> str:
        """The importer's title."""
        return importer_title(run.importer)

    @admin.display(description=gettext_lazy("state"), ordering="state")
    def state_pill(self, run: ImportRun) -> SafeString:
        """The state, as the customer sees it."""
        face = FACES[State(run.state)]
        return format_html(
            '<span class="fi-admin-pill fi-admin-{}">{}</span>', face.tone, face.label
        )

    @admin.display(description=gettext_lazy("rows"))
    def numbers(self, run: ImportRun) -> str:
        """The sum of all outcomes."""
        return sum_line_of(progress.of(run)) or "–"

    @admin.display(description=gettext_lazy("why it does not move"))
    def reason(self, run: ImportRun) -> str:
        """The reason in words, if it waits."""
        why = progress.of(run).reason
        return why.text if why else "–"

    @admin.display(description=gettext_lazy("what went wrong"))
    def failure(self, run: ImportRun) -> str:
        """Why it failed, if it did."""
        return wording.refusal(run.error_code, run.error_facts) if run.error_code else "–"

    @admin.display(description=gettext_lazy("what was noticed"))
    def noticed(self, run: ImportRun) -> str:
        """The warnings as sentences."""
        return " ".join(wording.warning(noticed) for noticed in run.warnings) or "–"


def _say(
    request: HttpRequest, queryset: QuerySet[ImportRun], tell: Callable[[ImportRun], Any]
) -> None:
    done = refused = 0
    for run in queryset:
        try:
            tell(run)
            done += 1
        except IllegalMove:
            refused += 1
    if done:
        said = ngettext("%(n)s import was told so.", "%(n)s imports were told so.", done)
        messages.success(request, said % {"n": done})
    if refused:
        messages.warning(
            request, _("%(n)s could not, because of the state they are in.") % {"n": refused}
        )
