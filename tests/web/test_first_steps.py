"""A fresh installation: what its superuser meets, from an empty list to somebody's first case."""

from __future__ import annotations

import io
import re

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases.models import AuditEvent
from tests import factories
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> User:
    return User.objects.create_superuser("root", "root@example.invalid", "a long pass phrase")


@pytest.fixture
def site(client: Client, root: User) -> Client:
    client.force_login(root)
    return client


def html_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("address", ["/", "/cases/", "/lanes/", "/runs/", "/implementations/"])
def test_a_superuser_of_an_empty_installation_is_led_to_the_first_project(site: Client, address: str) -> None:
    html = html_of(site, address)
    assert 'href="/people/#new"' in html
    assert "Ask an administrator" not in html


def test_somebody_else_without_a_project_is_offered_none() -> None:
    lonely = client_of(User.objects.create_user("lonely", "lonely@example.invalid"))
    assert "Ask an administrator to give you a role in one." in html_of(lonely, "/")
    assert "Create a project" not in html_of(lonely, "/people/")
    assert lonely.post("/people/", {"key": "RC", "name": "Refunds"}).status_code == 403
    assert not Project.objects.exists()


def test_from_the_first_project_to_the_first_case(site: Client) -> None:
    page = site.post("/people/", {"key": "rc", "name": "Refunds"}, follow=True)
    assert page.redirect_chain == [("/people/RC/", 302)]
    assert "Two do at least, since nobody approves their own work" in page.content.decode()
    offered = {"email": "ada@example.invalid", "roles": ["administrator", "responder"]}
    answer = site.post("/people/RC/invitations/", offered).content.decode()
    link = re.search(r"http://testserver(/invitations/[\w-]+/)", answer)
    assert link is not None
    invited = Client()
    invited.get(link.group(1))
    account = {"username": "ada", "display_name": "Ada", "password": "seven quiet herons"}
    home = invited.post("/invitations/", account, follow=True).content.decode()
    assert "You are in RC now." in home
    assert 'href="/cases/new/"' in home
    said = {
        **factories.STATEMENT,
        "project": str(Project.objects.get().pk),
        "fixture": io.BytesIO(factories.fixture()),
    }
    assert "RC-1" in invited.post("/cases/new/", said, follow=True).content.decode()
    assert AuditEvent.objects.filter(action="project.created").exists()


@pytest.mark.parametrize("key", ["", "1A", "R-C", "A" * 13, "RC"])
def test_a_key_that_cannot_be_is_refused_beside_its_field(site: Client, key: str) -> None:
    factories.project("RC")
    response = site.post("/people/", {"key": key, "name": "Refunds"})
    assert response.status_code == 422
    assert 'class="errorlist"' in response.content.decode()
    assert Project.objects.count() == 1


def test_a_superuser_with_one_project_may_create_another_and_a_member_goes_straight_in(site: Client) -> None:
    viewer = factories.person(factories.project("RC"), Role.VIEWER)
    assert "Create a project" in html_of(site, "/people/")
    assert client_of(viewer).get("/people/").headers["Location"] == "/people/RC/"
