"""Make the demo site ready; running it again changes nothing."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.management import BaseCommand, call_command

from demo_site.accounts import COMPANIES, OPERATOR, Account
from demo_site.models import Company, Membership
from demo_site.samples import write_samples
from fairimport.models import TenantLimit


class Command(BaseCommand):
    """Migrate, create the three companies and their people, write the sample files."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Bring the demo's database and folder to the state that its first page describes."""
        call_command("migrate", interactive=False, verbosity=0)
        for account in COMPANIES:
            add_member(account)
        add_operator()
        written = write_samples(settings.DEMO_DIR / "samples")
        self.stdout.write(f"Demo is ready; {len(written)} sample files written.")


def add_member(account: Account) -> None:
    """Create the company and its person, who may import."""
    company, _created = Company.objects.get_or_create(
        key=account.company, defaults={"name": account.company_name}
    )
    person, is_new = get_user_model().objects.get_or_create(
        username=account.username, defaults={"first_name": account.first_name}
    )
    if is_new:
        person.set_password(account.password)
        person.save()
    permissions = Permission.objects.filter(
        content_type__app_label="fairimport", content_type__model="importrun"
    )
    person.user_permissions.add(*permissions)
    Membership.objects.get_or_create(user=person, defaults={"company": company})
    TenantLimit.objects.of(company.key)


def add_operator() -> None:
    """Create the operator, who sees the admin and belongs to no company."""
    people = get_user_model().objects
    if not people.filter(username=OPERATOR.username).exists():
        people.create_superuser(
            OPERATOR.username, password=OPERATOR.password, first_name=OPERATOR.first_name
        )
