"""What is in the published package."""

from __future__ import annotations

import zipfile
from email.parser import Parser
from pathlib import Path

from fairimport import __version__

ROOT = Path(__file__).resolve().parents[2]


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    """Templates, static files, Lua, migrations and translations are in, not only Python."""
    files = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "fairimport").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files - _names(wheel) == set()


def test_the_wheel_holds_each_kind_of_file(wheel: Path) -> None:
    """A kind that is missing from the tree as well would go unnoticed otherwise."""
    names = _names(wheel)
    for part in ("templates/", "static/", "migrations/", "lua/"):
        assert any(part in name for name in names), part
    assert "fairimport/py.typed" in names


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    """Neither tests nor the demo site are installed into other people's projects."""
    folders = {name.split("/")[0] for name in _names(wheel)}
    assert folders == {"fairimport", f"django_fairimport-{__version__}.dist-info"}


def test_the_wheel_names_what_it_needs(wheel: Path) -> None:
    """Each dependency stays below its next major, and Python starts at 3.11."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(archive.read(name).decode())
    needs = [need for need in metadata.get_all("Requires-Dist", []) if "extra ==" not in need]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert needs
    assert [need for need in needs if "<" not in need] == []
