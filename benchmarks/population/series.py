"""INSERT … SELECT: rows that the database makes by itself, from series of numbers."""

from __future__ import annotations

from typing import Any

from django.db import connection, models

_CAST = {"serial": "integer", "bigserial": "bigint"}


def insert(cursor: Any, model: type[models.Model], source: str, /, **values: str) -> None:
    """One row for each of `source`. `values` are SQL expressions by field name; every other column takes its field's
    default, and an automatic key what the database gives."""
    columns, expressions, constants = [], [], []
    for field in model._meta.concrete_fields:
        if isinstance(field, models.AutoField) and field.name not in values:
            continue
        columns.append(f'"{field.column}"')
        if field.name in values:
            expressions.append(values[field.name].replace("%", "%%"))
        else:
            constants.append(field.get_db_prep_save(_default(field), connection))
            kind = field.db_type(connection)
            expressions.append(f"%s::{_CAST.get(kind or '', kind)}")
    table = model._meta.db_table
    selected = ", ".join(expressions)
    cursor.execute(
        f'INSERT INTO "{table}" ({", ".join(columns)}) SELECT {selected} FROM {source.replace("%", "%%")}', constants
    )


def digest(text: str) -> str:
    """SQL of something of a digest's shape, made from the SQL of a text."""
    return f"'sha256:' || md5({text}) || md5('x' || {text})"


def _default(field: models.Field[Any, Any]) -> Any:
    return field.get_default() if field.has_default() or not field.null else None
