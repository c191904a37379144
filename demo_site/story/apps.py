"""The story is an app of its own, installed only where it is played."""

from __future__ import annotations

from django.apps import AppConfig


class StoryConfig(AppConfig):
    """Brings the table in which each effect of a row or a job is noted."""

    name = "demo_site.story"
    label = "story"
    default_auto_field = "django.db.models.BigAutoField"
