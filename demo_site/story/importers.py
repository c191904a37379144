"""The big import of the story."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from django import forms

from demo_site.story.models import Delivery
from fairimport.importers import Column, Importer, Outcome, register

if TYPE_CHECKING:
    from fairimport.importers import Row
    from fairimport.models import ImportRun


@register
class Deliveries(Importer):
    """Rows that take as long as the story says, and leave one effect each."""

    title = "Deliveries"
    row_seconds = float(os.environ.get("STORY_ROW_SECONDS", "0.28"))
    number = Column(forms.IntegerField(), key=True)

    def prepare_row(self, row: Row, run: ImportRun) -> None:
        """Stand for a call of a slow service."""
        time.sleep(self.row_seconds)

    def save_row(self, row: Row, run: ImportRun) -> Outcome:
        """Note the effect."""
        Delivery.objects.create(tenant=run.tenant, number=row["number"])
        return Outcome.CREATED
