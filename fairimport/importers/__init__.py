"""Importers: what a host declares about its files, and what it does with one row."""

from fairimport.importers.base import Importer
from fairimport.importers.columns import BoundColumn, Column, RefColumn, columns_from_form, kind_of
from fairimport.importers.model_importer import ModelImporter
from fairimport.importers.outcomes import Outcome, Reject, Skip
from fairimport.importers.registry import UnknownImporter, autodiscover, register, registry
from fairimport.importers.rows import Row

__all__ = [
    "BoundColumn",
    "Column",
    "Importer",
    "ModelImporter",
    "Outcome",
    "RefColumn",
    "Reject",
    "Row",
    "Skip",
    "UnknownImporter",
    "autodiscover",
    "columns_from_form",
    "kind_of",
    "register",
    "registry",
]
