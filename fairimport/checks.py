"""System checks of the settings, with ids that stay and hints that say what to do."""

from __future__ import annotations

import difflib
import re
import zoneinfo
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_type_hints

from django.apps import apps
from django.conf import settings as django_settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.core.files.storage import storages
from django.utils.module_loading import import_string

from fairimport.conf import Settings, given, settings

__all__ = ["check_settings", "check_sqlite"]

LEAST: dict[str, float] = {
    "cap": 0,
    "weight": 0.01,
    "slice": 0,
    "lease": 0.2,
    "max_lapses": 1,
    "row_timeout": 0.1,
    "chunk_rows": 1,
    "keep_days": 1,
}
QUEUE_NAME = re.compile(r"[A-Za-z0-9_.-]+")


@register(Tags.compatibility)
def check_settings(**_: Any) -> list[CheckMessage]:
    """Everything about `FAIRIMPORT` and `RQ_QUEUES` that can be told without a connection."""
    if not isinstance(getattr(django_settings, "FAIRIMPORT", {}), dict):
        return [_error(1, "FAIRIMPORT is not a dict.", "Write FAIRIMPORT = {...} in settings.")]
    checks = (_keys, _values, _choices, _tenant, _queue)
    return [message for check in checks for message in check()]


@register(Tags.database)
def check_sqlite(**options: Any) -> list[CheckMessage]:
    """SQLite needs immediate transactions, or workers meet "database is locked"."""
    return [
        Warning(
            f"DATABASES[{alias!r}] is SQLite without immediate transactions.",
            hint='Add "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20, '
            '"init_command": "PRAGMA journal_mode=WAL;"}.',
            id="fairimport.W001",
        )
        for alias in options.get("databases") or []
        if django_settings.DATABASES[alias]["ENGINE"] == "django.db.backends.sqlite3"
        and django_settings.DATABASES[alias].get("OPTIONS", {}).get("transaction_mode")
        != "IMMEDIATE"
    ]


def _keys() -> Iterator[CheckMessage]:
    known = [field.name.upper() for field in fields(Settings)]
    for key in given():
        if key not in known:
            close = difflib.get_close_matches(str(key).upper(), known, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"Known keys: {', '.join(known)}."
            yield _error(2, f"FAIRIMPORT has an unknown key {key!r}.", hint)


def _values() -> Iterator[CheckMessage]:
    types = get_type_hints(Settings)
    for field in fields(Settings):
        key, value = field.name.upper(), getattr(settings, field.name)
        least = LEAST.get(field.name, 1 if types[field.name] is int else None)
        if not _fits(value, types[field.name]):
            hint = f"It takes {_words(types[field.name])}, for instance {field.default!r}."
            yield _error(3, f"FAIRIMPORT[{key!r}] is {value!r}.", hint)
        elif least is not None and value < least:
            hint = f"The least is {least}; the default is {field.default!r}."
            yield _error(4, f"FAIRIMPORT[{key!r}] is {value!r}, which is too little.", hint)


def _fits(value: Any, kind: Any) -> bool:
    if kind in (int, float):
        return isinstance(value, int if kind is int else (int, float)) and value is not True
    if kind is str:
        return isinstance(value, str)
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def _words(kind: Any) -> str:
    names = {int: "a whole number", float: "a number", str: "a text"}
    return names.get(kind, "a list of texts")


def _choices() -> Iterator[CheckMessage]:
    if settings.fairness not in ("seconds", "turns"):
        hint = "It is 'seconds' (equal worker time) or 'turns' (equal number of claims)."
        yield _error(5, f"FAIRIMPORT['FAIRNESS'] is {settings.fairness!r}.", hint)
    if isinstance(settings.storage, str) and settings.storage not in storages.backends:
        hint = f"Use an alias of STORAGES: {', '.join(storages.backends)}."
        yield _error(6, f"FAIRIMPORT['STORAGE'] is {settings.storage!r}.", hint)
    if settings.timezone and settings.timezone not in zoneinfo.available_timezones():
        hint = "Use a name such as 'Europe/Berlin', or leave it out for Django's TIME_ZONE."
        yield _error(7, f"FAIRIMPORT['TIMEZONE'] is {settings.timezone!r}.", hint)


def _tenant() -> Iterator[CheckMessage]:
    hint = "Write a function that takes a request and returns the tenant's key, or None, and name "
    hint += "it by its dotted path: FAIRIMPORT = {'TENANT': 'shop.tenants.tenant_of'}."
    if not settings.tenant:
        yield _error(8, "FAIRIMPORT['TENANT'] is missing: whose request is it?", hint)
        return
    try:
        resolver = import_string(settings.tenant)
    except (ImportError, AttributeError) as error:
        yield _error(9, f"FAIRIMPORT['TENANT'] cannot be imported: {error}.", hint)
        return
    if not callable(resolver):
        yield _error(9, f"FAIRIMPORT['TENANT'], {settings.tenant!r}, is not callable.", hint)


def _queue() -> Iterator[CheckMessage]:
    if not apps.is_installed("django_rq"):
        hint = "Add 'django_rq' to INSTALLED_APPS."
        yield _error(10, "django_rq is not installed.", hint)
    name = settings.queue
    if not isinstance(name, str) or not QUEUE_NAME.fullmatch(name):
        hint = "Letters, digits, '_', '-' and '.' make the name of a queue."
        yield _error(11, f"FAIRIMPORT['QUEUE'] is {name!r}.", hint)
        return
    queue = getattr(django_settings, "RQ_QUEUES", {}).get(name)
    if queue is None:
        hint = f"Add RQ_QUEUES = {{{name!r}: {{'URL': 'redis://localhost:6379/0'}}}}."
        yield _error(12, f"RQ_QUEUES has no queue {name!r}, which the lanes stand on.", hint)
        return
    yield from _queue_options(name, queue)


def _queue_options(name: str, queue: dict[str, Any]) -> Iterator[CheckMessage]:
    if queue.get("ASYNC") is False:
        hint = "Leave ASYNC out: a job run within the request is behind nobody's turn."
        yield _error(13, f"RQ_QUEUES[{name!r}] has ASYNC = False.", hint)
    asked = [queue.get(key, {}) for key in ("REDIS_CLIENT_KWARGS", "CONNECTION_KWARGS")]
    if any(kwargs.get("decode_responses") for kwargs in asked) or "decode_responses=" in str(
        queue.get("URL", "")
    ):
        hint = "Leave decode_responses out: RQ needs the bytes as they are."
        yield _error(14, f"RQ_QUEUES[{name!r}] asks for decode_responses.", hint)
    serializer = str(queue.get("SERIALIZER") or "")
    if serializer and "json" not in serializer.lower():
        yield Warning(
            f"RQ_QUEUES[{name!r}] has the serializer {serializer!r}.",
            hint="With JSON ('rq.serializers.JSONSerializer', which lanes use unless told "
            "otherwise), somebody who can write to Redis cannot run code by unpickling.",
            id="fairimport.W002",
        )


def _error(number: int, message: str, hint: str) -> Error:
    return Error(message, hint=hint, id=f"fairimport.E{number:03}")
