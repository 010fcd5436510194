"""The bytes of a payload as they come out of the database. Called by `cases.evidence` and `cases.sealing` only.

PostgreSQL is sent large values in the binary form, beside the statement, and answers Django in text of twice their
length, which is copied several times over: a file of 50 MB took 300. What was not loaded with its row is fetched in the
binary form.
"""

from __future__ import annotations

from typing import Any, Protocol

from django.db import connection

from replaycases.cases.models import Payload

_TABLE = Payload._meta.db_table


class Stored(Protocol):
    """A payload, of this version of the code or of a migration."""

    pk: Any
    body: Any

    def get_deferred_fields(self) -> set[str]: ...


def of(payload: Stored) -> bytes | bytearray | memoryview:
    """What its row holds. A body that was not loaded with it is fetched for this once, and not kept with it."""
    if connection.vendor != "postgresql" or "body" not in payload.get_deferred_fields():
        body: bytes | bytearray | memoryview = payload.body
        return body
    import psycopg  # loaded by Django where it is the database, and by nobody else

    with connection.cursor() as cursor, psycopg.Cursor(cursor.connection) as beside:  # in Django's transaction
        found = beside.execute(f"SELECT body FROM {_TABLE} WHERE id = %s", [payload.pk], binary=True).fetchone()  # noqa: S608
    if found is None:
        raise Payload.DoesNotExist
    fetched: bytes | memoryview = found[0]
    return fetched
