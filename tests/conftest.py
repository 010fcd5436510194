"""Shared fixtures. Nothing here stands in for a real part: services are started, workers are processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from pytest_django.plugin import DjangoDbBlocker

# A machine that is busy is no fault of what is tested. Half of the usual examples: every run draws others.
hypothesis.settings.register_profile("each run", deadline=None, max_examples=50)
hypothesis.settings.load_profile("each run")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_use_migrations: bool, django_db_blocker: DjangoDbBlocker) -> None:
    """Tables as the models declare them, in a moment (--no-migrations). Deployments are migrated as any is, and
    tests/cases/test_migrations.py holds the one against the other."""
    from django.db import connection

    from tests import tables

    with django_db_blocker.unblock():
        if connection.vendor == "postgresql" and not django_db_use_migrations:
            tables.complete(connection)


@pytest.fixture(scope="session", autouse=True)
def _tables_can_be_emptied() -> Iterator[None]:
    """Django empties tables with DELETE on SQLite, which the immutable rows' triggers refuse: they are dropped for that
    moment; the flush itself installs them again."""
    from django.db import connection
    from django.test import TransactionTestCase

    from replaycases.cases import immutability

    flush: Callable[[Any], None] = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    @wraps(flush)
    def emptied(self: Any) -> None:
        immutability.remove(connection.alias)
        flush(self)

    TransactionTestCase._fixture_teardown = emptied  # type: ignore[attr-defined]
    yield
    TransactionTestCase._fixture_teardown = flush  # type: ignore[attr-defined]


@pytest.fixture(scope="session", autouse=True)
def _keys_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Raw evidence of tests is sealed under a ring that is nobody else's, and reaches back to where tests travel."""
    from datetime import UTC, datetime, timedelta

    from django.test import override_settings

    from replaycases.cases.key_ring import RingFile

    ring = tmp_path_factory.mktemp("keys") / "ring.json"
    RingFile(ring).create(datetime.now(UTC) - timedelta(days=200))
    with override_settings(EVIDENCE_KEYS="", EVIDENCE_KEYS_FILE=ring, EVIDENCE_KEYS_MADE=True):
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).resolve().parents[1]
