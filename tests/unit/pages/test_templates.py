"""What the templates may not hold: anything that a strict content security policy refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = sorted(
    path
    for folder in (ROOT / "fairimport" / "templates", ROOT / "templates")
    for path in folder.rglob("*.html")
)
INLINE = re.compile(r"\sstyle=|<style|\son[a-z]+=|<script(?![^>]*\ssrc=)", re.IGNORECASE)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_inline(path: Path) -> None:
    """No inline script, style or handler."""
    assert not INLINE.search(path.read_text())


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_trusted(path: Path) -> None:
    """Escaping is never switched off: file names and cells are somebody else's words."""
    assert not re.search(r"\|safe\b|autoescape off|mark_safe", path.read_text())


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_forms_that_post_carry_the_token(path: Path) -> None:
    """Each form that posts has its CSRF token."""
    for form in re.findall(r'<form\b[^>]*method="post".*?</form>', path.read_text(), re.DOTALL):
        assert "csrf_token" in form


def test_vendored_scripts_name_their_licence() -> None:
    """Whoever ships somebody's code says whose it is."""
    folder = ROOT / "fairimport" / "static" / "fairimport"
    assert (folder / "htmx.min.js").exists()
    assert "Zero-Clause BSD" in (folder / "htmx.LICENSE.txt").read_text()
