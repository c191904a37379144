"""Questions that are put to the tables in more than one place."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import connections, models
from django.db.models import DateTimeField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import Now

from fairimport.conf import settings
from fairimport.states import ACTIVE, State

if TYPE_CHECKING:
    from fairimport.models import Chunk, ImportRun, TenantLimit  # noqa: F401  (bases name them)

__all__ = ["ChunkQuerySet", "RunQuerySet", "TenantLimitQuerySet", "from_now"]


def from_now(seconds: float) -> ExpressionWrapper[Any]:
    """A moment on the database's clock."""
    return ExpressionWrapper(Now() + Value(timedelta(seconds=seconds)), DateTimeField())


class RunQuerySet(models.QuerySet["ImportRun"]):
    """Runs."""

    def for_tenant(self, tenant: str) -> RunQuerySet:
        """The runs that this tenant may see."""
        return self.filter(tenant=tenant)

    def active(self) -> RunQuerySet:
        """Runs that have not ended."""
        return self.filter(state__in=ACTIVE)

    def in_state(self, *states: State) -> RunQuerySet:
        return self.filter(state__in=states)

    def at_the_reader(self) -> RunQuerySet:
        """Runs that need the one reading or splitting job that a tenant has at a time, in turn."""
        waiting = Q(state__in=(State.RECEIVED, State.READING)) | Q(state=State.CHECKING, total=None)
        return self.filter(waiting).order_by("wants_reader_at", "pk")

    def locked(self, pk: Any) -> ImportRun | None:
        """The run, locked until the end of the transaction; None when it is gone."""
        return self.select_for_update(no_key=True).filter(pk=pk).first()


class TenantLimitQuerySet(models.QuerySet["TenantLimit"]):
    """Limits of tenants."""

    def locked(self, tenant: str) -> TenantLimit:
        """The tenant's limit, locked; made with the defaults when there is none."""
        found = self.select_for_update(no_key=True).filter(tenant=tenant).first()
        if found is not None:
            return found
        self.of(tenant)
        return self.select_for_update(no_key=True).get(tenant=tenant)

    def of(self, tenant: str) -> TenantLimit:
        """The tenant's limit; made with the defaults when there is none."""
        return self.get_or_create(tenant=tenant)[0]

    def cap_of(self, tenant: str) -> int:
        """The tenant's cap, without writing anything: the default when there is no row."""
        return self.caps_of([tenant])[tenant]

    def caps_of(self, tenants: Iterable[str]) -> dict[str, int]:
        """The same for several tenants."""
        caps = dict.fromkeys(tenants, int(settings.cap))
        known = self.filter(tenant__in=list(caps)).values_list("tenant", "cap")
        return {**caps, **dict(known)}


class ChunkQuerySet(models.QuerySet["Chunk"]):
    """Chunks."""

    def held(self) -> ChunkQuerySet:
        """Chunks that a slice works on, by the database's clock."""
        return self.filter(held_until__gt=Now())

    def takeable(self) -> ChunkQuerySet:
        """Chunks that nobody works on, or whose worker has been silent for too long."""
        return self.filter(Q(held_until=None) | Q(held_until__lte=Now()))

    def unchecked(self) -> ChunkQuerySet:
        """Chunks with rows that the check has not seen."""
        return self.filter(checked__lt=F("size"))

    def unfinished(self) -> ChunkQuerySet:
        """Chunks with rows that have no outcome of this pass."""
        return self.filter(next_row__lt=F("size"))

    def left_in(self, state: State) -> ChunkQuerySet:
        """Chunks with work left in the pass that a run in `state` makes."""
        return self.unchecked() if state == State.CHECKING else self.unfinished()

    def for_claim(self) -> ChunkQuerySet:
        """Locked; where the database can, those that another claim looks at are stepped over."""
        skip = connections[self.db].features.has_select_for_update_skip_locked
        return self.select_for_update(no_key=True, skip_locked=skip)
