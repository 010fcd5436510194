from __future__ import annotations

import pytest
from django.db import connection
from django.db.models import DateTimeField
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import clock
from tests import factories

pytestmark = pytest.mark.django_db


def _person(**fields: object) -> User:
    person = factories.person(factories.project())
    User.objects.filter(pk=person.pk).update(**fields)
    return User.objects.get(pk=person.pk)


def test_an_instant_of_the_database_is_itself_after_a_way_through_python() -> None:
    joined = _person(date_joined=clock.Now()).date_joined
    assert User.objects.filter(date_joined=joined).exists()
    assert not User.objects.filter(date_joined__lt=joined).exists()
    assert not User.objects.filter(date_joined__gt=joined).exists()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite compares instants as text")
@pytest.mark.parametrize("instant", ["2026-01-01 00:00:00", "2026-01-01 10:20:30.120", "2026-01-01 10:20:59.999"])
def test_an_instant_of_the_database_is_written_as_django_writes_it(instant: str) -> None:
    compiler = User.objects.all().query.get_compiler(connection=connection)
    sql, _ = clock.Now().as_sqlite(compiler, connection)
    with connection.cursor() as cursor:
        written = cursor.execute(f"SELECT {sql % ()}".replace("'NOW'", f"'{instant}'")).fetchone()[0]
    read = DateTimeField().to_python(f"{instant}+00:00")
    assert written == DateTimeField().get_db_prep_value(read, connection)


def test_before_and_after_now_are_in_order() -> None:
    person = _person(date_joined=clock.after(-60), last_login=clock.after(60))
    assert person.date_joined < timezone.now() < (person.last_login or person.date_joined)
    assert User.objects.filter(date_joined__lt=clock.Now(), last_login__gt=clock.Now()).exists()
