"""The database's clock: the one by which leases and messages are timed, so that workers' clocks need not agree."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now as DjangoNow
from django.db.models.sql.compiler import SQLCompiler


class Now(DjangoNow):
    """The present instant, written as Django writes any other one. SQLite compares instants as text, and Django's own
    function writes three digits of a second where a datetime has six or, at a full second, none: the same instant
    would be less than itself."""

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra: Any) -> tuple[str, Any]:
        text = "STRFTIME('%%%%Y-%%%%m-%%%%d %%%%H:%%%%M:%%%%f000', 'NOW')"
        return self.as_sql(compiler, connection, template=f"REPLACE({text}, '.000000', '')", **extra)


def after(seconds: float) -> ExpressionWrapper[Any]:
    """The instant so many seconds from now; before now if negative."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())
