"""What holds for every answer, whoever gives it: a page, a refusal, a file, or a part of the server before any view."""

from __future__ import annotations

from http import HTTPMethod

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client, override_settings

from tests import factories
from tests.api.world import World
from tests.web.conftest import client_of
from tests.web.routes import ask, every_route, methods

NOT_BY_OTHERS = {"https://evil.example/", "//evil.example", "/\\evil.example", "///evil.example", "http:evil.example"}


def is_fenced(answer: HttpResponse) -> bool:
    """No other site frames it, and no code in it runs that is not ours."""
    policy = answer.headers.get("Content-Security-Policy", "")
    return "default-src 'self'" in policy and answer.headers.get("X-Frame-Options") == "DENY"


def test_every_route_answers_fenced(world: World) -> None:
    client = client_of(factories.everyone(world.team.project))
    for route in every_route():
        for method in methods(route, client, world):
            assert is_fenced(ask(route, client, world, method)), f"{method} {route.name}"


@pytest.mark.django_db
@pytest.mark.parametrize("redirected", [False, True])
@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("/cases/", "evil.example"),
        ("/cases/", "testserver"),
        ("/cases", "testserver"),
        ("/no-such-page/", "testserver"),
        ("/no-such-page", "testserver"),
        ("/api/v1/cases/", "testserver"),
        ("/api/v1/no-such-thing/", "testserver"),
        ("/static/css/main.css", "testserver"),
        ("/static/no-such-file.css", "testserver"),
        ("/%00/", "testserver"),
        ("/admin/", "testserver"),
    ],
)
def test_what_no_view_answered_is_fenced_too(address: str, host: str, redirected: bool) -> None:
    with override_settings(SECURE_SSL_REDIRECT=redirected):
        answer = Client(raise_request_exception=False).get(address, HTTP_HOST=host)
        answer.close()  # a file is open until then
    assert is_fenced(answer)


def test_no_form_is_taken_without_its_token(world: World) -> None:
    person = factories.everyone(world.team.project)
    client, strict = client_of(person), Client(enforce_csrf_checks=True)
    strict.force_login(person)
    asked = [route for route in every_route() if HTTPMethod.POST in methods(route, client, world)]
    assert asked
    for route in asked:
        assert ask(route, strict, world, HTTPMethod.POST).status_code == 403, route.name


@pytest.mark.parametrize("address", sorted(NOT_BY_OTHERS))
def test_signing_in_and_out_leads_to_no_other_site(world: World, address: str) -> None:
    person = world.team.viewer
    person.set_password("a long pass phrase")
    person.save()
    client = Client()
    said = {"username": person.username, "password": "a long pass phrase", "next": address}
    assert client.post("/login/", said).headers["Location"] == "/"
    assert client.post("/logout/", {"next": address}).headers["Location"] == "/"


def test_signing_in_gives_another_session_than_the_one_that_was_there(world: World) -> None:
    person = world.team.viewer
    person.set_password("a long pass phrase")
    person.save()
    client = Client()
    client.get("/invitations/nothing/")
    before = client.cookies[settings.SESSION_COOKIE_NAME].value
    client.post("/login/", {"username": person.username, "password": "a long pass phrase"})
    after = client.cookies[settings.SESSION_COOKIE_NAME].value
    assert before != after
    planted = Client()
    planted.cookies[settings.SESSION_COOKIE_NAME] = before
    assert planted.get("/cases/").status_code == 302
    client.post("/logout/")
    planted.cookies[settings.SESSION_COOKIE_NAME] = after
    assert planted.get("/cases/").status_code == 302
