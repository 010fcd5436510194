from __future__ import annotations

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases.models import Case
from tests import factories


@pytest.fixture
def project(db: None) -> Project:
    return factories.project()


@pytest.fixture
def everyone(project: Project) -> User:
    return factories.everyone(project)


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


@pytest.fixture
def responder(project: Project) -> User:
    return factories.person(project, Role.RESPONDER)


@pytest.fixture
def reviewer(project: Project) -> User:
    return factories.person(project, Role.PRIVACY_REVIEWER)


@pytest.fixture
def owner(project: Project) -> User:
    return factories.person(project, Role.INCIDENT_OWNER)


@pytest.fixture
def qa(project: Project) -> User:
    return factories.person(project, Role.QA)
