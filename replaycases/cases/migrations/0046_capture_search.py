"""Captures are found by a piece of their name or trace id."""

from __future__ import annotations

from typing import Any

from django.db import migrations

INDEX = """
CREATE INDEX capture_by_text ON cases_capture USING gin (replaycases_trigrams(lower(name || ' ' || trace_id)))
"""


def add(apps: Any, schema_editor: Any) -> None:
    """SQLite reads the rows."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(INDEX)


def remove(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS capture_by_text")


class Migration(migrations.Migration):
    dependencies = [("cases", "0045_unstated_effects")]

    operations = [migrations.RunPython(add, remove)]
