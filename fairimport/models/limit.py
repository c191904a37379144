"""What the operator allows a tenant."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from fairimport.conf import settings
from fairimport.querysets import TenantLimitQuerySet

__all__ = ["TenantLimit"]


def default_cap() -> int:
    return int(settings.cap)


def default_weight() -> float:
    return float(settings.weight)


class TenantLimit(models.Model):
    """What a tenant may use at once; lanes hold a copy that is pushed on commit."""

    tenant = models.CharField(_("tenant"), max_length=190, unique=True)
    cap = models.PositiveIntegerField(
        _("cap"),
        default=default_cap,
        help_text=_("Most slots at once; 0 pauses the tenant. Running work is never stopped."),
    )
    weight = models.FloatField(
        _("weight"),
        default=default_weight,
        validators=[MinValueValidator(0.01), MaxValueValidator(1000)],
        help_text=_("Share relative to others; 1 is normal."),
    )
    paused = models.BooleanField(_("paused"), default=False)
    paused_by = models.CharField(_("paused by"), max_length=190, blank=True)
    paused_at = models.DateTimeField(_("paused at"), null=True, blank=True)

    objects = TenantLimitQuerySet.as_manager()

    class Meta:
        verbose_name = _("tenant's limit")
        verbose_name_plural = _("tenants' limits")
        ordering = ("tenant",)
        constraints = (
            models.CheckConstraint(condition=Q(weight__gt=0), name="fairimport_weight_positive"),
        )

    def __str__(self) -> str:
        return self.tenant or str(_("(no tenant)"))
