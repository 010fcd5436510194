from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections, transaction

from replaycases.accounts.models import ApiToken, Project
from replaycases.cases import events, immutability
from replaycases.cases.models import AuditEvent, AuditHead
from tests import factories
from tests.cases.deployment import Deployment


def _chain(length: int) -> None:
    project = factories.project()
    with transaction.atomic():
        for number in range(length):
            events.record(actor=None, action="project.edited", subject=project, project=project, after={"n": number})


def _chain_grows() -> None:
    project = Project.objects.get()
    with transaction.atomic():
        events.record(actor=None, action="project.edited", subject=project, project=project)


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
    _sql("UPDATE cases_auditevent SET action = 'team.created' WHERE sequence = 3")
    assert events.verify() == ["event 3 was edited"]


@pytest.mark.django_db
def test_an_event_edited_with_its_hash_breaks_the_next_link() -> None:
    _chain(5)
    immutability.remove("default")
    event = AuditEvent.objects.get(sequence=3)
    event.action = "team.created"
    AuditEvent.objects.filter(sequence=3).update(action="team.created", hash=events.event_hash(event))
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
@pytest.mark.parametrize("column", ["case_id", "token", "actor_id", "project_id", "after", "at", "object_hash"])
def test_an_edit_of_any_column_is_found(column: str) -> None:
    case = factories.case(factories.project(), factories.everyone(Project.objects.get()))
    actor = case.created_by
    actor.token = ApiToken(project=case.project, user=actor, prefix="rc_abc")
    with transaction.atomic():
        recorded = events.record(
            actor=actor, action="lane.exported", subject=case, project=case.project, case=case, object_hash="sha256:1"
        )
    assert events.verify() == []
    emptied = {"case_id": "NULL", "actor_id": "NULL", "project_id": "NULL", "at": "'2020-01-01 00:00:00+00:00'"}
    value = emptied.get(column, "''")
    _sql(f"UPDATE cases_auditevent SET {column} = {value} WHERE sequence = {recorded.sequence}")
    assert events.verify() == [f"event {recorded.sequence} was edited"]


@pytest.mark.django_db
@pytest.mark.parametrize("kept", [4, 3, 0])
def test_the_newest_events_cannot_be_cut_off(kept: int) -> None:
    _chain(5)
    _sql(f"DELETE FROM cases_auditevent WHERE sequence > {kept}")
    assert events.verify() == [f"the chain ends at event {kept}, its head says 5"]


@pytest.mark.django_db
def test_a_chain_that_was_cut_together_with_its_head_is_found_by_a_noted_head(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _chain(5)
    call_command("verify_audit")
    noted = capsys.readouterr().out.rpartition(": ")[2].strip()
    _chain_grows()
    call_command("verify_audit", noted=events.Anchor(sequence=5, hash=noted.partition(" ")[2]))
    _sql("DELETE FROM cases_auditevent WHERE sequence > 3")
    last = AuditEvent.objects.get(sequence=3)
    AuditHead.objects.update(sequence=3, hash=last.hash)
    assert events.verify() == []
    with pytest.raises(CommandError, match="event 5 was there when it was noted, and is missing"):
        call_command("verify_audit", f"--noted={noted}")


@pytest.mark.django_db
def test_a_chain_that_was_written_anew_is_found_by_a_noted_head() -> None:
    _chain(2)
    _chain_grows()
    anchor = events.Anchor(sequence=2, hash="sha256:" + "0" * 64)
    assert events.verify(anchor) == ["event 2 is not the one that was noted"]


@pytest.mark.django_db
def test_a_missing_head_is_found() -> None:
    _chain(2)
    AuditHead.objects.all().delete()
    assert events.verify() == ["the chain's head is missing"]


@pytest.mark.django_db
def test_an_action_without_a_name_is_not_recorded() -> None:
    project = factories.project()
    with pytest.raises(ValueError, match="audit_actions"), transaction.atomic():
        events.record(actor=None, action="project.misspelt", subject=project, project=project)
    assert AuditHead.objects.get().sequence == 0


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
        events.record(actor=None, action="project.edited", subject=project, project=project)


@pytest.mark.django_db(transaction=True)
def test_a_change_that_is_rolled_back_leaves_no_event() -> None:
    project = factories.project()

    with transaction.atomic():
        events.record(actor=None, action="project.edited", subject=project, project=project)
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
                    events.record(actor=None, action="project.edited", subject=subject, project=project)
        finally:
            connections["default"].close()

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(append, range(20)))
    assert AuditEvent.objects.count() == AuditHead.objects.get().sequence == 100
    assert events.verify() == []
