"""Queries of many parts that one person asks of their projects, written out as SQL once and asked for everybody: Django
takes longer to build one than the database takes to answer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import DateTimeField, QuerySet, UUIDField
from django.db.models.expressions import RawSQL

from replaycases.accounts.models import User

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asks, and until when something is soon for them."""

    user: User
    soon: datetime


Build = Callable[[Asker, Mapping[Name, Sequence[UUID]], int], Sequence[QuerySet[Any, Any]]]
"""Makes the parts of the query, of the same values and of so many rows each. `projects` are those of each part, none of
them empty. It takes the person, the time and the projects as they are: what is computed from them would stay what it
was the first time."""


def rows(build: Build[Name], asker: Asker, projects: Mapping[Name, Sequence[UUID]], most: int) -> list[tuple[Any, ...]]:
    """What the parts give, one after the other."""
    kept = _kept_of(build, projects, most)
    with connection.cursor() as cursor:
        cursor.execute(kept.sql, kept.params(asker, projects))
        return list(kept.compiler.results_iter(results=[cursor.fetchall()], tuple_expected=True))


def keys(build: Build[Name], asker: Asker, projects: Mapping[Name, Sequence[UUID]], most: int) -> RawSQL:
    """The query of one column as a part of another one: `filter(pk__in=keys(…))`."""
    kept = _kept_of(build, projects, most)
    return RawSQL(kept.sql, kept.params(asker, projects))  # noqa: S611  Django wrote it


class _Kept:
    """A query that was built with stand-ins, which occur nowhere else in it."""

    def __init__(self, build: Build[Name], shape: Sequence[tuple[Name, int]], most: int) -> None:
        self._asker = Asker(user=User(pk=uuid4()), soon=datetime(2001, 2, 3, 4, 5, 6, 7, tzinfo=UTC))
        self._projects = {name: [uuid4() for _ in range(count)] for name, count in shape}
        parts = [part.query.get_compiler(DEFAULT_DB_ALIAS) for part in build(self._asker, self._projects, most)]
        written = [part.as_sql() for part in parts]
        # Not Django's union, which allows no part an order and a limit of its own on SQLite.
        selects = [f"SELECT * FROM ({sql}) AS part_{at}" for at, (sql, _) in enumerate(written)]  # noqa: S608
        self.sql = " UNION ALL ".join(selects)
        self._params = [param for _, params in written for param in params]
        self.compiler = parts[0]

    def params(self, asker: Asker, projects: Mapping[Any, Sequence[UUID]]) -> list[Any]:
        given = {_uuid(self._asker.user.pk): _uuid(asker.user.pk), _instant(self._asker.soon): _instant(asker.soon)}
        for name, stand_ins in self._projects.items():
            given |= zip(map(_uuid, stand_ins), map(_uuid, projects[name]), strict=True)
        return [given.get(param, param) for param in self._params]


def _kept_of(build: Build[Name], projects: Mapping[Name, Sequence[UUID]], most: int) -> _Kept:
    shape = tuple((name, len(those)) for name, those in projects.items())
    return _keep(connection.vendor, build, shape, most)


@lru_cache(maxsize=256)
def _keep(dialect: str, build: Build[str], shape: tuple[tuple[str, int], ...], most: int) -> _Kept:
    return _Kept(build, shape, most)


def _uuid(value: UUID) -> Any:
    return UUIDField().get_db_prep_value(value, connection)


def _instant(value: datetime) -> Any:
    return DateTimeField().get_db_prep_value(value, connection)
