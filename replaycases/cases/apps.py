from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate, pre_migrate


class CasesConfig(AppConfig):
    name = "replaycases.cases"
    label = "cases"

    def ready(self) -> None:
        from replaycases.cases import checks  # noqa: F401  registers itself

        connection_created.connect(_without_jit, dispatch_uid="cases.without_jit")
        pre_migrate.connect(_make_room, sender=self, dispatch_uid="cases.make_room")
        post_migrate.connect(_complete_schema, sender=self, dispatch_uid="cases.schema")


def _without_jit(connection: Any, **kwargs: Any) -> None:
    """PostgreSQL compiles a query that it thinks costly for longer than any of ours runs. Set here, not as an option of
    the connection, which a pooler between may refuse."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET jit = off")


def _make_room(using: str, **kwargs: Any) -> None:
    """SQLite rebuilds a table by renaming another one in its place, and refuses to while a trigger reads it."""
    from replaycases.cases import immutability

    if connections[using].vendor == "sqlite":
        immutability.remove(using)


def _complete_schema(using: str, plan: Any = None, **kwargs: Any) -> None:
    """What the ORM cannot declare: triggers, and the audit chain's head row. After every migrate, because SQLite loses
    a table's triggers when a migration rebuilds the table."""
    from replaycases.cases import immutability  # models may be imported only once the apps are loaded

    immutability.install(using)
