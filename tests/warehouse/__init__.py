"""A small app with real tables, for importers under test."""
