"""What every migration makes one after the other is what the models declare, and what tests run on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management import call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import override_settings

from tests import tables
from tests.cases.deployment import Deployment


class NoMigrations:
    """Apps without migrations: their tables are made from their models."""

    def __contains__(self, app: str) -> bool:
        return True

    def __getitem__(self, app: str) -> None:
        return None


@contextmanager
def an_empty_database(name: str) -> Iterator[BaseDatabaseWrapper]:
    """`connection` is to another database of the same server, or to another file."""
    used, settings = connection.settings_dict["NAME"], connection.settings_dict
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
    connection.close()
    settings["NAME"] = name if connection.vendor == "postgresql" else str(Path(used).with_name(name))
    try:
        yield connection
    finally:
        connection.close()
        settings["NAME"] = used


def test_migrations_make_what_the_models_declare(deployment: Deployment) -> None:
    migrated = tables.described(connection)
    with override_settings(MIGRATION_MODULES=NoMigrations()), an_empty_database("declared"):
        call_command("migrate", run_syncdb=True, verbosity=0)
        tables.complete(connection)
        declared = tables.described(connection)
    assert len(declared) > 500
    # The key of a table between two of Django's own is wider where a migration makes it.
    differing = {row for row in migrated ^ declared if row[0] != "auth_group_permissions"}
    assert {row[0] for row in differing} == {"django_migrations"}
