"""System checks: each speaks once, with an id that stays and a hint that helps."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings as django_settings
from pytest_django.fixtures import Settings as DjangoSettings

from fairimport.checks import check_settings, check_sqlite

GOOD = {"TENANT": "demo_site.tenants.tenant_of"}


def _ids() -> list[str | None]:
    return [message.id for message in check_settings()]


def test_good_settings_pass_in_silence(settings: DjangoSettings) -> None:
    """The demo's own settings need no word."""
    settings.FAIRIMPORT = GOOD
    assert check_settings() == []


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("text", "fairimport.E001"),
        ({**GOOD, "TENNANT_CAP": 3}, "fairimport.E002"),
        ({**GOOD, "cap": 3}, "fairimport.E002"),
        ({**GOOD, "CAP": "4"}, "fairimport.E003"),
        ({**GOOD, "CAP": True}, "fairimport.E003"),
        ({**GOOD, "LEASE": None}, "fairimport.E003"),
        ({**GOOD, "JOB_FUNCTIONS": "shop.jobs"}, "fairimport.E003"),
        ({**GOOD, "CAP": -1}, "fairimport.E004"),
        ({**GOOD, "LEASE": 0}, "fairimport.E004"),
        ({**GOOD, "MAX_ROWS": 0}, "fairimport.E004"),
        ({**GOOD, "FAIRNESS": "luck"}, "fairimport.E005"),
        ({**GOOD, "STORAGE": "attic"}, "fairimport.E006"),
        ({**GOOD, "TIMEZONE": "Europe/Atlantis"}, "fairimport.E007"),
        ({}, "fairimport.E008"),
        ({"TENANT": "nowhere.tenant_of"}, "fairimport.E009"),
        ({"TENANT": "demo_site.tenants.nobody"}, "fairimport.E009"),
        ({"TENANT": "demo_site.settings.FAIRIMPORT"}, "fairimport.E009"),
        ({**GOOD, "QUEUE": "my queue"}, "fairimport.E011"),
        ({**GOOD, "QUEUE": "other"}, "fairimport.E012"),
    ],
)
def test_each_mistake_has_its_own_id(settings: DjangoSettings, written: Any, expected: str) -> None:
    """One mistake gives one message, and it carries a hint."""
    settings.FAIRIMPORT = written
    [message] = check_settings()
    assert message.id == expected
    assert message.hint


def test_a_misspelt_key_is_answered_with_the_right_one(settings: DjangoSettings) -> None:
    """The hint names the key that was probably meant."""
    settings.FAIRIMPORT = {**GOOD, "ROW_TIME_OUT": 3}
    [message] = check_settings()
    assert message.hint == "Did you mean 'ROW_TIMEOUT'?"


def test_django_rq_must_be_installed(settings: DjangoSettings) -> None:
    """Without django_rq there is no queue at all."""
    settings.INSTALLED_APPS = [app for app in settings.INSTALLED_APPS if app != "django_rq"]
    assert _ids() == ["fairimport.E010"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"ASYNC": False}, "fairimport.E013"),
        ({"REDIS_CLIENT_KWARGS": {"decode_responses": True}}, "fairimport.E014"),
        ({"URL": "redis://localhost/0?decode_responses=True"}, "fairimport.E014"),
        ({"SERIALIZER": "rq.serializers.DefaultSerializer"}, "fairimport.W002"),
    ],
)
def test_queue_options_that_break_lanes_are_told(
    settings: DjangoSettings, options: dict[str, Any], expected: str
) -> None:
    """What RQ would accept, but lanes cannot work with, is said at start."""
    settings.RQ_QUEUES = {"imports": {"URL": "redis://localhost/0", **options}}
    assert _ids() == [expected]


@pytest.mark.parametrize("serializer", ["rq.serializers.JSONSerializer", None, "json"])
def test_a_json_serializer_passes(settings: DjangoSettings, serializer: str | None) -> None:
    """JSON is what we want, in whatever way it is named."""
    settings.RQ_QUEUES = {"imports": {"URL": "redis://localhost/0", "SERIALIZER": serializer}}
    assert _ids() == []


def test_sqlite_without_immediate_transactions_is_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Workers on such a database would meet "database is locked"."""
    lazy = {"ENGINE": "django.db.backends.sqlite3", "NAME": "x"}
    eager = {**lazy, "OPTIONS": {"transaction_mode": "IMMEDIATE"}}
    other = {"ENGINE": "django.db.backends.postgresql", "NAME": "x"}
    databases = {"default": lazy, "eager": eager, "other": other}
    monkeypatch.setattr(django_settings, "DATABASES", databases)
    [message] = check_sqlite(databases=["default", "eager", "other"])
    assert (message.id, "'default'" in message.msg) == ("fairimport.W001", True)


def test_databases_are_only_looked_at_when_asked() -> None:
    """Django passes no databases unless the command names them."""
    assert check_sqlite(databases=None) == []
