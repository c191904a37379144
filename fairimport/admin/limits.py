"""Caps, weights and pauses of tenants, beside what the tenants do at this moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from fairimport.dashboard import SILENT, Seen, fairness, look
from fairimport.models import TenantLimit

if TYPE_CHECKING:
    LimitModelAdmin = admin.ModelAdmin[TenantLimit]
else:
    LimitModelAdmin = admin.ModelAdmin


class LimitsWithLanes(ChangeList):
    """The list of limits; asks the lanes once for all tenants on the page."""

    seen: Seen = SILENT

    def get_results(self, request: HttpRequest) -> None:
        """Give each limit its lane as `lane`."""
        super().get_results(request)
        limits = list(self.result_list)
        self.seen = look([limit.tenant for limit in limits])
        for limit in limits:
            limit.lane = self.seen.of(limit.tenant)
        self.result_list = limits
        if not self.seen.answers:
            messages.warning(request, REDIS_IS_SILENT)


REDIS_IS_SILENT = gettext_lazy(
    "Redis does not answer, so nobody knows what is in flight and waiting. "
    "What you set here is saved, and counts as soon as Redis is back."
)


@admin.register(TenantLimit)
class TenantLimitAdmin(LimitModelAdmin):
    """What a tenant may use; a change counts from the next claim on."""

    list_display = (
        "tenant_name",
        "cap_in_words",
        "weight",
        "in_flight",
        "waiting",
        "paused_in_words",
    )
    list_display_links = ("tenant_name",)
    list_filter = ("paused",)
    search_fields = ("tenant",)
    fields = ("tenant", "cap", "weight", "paused", "paused_by", "paused_at", "lane_now")
    readonly_fields = ("paused_by", "paused_at", "lane_now")
    actions = ("pause", "go_on")
    change_list_template = "admin/fairimport/tenantlimit/change_list.html"

    class Media:
        css = {"all": ("fairimport/admin.css",)}

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        """Use the list that asks the lanes."""
        return LimitsWithLanes

    def get_urls(self) -> list[URLPattern]:
        """Add the page about fairness."""
        page = self.admin_site.admin_view(fairness)
        return [path("fairness/", page, name="fairimport_fairness"), *super().get_urls()]

    def get_readonly_fields(
        self, request: HttpRequest, obj: TenantLimit | None = None
    ) -> tuple[str, ...]:
        """A tenant's key is for ever."""
        return ("tenant", *self.readonly_fields) if obj else self.readonly_fields

    def has_delete_permission(self, request: HttpRequest, obj: TenantLimit | None = None) -> bool:
        """A limit is never deleted: without one the tenant's work would never be handed out."""
        return False

    def save_model(
        self, request: HttpRequest, obj: TenantLimit, form: ModelForm[TenantLimit], change: bool
    ) -> None:
        """Keep who paused it, and since when."""
        if "paused" in form.changed_data:
            _mark_pause(obj, request)
        super().save_model(request, obj, form, change)
        if obj.cap == 0:
            messages.info(request, _("A cap of 0 pauses %(name)s.") % {"name": obj})

    @admin.action(description=gettext_lazy("Pause the chosen tenants"), permissions=["change"])
    def pause(self, request: HttpRequest, queryset: QuerySet[TenantLimit]) -> None:
        """Hand out nothing more; what runs is finished."""
        self._set_paused(request, queryset, paused=True)

    @admin.action(description=gettext_lazy("Let the chosen tenants go on"), permissions=["change"])
    def go_on(self, request: HttpRequest, queryset: QuerySet[TenantLimit]) -> None:
        """End the pause."""
        self._set_paused(request, queryset, paused=False)

    def _set_paused(
        self, request: HttpRequest, queryset: QuerySet[TenantLimit], *, paused: bool
    ) -> None:
        limits = list(queryset.exclude(paused=paused))
        for limit in limits:
            limit.paused = paused
            _mark_pause(limit, request)
            limit.save()
        done = len(limits)
        messages.success(
            request, ngettext("%(n)s tenant changed.", "%(n)s tenants changed.", done) % {"n": done}
        )

    @admin.display(description=gettext_lazy("tenant"), ordering="tenant")
    def tenant_name(self, limit: TenantLimit) -> str:
        """The key, or words for work that belongs to nobody."""
        return str(limit)

    @admin.display(description=gettext_lazy("cap"), ordering="cap")
    def cap_in_words(self, limit: TenantLimit) -> str:
        """The cap; 0 in words."""
        return str(limit.cap) if limit.cap else _("0 (paused)")

    @admin.display(description=gettext_lazy("in flight"))
    def in_flight(self, limit: Any) -> str | SafeString:
        """Live leases now; marked while a lowered cap drains."""
        if limit.lane is None:
            return "–"
        if limit.lane.in_flight > limit.cap:
            said = _("over its cap, draining")
            return format_html(
                '{} <span class="fi-admin-warn">{}</span>', limit.lane.in_flight, said
            )
        return str(limit.lane.in_flight)

    @admin.display(description=gettext_lazy("waiting"))
    def waiting(self, limit: Any) -> str:
        """Jobs in the lane now."""
        return "–" if limit.lane is None else str(limit.lane.waiting)

    @admin.display(description=gettext_lazy("paused"), ordering="paused")
    def paused_in_words(self, limit: TenantLimit) -> str:
        """Who paused it, and since when."""
        if not limit.paused:
            return "–"
        since = (
            date_format(timezone.localtime(limit.paused_at), "SHORT_DATETIME_FORMAT")
            if limit.paused_at
            else "?"
        )
        return _("by %(who)s since %(since)s") % {"who": limit.paused_by or "?", "since": since}

    @admin.display(description=gettext_lazy("now"))
    def lane_now(self, limit: TenantLimit) -> str:
        """In flight and waiting, on the page of one limit."""
        if limit.pk is None:
            return "–"
        lane = look([limit.tenant]).of(limit.tenant)
        if lane is None:
            return _("not known")
        numbers = {"flight": lane.in_flight, "waiting": lane.waiting}
        return _("%(flight)s in flight, %(waiting)s waiting") % numbers


def _mark_pause(limit: TenantLimit, request: HttpRequest) -> None:
    limit.paused_by = str(request.user) if limit.paused else ""
    limit.paused_at = timezone.now() if limit.paused else None
