"""Whose request is this."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.utils.module_loading import import_string

from fairimport.conf import settings

__all__ = ["tenant_of"]


def tenant_of(request: HttpRequest) -> str | None:
    """Ask the host's resolver (`FAIRIMPORT["TENANT"]`); None means that nobody may import here."""
    if not settings.tenant:
        raise ImproperlyConfigured('FAIRIMPORT["TENANT"] must name a callable(request)')
    resolve: Callable[[HttpRequest], str | None] = import_string(settings.tenant)
    return resolve(request)
