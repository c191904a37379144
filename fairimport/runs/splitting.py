"""The job that stores a run's rows as chunks, and finds keys that stand in the file twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Sum

from fairimport.conf import settings
from fairimport.errors import FileRefused
from fairimport.models import Chunk, ImportRun, KeyIndex, TenantLimit
from fairimport.runs import feeding, files, finishing, session
from fairimport.runs.binding import DuplicateFinder
from fairimport.runs.payloads import chunk_rows, pack
from fairimport.runs.reading import begin
from fairimport.sheets import encode
from fairimport.sheets import rows as spooled
from fairimport.states import State

__all__ = ["split"]


def split(
    pk: Any, *, budget: float | None = None, should_stop: Callable[[], bool] = lambda: False
) -> bool:
    """Store rows as chunks for about `budget` seconds (default: `SLICE`); True when all are.

    The next call goes on where this one ended, wherever it runs.
    """
    run = begin(pk)
    if run is None or run.state != State.CHECKING:
        return True
    try:
        with session.as_uploader(run), files.local(run.spool) as spool:
            return _Split(run, spool, budget, should_stop).work()
    except FileRefused as refused:
        finishing.fail(pk, refused.code, **refused.facts)
        return True
    finally:
        feeding.reader_soon(run.tenant)


class _Split:
    def __init__(
        self, run: ImportRun, spool: Path, budget: float | None, should_stop: Callable[[], bool]
    ) -> None:
        self.run = run
        self.rows = spooled(spool, run.split_offset)
        self.deadline = time.monotonic() + (settings.slice if budget is None else budget)
        self.should_stop = should_stop
        self.keys, _ = KeyIndex.objects.get_or_create(run=run)
        self.finder = DuplicateFinder(session.open_binding(run), bytes(self.keys.digests))
        cap = TenantLimit.objects.cap_of(run.tenant)
        self.size = chunk_rows(int(run.facts.get("row_count", 0)), cap, settings.chunk_rows)

    def work(self) -> bool:
        chunks: list[Chunk] = []
        offset = self.run.split_offset
        first = self.run.chunks.count()
        complete = True
        for end, lines in self._parts():
            offset = end
            chunks.append(self._chunk(first + len(chunks), lines))
            if time.monotonic() >= self.deadline or self.should_stop():
                complete = False
                break
        return self._store(chunks, offset, complete=complete)

    def _parts(self) -> Iterator[tuple[int, list[bytes]]]:
        """The rows of one chunk after another, marked where a key was seen before."""
        try:
            while part := list(islice(self.rows, self.size)):
                yield part[-1][0], [encode(self.finder.mark(row)) for _, row in part]
        except (ValueError, TypeError) as error:  # a line that is no row: the spool is damaged
            raise FileRefused("rows_gone") from error

    def _chunk(self, index: int, lines: list[bytes]) -> Chunk:
        return Chunk(run=self.run, index=index, size=len(lines), payload=pack(lines))

    def _store(self, chunks: list[Chunk], offset: int, *, complete: bool) -> bool:
        """Write the chunks and the place in the spool together, unless a later job was faster."""
        with transaction.atomic():
            fresh = ImportRun.objects.locked(self.run.pk)
            if fresh is None or fresh.job_token != self.run.job_token:
                return True
            Chunk.objects.bulk_create(chunks, batch_size=50)
            self.keys.digests = self.finder.to_bytes()
            self.keys.save(update_fields=["digests"])
            fresh.split_offset, fresh.attempts = offset, 0
            if complete:
                fresh.total = self._counted(fresh)
            fresh.save(update_fields=["split_offset", "attempts", "total"])
            feeding.soon(fresh)
        return complete

    def _counted(self, run: ImportRun) -> int:
        total = run.chunks.aggregate(rows=Sum("size", default=0))["rows"]
        if total != run.facts.get("row_count", total):
            raise FileRefused("rows_gone")
        return int(total)
