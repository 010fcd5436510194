"""Queries of many parts that are asked again and again, of other people, projects or cases, written out as SQL once:
Django takes longer to build one than the database takes to answer it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import DateTimeField, Model, QuerySet, UUIDField

from replaycases.accounts.models import User

Name = TypeVar("Name", bound=str)
M = TypeVar("M", bound=Model)
_UUID, _INSTANT = UUIDField(), DateTimeField()


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
        cursor.execute(kept.sql, kept.params(_values(asker, projects)))
        return list(kept.compiler.results_iter(results=[cursor.fetchall()], tuple_expected=True))


def instances(build: Build[Name], asker: Asker, projects: Mapping[Name, Sequence[UUID]], most: int) -> list[Any]:
    """What the one part gives, as instances of its model with what it selects beside them."""
    return _kept_of(build, projects, most).instances(_values(asker, projects))


def about(build: Callable[[Sequence[UUID]], QuerySet[M]], keys: Sequence[UUID]) -> list[M]:
    """The instances of the query that is built for these keys. The one for a single key, which is what pages ask for,
    is kept; `build` takes it as it is."""
    if len(keys) != 1:
        return list(build(keys))
    return _keep_about(connection.vendor, build).instances([_uuid(key) for key in keys])


class _Kept:
    """A query that was built with stand-ins, which occur nowhere else in it, in place of the values that change."""

    def __init__(self, parts: Sequence[QuerySet[Any, Any]], stand_ins: Sequence[Hashable]) -> None:
        compilers = [part.query.get_compiler(DEFAULT_DB_ALIAS) for part in parts]
        written = [compiler.as_sql() for compiler in compilers]
        # Not Django's union, which allows no part an order and a limit of its own on SQLite.
        selects = [f"SELECT * FROM ({sql}) AS part_{at}" for at, (sql, _) in enumerate(written)]  # noqa: S608
        # A single part keeps its order, which nobody promises of a part of something.
        sql = " UNION ALL ".join(selects) if len(parts) > 1 else written[0][0]
        params = [param for _, params in written for param in params]
        self._stand_ins = stand_ins
        self.sql, self._params = _with_constants(sql, params, stand_ins)
        self.part, self.compiler = parts[0], compilers[0]

    def params(self, values: Sequence[Any]) -> list[Any]:
        given = dict(zip(self._stand_ins, values, strict=True))
        return [given.get(param, param) for param in self._params]

    def instances(self, values: Sequence[Any]) -> list[Any]:
        compiler = copy(self.compiler)
        compiler.connection = connections[DEFAULT_DB_ALIAS]  # this thread's
        compiler.as_sql = lambda *_, **__: (self.sql, self.params(values))
        found = self.part.all()
        found.query.get_compiler = lambda *_, **__: compiler  # type: ignore[method-assign]
        return list(found)


def _with_constants(sql: str, params: Sequence[Any], stand_ins: Sequence[Hashable]) -> tuple[str, list[Any]]:
    """The same query with its values written into it, the stand-ins apart: only with the constants in sight can
    PostgreSQL keep one plan of it, over the partial indexes that are about them. SQLite plans it every time."""
    if connection.vendor != "postgresql":
        return sql, list(params)
    changing = frozenset(stand_ins)
    written = ["%s" if param in changing else _literal(param) for param in params]
    return sql.replace("%%", "%%%%") % tuple(written), [param for param in params if param in changing]


def _literal(value: Any) -> str:
    ops: Any = connection.ops  # PostgreSQL's
    return str(ops.compose_sql("%s", [value])).replace("%", "%%")


def _kept_of(build: Build[Name], projects: Mapping[Name, Sequence[UUID]], most: int) -> _Kept:
    shape = tuple((name, len(those)) for name, those in projects.items())
    return _keep(connection.vendor, build, shape, most)


@lru_cache(maxsize=256)
def _keep(dialect: str, build: Build[str], shape: tuple[tuple[str, int], ...], most: int) -> _Kept:
    asker = Asker(user=User(pk=uuid4()), soon=datetime(2001, 2, 3, 4, 5, 6, 7, tzinfo=UTC))
    projects = {name: [uuid4() for _ in range(count)] for name, count in shape}
    return _Kept(build(asker, projects, most), _values(asker, projects))


@lru_cache(maxsize=256)
def _keep_about(dialect: str, build: Callable[[Sequence[UUID]], QuerySet[Any]]) -> _Kept:
    key = uuid4()
    return _Kept([build([key])], [_uuid(key)])


def _values(asker: Asker, projects: Mapping[Any, Sequence[UUID]]) -> list[Any]:
    """What changes from one time to the next, as the database is given it."""
    keys = [_uuid(key) for those in projects.values() for key in those]
    return [_uuid(asker.user.pk), _INSTANT.get_db_prep_value(asker.soon, connection), *keys]


def _uuid(value: UUID) -> Any:
    return _UUID.get_db_prep_value(value, connection)
