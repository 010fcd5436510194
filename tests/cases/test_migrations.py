"""What every migration makes one after the other is what the models declare, and what tests run on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import override_settings

from replaycases.cases.models import Capture, Case, Draft
from tests import factories, tables
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


def fill(migration: str) -> None:
    """What the migration writes into rows that were there before it, done to those that are there now."""
    import_module(f"replaycases.cases.migrations.{migration}").fill(apps, None)


@pytest.mark.django_db
def test_cases_are_filled_with_whose_their_revision_is() -> None:
    of = factories.people(factories.project())
    case = factories.case(of.project, of.responder)
    Case.objects.update(revised_by=of.qa, revised_for=of.lead)  # that it is nobody's the database refuses by now
    fill("0039_whose_revision")
    case.refresh_from_db()
    assert (case.revised_by, case.revised_for) == (of.responder, None)


@pytest.mark.django_db
def test_captures_are_filled_with_whether_a_case_was_made_of_them() -> None:
    of = factories.people(factories.project())
    capture = factories.drafted(of.project, of.responder)
    fill("0044_captures_without_a_case")
    assert not Capture.objects.get().has_case
    Draft.objects.update(case=factories.case(of.project, of.responder))
    fill("0044_captures_without_a_case")
    assert Capture.objects.get(pk=capture.pk).has_case
