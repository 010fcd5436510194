"""What holds for every service that writes: its audit event and its change are one, and roles are read under the
lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import PermissionDenied
from django.db import transaction

from replaycases.accounts.models import Membership, ProjectQuerySet, User
from replaycases.cases import events
from tests.cases import every_service
from tests.cases.every_service import Call

pytestmark = pytest.mark.django_db
# Who may is a superuser, the account itself, or whoever holds the secret.
BY_NO_ROLE = {
    "people.create_project",
    "users.create_user",
    "users.edit_user",
    "users.set_own_password",
    "users.forget_attempts",
    "invitations.accept_invitation",
    "invitations.join",
    "lanes.promote_many",  # tells of each case why it stayed
}


class Broken(Exception):
    pass


class Undone(Exception):
    pass


def rows() -> dict[str, list[Any]]:
    """Everything that is stored."""
    found = {}
    for model in apps.get_models(include_auto_created=True):
        found[model._meta.label] = list(model._default_manager.order_by("pk").values_list())
    return found


def changed(before: dict[str, list[Any]]) -> set[str]:
    return {label for label, stored in rows().items() if stored != before[label]}


def test_of_every_service_there_is_a_call() -> None:
    assert every_service.calls().keys() == every_service.named()


def test_a_change_whose_event_cannot_be_kept_is_not_kept_either(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, before, record = every_service.calls(), rows(), events.record

    def broken(**said: Any) -> None:
        record(**said)
        recorded.append(said["action"])
        raise Broken

    monkeypatch.setattr(events, "record", broken)
    for name, call in calls.items():
        recorded: list[str] = []
        with suppress(Broken):  # of many cases each says for itself why it stayed
            call.act()
        assert len(recorded) == 1, name
        assert changed(before) == set(), name


def test_every_service_leaves_an_event_when_it_changes_anything() -> None:
    calls, before = every_service.calls(), rows()
    for name, call in calls.items():
        with undone():
            call.act()
            assert "cases.AuditEvent" in changed(before), name


def test_whoever_loses_their_roles_while_they_wait_for_the_lock_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, before, lock = every_service.calls(), rows(), ProjectQuerySet.select_for_update
    leaving: list[User | None] = []

    def locked(self: ProjectQuerySet, **said: Any) -> ProjectQuerySet:
        Membership.objects.filter(user__in=leaving).delete()
        return lock(self, **said)

    monkeypatch.setattr(ProjectQuerySet, "select_for_update", locked)
    done = {}
    for name in calls.keys() - BY_NO_ROLE:
        with undone():
            leaving[:] = [calls[name].actor]
            done[name] = outcome(calls[name])
            if not changed(before) - {"accounts.Membership"} and isinstance(done[name], PermissionDenied):
                del done[name]
    assert not done


@contextmanager
def undone() -> Iterator[None]:
    """Whatever is done in it is taken back."""
    with suppress(Undone), transaction.atomic():
        yield
        raise Undone


def outcome(call: Call) -> object:
    try:
        with transaction.atomic():
            return call.act()
    except PermissionDenied as refused:
        return refused
