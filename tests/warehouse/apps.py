"""The application of the importers under test."""

from django.apps import AppConfig


class WarehouseConfig(AppConfig):
    """Has no migrations: its tables are made with the test database."""

    name = "tests.warehouse"
    default_auto_field = "django.db.models.BigAutoField"
