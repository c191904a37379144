"""A small billing product: companies, who works for them, their invoice lines and contacts."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Company(models.Model):
    """A customer of the demo product; its `key` is the tenant that imports are made for."""

    key = models.SlugField(unique=True)
    name = models.CharField(max_length=100)

    class Meta:
        verbose_name_plural = "companies"
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """Says which company a person works for; nobody works for two."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE)
    company = models.ForeignKey(Company, models.CASCADE, related_name="members")

    class Meta:
        ordering = ("company", "user")

    def __str__(self) -> str:
        return f"{self.user} of {self.company}"


class InvoiceLine(models.Model):
    """What a company has billed; its number is unique within the company."""

    tenant = models.SlugField()
    number = models.CharField(max_length=20)
    customer = models.CharField(max_length=100, blank=True)
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    due = models.DateField()

    class Meta:
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("tenant", "number"), name="one_line_a_number"),
        )

    def __str__(self) -> str:
        return self.number


class Contact(models.Model):
    """Somebody whom a company writes to; the address is unique within the company."""

    tenant = models.SlugField()
    email = models.EmailField()
    name = models.CharField(max_length=100)
    phone = models.CharField(max_length=30, blank=True)

    class Meta:
        ordering = ("email",)
        constraints = (
            models.UniqueConstraint(fields=("tenant", "email"), name="one_contact_an_email"),
        )

    def __str__(self) -> str:
        return self.email
