"""What a run will cost before it starts, and what that is based on."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fairimport.importers import UnknownImporter
from fairimport.models import ImportRun, TenantLimit
from fairimport.querysets import RunQuerySet

__all__ = ["Cost", "cost"]

LAST_RUNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds from Start to the end when every slot of the tenant works; None when unknown."""

    seconds: float | None
    text: str
    basis: str


def cost(run: ImportRun) -> Cost:
    """`rows * seconds a row / slots`, with the seconds a row from the best source there is.

    Rows are those that the check found good: the others are refused in no time.
    """
    rows = int(run.check_result.get("good", run.total or 0))
    row_seconds, basis = _row_seconds(run)
    if row_seconds is None:
        return Cost(seconds=None, text=_("unknown until the first rows are done"), basis="")
    slots = max(1, min(TenantLimit.objects.cap_of(run.tenant), rows))
    seconds = rows * row_seconds / slots
    text = ngettext(
        "about %(time)s at %(slots)d slot (%(rows)s of %(row)s)",
        "about %(time)s at %(slots)d slots (%(rows)s of %(row)s)",
        slots,
    )
    words = {
        "time": _long(seconds),
        "slots": slots,
        "rows": _rows(rows),
        "row": _short(row_seconds),
    }
    return Cost(seconds=seconds, text=text % words, basis=basis)


def _row_seconds(run: ImportRun) -> tuple[float | None, str]:
    known = ImportRun.objects.filter(importer=run.importer, row_seconds__isnull=False)
    known = known.exclude(pk=run.pk).order_by("-finished_at")
    own = _last(known.filter(tenant=run.tenant))
    if own:
        text = ngettext("from your last import", "from your last %(n)d imports", len(own))
        return sum(own) / len(own), text % {"n": len(own)}
    others = _last(known)
    if others:
        return sum(others) / len(others), _("from the last imports of this kind")
    try:
        guess = run.get_importer().row_seconds
    except UnknownImporter:
        guess = None
    return guess, _("from a first guess for this kind of import") if guess else ""


def _last(runs: RunQuerySet) -> list[float]:
    return [s for s in runs.values_list("row_seconds", flat=True)[:LAST_RUNS] if s is not None]


def _rows(rows: int) -> str:
    shown = number_format(rows, use_l10n=True, force_grouping=True)
    return ngettext("%(n)s row", "%(n)s rows", rows) % {"n": shown}


def _long(seconds: float) -> str:
    """A duration to plan by: one unit, or hours with minutes."""
    if seconds < 1:
        return _("1 s")
    if seconds < 90:
        return _("%(n)d s") % {"n": round(seconds)}
    if seconds < 90 * 60:
        return _("%(n)d min") % {"n": round(seconds / 60)}
    hours, minutes = divmod(round(seconds / 60), 60)
    return _("%(h)d h %(m)d min") % {"h": hours, "m": minutes}


def _short(seconds: float) -> str:
    """What a row costs, with two digits that matter."""
    if seconds >= 1:
        return _("%(n)s s") % {"n": number_format(round(seconds, 1), use_l10n=True)}
    if seconds >= 0.01:
        return _("%(n)d ms") % {"n": round(seconds * 1000)}
    return _("%(n)s ms") % {"n": number_format(round(seconds * 1000, 1), use_l10n=True)}
