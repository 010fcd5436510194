from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts import access, tokens
from replaycases.accounts.models import ApiToken, Membership, Project, Scope, User
from replaycases.accounts.roles import Role
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.project()


@pytest.fixture
def owner(project: Project) -> User:
    return factories.person(project, Role.QA)


@pytest.fixture
def secret(project: Project, owner: User) -> str:
    made = tokens.new_token_secret()
    ApiToken.objects.create(
        project=project,
        user=owner,
        name="nightly",
        prefix=tokens.prefix_of(made),
        secret_hash=tokens.hash_of(made),
        scopes=[Scope.READ],
        expires_at=timezone.now() + timedelta(days=1),
    )
    return made


def test_a_secret_says_what_it_is_and_is_as_long_as_a_key() -> None:
    made = tokens.new_token_secret()
    assert made.startswith("rc_")
    assert len(made) == 3 + 43
    assert made != tokens.new_token_secret()


def test_only_the_hash_of_a_secret_is_kept(secret: str) -> None:
    token = ApiToken.objects.get()
    kept = [str(getattr(token, field.attname)) for field in ApiToken._meta.fields]
    assert not any(secret[tokens.PREFIX_LENGTH :] in value for value in kept)


def test_a_token_is_its_owner_with_the_token_beside_the_name(secret: str, owner: User, project: Project) -> None:
    user = tokens.authenticate(secret)
    assert user == owner
    assert user.token == ApiToken.objects.get()
    assert access.roles_of(user, project) == {Role.QA}


@pytest.mark.parametrize("wrong", ["", "rc_", "rc_unknown", "rc_\udcff", "sha256:00"])
def test_a_secret_that_is_not_known_is_nobody(secret: str, wrong: str) -> None:
    assert tokens.authenticate(wrong) is None


def test_the_stored_hash_is_no_secret(secret: str) -> None:
    assert tokens.authenticate(ApiToken.objects.get().secret_hash) is None


def test_an_expired_token_is_nobody(secret: str) -> None:
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert tokens.authenticate(secret) is None


def test_a_revoked_token_is_nobody(secret: str, owner: User) -> None:
    ApiToken.objects.update(revoked_at=timezone.now(), revoked_by=owner)
    assert tokens.authenticate(secret) is None


def test_a_token_of_somebody_who_is_not_active_is_nobody(secret: str, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert tokens.authenticate(secret) is None


def test_a_token_is_worth_nothing_once_the_last_role_in_its_project_is_gone(secret: str, owner: User) -> None:
    Membership.objects.create(project=factories.project("XX"), user=owner, role=Role.QA)
    Membership.objects.filter(project__key="RC").delete()
    assert tokens.authenticate(secret) is None


def test_a_superusers_token_needs_a_role_like_any_other(secret: str, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(is_superuser=True)
    Membership.objects.all().delete()
    assert tokens.authenticate(secret) is None


def test_the_last_use_is_written_once_a_minute(secret: str) -> None:
    assert tokens.authenticate(secret)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    with CaptureQueriesContext(connection) as captured:
        assert tokens.authenticate(secret)
    assert [query["sql"] for query in captured if query["sql"].startswith("UPDATE")] == []
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    assert tokens.authenticate(secret)
    last = ApiToken.objects.get().last_used_at
    assert last is not None
    assert last >= first
