"""Rows that the database itself refuses to change: triggers, in the dialect of either database.

Fixture revisions, controls and audit events are never updated or deleted; a run set changes only by being voided once;
a run that has ended stays as it ended.
"""

from __future__ import annotations

from django.db import connections

from replaycases.cases.models import AuditEvent, AuditHead, Control, FixtureRevision, Run, RunSet
from replaycases.cases.models.run import ENDED

_ALWAYS = "1 = 1"
_ENDED = "OLD.state IN ({})".format(", ".join(f"'{state.value}'" for state in ENDED))
_VOIDABLE = {"voided_at", "voided_by", "void_reason"}


def _set_is_rewritten() -> str:
    fixed = [field.column for field in RunSet._meta.concrete_fields if field.name not in _VOIDABLE]
    changed = " OR ".join(f'OLD."{column}" IS DISTINCT FROM NEW."{column}"' for column in fixed)
    return f"OLD.voided_at IS NOT NULL OR {changed}"


def _rules() -> list[tuple[str, str, str]]:
    """(table, operation, condition under which it is refused)."""
    rules = [
        (model._meta.db_table, operation, _ALWAYS)
        for model in (FixtureRevision, Control, AuditEvent)
        for operation in ("UPDATE", "DELETE")
    ]
    runs, sets = Run._meta.db_table, RunSet._meta.db_table
    return [
        *rules,
        (runs, "UPDATE", _ENDED),
        (runs, "DELETE", _ALWAYS),
        (sets, "UPDATE", _set_is_rewritten()),
        (sets, "DELETE", _ALWAYS),
    ]


def _name(table: str, operation: str) -> str:
    return f"{table}_refuse_{operation.lower()}"


def install(using: str) -> None:
    """Create the triggers anew and the audit chain's head row where it is missing. Idempotent."""
    remove(using)
    connection = connections[using]
    with connection.cursor() as cursor:
        for table, operation, condition in _rules():
            for statement in _create(connection.vendor, table, operation, condition):
                cursor.execute(statement)
    AuditHead.objects.using(using).get_or_create(pk=1)


def remove(using: str) -> None:
    """Drop the triggers: for a database administrator's repair, and for tests that empty the tables."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for table, operation, _ in _rules():
            on_table = f' ON "{table}"' if connection.vendor == "postgresql" else ""
            cursor.execute(f'DROP TRIGGER IF EXISTS "{_name(table, operation)}"{on_table}')


def _create(vendor: str, table: str, operation: str, condition: str) -> list[str]:
    name = _name(table, operation)
    message = f"{table}: {operation} is refused, these rows are immutable"
    if vendor == "sqlite":
        condition = condition.replace("IS DISTINCT FROM", "IS NOT")
        return [
            f'CREATE TRIGGER "{name}" BEFORE {operation} ON "{table}" WHEN {condition} '
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        ]
    # 23514 is check_violation, which arrives as IntegrityError as it does on SQLite.
    return [
        f'CREATE OR REPLACE FUNCTION "{name}"() RETURNS trigger LANGUAGE plpgsql AS '
        f"$$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = '23514'; END $$",
        f'CREATE TRIGGER "{name}" BEFORE {operation} ON "{table}" FOR EACH ROW WHEN ({condition}) '
        f'EXECUTE FUNCTION "{name}"()',
    ]
