"""Two people at once: whoever comes second sees what the first one did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connections

from replaycases.accounts import access, tokens
from replaycases.accounts.models import ApiToken, Membership, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import events, invitations, people, users
from replaycases.cases.policies import InvalidTransition
from tests import factories
from tests.cases.deployment import Deployment


@pytest.fixture
def project(deployment: Deployment) -> Project:
    return factories.project()


def race(calls: Sequence[Callable[[], object]]) -> list[object]:
    """What each call gave or raised, all of them started together."""
    ready = Barrier(len(calls))

    def run(call: Callable[[], object]) -> object:
        ready.wait()
        try:
            return call()
        except Exception as refused:
            return refused
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_two_administrators_who_remove_each_other_leave_one(project: Project) -> None:
    pair = [factories.person(project, Role.ADMINISTRATOR) for _ in range(2)]
    take = partial(people.revoke_role, project=project, role=Role.ADMINISTRATOR)
    found = race([partial(take, pair[0], user=pair[1]), partial(take, pair[1], user=pair[0])])
    assert sorted(type(one).__name__ for one in found) == ["NoneType", "PermissionDenied"]
    assert Membership.objects.filter(role=Role.ADMINISTRATOR).count() == 1


def test_two_administrators_who_both_step_down_leave_one(project: Project) -> None:
    pair = [factories.person(project, Role.ADMINISTRATOR) for _ in range(2)]
    found = race([partial(people.revoke_role, one, project=project, user=one, role=Role.ADMINISTRATOR) for one in pair])
    assert sorted(type(one).__name__ for one in found) == ["InvalidTransition", "NoneType"]
    assert Membership.objects.filter(role=Role.ADMINISTRATOR).count() == 1


def test_an_invitation_that_many_accept_at_once_makes_one_account(project: Project) -> None:
    admin = factories.person(project, Role.ADMINISTRATOR)
    _, secret = invitations.invite(admin, project=project, email="ada@example.invalid", roles=[Role.QA])
    accept = partial(invitations.accept_invitation, secret, display_name="Ada", password="a long pass phrase")
    found = race([partial(accept, username=f"ada-{number}") for number in range(4)])
    assert sum(isinstance(one, User) for one in found) == 1
    assert sum(isinstance(one, InvalidTransition) for one in found) == 3
    assert User.objects.filter(email="ada@example.invalid").count() == 1
    assert events.verify() == []


def test_one_address_has_one_account_whoever_invites_it_and_however_it_is_written(project: Project) -> None:
    other = factories.project("XX")
    secrets = [
        invitations.invite(factories.person(at, Role.ADMINISTRATOR), project=at, email=email, roles=[Role.QA])[1]
        for at, email in ((project, "ada@example.invalid"), (other, "ADA@example.invalid"))
    ]
    accept = partial(invitations.accept_invitation, display_name="Ada", password="a long pass phrase")
    found = race([partial(accept, secret, username=f"ada-{place}") for place, secret in enumerate(secrets)])
    assert sorted(type(one).__name__ for one in found) == ["User", "ValidationError"]
    assert User.objects.filter(email__iexact="ada@example.invalid").count() == 1
    assert events.verify() == []


def test_a_name_that_many_take_at_once_is_one_person_s_and_the_others_are_told(project: Project) -> None:
    admin = factories.person(project, Role.ADMINISTRATOR)
    emails = [f"person-{number}@example.invalid" for number in range(4)]
    secrets = [invitations.invite(admin, project=project, email=one, roles=[Role.QA])[1] for one in emails]
    accept = partial(invitations.accept_invitation, username="ada", display_name="", password="a long pass phrase")
    root = User.objects.create_superuser("root", "root@example.invalid")
    new = (User(username="ada", email=f"new-{number}@example.invalid", password="!") for number in range(2))
    found = race([*(partial(accept, one) for one in secrets), *(partial(users.create_user, root, user=n) for n in new)])
    assert sorted(type(one).__name__ for one in found) == ["User", *["ValidationError"] * 5]


def test_a_project_s_key_that_is_given_twice_at_once_is_given_once(deployment: Deployment) -> None:
    root = User.objects.create_superuser("root", "root@example.invalid")
    found = race([partial(people.create_project, root, key="RC", name="Refunds") for _ in range(3)])
    assert sorted(type(one).__name__ for one in found) == ["Project", "ValidationError", "ValidationError"]


def test_no_invitation_outlives_the_role_of_whoever_makes_it(project: Project) -> None:
    admin, other = (factories.person(project, Role.ADMINISTRATOR) for _ in range(2))
    found = race(
        [
            partial(people.revoke_role, other, project=project, user=admin, role=Role.ADMINISTRATOR),
            partial(invitations.invite, admin, project=project, email="ada@example.invalid", roles=[Role.QA]),
        ]
    )
    made = found[1]
    if isinstance(made, tuple):
        assert invitations.find(made[1]) is None
    else:
        assert isinstance(made, PermissionDenied)


def test_no_token_outlives_the_last_role(project: Project) -> None:
    admin, qa = factories.person(project, Role.ADMINISTRATOR), factories.person(project, Role.QA)
    found = race(
        [
            partial(people.revoke_role, admin, project=project, user=qa, role=Role.QA),
            partial(people.create_token, qa, project=project, name="x", scopes=["read"], days=1),
        ]
    )
    assert access.roles_of(qa, project) == frozenset()
    made = found[1]
    if isinstance(made, tuple):
        assert tokens.authenticate(made[1]) is None
    else:
        assert isinstance(made, PermissionDenied)
        assert not ApiToken.objects.exists()
