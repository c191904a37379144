"""The normal form in which headers are compared, and the names under which pages show them."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["normal_form"]

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u061c\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff]")


def normal_form(header: str) -> str:
    """Return the header as it is compared: NFKC, casefolded, without invisible characters,
    runs of blanks and line breaks as one space."""
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", header))
    return " ".join(visible.casefold().split())
