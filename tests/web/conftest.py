from __future__ import annotations

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases.models import Case
from tests import factories


@pytest.fixture
def viewer(project: Project) -> User:
    return factories.person(project, Role.VIEWER)


@pytest.fixture
def case(project: Project, everyone: User) -> Case:
    return factories.case(project, everyone)


@pytest.fixture
def signed_in(client: Client, everyone: User) -> Client:
    client.force_login(everyone)
    return client


@pytest.fixture
def looking(viewer: User) -> Client:
    """A client of somebody who may only look."""
    return client_of(viewer)


@pytest.fixture
def people(project: Project) -> factories.People:
    """One person with each role of a case's way."""
    return factories.people(project)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
