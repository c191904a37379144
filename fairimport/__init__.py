"""Bulk imports for multi-tenant Django, with fair processing and honest progress."""

__version__ = "0.1.0"
