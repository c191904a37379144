"""What customers of the demo product can import."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy as _

from demo_site.models import Contact, InvoiceLine
from fairimport.importers import Column, Importer, Outcome, register

if TYPE_CHECKING:
    from fairimport.importers import Row
    from fairimport.models import ImportRun


@register
class InvoiceLines(Importer):
    """Creates invoice lines, and updates those whose number is there already."""

    title = _("Invoice lines")
    description = _("Number, customer, amount and due date; a number that exists is updated.")
    number = Column(
        forms.CharField(label=_("Invoice number"), max_length=20),
        key=True,
        aliases=["invoice", "invoice no", "inv #", "number"],
        example="INV-00001",
    )
    customer = Column(
        forms.CharField(label=_("Customer"), max_length=100, required=False),
        aliases=["client", "bill to", "company"],
        example="Acme Ltd",
    )
    amount = Column(
        forms.DecimalField(label=_("Amount"), max_digits=12, decimal_places=2),
        aliases=["total", "net amount", "sum"],
        example="1234.50",
    )
    due = Column(
        forms.DateField(label=_("Due date")),
        aliases=["due", "payable by", "due on"],
        example="2026-12-31",
    )

    def save_row(self, row: Row, run: ImportRun) -> Outcome:
        """Write one line; a line that is the same already is left alone."""
        wanted = {name: row[name] for name in ("customer", "amount", "due")}
        wanted["customer"] = wanted["customer"] or ""
        line, created = InvoiceLine.objects.get_or_create(
            tenant=run.tenant, number=row["number"], defaults=wanted
        )
        if created:
            return Outcome.CREATED
        if all(getattr(line, name) == value for name, value in wanted.items()):
            return Outcome.UNCHANGED
        InvoiceLine.objects.filter(pk=line.pk).update(**wanted)
        return Outcome.UPDATED


@register
class SlowInvoices(InvoiceLines):
    """Invoice lines whose every row asks a slow service first; for trying what fairness does."""

    title = _("Invoice lines, slowly")
    description = _("The same, but each row takes 280 ms, as if a slow service were asked.")
    row_seconds = 0.28

    def prepare_row(self, row: Row, run: ImportRun) -> None:
        """Stand for a call of a remote service, outside of any transaction."""
        time.sleep(self.row_seconds)


@register
class Contacts(Importer):
    """Creates contacts, and updates those whose address is there already."""

    title = _("Contacts")
    description = _("E-mail, name and phone; an address that exists is updated.")
    email = Column(
        forms.EmailField(label=_("E-mail")),
        key=True,
        aliases=["e-mail", "mail", "e-mail address"],
        example="ada@example.com",
    )
    name = Column(
        forms.CharField(label=_("Name"), max_length=100),
        aliases=["full name", "contact"],
        example="Ada Lovelace",
    )
    phone = Column(
        forms.CharField(label=_("Phone"), max_length=30, required=False),
        aliases=["telephone", "mobile"],
        example="+49 30 123456",
    )

    def save_row(self, row: Row, run: ImportRun) -> Outcome:
        """Write one contact."""
        _contact, created = Contact.objects.update_or_create(
            tenant=run.tenant,
            email=row["email"],
            defaults={"name": row["name"], "phone": row["phone"] or ""},
        )
        return Outcome.CREATED if created else Outcome.UPDATED
