"""Which importers there are."""

from __future__ import annotations

from typing import TypeVar

from django.utils.module_loading import autodiscover_modules

from fairimport.importers.base import Importer

__all__ = ["Registry", "UnknownImporter", "autodiscover", "register", "registry"]

I = TypeVar("I", bound=type[Importer])  # noqa: E741


class UnknownImporter(LookupError):
    """No importer has this name (any more): its class was renamed, or its app was removed."""


class Registry:
    """Importers by `app_label.ClassName`."""

    def __init__(self) -> None:
        self._importers: dict[str, type[Importer]] = {}

    def register(self, importer: I) -> I:
        """Make an importer known; usable as a decorator. Two may not share a name."""
        name = importer.get_name()
        known = self._importers.setdefault(name, importer)
        if known.__module__ != importer.__module__:
            raise ValueError(f"two importers are called {name}")
        self._importers[name] = importer
        return importer

    def unregister(self, importer: type[Importer]) -> None:
        self._importers.pop(importer.get_name(), None)

    def get(self, name: str) -> type[Importer]:
        """The importer of this name, or `UnknownImporter`."""
        try:
            return self._importers[name]
        except KeyError:
            raise UnknownImporter(f"there is no importer {name!r}") from None

    def all(self) -> list[type[Importer]]:
        """All importers, by title."""
        return sorted(self._importers.values(), key=lambda importer: importer.get_title())


registry = Registry()
register = registry.register


def autodiscover() -> None:
    """Import the `importers` module of every installed app."""
    autodiscover_modules("importers")
