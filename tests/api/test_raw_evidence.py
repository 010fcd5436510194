"""What is raw leaves by the API only for a person who may read it and said why, never for a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from replaycases.accounts.models import Scope, User
from replaycases.accounts.roles import READS_QUARANTINED_EVIDENCE, Role
from replaycases.cases import people
from replaycases.cases.models import AuditEvent, RawRead
from tests import factories, raw_world
from tests.api.conftest import client_of
from tests.api.test_every_route import ROUTES, Route
from tests.api.world import World
from tests.raw_world import CANARY

SHOWS = {
    "GET captures/runs/0/draft/ of one",
    "GET comments/",
    "GET comments/ of one",
    "GET revisions/",
    "GET revisions/ of one",
    "GET revisions/differences/ of one",
    "GET revisions/document/ of one",
    "GET runs/manifest/ of one",
    "GET comparisons/document/ of one",
}


@pytest.fixture(scope="module")
def built_world(made_once: Callable[[Callable[[], World]], World]) -> World:
    return made_once(raw_world.build)


def shown_at(client: APIClient, world: World) -> set[str]:
    found = set()
    for route in ROUTES:
        if route.method == "GET":
            answer = route.ask(client, world)
            assert CANARY not in f"{answer.headers}", route.name
            if CANARY in content_of(answer):
                assert {"no-store", "private"} <= set(answer.headers["Cache-Control"].split(", ")), route.name
                found.add(named(route))
    return found


def named(route: Route) -> str:
    return f"{route.name} of one" if route.detail else route.name


def content_of(answer: Any) -> str:
    return "" if answer.streaming else answer.content.decode()


def program_of(user: User, world: World) -> APIClient:
    _, secret = people.create_token(user, project=world.team.project, name="any", scopes=list(Scope), days=1)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def test_nobody_is_sent_what_is_raw_before_they_said_why(world: World) -> None:
    readers = [factories.person(world.team.project, role) for role in Role] + [factories.everyone(world.team.project)]
    told = {reader.username: shown_at(client_of(reader), world) for reader in readers}
    assert told == {reader.username: set() for reader in readers}


@pytest.mark.parametrize("role", sorted(READS_QUARANTINED_EVIDENCE))
def test_who_may_read_it_and_said_why_is_sent_it(world: World, role: Role) -> None:
    reader = factories.person(world.team.project, role)
    raw_world.say_why(reader, world)
    assert shown_at(client_of(reader), world) == SHOWS


def test_a_program_is_sent_nothing_that_is_raw_whatever_its_owner_said(world: World) -> None:
    owner = factories.everyone(world.team.project)
    raw_world.say_why(owner, world)
    program = program_of(owner, world)
    assert shown_at(program, world) == set()
    refused = program.get(f"/api/v1/revisions/{world.objects['revisions']}/document/")
    assert (refused.status_code, refused.json()) == (
        403,
        {"detail": "A token reads no raw evidence. Sign in and read it as yourself."},
    )


def test_a_person_says_why_and_then_reads(world: World) -> None:
    client, of = client_of(world.team.privacy), {"case": str(world.case.pk)}
    document = f"/api/v1/revisions/{world.objects['revisions']}/document/"
    refused = client.get(document)
    assert refused.status_code == 403
    assert "Say first why you need to read it." in refused.json()["detail"]
    said = client.post("/api/v1/raw-reads/", {**of, "reason": "Ticket 4711."}, format="json")
    assert said.status_code == 201
    assert client.get(document).status_code == 200
    assert client.get("/api/v1/raw-reads/").json()["results"][0]["reason"] == "Ticket 4711."
    assert AuditEvent.objects.filter(action="evidence.raw_read", case=world.case).count() == 1


@pytest.mark.parametrize("more", [{}, {"case": "both", "capture": "both"}])
def test_it_is_of_a_case_or_of_a_capture(world: World, more: dict[str, str]) -> None:
    of = {name: world.objects[f"{name}s"] for name in more}
    kept = RawRead.objects.count()
    refused = client_of(world.team.privacy).post("/api/v1/raw-reads/", {**of, "reason": "Why?"}, format="json")
    assert refused.status_code == 400
    assert RawRead.objects.count() == kept


def test_whoever_may_not_read_it_says_why_in_vain(world: World) -> None:
    body = {"case": str(world.case.pk), "reason": "Let me."}
    for person in (world.team.viewer, world.team.qa):
        assert client_of(person).post("/api/v1/raw-reads/", body, format="json").status_code == 403
    stranger = factories.everyone(factories.project("XX"))
    assert client_of(stranger).post("/api/v1/raw-reads/", body, format="json").status_code == 400
