"""What django-rq makes of the name of a lane queue: a `LaneQueue`, in its pages too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings as django_settings
from django_rq.queues import DjangoRQ
from rq.queue import Queue
from rq.utils import import_attribute

from fairimport.conf import settings
from fairimport.lanes.queue import LaneQueue

__all__ = ["adopt"]


def adopt() -> None:
    """Let `django_rq.get_queue` and django-rq's pages make a `LaneQueue` of each lane queue.

    Lane queues are `FAIRIMPORT["QUEUE"]` and those whose `RQ_QUEUES` say so in `QUEUE_CLASS`.
    The pages ask for one class for all queues, `RQ["QUEUE_CLASS"]`; that becomes a choice by the
    queue's name, and other queues keep the class that they had.
    """
    given = getattr(django_settings, "RQ", {})
    others = given.get("QUEUE_CLASS", DjangoRQ)
    django_settings.RQ = {**given, "QUEUE_CLASS": partial(_queue, others)}


def _queue(others: str | Callable[..., Queue], name: str = "default", **options: Any) -> Queue:
    if _has_lanes(name):
        return LaneQueue(name, **options)
    make = import_attribute(others) if isinstance(others, str) else others
    queue: Queue = make(name, **options)
    return queue


def _has_lanes(name: str) -> bool:
    if name == settings.queue:
        return True
    kind = getattr(django_settings, "RQ_QUEUES", {}).get(name, {}).get("QUEUE_CLASS")
    kind = import_attribute(kind) if isinstance(kind, str) else kind
    return isinstance(kind, type) and issubclass(kind, LaneQueue)
