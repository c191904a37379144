"""Who may do what: signed in, a tenant, a permission, and only the tenant's own runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from fairimport.models import ImportRun
from fairimport.tenants import tenant_of

__all__ = ["for_run", "for_tenant"]

P = ParamSpec("P")
TenantView = Callable[Concatenate[HttpRequest, str, P], HttpResponseBase]
RunView = Callable[Concatenate[HttpRequest, ImportRun, P], HttpResponseBase]


def for_tenant(permission: str) -> Callable[[TenantView[P]], Callable[..., HttpResponseBase]]:
    """Call the view with the request's tenant; others are sent to sign in or get a 403 page."""

    def decorate(view: TenantView[P]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def guarded(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return ask_to_sign_in(request, kwargs.get("pk"))
            tenant = tenant_of(request)
            if tenant is None:
                return refuse(
                    request, _("This account belongs to nobody for whom files are imported.")
                )
            if not request.user.has_perm(f"fairimport.{permission}"):
                return refuse(
                    request, _("This account may not do that. Ask who looks after accounts.")
                )
            return view(request, tenant, *args, **kwargs)

        return guarded

    return decorate


def for_run(permission: str) -> Callable[[RunView[P]], Callable[..., HttpResponseBase]]:
    """Call the view with the tenant's run of this `pk`; the runs of others do not exist."""

    def decorate(view: RunView[P]) -> Callable[..., HttpResponseBase]:
        def guarded(
            request: HttpRequest, tenant: str, /, pk: UUID, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponseBase:
            run = ImportRun.objects.for_tenant(tenant).select_related("created_by").filter(pk=pk)
            found = run.first()
            if found is None:
                raise Http404
            return view(request, found, *args, **kwargs)

        return wraps(view)(for_tenant(permission)(guarded))

    return decorate


def ask_to_sign_in(request: HttpRequest, pk: object) -> HttpResponse:
    """Send to the sign-in page and from there to a page that can be read, never to a verb."""
    reading = request.method in ("GET", "HEAD") and "HX-Request" not in request.headers
    page = reverse("fairimport:run", args=[pk]) if pk else reverse("fairimport:list")
    answer = redirect_to_login(request.get_full_path() if reading else page)
    if request.method not in ("GET", "HEAD"):
        messages.warning(request, _("Your session has ended. Sign in and do it again."))
    if "HX-Request" in request.headers:
        return HttpResponse(headers={"HX-Redirect": answer.url})
    return answer


def refuse(request: HttpRequest, reason: str) -> HttpResponse:
    """A page that says why not."""
    return render(request, "fairimport/forbidden.html", {"reason": reason}, status=403)
