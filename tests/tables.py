"""The tables that most tests run on are made from the models, at once; those of a deployment by every migration, as
everywhere. `described` tells both in the same words, so that a test can hold one against the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module

from django.db.backends.base.base import BaseDatabaseWrapper


def complete(connection: BaseDatabaseWrapper) -> None:
    """What no model declares and a migration makes."""
    with connection.schema_editor() as editor:
        import_module("replaycases.cases.migrations.0009_case_search").add_text_index(None, editor)
        import_module("replaycases.cases.migrations.0046_capture_search").add(None, editor)


def described(connection: BaseDatabaseWrapper) -> set[tuple[str, ...]]:
    """Every column, constraint, index, trigger and function of a database, in whatever order they were made."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT type, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL")
            rows = cursor.fetchall()
            return {(table, part) for kind, table, sql in rows for part in (_parts(sql) if kind == "table" else [sql])}
        cursor.execute(_POSTGRESQL)
        return {tuple(_CASTS.sub("", str(value)) for value in row) for row in cursor.fetchall()}


# They stand elsewhere in the same condition once it went through a dump.
_CASTS = re.compile(r"::(text|character varying)(\[\])?|[()]")

_POSTGRESQL = """
SELECT attrelid::regclass::text, attname, format_type(atttypid, atttypmod), attnotnull::text, attidentity::text
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', ''
FROM pg_constraint WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT tablename, indexname, indexdef, '', '' FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), '', '' FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT proname, pg_get_functiondef(oid), '', '', '' FROM pg_proc WHERE pronamespace = 'public'::regnamespace
"""


def _parts(table: str) -> Iterator[str]:
    """The columns and constraints of a CREATE TABLE of SQLite."""
    inside = table[table.index("(") + 1 : table.rindex(")")]
    depth, start = 0, 0
    for found in re.finditer(r"[(),]|'(?:[^']|'')*'", inside):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if found[0] == "," and depth == 0:
            yield inside[start : found.start()].strip()
            start = found.end()
    yield inside[start:].strip()
