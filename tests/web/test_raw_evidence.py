"""What is raw stands on a page only for who may read it and said why, and in no cache, address, header or log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPMethod
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from replaycases.accounts.models import User
from replaycases.accounts.roles import READS_QUARANTINED_EVIDENCE, Role
from tests import factories, raw_world
from tests.api import world as worlds
from tests.api.world import World
from tests.raw_world import CANARY
from tests.web.conftest import client_of
from tests.web.routes import Route, every_route

# Beside the routes: what their addresses may ask for.
QUERIES = {
    "comparison": ("?show=all",),
    "revision": ("?at=/input",),
    "revision_differences": ("?from=1", "?from=2"),
    "case_timeline": ("?action=revision.added",),
    "capture_run": ("?at=1", "?at=2"),
    "new_control": ("?call=1&outcome=success",),
    "redaction_review": ("?show=all", "?open=0", "?page=2"),
}
# Where it stands for a reader, in the words of the routes. Every other route never shows it.
SHOWS = {
    "capture_document",
    "capture_run",
    "capture_step_content",
    "case_review",
    "comparison",
    "control_approval",
    "control_document",
    "control_mutation",
    "redaction_review",
    "revision",
    "revision_differences",
    "revision_document",
    "revision_list",
    "run",
    "run_manifest",
}
# Beside it, by roles that write: a draft, the text of a revision to be edited, and of a control that begins as one.
WRITES = {
    Role.RESPONDER: {"capture_draft", "new_control", "new_revision"},
    Role.PRIVACY_REVIEWER: {"new_revision"},
    Role.SECURITY_OWNER: set(),
}


@pytest.fixture(scope="module")
def built_world(made_once: Callable[[Callable[[], World]], World]) -> World:
    return made_once(raw_world.build)


def shown_at(reader: User, world: World) -> set[str]:
    """The names of the routes on which the word stands. Wherever it does, no cache keeps it."""
    client = client_of(reader)
    return {route.name for route in every_route() if route.name != "logout" and shows(route, client, world)}


def shows(route: Route, client: Client, world: World) -> bool:
    address = route.address(world)
    answers = [client.get(address + query) for query in ("", *QUERIES.get(route.name, ()))]
    found = [answer for answer in answers if CANARY in content_of(answer)]
    for answer in answers:
        assert CANARY not in f"{answer.headers}", route.name
    for answer in found:
        assert {"no-store", "private"} <= set(answer.headers["Cache-Control"].split(", ")), route.name
        assert CANARY not in content_of(answer).partition("<body>")[0] or "<body>" not in content_of(answer), route.name
    return bool(found)


def content_of(answer: Any) -> str:
    data: bytes = b"".join(answer) if answer.streaming else answer.content
    return data.decode()


def test_nobody_sees_what_is_raw_before_they_said_why(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    readers = [factories.person(world.team.project, role) for role in Role] + [factories.everyone(world.team.project)]
    assert {reader.username: shown_at(reader, world) for reader in readers} == {
        reader.username: set() for reader in readers
    }
    assert CANARY not in caplog.text


@pytest.mark.parametrize("role", sorted(READS_QUARANTINED_EVIDENCE))
def test_who_may_read_it_and_said_why_sees_it_where_it_belongs(
    world: World, role: Role, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    reader = factories.person(world.team.project, role)
    raw_world.say_why(reader, world)
    assert shown_at(reader, world) == SHOWS | WRITES[role]
    assert CANARY not in caplog.text


def test_a_stranger_and_a_visitor_see_nothing(world: World) -> None:
    raw_world.say_why(world.team.privacy, world)
    stranger = factories.everyone(factories.project("XX"))
    assert shown_at(stranger, world) == set()
    assert not any(shows(route, Client(), world) for route in every_route())


def test_the_administrators_site_shows_nothing_that_is_raw(world: World) -> None:
    client = client_of(User.objects.create_superuser("root", "root@example.invalid"))
    shown = ["revisions", "controls", "comments", "comparisons", "runs", "run-sets", "captures"]
    for noun in shown:
        named = f"cases_{worlds.MODELS[noun]._meta.model_name}"
        for address in (
            reverse(f"admin:{named}_changelist"),
            reverse(f"admin:{named}_change", args=[world.objects[noun]]),
        ):
            answer = client.get(address)
            assert answer.status_code == 200, address
            assert CANARY not in content_of(answer), address


def test_no_refused_form_shows_what_is_raw(world: World) -> None:
    """A page that answers a form is drawn by other ways than one that is asked for, and by others where it is empty."""
    client = client_of(factories.everyone(world.team.project))
    for route in every_route():
        if route.name not in ("logout", "login"):
            for sent in ("", "x=1", "expected={", "add=limits"):
                answer = client.generic(
                    HTTPMethod.POST, route.address(world), sent, "application/x-www-form-urlencoded"
                )
                assert CANARY not in content_of(answer), (route.name, sent)
