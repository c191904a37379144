"""The demo's companies and records in the admin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin

from demo_site.models import Company, Contact, InvoiceLine, Membership

if TYPE_CHECKING:
    MembershipInline = admin.TabularInline[Membership, Company]
    CompanyModelAdmin = admin.ModelAdmin[Company]
else:
    MembershipInline = admin.TabularInline
    CompanyModelAdmin = admin.ModelAdmin


class Members(MembershipInline):
    """The people of a company, on its page."""

    model = Membership
    extra = 0


@admin.register(Company)
class CompanyAdmin(CompanyModelAdmin):
    """A company and its people."""

    list_display = ("name", "key")
    inlines = (Members,)


admin.site.register((InvoiceLine, Contact))
admin.site.site_header = admin.site.site_title = "Ledgerly, for the operator"
