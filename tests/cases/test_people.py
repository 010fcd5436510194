"""Who administers a project, and what that is worth."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from replaycases.accounts import access, tokens
from replaycases.accounts import roles as may
from replaycases.accounts.models import ApiToken, Membership, Project, Scope, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import events, people, policies, users
from replaycases.cases.available import available_actions
from replaycases.cases.models import AuditEvent
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(project: Project) -> User:
    return factories.person(project, Role.ADMINISTRATOR)


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root", "root@example.invalid")


def last_event() -> AuditEvent:
    event = AuditEvent.objects.last()
    assert event is not None
    return event


def as_program(user: User, project: Project, scopes: tuple[str, ...] = tuple(Scope.values)) -> User:
    token, secret = people.create_token(user, project=project, name="program", scopes=scopes, days=1)
    acting = tokens.authenticate(secret)
    assert acting is not None
    assert acting.token == token
    return acting


# --- roles ----------------------------------------------------------------------------------------------------------


def test_an_administrator_gives_a_role_and_it_holds_at_once(project: Project, admin: User, qa: User) -> None:
    people.grant_role(admin, project=project, user=qa, role=Role.RESPONDER)
    assert access.roles_of(qa, project) == {Role.QA, Role.RESPONDER}


def test_a_role_given_is_one_event_with_the_roles_before_and_after(project: Project, admin: User, qa: User) -> None:
    people.grant_role(admin, project=project, user=qa, role=Role.RESPONDER)
    event = last_event()
    assert (event.action, event.actor, event.object_id, event.project) == ("role.granted", admin, str(qa.pk), project)
    assert json.loads(event.before) == {"roles": ["qa"]}
    assert json.loads(event.after) == {"roles": ["qa", "responder"]}
    assert events.verify() == []


def test_a_superuser_may_administer_people_and_by_that_decides_nothing(project: Project, root: User, qa: User) -> None:
    people.grant_role(root, project=project, user=qa, role=Role.QA_LEAD)
    assert access.roles_of(qa, project) == {Role.QA, Role.QA_LEAD}
    case = factories.case(project, factories.everyone(project))
    assert not any(action.allowed for action in available_actions(case, root))


def test_an_administrator_decides_nothing_by_that_role(project: Project, admin: User) -> None:
    case = factories.case(project, factories.everyone(project))
    assert [action.name for action in available_actions(case, admin) if action.allowed] == []


@pytest.mark.parametrize("role", sorted(set(Role) - may.ADMINISTERS))
def test_nobody_else_gives_or_takes_roles(project: Project, qa: User, role: Role) -> None:
    actor = factories.person(project, role)
    with pytest.raises(PermissionDenied, match="Administrator in project RC"):
        people.grant_role(actor, project=project, user=qa, role=Role.RESPONDER)
    with pytest.raises(PermissionDenied, match="Administrator in project RC"):
        people.revoke_role(actor, project=project, user=qa, role=Role.QA)
    assert access.roles_of(qa, project) == {Role.QA}


def test_an_administrator_of_another_project_gives_and_takes_nothing_here(project: Project, qa: User) -> None:
    stranger = factories.person(factories.project("XX"), Role.ADMINISTRATOR)
    with pytest.raises(PermissionDenied):
        people.grant_role(stranger, project=project, user=qa, role=Role.QA_LEAD)
    with pytest.raises(PermissionDenied):
        people.revoke_role(stranger, project=project, user=qa, role=Role.QA)


def test_nobody_gives_a_role_to_themselves_a_superuser_neither(project: Project, admin: User, root: User) -> None:
    for actor in (admin, root):
        with pytest.raises(PermissionDenied, match="to themselves"):
            people.grant_role(actor, project=project, user=actor, role=Role.PRIVACY_REVIEWER)
        assert Role.PRIVACY_REVIEWER not in access.roles_of(actor, project)


def test_a_token_never_administers_not_even_a_superusers(project: Project, admin: User, root: User, qa: User) -> None:
    Membership.objects.create(project=project, user=root, role=Role.VIEWER)
    team = people.create_team(admin, project=project, name="Desk")
    for actor in (as_program(admin, project), as_program(root, project)):
        for act in (
            lambda actor=actor: people.grant_role(actor, project=project, user=qa, role=Role.QA_LEAD),
            lambda actor=actor: people.revoke_role(actor, project=project, user=qa, role=Role.QA),
            lambda actor=actor: people.create_team(actor, project=project, name="Other"),
            lambda actor=actor: people.rename_team(actor, team=team, name="Other"),
            lambda actor=actor: people.set_team_members(actor, team=team, members=[qa]),
            lambda actor=actor: people.edit_project(actor, project=project, retention_days=1, review_after_days=1),
            lambda actor=actor: people.create_token(actor, project=project, name="x", scopes=["read"], days=1),
        ):
            with pytest.raises(PermissionDenied, match="A token never decides"):
                act()


def test_neither_a_program_nor_a_closed_account_counts_as_administering(
    project: Project, admin: User, root: User
) -> None:
    assert people.may_administer(admin, project)
    assert people.may_administer(root, project)
    assert not people.may_administer(as_program(admin, project), project)
    root.is_active = False
    assert not people.may_administer(root, project)


def test_a_role_is_given_once_and_to_somebody_who_is_active(project: Project, admin: User, qa: User) -> None:
    with pytest.raises(ValidationError, match="is QA in RC already"):
        people.grant_role(admin, project=project, user=qa, role=Role.QA)
    qa.is_active = False
    with pytest.raises(ValidationError, match="not active"):
        people.grant_role(admin, project=project, user=qa, role=Role.RESPONDER)


def test_a_role_taken_away_is_gone_at_the_next_act_of_person_and_program(
    project: Project, admin: User, qa: User
) -> None:
    program = as_program(qa, project)
    people.revoke_role(admin, project=project, user=qa, role=Role.QA)
    assert access.roles_of(qa, project) == access.roles_of(program, project) == frozenset()
    event = last_event()
    assert event.action == "role.revoked"
    assert json.loads(event.before)["roles"] == ["qa"]
    assert json.loads(event.after)["roles"] == []


def test_a_role_that_is_not_held_cannot_be_taken(project: Project, admin: User, qa: User) -> None:
    with pytest.raises(ValidationError, match="is not Responder in RC"):
        people.revoke_role(admin, project=project, user=qa, role=Role.RESPONDER)


def test_the_last_administrator_stays(project: Project, admin: User, root: User) -> None:
    for actor in (admin, root):
        with pytest.raises(policies.InvalidTransition, match="last administrator of RC"):
            people.revoke_role(actor, project=project, user=admin, role=Role.ADMINISTRATOR)
    assert access.roles_of(admin, project) == {Role.ADMINISTRATOR}


def test_an_administrator_who_is_not_active_is_no_other_administrator(project: Project, admin: User) -> None:
    gone = factories.person(project, Role.ADMINISTRATOR)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    with pytest.raises(policies.InvalidTransition):
        people.revoke_role(admin, project=project, user=admin, role=Role.ADMINISTRATOR)


def test_one_of_two_administrators_may_go(project: Project, admin: User) -> None:
    other = factories.person(project, Role.ADMINISTRATOR)
    people.revoke_role(admin, project=project, user=other, role=Role.ADMINISTRATOR)
    assert access.roles_of(other, project) == frozenset()


def test_with_the_last_role_somebody_leaves_the_projects_teams_and_no_others(
    project: Project, admin: User, qa: User
) -> None:
    elsewhere = Team.objects.create(project=factories.project("XX"), name="There")
    elsewhere.members.add(qa)
    team = people.create_team(admin, project=project, name="Desk")
    people.set_team_members(admin, team=team, members=[qa, admin])
    people.grant_role(admin, project=project, user=qa, role=Role.VIEWER)
    people.revoke_role(admin, project=project, user=qa, role=Role.QA)
    assert set(team.members.all()) == {qa, admin}
    people.revoke_role(admin, project=project, user=qa, role=Role.VIEWER)
    assert set(team.members.all()) == {admin}
    assert list(qa.teams.all()) == [elsewhere]
    assert json.loads(last_event().after) == {"roles": [], "left_teams": [str(team.pk)]}


# --- teams ----------------------------------------------------------------------------------------------------------


def test_a_team_has_a_name_of_its_own_in_the_project(project: Project, admin: User) -> None:
    assert people.create_team(admin, project=project, name="  Payments   desk ").name == "Payments desk"
    with pytest.raises(ValidationError, match="a team of this name already"):
        people.create_team(admin, project=project, name="Payments desk")
    for bad in ("", "   ", "x" * 101, "zero\u200bwidth"):
        with pytest.raises(ValidationError):
            people.create_team(admin, project=project, name=bad)
    assert Team.objects.count() == 1


def test_a_team_is_renamed_with_its_old_name_in_the_audit(project: Project, admin: User) -> None:
    team = people.create_team(admin, project=project, name="Desk")
    people.rename_team(admin, team=team, name="Payments")
    assert (last_event().before, last_event().after) == ('{"name":"Desk"}', '{"name":"Payments"}')


def test_only_active_people_with_a_role_in_the_project_are_in_its_teams(
    project: Project, admin: User, qa: User
) -> None:
    team = people.create_team(admin, project=project, name="Desk")
    stranger = factories.person(factories.project("XX"), Role.QA)
    away = factories.person(project, Role.QA)
    User.objects.filter(pk=away.pk).update(is_active=False)
    for wrong in (stranger, away):
        with pytest.raises(ValidationError, match=str(wrong)):
            people.set_team_members(admin, team=team, members=[qa, wrong])
    assert not team.members.exists()


def test_the_members_that_are_set_are_all_that_there_are(project: Project, admin: User, qa: User) -> None:
    team = people.create_team(admin, project=project, name="Desk")
    people.set_team_members(admin, team=team, members=[admin])
    people.set_team_members(admin, team=team, members=[qa])
    assert list(team.members.all()) == [qa]
    assert json.loads(last_event().before) == {"members": [str(admin.pk)]}
    count = AuditEvent.objects.count()
    people.set_team_members(admin, team=team, members=[qa])
    assert AuditEvent.objects.count() == count


# --- projects -------------------------------------------------------------------------------------------------------


def test_a_project_keeps_evidence_within_bounds(project: Project, admin: User) -> None:
    people.edit_project(admin, project=project, retention_days=90, review_after_days=730)
    assert json.loads(last_event().after) == {"retention_days": 90, "review_after_days": 730}
    for retention, review in ((0, 1), (91, 1), (1, 0), (1, 731)):
        with pytest.raises(ValidationError, match="from 1 to"):
            people.edit_project(admin, project=project, retention_days=retention, review_after_days=review)
    project.refresh_from_db()
    assert (project.retention_days, project.review_after_days) == (90, 730)


def test_a_project_is_opened_by_a_superuser_alone(project: Project, admin: User, root: User) -> None:
    with pytest.raises(PermissionDenied):
        people.create_project(admin, key="NEW", name="New")
    with pytest.raises(ValidationError):
        people.create_project(root, key="no good", name="New")
    assert people.create_project(root, key="NEW", name="New").retention_days == 30
    assert last_event().action == "project.created"


# --- tokens ---------------------------------------------------------------------------------------------------------


def test_a_token_is_for_a_member_and_its_secret_is_nowhere(project: Project, qa: User) -> None:
    token, secret = people.create_token(qa, project=project, name="nightly", scopes=["read"], days=365)
    assert tokens.authenticate(secret) == qa
    assert token.expires_at <= timezone.now() + timedelta(days=365)
    event = last_event()
    assert event.action == "token.created"
    assert secret not in event.before + event.after
    assert token.secret_hash not in event.before + event.after


def test_whoever_holds_no_role_makes_no_token_a_superuser_neither(project: Project, root: User) -> None:
    for actor in (root, factories.person(factories.project("XX"), Role.QA)):
        with pytest.raises(PermissionDenied, match="no role in RC"):
            people.create_token(actor, project=project, name="x", scopes=["read"], days=1)
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("days", [0, -1, 366])
def test_a_token_always_ends(project: Project, qa: User, days: int) -> None:
    with pytest.raises(ValidationError, match="from 1 to 365"):
        people.create_token(qa, project=project, name="x", scopes=["read"], days=days)


@pytest.mark.parametrize("scopes", [[], ["everything"], ["read", "everything"]])
def test_a_token_has_scopes_that_exist(project: Project, qa: User, scopes: list[str]) -> None:
    with pytest.raises(ValidationError, match="Choose at least one"):
        people.create_token(qa, project=project, name="x", scopes=scopes, days=1)


def test_a_token_is_revoked_by_its_owner_or_an_administrator_and_by_nobody_else(
    project: Project, admin: User, qa: User
) -> None:
    mine, secret = people.create_token(qa, project=project, name="x", scopes=["read"], days=1)
    other, _ = people.create_token(qa, project=project, name="y", scopes=["read"], days=1)
    for stranger in (factories.person(project, Role.QA_LEAD), factories.person(factories.project("X"), *Role)):
        with pytest.raises(PermissionDenied):
            people.revoke_token(stranger, token=mine)
    people.revoke_token(qa, token=mine)
    assert tokens.authenticate(secret) is None
    assert people.revoke_token(admin, token=other).revoked_by == admin
    assert last_event().action == "token.revoked"
    with pytest.raises(policies.InvalidTransition, match="revoked already"):
        people.revoke_token(qa, token=mine)


# --- accounts -------------------------------------------------------------------------------------------------------


def test_accounts_are_kept_by_superusers_alone(project: Project, admin: User, qa: User) -> None:
    with pytest.raises(PermissionDenied):
        users.edit_user(admin, user=qa, changes={"is_superuser": True})
    with pytest.raises(PermissionDenied):
        users.create_user(admin, user=User(username="new", email="new@example.invalid"))
    assert not User.objects.filter(is_superuser=True).exists()


def test_an_account_that_is_closed_can_do_nothing_more(project: Project, root: User, qa: User) -> None:
    _, secret = people.create_token(qa, project=project, name="x", scopes=["read"], days=1)
    closed = users.edit_user(root, user=qa, changes={"is_active": False})
    assert access.roles_of(closed, project) == frozenset()
    assert tokens.authenticate(secret) is None
    assert (last_event().before, last_event().after) == ('{"is_active":true}', '{"is_active":false}')


def test_nobody_takes_their_own_account_away(root: User) -> None:
    for change in ("is_active", "is_superuser"):
        with pytest.raises(policies.InvalidTransition, match="your own account"):
            users.edit_user(root, user=root, changes={change: False})
    root.refresh_from_db()
    assert root.is_active
    assert root.is_superuser
