"""Whose request is this: the company that the signed-in person works for."""

from __future__ import annotations

from django.http import HttpRequest

from demo_site.models import Company


def tenant_of(request: HttpRequest) -> str | None:
    """Return the key of the person's company, or None for strangers and for the operator."""
    company = company_of(request)
    return company.key if company else None


def company_of(request: HttpRequest) -> Company | None:
    """Return the signed-in person's company, if there is one."""
    if not request.user.is_authenticated:
        return None
    return Company.objects.filter(members__user=request.user).first()
