"""The one reader of the settings, and the page that describes them."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings as DjangoSettings

from fairimport import conf
from fairimport.conf import Settings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"


def test_a_key_in_capitals_becomes_an_attribute(settings: DjangoSettings) -> None:
    """FAIRIMPORT = {"CAP": 7} is settings.cap == 7."""
    settings.FAIRIMPORT = {"CAP": 7}
    assert conf.settings.cap == 7


def test_settings_are_read_anew_after_a_change(settings: DjangoSettings) -> None:
    """No module keeps a value of its own, so an override is seen at once."""
    settings.FAIRIMPORT = {"LEASE": 1.5}
    assert conf.settings.lease == 1.5
    settings.FAIRIMPORT = {}
    assert conf.settings.lease == Settings().lease


def test_unknown_and_small_keys_are_left_to_the_checks() -> None:
    """A misspelt key changes nothing and raises nothing while reading."""
    assert conf.read({"cap": 9, "TENNANT": "x"}) == Settings()


@pytest.mark.parametrize("written", [None, [], "text"])
def test_a_setting_that_is_no_dict_reads_as_the_defaults(
    settings: DjangoSettings, written: object
) -> None:
    """The check speaks about it; reading does not fall over."""
    settings.FAIRIMPORT = written
    assert conf.settings.cap == Settings().cap


def test_settings_cannot_be_changed_in_place() -> None:
    """The class is frozen, so nobody changes a setting for others by accident."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().cap = 3  # type: ignore[misc]


def test_every_setting_has_a_docstring() -> None:
    """Each field says what it is, with its unit, right below its default."""
    assert set(_docstrings()) == {field.name for field in dataclasses.fields(Settings)}


def test_the_settings_page_tells_each_setting_as_the_class_does() -> None:
    """docs/settings.md has one row a setting: name, default, and the docstring's words."""
    written = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    docs = _docstrings()
    expected = [
        f"| `{field.name.upper()}` | `{field.default!r}` | {docs[field.name]} |"
        for field in dataclasses.fields(Settings)
    ]
    assert written == expected


def _docstrings() -> dict[str, str]:
    [definition] = ast.parse(inspect.getsource(Settings)).body
    assert isinstance(definition, ast.ClassDef)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in itertools.pairwise(definition.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
    }
