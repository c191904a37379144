"""The Django application."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FairImportConfig(AppConfig):
    """Registers checks and importers when Django starts."""

    name = "fairimport"
    verbose_name = _("Imports")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make known the system checks, importers of all installed apps, hooks, and lanes."""
        from fairimport import checks  # noqa: F401  (registers them)
        from fairimport.importers import autodiscover
        from fairimport.lanes import adopt
        from fairimport.runs import hooks

        autodiscover()
        hooks.connect()
        adopt()
