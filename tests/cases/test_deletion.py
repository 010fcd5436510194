"""Nothing that was decided, recorded or replayed goes away with something else: over every model that there is."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.db.models import PROTECT, ForeignKey, Model, ProtectedError
from django.utils import timezone

from replaycases.accounts.models import Membership, Project, Team, User
from replaycases.cases import immutability
from replaycases.cases.models import (
    AuditHead,
    BufferedTrace,
    CaseOwner,
    CiReport,
    CiResult,
    DependencyStatement,
    Notification,
    NotificationCursor,
    Payload,
    ProjectFigures,
    StatementEdit,
    TraceBatch,
    TraceInbox,
)
from tests import factories
from tests.api import world

# Rows that come and go: who holds a role now, who owns a boundary now, news that was told, places in a queue. Bytes go
# when their time is over, and only while nothing refers to them; so does what a collector sent and nobody captured.
# What is counted is counted again.
COME_AND_GO = {Membership, CaseOwner, Notification, NotificationCursor, AuditHead, Payload} | {
    BufferedTrace,
    ProjectFigures,
    TraceBatch,
    TraceInbox,
}
OURS = [model for model in apps.get_models() if model._meta.app_label in {"accounts", "cases"}]
KEPT = set(immutability._kept_tables())
# But for the tables that only say which rows belong together.
LINKS = [field for model in OURS for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]


@pytest.mark.parametrize("model", OURS, ids=lambda model: model._meta.label)
def test_of_every_table_it_is_said_whether_its_rows_are_kept(model: type[Model]) -> None:
    assert (model in KEPT) != (model in COME_AND_GO)


@pytest.mark.parametrize("link", LINKS, ids=str)
def test_no_row_goes_with_the_row_that_it_refers_to(link: Any) -> None:
    assert link.remote_field.on_delete is PROTECT


@pytest.mark.django_db
def test_no_kept_row_is_deleted_whether_or_not_anything_refers_to_it() -> None:
    filled()
    before = rows()
    for model in KEPT:
        for row in model._default_manager.all():
            with pytest.raises((ProtectedError, IntegrityError)), transaction.atomic():
                row.delete()
            with (
                pytest.raises(IntegrityError, match="DELETE is refused"),
                transaction.atomic(),
                connection.cursor() as cursor,
            ):
                cursor.execute(f'DELETE FROM "{model._meta.db_table}"')
    assert rows() == before


def filled() -> None:
    """A row in every kept table that the domain writes, and a project, a team and an account that nothing refers to."""
    made = world.build()
    revision, somebody = factories.revision(made.case), made.team.viewer
    CiResult.objects.create(report=CiReport.objects.get(), revision=revision, label="")
    StatementEdit.objects.create(case=made.case, editor=somebody)
    DependencyStatement.objects.create(
        case=made.case, revision=revision, acceptance="unknown", said_by=somebody, said_at=timezone.now()
    )
    empty = Project.objects.create(key="EMPTY", name="Nothing refers to it")
    Team.objects.create(project=empty, name="Nobody")
    User.objects.create_user("stranger", "stranger@example.invalid")


@pytest.mark.django_db
def test_bytes_that_something_refers_to_are_not_deleted() -> None:
    project = factories.project()
    actor = factories.everyone(project)
    factories.case(project, actor)
    factories.implementation(project, actor)
    before = rows()
    for payload in Payload.objects.all():
        with pytest.raises(ProtectedError):
            payload.delete()
    assert rows() == before


def rows() -> dict[str, int]:
    return {model._meta.label: model._default_manager.count() for model in OURS}
