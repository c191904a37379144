"""Importers whose rows do what the test asks for, by the text in their `name` column."""

from __future__ import annotations

import os
import time

from django import forms
from django.db import IntegrityError, OperationalError

from fairimport.importers import (
    Column,
    Importer,
    ModelImporter,
    Outcome,
    Reject,
    Skip,
    register,
)
from tests.warehouse.models import Article, Movement


def be_slow(ms):
    """Sleep, if at all: even a sleep of nothing gives the processor away."""
    if ms:
        time.sleep(ms / 1000)


@register
class Movements(Importer):
    """Adds one record a row, without any key: a row that is done twice is seen twice.

    The option `sleep_ms` makes rows slow before the transaction, `save_ms` inside it.
    """

    code = Column(forms.CharField(max_length=40), unique=True)
    name = Column(forms.CharField(max_length=100, required=False))
    qty = Column(forms.IntegerField(required=False))

    def check_row(self, row, run):
        """Refuse on demand; there is nothing else to look at."""
        if row["name"] == "refuse":
            raise Reject("we do not move this", field="name", code="not_moved")

    def prepare_row(self, row, run):
        """Be slow, hang or die on demand."""
        be_slow(run.options.get("sleep_ms"))
        if row["name"] == "die":
            os._exit(7)
        if row["name"] == "hang":
            time.sleep(600)

    def save_row(self, row, run):
        """Write on demand, or answer as the row says."""
        be_slow(run.options.get("save_ms"))
        match row["name"]:
            case "skip":
                raise Skip("nothing to do")
            case "slow":
                time.sleep(0.06)
            case "raise":
                Movement.objects.create(tenant=run.tenant, code="half-written", quantity=0)
                raise RuntimeError(f"secret {row['code']}")
            case "integrity":
                raise IntegrityError(f"secret {row['code']}")
            case "away" if not os.environ.pop("MOVEMENTS_DATABASE_IS_BACK", ""):
                raise OperationalError("the database is away")
        Movement.objects.create(tenant=run.tenant, code=row["code"], quantity=row["qty"] or 0)
        return {"update": Outcome.UPDATED, "same": Outcome.UNCHANGED}.get(row["name"])


@register
class BulkMovements(Movements):
    """The same, written together; a row named `spoil` spoils all that are written with it."""

    def save_rows(self, rows, run):
        """Write all rows or none."""
        Movement.objects.bulk_create(
            Movement(tenant=run.tenant, code=row["code"], quantity=row["qty"] or 0) for row in rows
        )
        if any(row["name"] in ("spoil", "raise") for row in rows):
            raise RuntimeError("one of them spoils it")
        return [Outcome.CREATED] * len(rows)


@register
class HookedMovements(Movements):
    """Notes that its run begins and ends."""

    def before_run(self, run):
        """Leave a record before the first row."""
        Movement.objects.create(tenant=run.tenant, code=f"before {run.pk}", quantity=0)

    def after_run(self, run):
        """Leave a record after the last row."""
        Movement.objects.create(tenant=run.tenant, code=f"after {run.pk}", quantity=0)


@register
class Articles(ModelImporter):
    """New articles only: a code that is there already is refused."""

    model = Article
    fields = ("code", "name", "quantity")
    code = Column(forms.CharField(max_length=40), unique=True)
    name = Column(forms.CharField(max_length=100, required=False))
    quantity = Column(forms.IntegerField(required=False), aliases=["qty"])


@register
class KnownArticles(Articles):
    """Articles by their code: those that are there already are updated."""

    key = "code"
    code = Column(forms.CharField(max_length=40), key=True)
