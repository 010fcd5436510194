from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CasesConfig(AppConfig):
    name = "replaycases.cases"
    label = "cases"

    def ready(self) -> None:
        post_migrate.connect(_complete_schema, sender=self, dispatch_uid="cases.schema")


def _complete_schema(using: str, plan: Any = None, **kwargs: Any) -> None:
    """What the ORM cannot declare: triggers, and the audit chain's head row. After every migrate, because SQLite loses
    a table's triggers when a migration rebuilds the table."""
    from replaycases.cases import immutability  # models may be imported only once the apps are loaded

    immutability.install(using)
