"""The sum of a run's rows as the page draws it: a bar, a list and a line that adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from fairimport.progress import Progress
from fairimport.templatetags.fairimport import count

__all__ = ["Part", "Stretch", "bar_of", "ending_of", "sum_line_of", "sum_of", "written"]

BAR_WIDTH = 1000
LABELS: Mapping[str, str | Promise] = {
    "created": gettext_lazy("created"),
    "updated": gettext_lazy("updated"),
    "unchanged": gettext_lazy("unchanged"),
    "skipped": gettext_lazy("skipped"),
    "rejected": gettext_lazy("rejected"),
    "untried": gettext_lazy("not tried"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """How many rows had one outcome."""

    outcome: str
    label: str | Promise
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A piece of the bar, in thousandths of its width."""

    outcome: str
    start: float
    width: float


def sum_of(now: Progress) -> list[Part]:
    """The parts whose sum is the total."""
    numbers = {
        "created": now.created,
        "updated": now.updated,
        "unchanged": now.unchanged,
        "skipped": now.skipped,
        "rejected": now.rejected,
        "untried": now.not_tried or 0,
    }
    return [Part(outcome=o, label=LABELS[o], rows=rows) for o, rows in numbers.items()]


def sum_line_of(now: Progress) -> str:
    """The sum written out; empty while the total is not known."""
    if now.total is None:
        return ""
    parts = " + ".join(f"{count(part.rows)} {part.label}" for part in sum_of(now))
    return _("%(total)s rows = %(parts)s") % {"total": count(now.total), "parts": parts}


def bar_of(now: Progress) -> list[Stretch]:
    """The bar: one stretch for each outcome that occurs."""
    if not now.total:
        return []
    stretches, start = [], 0.0
    for part in sum_of(now)[:-1]:
        width = part.rows * BAR_WIDTH / now.total
        if part.rows:
            stretches.append(
                Stretch(outcome=part.outcome, start=round(start, 2), width=round(width, 2))
            )
        start += width
    return stretches


def written(now: Progress) -> int:
    """Rows that changed something or were found to be there already."""
    return now.created + now.updated + now.unchanged


def ending_of(now: Progress) -> str:
    """How it ended, in a sentence with numbers."""
    rows = written(now)
    inside = ngettext("%(n)s row is in", "%(n)s rows are in", rows) % {"n": count(rows)}
    if not now.rejected:
        return _("All done: %(rows)s") % {"rows": inside}
    bad = ngettext("%(n)s was rejected", "%(n)s were rejected", now.rejected)
    return _("Done: %(rows)s, %(bad)s") % {"rows": inside, "bad": bad % {"n": count(now.rejected)}}
