"""What stands beside a row, as JSON in one subquery: each further one takes longer to build and to plan than to run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Aggregate, JSONField, Model, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import JSONObject


class Rows(Aggregate):
    """The rows of a group as one JSON list."""

    function = "JSONB_AGG"
    name = "Rows"
    output_field = JSONField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSON_GROUP_ARRAY", **extra)


def written(model: type[Model], **beside: Any) -> dict[str, RawSQL]:
    """The same expressions beside rows of `model`, written out as SQL. Made once and kept, they cost no query anything;
    Django would build and compile each of them anew for every query, which takes longer than to find what they ask
    for. They refer to the model's table by its name, as a query does that is not itself a part of another one."""
    query = model._base_manager.annotate(**beside).query
    compiler = query.get_compiler(DEFAULT_DB_ALIAS)
    made = {}
    for name, found in query.annotations.items():
        sql, params = compiler.compile(found)
        made[name] = RawSQL(sql, params, output_field=found.output_field)  # noqa: S611  Django wrote it just now
    return made


def first_of(rows: QuerySet[Any], **fields: Any) -> Subquery:
    """{field: value} of the first of the rows, or NULL. Ids and instants are text then: see `instant`."""
    return Subquery(rows.annotate(told=JSONObject(**fields)).values("told")[:1], output_field=JSONField())


def instant(said: str) -> datetime:
    """An instant out of JSON. SQLite does not say that it is in UTC."""
    read = datetime.fromisoformat(said)
    return read if read.tzinfo else read.replace(tzinfo=UTC)
