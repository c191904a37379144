"""Files come in: a new import, or the corrected rows of one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from fairimport.conf import settings
from fairimport.errors import FileRefused, IllegalMove
from fairimport.forms import CorrectedForm, FileForm, UploadForm
from fairimport.models import ImportRun
from fairimport.runs import intake
from fairimport.views.access import for_run, for_tenant
from fairimport.views.limits import limit_uploads
from fairimport.wording import refusal

__all__ = ["corrected", "upload"]

MINUTE = 60


@csrf_exempt  # checked in `new_import`, after the limit was put before the body is read
@never_cache
@for_tenant("add_importrun")
@require_http_methods(["GET", "HEAD", "POST"])
def upload(request: HttpRequest, tenant: str) -> HttpResponseBase:
    """The form for a new import."""
    if request.method == "POST" and too_many(request, tenant):
        return slow_down(request)
    if request.method == "POST":
        limit_uploads(request)
        return new_import(request, tenant)
    return show(request, UploadForm(initial={"importer": request.GET.get("importer")}))


def too_many(request: HttpRequest, tenant: str) -> bool:
    """Whether this person has uploaded as much within a minute as anybody may."""
    lately = timezone.now() - timedelta(seconds=MINUTE)
    mine = ImportRun.objects.for_tenant(tenant).filter(created_by=signed_in(request).pk)
    most: int = settings.uploads_per_minute
    return 0 < most <= mine.filter(created_at__gt=lately).count()


def slow_down(request: HttpRequest) -> HttpResponse:
    """Answer before the file is read; what was chosen has to be chosen again."""
    messages.error(request, _("That were many files within a minute. Wait a minute and go on."))
    answer = show(request, UploadForm(), status=429)
    answer.headers["Retry-After"] = str(MINUTE)
    return answer


@csrf_protect
def new_import(request: HttpRequest, tenant: str) -> HttpResponse:
    """Take the file and go to its run; the same form sent twice leads to the same run."""
    form = UploadForm(request.POST, request.FILES)
    if not accepted(request, form):
        return show(request, form, status=422)
    try:
        run = intake.receive(tenant=tenant, user=signed_in(request), **given(form, "importer"))
    except FileRefused as refused:
        form.refuse(refusal(refused.code, refused.facts))
        return show(request, form, status=422)
    return redirect("fairimport:run", pk=run.pk)


@csrf_exempt  # checked in `corrected_rows`
@for_run("change_importrun")
@require_POST
def corrected(request: HttpRequest, run: ImportRun) -> HttpResponseBase:
    """The corrected rows of a run."""
    limit_uploads(request)
    return corrected_rows(request, run)


@csrf_protect
def corrected_rows(request: HttpRequest, run: ImportRun) -> HttpResponse:
    """Take the file into its run, or say why not, on the run's page."""
    form = CorrectedForm(request.POST, request.FILES)
    try:
        if accepted(request, form):
            intake.receive_corrected(run, **given(form))
        else:
            messages.error(request, str(form.errors["file"][0]))
    except FileRefused as refused:
        messages.error(request, refusal(refused.code, refused.facts))
    except IllegalMove:
        messages.warning(request, _("This import does not wait for corrected rows."))
    return redirect("fairimport:run", pk=run.pk)


def accepted(request: HttpRequest, form: FileForm) -> bool:
    """Whether the form can be used; a file that was cut off at the limit is named as such."""
    limits = [h for h in request.upload_handlers if getattr(h, "exceeded", False)]
    if limits:
        form.refuse(refusal("file_too_large", {"limit": settings.max_upload_mib}))
    return form.is_valid()


def given(form: FileForm, *names: str) -> dict[str, Any]:
    """The form's answers, under the names that the intake knows."""
    answers = {name: form.cleaned_data[name] for name in names}
    return {
        **answers,
        "upload": form.cleaned_data["file"],
        "token": str(form.cleaned_data["token"]),
    }


def signed_in(request: HttpRequest) -> Any:
    """The person; the access check has seen to it that there is one."""
    return request.user


def show(request: HttpRequest, form: UploadForm, status: int = 200) -> HttpResponse:
    """The page with the form; what was wrong stands beside its field."""
    return render(request, "fairimport/upload.html", {"form": form}, status=status)
