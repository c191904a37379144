"""Pages that are only read: the list of imports, one import, and the part of it that changes."""

from __future__ import annotations

import hashlib

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from fairimport.models import ImportRun
from fairimport.views.access import for_run, for_tenant
from fairimport.views.context import fragment_context, page_context
from fairimport.views.lines import lines_of

__all__ = ["fragment", "run_list", "run_page"]

PAGE_SIZE = 25


@never_cache
@for_tenant("view_importrun")
@require_safe
def run_list(request: HttpRequest, tenant: str) -> HttpResponse:
    """The tenant's imports, the newest first."""
    runs = ImportRun.objects.for_tenant(tenant).select_related("created_by")
    page = Paginator(runs, PAGE_SIZE).get_page(request.GET.get("page"))
    lines = lines_of(page)
    asks_again = any(line.face.every for line in lines)
    return render(
        request, "fairimport/list.html", {"page": page, "rows": lines, "asks_again": asks_again}
    )


@never_cache
@for_run("view_importrun")
@require_safe
def run_page(request: HttpRequest, run: ImportRun) -> HttpResponse:
    """One import, whatever its state."""
    return render(request, "fairimport/run.html", page_context(run))


@never_cache
@for_run("view_importrun")
@require_safe
def fragment(request: HttpRequest, run: ImportRun) -> HttpResponse:
    """The changing part of that page; 304 when it is what the browser has already."""
    answer = render(request, "fairimport/fragment.html", fragment_context(run))
    etag = f'"{hashlib.sha256(answer.content).hexdigest()[:32]}"'
    answer["ETag"] = etag
    return get_conditional_response(request, etag=etag, response=answer) or answer
