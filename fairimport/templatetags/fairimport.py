"""How the pages print numbers, times and the names of other people's files."""

from __future__ import annotations

import unicodedata
from typing import Any

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fairimport import wording
from fairimport.importers import UnknownImporter, registry

register = template.Library()

INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
ROUND_TO = ((7200, 900), (600, 60), (120, 30), (30, 10), (10, 5))


@register.filter
def count(number: int | None) -> str:
    """A number of things, with the language's grouping; a dash when it is not known."""
    return "–" if number is None else number_format(number, 0, force_grouping=True)


@register.filter
def unlocalized(number: float) -> str:
    """A number as HTML attributes want it."""
    return f"{number:g}" if isinstance(number, float) else str(number)


@register.filter
def percent(value: float | None) -> str:
    """A percentage that never says 100 before it is."""
    return "–" if value is None else str(int(value))


@register.filter
def rate(per_second: float | None) -> str:
    """Rows a second, or a minute when they are few."""
    per_second = per_second or 0.0
    if per_second >= 1:
        places = 0 if per_second >= 10 else 1
        shown = number_format(round(per_second, places), places, force_grouping=True)
        return _("%(n)s rows/s") % {"n": shown}
    return _("%(n)s rows/min") % {"n": number_format(round(per_second * 60), 0)}


@register.filter
def duration(seconds: float) -> str:
    """A time in words, as exactly as it is worth saying."""
    whole = round(seconds)
    if whole < 1:
        return _("less than a second")
    if whole < 60:
        return ngettext("%(n)s second", "%(n)s seconds", whole) % {"n": whole}
    minutes = round(seconds / 60)
    if minutes < 120:
        return _("%(n)s min") % {"n": minutes}
    hours, rest = divmod(minutes, 60)
    return _("%(h)s h %(m)s min") % {"h": hours, "m": rest} if rest else _("%(h)s h") % {"h": hours}


@register.filter
def time_range(span: tuple[float, float]) -> str:
    """A range of times in words: "about 4–7 min"; one value when both ends say the same."""
    low, high = (_rounded(seconds) for seconds in span)
    first, last = duration(low), duration(high)
    if first == last:
        return _("about %(time)s") % {"time": last}
    number, _space, unit = first.partition(" ")
    if unit == last.partition(" ")[2]:
        first = number
    return _("about %(low)s–%(high)s") % {"low": first, "high": last}


def _rounded(seconds: float) -> float:
    step = next((step for least, step in ROUND_TO if seconds >= least), 1)
    return max(1, round(seconds / step)) * step


@register.filter
def plain_name(name: str) -> str:
    """A file's name without characters that hide or turn around what it says."""
    return "".join("�" if unicodedata.category(c) in INVISIBLE else c for c in str(name))


@register.filter
def warning(noticed: str) -> str:
    """What was noticed in a file, as a sentence."""
    return wording.warning(noticed)


@register.filter
def importer_title(name: str) -> str:
    """The title of the importer of this name; the name itself when it is gone."""
    try:
        return registry.get(name).get_title()
    except UnknownImporter:
        return name


@register.filter
def importer_description(name: str) -> Any:
    """The sentence that the importer says about itself, if any."""
    try:
        return registry.get(name).description
    except UnknownImporter:
        return ""


@register.filter
def short_time(seconds: float | None) -> str:
    """A time for tables: milliseconds below one second, then seconds, then minutes."""
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return duration(seconds)


@register.filter
def share(part: float | None) -> str:
    """A fraction as a percentage."""
    return "–" if part is None else f"{part * 100:.1f} %"


@register.filter
def drift(lane: Any) -> str:
    """By how many points a lane's share of worker-seconds is above its share of jobs."""
    points = ((lane.share_seconds or 0.0) - (lane.share_jobs or 0.0)) * 100
    return _("%(points)s points") % {"points": f"{points:+.1f}"}
