"""Types of command-line arguments that several commands take."""

from __future__ import annotations

from argparse import ArgumentTypeError

from django.conf import settings

__all__ = ["queue_name"]


def queue_name(name: str) -> str:
    """A queue that `RQ_QUEUES` knows; anything else is said in a sentence."""
    known = getattr(settings, "RQ_QUEUES", {})
    if name not in known:
        raise ArgumentTypeError(f"RQ_QUEUES has no {name!r}; it has: {', '.join(sorted(known))}")
    return name
