"""The bytes of a payload on their way into the database and back. Called by `cases.evidence` and `cases.sealing` only.

Django writes a parameter into the statement itself. For PostgreSQL bytes become text of twice their length there, which
is copied several times over: a file of 50 MB took 500. Large ones are sent and fetched in the binary form, beside the
statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from django.db import connection

from replaycases.cases.models import Payload

LARGE = 1024 * 1024
_TABLE = Payload._meta.db_table


class Stored(Protocol):
    """A payload, of this version of the code or of a migration."""

    pk: Any
    body: Any

    def get_deferred_fields(self) -> set[str]: ...


def insert(payload: Payload) -> None:
    """Its row, unless the project has one of these bytes: then nothing."""
    body = payload.body
    apart = connection.vendor == "postgresql" and len(body) > LARGE
    payload.body = b"" if apart else body
    Payload.objects.bulk_create([payload], ignore_conflicts=True)
    payload.body = body
    if apart:
        with _binary() as cursor:
            cursor.execute(f"UPDATE {_TABLE} SET body = %b WHERE id = %s", [body, payload.pk])  # noqa: S608 - a fixed name


def of(payload: Stored) -> bytes | bytearray | memoryview:
    """What its row holds. A body that was not loaded with it is fetched for this once, and not kept with it."""
    if connection.vendor != "postgresql" or "body" not in payload.get_deferred_fields():
        body: bytes | bytearray | memoryview = payload.body
        return body
    with _binary() as cursor:
        found = cursor.execute(f"SELECT body FROM {_TABLE} WHERE id = %s", [payload.pk], binary=True).fetchone()  # noqa: S608
    if found is None:
        raise Payload.DoesNotExist
    fetched: bytes | memoryview = found[0]
    return fetched


@contextmanager
def _binary() -> Iterator[Any]:
    """A cursor on Django's connection, in its transaction, that sends parameters beside the statement."""
    import psycopg  # loaded by Django where it is the database, and by nobody else

    with connection.cursor() as cursor, psycopg.Cursor(cursor.connection) as beside:
        yield beside
