"""Jobs of the story; RQ calls them by their dotted path."""

from __future__ import annotations

import time

from demo_site.story.models import Delivery

__all__ = ["SMALL_JOB_S", "send_invoice", "work_through"]

SMALL_JOB_S = 0.05


def send_invoice(tenant: str, number: int) -> None:
    """A small tenant's job: it takes `SMALL_JOB_S` seconds."""
    time.sleep(SMALL_JOB_S)
    Delivery.objects.create(tenant=tenant, number=number)


def work_through(tenant: str, first: int, count: int, row_seconds: float) -> None:
    """Rows of the big import as a host without lanes has them: some rows in each job."""
    for number in range(first, first + count):
        time.sleep(row_seconds)
        Delivery.objects.create(tenant=tenant, number=number)
