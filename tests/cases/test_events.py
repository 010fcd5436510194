from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections, transaction

from replaycases.accounts.models import Project
from replaycases.cases import events, immutability
from replaycases.cases.models import AuditEvent, AuditHead
from tests import factories
from tests.cases.deployment import Deployment


def _chain(length: int) -> None:
    project = factories.project()
    with transaction.atomic():
        for number in range(length):
            events.record(actor=None, action="test.happened", subject=project, project=project, after={"n": number})


def _sql(statement: str) -> None:
    """As somebody who owns the database: without the triggers that refuse it."""
    immutability.remove("default")
    with connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.django_db
def test_an_untouched_chain_is_whole() -> None:
    _chain(5)
    assert events.verify() == []
    call_command("verify_audit")


@pytest.mark.django_db
def test_an_edited_event_is_found() -> None:
    _chain(5)
    _sql("UPDATE cases_auditevent SET action = 'test.other' WHERE sequence = 3")
    assert events.verify() == ["event 3 was edited"]


@pytest.mark.django_db
def test_an_event_edited_with_its_hash_breaks_the_next_link() -> None:
    _chain(5)
    immutability.remove("default")
    event = AuditEvent.objects.get(sequence=3)
    event.action = "test.other"
    AuditEvent.objects.filter(sequence=3).update(action="test.other", hash=events.event_hash(event))
    assert events.verify() == ["event 4 does not follow the event before it"]


@pytest.mark.django_db
def test_a_deleted_event_is_found() -> None:
    _chain(5)
    _sql("DELETE FROM cases_auditevent WHERE sequence = 3")
    assert events.verify() == ["events 3 to 3 are missing"]


@pytest.mark.django_db
def test_a_cut_tail_is_found_and_the_command_says_so() -> None:
    _chain(5)
    _sql("DELETE FROM cases_auditevent WHERE sequence > 3")
    assert events.verify() == ["the chain ends at event 3, its head says 5"]
    with pytest.raises(CommandError, match="its head says 5"):
        call_command("verify_audit")


@pytest.mark.django_db
@pytest.mark.parametrize("statement", ["UPDATE cases_auditevent SET action = 'x'", "DELETE FROM cases_auditevent"])
def test_the_database_refuses_to_change_an_event(statement: str) -> None:
    _chain(1)
    with pytest.raises(Exception, match="immutable"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.django_db(transaction=True)
def test_an_event_outside_of_a_transaction_is_refused() -> None:
    project = factories.project()
    with pytest.raises(RuntimeError, match="transaction"):
        events.record(actor=None, action="test.happened", subject=project, project=project)


@pytest.mark.django_db(transaction=True)
def test_a_change_that_is_rolled_back_leaves_no_event() -> None:
    project = factories.project()

    with transaction.atomic():
        events.record(actor=None, action="test.happened", subject=project, project=project)
        transaction.set_rollback(True)
    assert AuditHead.objects.get().sequence == 0
    assert events.verify() == []


def test_twenty_concurrent_writers_make_one_chain(deployment: Deployment) -> None:
    project = factories.project()

    def append(number: int) -> None:
        try:
            for _ in range(5):
                with transaction.atomic():
                    subject = Project.objects.get()
                    events.record(actor=None, action="test.happened", subject=subject, project=project)
        finally:
            connections["default"].close()

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(append, range(20)))
    assert AuditEvent.objects.count() == AuditHead.objects.get().sequence == 100
    assert events.verify() == []
