"""The demo's own pages: what to try first, the records, the sample files, signing in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from demo_site.accounts import COMPANIES, OPERATOR
from demo_site.models import Contact, InvoiceLine
from demo_site.samples import SAMPLES
from demo_site.tenants import tenant_of

SHOWN_RECORDS = 100


class SignIn(LoginView):
    """Signs somebody in; shows who there is, because this is a demo."""

    template_name = "registration/login.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the demo's accounts."""
        return super().get_context_data(**kwargs, companies=COMPANIES, operator=OPERATOR)


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Say what to try first."""
    return render(request, "demo/home.html", {"samples": SAMPLES, "companies": COMPANIES})


@login_required
@require_safe
def records(request: HttpRequest) -> HttpResponse:
    """Show what the person's company has imported."""
    tenant = tenant_of(request)
    lines = InvoiceLine.objects.filter(tenant=tenant)
    contacts = Contact.objects.filter(tenant=tenant)
    facts = {
        "lines": lines[:SHOWN_RECORDS],
        "line_count": lines.count(),
        "contacts": contacts[:SHOWN_RECORDS],
        "contact_count": contacts.count(),
        "shown": SHOWN_RECORDS,
    }
    return render(request, "demo/records.html", facts)


@login_required
@require_safe
def sample(request: HttpRequest, name: str) -> FileResponse:
    """Give one of the sample files, as a download."""
    path = settings.DEMO_DIR / "samples" / name
    if name not in {sample.name for sample in SAMPLES} or not path.exists():
        raise Http404
    return FileResponse(path.open("rb"), as_attachment=True, filename=name)
