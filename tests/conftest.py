"""Shared fixtures. Nothing here stands in for a real part: services are started, workers are processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest


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


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).resolve().parents[1]
