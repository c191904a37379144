"""The demo's Django application."""

from __future__ import annotations

from django.apps import AppConfig


class DemoSiteConfig(AppConfig):
    """A small billing product that its customers import into."""

    name = "demo_site"
    verbose_name = "Demo billing"
