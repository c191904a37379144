"""What a customer can tell a run to do; each view tells `control` and shows the run's page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from fairimport import progress
from fairimport.errors import IllegalMove
from fairimport.models import ImportRun
from fairimport.runs import control
from fairimport.views.access import for_run
from fairimport.views.context import ColumnsPage, columns_context, columns_page
from fairimport.views.counts import written

__all__ = ["VERBS", "ask_cancel", "columns", "verb"]

VERBS: Mapping[str, Callable[[ImportRun, str], object]] = {
    "start": lambda run, by: control.start(run),
    "pause": lambda run, by: control.pause(run, by),
    "resume": lambda run, by: control.resume(run),
    "cancel": lambda run, by: control.cancel(run),
    "retry": lambda run, by: control.retry_rejected(run),
}


@for_run("change_importrun")
@require_POST
def verb(request: HttpRequest, run: ImportRun, verb: str) -> HttpResponse:
    """Do it, and show the run; saying it twice, or too late, does no harm."""
    if verb not in VERBS:
        raise Http404
    try:
        VERBS[verb](run, str(request.user))
    except IllegalMove:
        messages.warning(request, _("That was not done: the import had moved on meanwhile."))
    return redirect("fairimport:run", pk=run.pk)


@never_cache
@for_run("change_importrun")
@require_safe
def ask_cancel(request: HttpRequest, run: ImportRun) -> HttpResponse:
    """Say what stays before a run is cancelled."""
    if not run.can("cancel"):
        return redirect("fairimport:run", pk=run.pk)
    now = progress.of(run)
    facts = {"run": run, "progress": now, "written": written(now)}
    return render(request, "fairimport/cancel.html", facts)


@never_cache
@for_run("change_importrun")
@require_http_methods(["GET", "HEAD", "POST"])
def columns(request: HttpRequest, run: ImportRun) -> HttpResponse:
    """Which column is what; what is missing is said on the same page, which writes only by POST."""
    if not run.can("choose") or not run.facts:
        if request.method == "POST":
            messages.warning(request, _("The columns can no longer be changed."))
        return redirect("fairimport:run", pk=run.pk)
    page = columns_page(run, request.POST if request.method == "POST" else None)
    if not page.is_valid():
        status = 422 if page.form.is_bound else 200
        return render(request, "fairimport/columns.html", columns_context(run, page), status=status)
    return take_columns(request, run, page)


def take_columns(request: HttpRequest, run: ImportRun, page: ColumnsPage) -> HttpResponse:
    """Hand the choices over, and show what comes of them."""
    try:
        control.choose(run, mapping=page.form.mapping(), options=page.options())
    except IllegalMove:
        messages.warning(request, _("The columns can no longer be changed."))
    return redirect("fairimport:run", pk=run.pk)
