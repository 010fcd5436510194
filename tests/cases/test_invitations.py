"""An invitation is for one address, once, for a week, and worth what whoever made it is."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core import mail
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import Invitation, Membership, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import events, invitations, people, policies, users
from replaycases.cases.models import AuditEvent
from tests import factories

pytestmark = pytest.mark.django_db
PASSWORD = "a long pass phrase"


@pytest.fixture
def admin(project: Project) -> User:
    return factories.person(project, Role.ADMINISTRATOR)


@pytest.fixture
def secret(project: Project, admin: User) -> str:
    return invitations.invite(admin, project=project, email="Ada@Example.invalid", roles=[Role.QA, Role.VIEWER])[1]


def accept(secret: str, username: str = "ada", password: str = PASSWORD) -> User:
    return invitations.accept_invitation(secret, username=username, display_name="Ada  L", password=password)


def test_whoever_accepts_has_an_account_with_the_offered_roles(secret: str, project: Project) -> None:
    user = accept(secret)
    assert (user.username, user.display_name, user.email) == ("ada", "Ada L", "Ada@example.invalid")
    assert user.check_password(PASSWORD)
    assert access.roles_of(user, project) == {Role.QA, Role.VIEWER}
    assert not user.is_superuser


def test_what_happened_is_in_the_audit_without_secret_or_password(secret: str, admin: User) -> None:
    user = accept(secret)
    told = list(AuditEvent.objects.order_by("sequence"))
    assert [event.action for event in told] == [
        "invitation.made",
        "user.created",
        "invitation.accepted",
        "role.granted",
    ]
    assert [event.actor for event in told] == [admin, user, user, user]
    assert json.loads(told[2].after)["invited_by"] == str(admin.pk)
    assert json.loads(told[3].after)["roles"] == ["qa", "viewer"]
    text = "".join(event.before + event.after for event in told)
    assert secret not in text
    assert PASSWORD not in text
    assert events.verify() == []


def test_only_the_hash_of_the_secret_is_kept(secret: str) -> None:
    row = Invitation.objects.values_list().get()
    assert not any(secret in str(value) for value in row)


@pytest.mark.django_db(transaction=True)
def test_the_mail_holds_the_link_on_our_own_address(project: Project, admin: User) -> None:
    _, secret = invitations.invite(admin, project=project, email="ada@example.invalid", roles=[Role.QA])
    (sent,) = mail.outbox
    assert sent.to == ["ada@example.invalid"]
    assert f"http://localhost:8000/invitations/{secret}/" in sent.body
    assert "as QA." in sent.body


def test_an_invitation_is_used_once(secret: str) -> None:
    accept(secret)
    with pytest.raises(policies.InvalidTransition, match="not good any more"):
        accept(secret, "second")
    assert User.objects.filter(username="second").count() == 0


def test_an_invitation_ends_after_a_week(secret: str) -> None:
    made = Invitation.objects.get()
    assert timedelta(days=6, hours=23) < made.expires_at - timezone.now() <= timedelta(days=7)
    Invitation.objects.update(expires_at=timezone.now())
    with pytest.raises(policies.InvalidTransition):
        accept(secret)


def test_a_revoked_invitation_opens_nothing(secret: str, admin: User) -> None:
    invitations.revoke_invitation(admin, invitation=Invitation.objects.get())
    with pytest.raises(policies.InvalidTransition):
        accept(secret)
    with pytest.raises(policies.InvalidTransition, match="before"):
        invitations.revoke_invitation(admin, invitation=Invitation.objects.get())


def test_an_invitation_is_worth_nothing_once_its_maker_administers_no_more(
    secret: str, admin: User, project: Project
) -> None:
    other = factories.person(project, Role.ADMINISTRATOR)
    people.revoke_role(other, project=project, user=admin, role=Role.ADMINISTRATOR)
    assert invitations.find(secret) is None
    with pytest.raises(policies.InvalidTransition):
        accept(secret)


def test_an_invitation_is_worth_nothing_once_its_makers_account_is_closed(secret: str, admin: User) -> None:
    root = User.objects.create_superuser("root", "root@example.invalid")
    users.edit_user(root, user=admin, changes={"is_active": False})
    with pytest.raises(policies.InvalidTransition):
        accept(secret)


def test_a_secret_that_was_never_given_opens_nothing(secret: str) -> None:
    for wrong in ("", "x", secret[:-1], Invitation.objects.get().secret_hash):
        assert invitations.find(wrong) is None


@pytest.mark.parametrize(
    ("username", "password", "field"),
    [("", PASSWORD, "username"), ("a b", PASSWORD, "username"), ("ada", "short", "password")],
)
def test_a_bad_account_is_refused_by_field_and_the_invitation_stays_good(
    secret: str, username: str, password: str, field: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        accept(secret, username, password)
    assert field in refused.value.message_dict
    assert accept(secret)


@pytest.mark.parametrize("weak", ["123456789012345", "ada@example.invalid", "qwerty123456", "eleven char"])
def test_a_weak_password_is_refused(secret: str, weak: str) -> None:
    with pytest.raises(ValidationError):
        accept(secret, password=weak)


def test_a_name_that_is_taken_is_refused(secret: str, admin: User) -> None:
    with pytest.raises(ValidationError) as refused:
        accept(secret, username=admin.username)
    assert "username" in refused.value.message_dict


def test_an_address_with_an_account_makes_no_second_one(secret: str) -> None:
    User.objects.create_user("older", "ada@example.invalid")
    with pytest.raises(ValidationError, match="has an account already"):
        accept(secret)


def test_whoever_has_an_account_joins_with_it_and_keeps_their_roles(secret: str, project: Project) -> None:
    older = User.objects.create_user("older", "ada@example.invalid")
    Membership.objects.create(project=project, user=older, role=Role.QA)
    invitations.join(older, secret=secret)
    assert access.roles_of(older, project) == {Role.QA, Role.VIEWER}
    with pytest.raises(policies.InvalidTransition):
        invitations.join(older, secret=secret)


def test_nobody_else_joins_with_the_link(secret: str, project: Project) -> None:
    stranger = User.objects.create_user("stranger", "eve@example.invalid")
    with pytest.raises(PermissionDenied, match=r"is for Ada@example\.invalid"):
        invitations.join(stranger, secret=secret)
    assert access.roles_of(stranger, project) == frozenset()


@pytest.fixture
def root(project: Project) -> User:
    return User.objects.create_superuser("root", "root@example.invalid")


def test_nobody_joins_by_their_own_invitation_whatever_their_address_is_by_then(project: Project, root: User) -> None:
    _, secret = invitations.invite(root, project=project, email="other@example.invalid", roles=[Role.PRIVACY_REVIEWER])
    root = users.edit_user(root, user=root, changes={"email": "Other@example.invalid"})
    with pytest.raises(PermissionDenied, match="to themselves"):
        invitations.join(root, secret=secret)
    assert access.roles_of(root, project) == frozenset()


def test_an_address_that_somebody_gave_themselves_to_join_stands_in_the_audit(secret: str, root: User) -> None:
    root = users.edit_user(root, user=root, changes={"email": "ada@example.invalid"})
    invitations.join(root, secret=secret)
    edited, accepted = AuditEvent.objects.filter(
        actor=root, action__in=["user.edited", "invitation.accepted"]
    ).order_by("sequence")
    assert (edited.object_id, json.loads(edited.after)) == (str(root.pk), {"email": "ada@example.invalid"})
    assert json.loads(accepted.after)["user"] == str(root.pk)


def test_a_program_does_not_join(secret: str, project: Project) -> None:
    older = User.objects.create_user("older", "ada@example.invalid")
    Membership.objects.create(project=project, user=older, role=Role.QA)
    older.token, _ = people.create_token(older, project=project, name="x", scopes=["read"], days=1)
    with pytest.raises(PermissionDenied):
        invitations.join(older, secret=secret)


def test_nobody_invites_but_an_administrator_and_not_themselves(project: Project, admin: User) -> None:
    for actor in (
        factories.person(project, *(set(Role) - {Role.ADMINISTRATOR})),
        factories.everyone(factories.project("X")),
    ):
        with pytest.raises(PermissionDenied):
            invitations.invite(actor, project=project, email="a@example.invalid", roles=[Role.QA])
    with pytest.raises(ValidationError, match="to themselves"):
        invitations.invite(admin, project=project, email=admin.email.upper(), roles=[Role.QA])
    assert not Invitation.objects.exists()


@pytest.mark.parametrize(("email", "roles"), [("no address", [Role.QA]), ("a@example.invalid", [])])
def test_an_invitation_names_an_address_and_a_role(
    project: Project, admin: User, email: str, roles: list[Role]
) -> None:
    with pytest.raises(ValidationError):
        invitations.invite(admin, project=project, email=email, roles=roles)
