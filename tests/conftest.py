"""Shared fixtures. Nothing here stands in for a real part: services are started, workers are processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import hypothesis
import pytest
from django.db import connection, transaction
from django.test import TransactionTestCase, override_settings
from pytest_django.plugin import DjangoDbBlocker

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import immutability
from replaycases.cases.key_ring import RingFile
from tests import factories, tables
from tests.api import world as worlds
from tests.api.world import World

T = TypeVar("T")

# A machine that is busy is no fault of what is tested. Half of the usual examples: every run draws others.
hypothesis.settings.register_profile("each run", deadline=None, max_examples=50)
hypothesis.settings.load_profile("each run")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_use_migrations: bool, django_db_blocker: DjangoDbBlocker) -> None:
    """Tables as the models declare them, in a moment (--no-migrations). Deployments are migrated as any is, and
    tests/cases/test_migrations.py holds the one against the other."""
    with django_db_blocker.unblock():
        if connection.vendor == "postgresql" and not django_db_use_migrations:
            tables.complete(connection)


@pytest.fixture(scope="module")
def made_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Callable[[Callable[[], T]], T]]:
    """Makes rows that every test of the module stands on: each is rolled back to them, and they go with the module.
    Give each a copy of the objects (`copy.deepcopy`), which tests change."""

    def made(build: Callable[[], T]) -> T:
        with django_db_blocker.unblock():
            return build()

    around = transaction.atomic()
    made(around.__enter__)
    yield made
    made(lambda: transaction.set_rollback(True))
    made(lambda: around.__exit__(None, None, None))


@pytest.fixture(scope="module")
def built_world(made_once: Callable[[Callable[[], World]], World]) -> World:
    """A module may build another one under this name."""
    return made_once(worlds.build)


@pytest.fixture
def world(built_world: World, db: None) -> World:
    return deepcopy(built_world)


@pytest.fixture(scope="session", autouse=True)
def _tables_can_be_emptied() -> Iterator[None]:
    """Django empties tables with DELETE on SQLite, which the immutable rows' triggers refuse: they are dropped for that
    moment; the flush itself installs them again."""
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
    ring = tmp_path_factory.mktemp("keys") / "ring.json"
    RingFile(ring).create(datetime.now(UTC) - timedelta(days=200))
    with override_settings(EVIDENCE_KEYS="", EVIDENCE_KEYS_FILE=ring, EVIDENCE_KEYS_MADE=True):
        yield


@pytest.fixture(scope="session", autouse=True)
def _passwords_are_hashed_at_once() -> Iterator[None]:
    """Django's own way takes 0.2 s for each, on purpose."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture
def project(db: None) -> Project:
    return factories.project()


@pytest.fixture
def everyone(project: Project) -> User:
    return factories.everyone(project)


@pytest.fixture
def responder(project: Project) -> User:
    return factories.person(project, Role.RESPONDER)


@pytest.fixture
def reviewer(project: Project) -> User:
    return factories.person(project, Role.PRIVACY_REVIEWER)


@pytest.fixture
def owner(project: Project) -> User:
    return factories.person(project, Role.INCIDENT_OWNER)


@pytest.fixture
def qa(project: Project) -> User:
    return factories.person(project, Role.QA)


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).resolve().parents[1]
