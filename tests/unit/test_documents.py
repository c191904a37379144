"""Documentation is under test: links lead somewhere, commands exist, words are the glossary's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
MODULES = sorted(
    path for top in ("fairimport", "demo_site", "bench") for path in (ROOT / top).rglob("*.py")
)
TOPS = ("fairimport", "demo_site", "templates")
BANNED = {"utils", "helpers", "common", "manager", "data", "info", "process"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link names a file or folder of the repository."""
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_commands_of_the_readme_exist() -> None:
    """Each command in the README's table is one of the package."""
    table = (ROOT / "README.md").read_text().split("\n## Commands\n")[1].split("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)", table, re.MULTILINE))
    ours = {name for name, app in get_commands().items() if app == "fairimport"}
    assert named == ours


def test_the_readme_shows_the_layout_that_the_demo_uses() -> None:
    """The template of the page is one that works, because the demo site stands on it."""
    shown = (ROOT / "README.md").read_text().split("```django\n")[1].split("```")[0]
    assert shown == (ROOT / "templates/fairimport/base.html").read_text()


def test_no_module_has_a_name_that_says_nothing() -> None:
    """The glossary bans them."""
    assert [path for path in MODULES if path.stem in BANNED] == []


def test_cancelled_has_two_ls() -> None:
    """One spelling, in code and on pages."""
    single = re.compile(r"\bcancel(ed|ing)\b", re.IGNORECASE)
    texts = [*MODULES, *(page for top in TOPS for page in (ROOT / top).rglob("*.html"))]
    assert [path for path in texts if single.search(path.read_text())] == []


def test_no_two_decisions_have_the_same_number() -> None:
    """A decision is cited by its number, so each number is used once."""
    numbers = [int(path.name[:4]) for path in sorted((ROOT / "docs/decisions").glob("*.md"))]
    assert len(set(numbers)) == len(numbers)
