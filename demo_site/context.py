"""What each page of the demo's shell needs to know."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from demo_site.tenants import company_of


def company(request: HttpRequest) -> dict[str, Any]:
    """Give templates the signed-in person's company as `company`, or None."""
    return {"company": SimpleLazyObject(lambda: company_of(request))}
