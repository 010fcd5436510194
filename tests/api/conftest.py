from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases.models import Case
from tests import factories


@pytest.fixture
def case(project: Project, everyone: User) -> Case:
    return factories.case(project, everyone)


@pytest.fixture
def api(everyone: User) -> APIClient:
    return client_of(everyone)


@pytest.fixture
def viewer(project: Project) -> APIClient:
    return client_of(factories.person(project, Role.VIEWER))


@pytest.fixture
def stranger(project: Project) -> APIClient:
    return client_of(factories.everyone(factories.project("XX")))


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client
