"""Rows that are tried again, as chunks of their own, and rows that are stored anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from django.db.models import F, Max

from fairimport.conf import settings
from fairimport.models import Chunk, ImportRun, KeyIndex, RejectedRow, TenantLimit
from fairimport.runs.payloads import chunk_rows, pack

__all__ = ["add_chunks", "drop_rows"]


def add_chunks(run: ImportRun, lines: Iterable[bytes]) -> int:
    """Store rejected rows of a locked run as retry chunks; return how many rows.

    They stay rejected until their new outcome replaces it.
    """
    cap = TenantLimit.objects.cap_of(run.tenant)
    size = chunk_rows(RejectedRow.objects.filter(run=run).count(), cap, settings.chunk_rows)
    last = run.chunks.aggregate(last=Max("index", default=0))["last"]
    chunks = [
        Chunk(run=run, index=last + n, retry=True, size=len(part), payload=pack(part))
        for n, part in enumerate(_parts(lines, size), start=1)
    ]
    Chunk.objects.bulk_create(chunks)
    return sum(chunk.size for chunk in chunks)


def drop_rows(run: ImportRun) -> None:
    """Forget the stored rows of a locked run, because they will be stored anew.

    Jobs that still work on them have an old token and write nothing more.
    """
    run.chunks.all().delete()
    RejectedRow.objects.filter(run=run).delete()
    KeyIndex.objects.filter(run=run).delete()
    ImportRun.objects.filter(pk=run.pk).update(job_token=F("job_token") + 1)


def _parts(lines: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    rest = iter(lines)
    while part := list(islice(rest, size)):
        yield part
