"""How the parts of a workbook package point at each other."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from fairimport.sheets.archive import Archive
from fairimport.sheets.safexml import parse

__all__ = ["Relation", "main_part", "relations"]


@dataclass(frozen=True, slots=True)
class Relation:
    """Where a part points: `kind` is the last word of its type, `target` a part's name."""

    kind: str
    target: str


class _Relations:
    def __init__(self, base: str) -> None:
        self.base = base
        self.found: dict[str, Relation] = {}

    def start(self, name: str, attrs: dict[str, str]) -> None:
        if name == "Relationship" and attrs.get("TargetMode") != "External":
            target = attrs.get("Target", "").replace("\\", "/")
            path = posixpath.normpath(posixpath.join("/", self.base, target)).lstrip("/")
            kind = attrs.get("Type", "").rpartition("/")[2]
            self.found[attrs.get("Id", "")] = Relation(kind, path)

    def end(self, name: str) -> None:
        pass

    def text(self, data: str) -> None:
        pass


def relations(archive: Archive, part: str) -> dict[str, Relation]:
    """Return the relations of a part by their ids; none when it has no relations part."""
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    if path not in archive:
        return {}
    handler = _Relations(folder)
    parse(archive.chunks(path), handler)
    return handler.found


def main_part(archive: Archive) -> str:
    """Return the name of the workbook part, or an empty text when there is none."""
    for relation in relations(archive, "").values():
        if relation.kind == "officeDocument" and relation.target in archive:
            return relation.target
    return next((n for n in ("xl/workbook.xml", "xl/workbook.bin") if n in archive), "")
