from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError

from replaycases.accounts import access
from replaycases.accounts.models import Membership, Project, User
from replaycases.accounts.roles import CREATES_CASES, READS_QUARANTINED_EVIDENCE, REQUESTS_REPLAYS, VOIDS_RUN_SETS, Role
from replaycases.cases.models import Case
from tests import factories

pytestmark = pytest.mark.django_db


def test_roles_are_held_in_a_project() -> None:
    one, other = factories.project("ONE"), factories.project("OTHER")
    user = factories.person(one, Role.QA, Role.VIEWER)
    assert access.roles_of(user, one) == {Role.QA, Role.VIEWER}
    assert access.roles_of(user, other) == frozenset()


def test_an_inactive_user_holds_no_role() -> None:
    project = factories.project()
    user = factories.person(project, Role.QA)
    user.is_active = False
    assert access.roles_of(user, project) == frozenset()


def test_a_superuser_holds_no_role_by_that_alone() -> None:
    root = User.objects.create_superuser("root", "root@example.invalid")
    assert access.roles_of(root, factories.project()) == frozenset()


def test_a_missing_role_is_named() -> None:
    project = factories.project()
    with pytest.raises(PermissionDenied, match="QA in project RC"):
        access.require(factories.person(project, Role.VIEWER), project, Role.QA)


@pytest.mark.parametrize("rights", [CREATES_CASES, REQUESTS_REPLAYS, VOIDS_RUN_SETS, READS_QUARANTINED_EVIDENCE])
def test_administrators_and_viewers_decide_nothing_by_that_role(rights: frozenset[Role]) -> None:
    assert rights.isdisjoint({Role.ADMINISTRATOR, Role.VIEWER})


def test_members_see_their_projects_and_their_cases_only() -> None:
    one, other = factories.project("ONE"), factories.project("OTHER")
    mine = factories.case(one, factories.everyone(one))
    factories.case(other, factories.everyone(other))
    viewer = factories.person(one, Role.VIEWER)
    assert list(Project.objects.visible_to(viewer)) == [one]
    assert list(Case.objects.visible_to(viewer)) == [mine]


def test_who_is_not_active_sees_nothing_superusers_included() -> None:
    case = factories.case(at := factories.project(), factories.everyone(at))
    root = User.objects.create_superuser("root", "root@example.invalid", is_active=False)
    member = factories.everyone(at)
    member.is_active = False
    for user in (root, member):
        assert not Case.objects.visible_to(user).filter(pk=case.pk).exists()
        assert not Project.objects.visible_to(user).exists()


def test_a_superuser_may_look_at_everything() -> None:
    one, other = factories.project("ONE"), factories.project("OTHER")
    factories.case(one, factories.everyone(one))
    factories.case(other, factories.everyone(other))
    assert Case.objects.visible_to(User.objects.create_superuser("root", "root@example.invalid")).count() == 2


def test_a_role_is_held_once_and_must_exist() -> None:
    project = factories.project()
    user = factories.person(project, Role.QA)
    with pytest.raises(IntegrityError):
        Membership.objects.create(project=project, user=user, role=Role.QA)


def test_a_role_that_does_not_exist_is_refused_by_the_database() -> None:
    project = factories.project()
    with pytest.raises(IntegrityError):
        Membership.objects.create(project=project, user=factories.person(project), role="boss")
