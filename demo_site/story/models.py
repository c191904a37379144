"""What the story's work leaves behind."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class Delivery(models.Model):
    """One effect. Nothing keeps a second one out, so that work done twice is seen."""

    tenant = models.CharField(max_length=50)
    number = models.PositiveIntegerField()

    objects: ClassVar[models.Manager[Delivery]] = models.Manager()

    def __str__(self) -> str:
        return f"{self.tenant} {self.number}"
