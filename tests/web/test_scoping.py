"""Object access is per object: every route, with every role, on an object of another project."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.test import Client
from django.urls import get_resolver

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import (
    ADDS_CONTROLS,
    ADDS_REVISIONS,
    COMMENTS,
    DECIDES_EXPECTATION,
    DECIDES_REDACTION,
    REQUESTS_REPLAYS,
    VOIDS_RUN_SETS,
    Role,
)
from replaycases.cases import comments
from replaycases.cases.models import Case, Comparison, Control, ReviewComment
from tests import factories
from tests.web import recorded

READS = (
    "/cases/{case}/",
    "/cases/{case}/comparisons/",
    "/cases/{case}/comparisons/{comparison}/",
    "/cases/{case}/controls/",
    "/cases/{case}/controls/{control}/approval/",
    "/cases/{case}/controls/{control}/document/",
    "/cases/{case}/controls/{control}/mutation/",
    "/cases/{case}/review/",
    "/cases/{case}/review/expectation-approval/",
    "/cases/{case}/review/redaction-approval/",
    "/cases/{case}/revisions/",
    "/cases/{case}/revisions/1/",
    "/cases/{case}/revisions/1/differences/",
    "/cases/{case}/revisions/1/document/",
    "/runs/{key}/{run}/",
    "/runs/{key}/{run}/manifest/",
    "/implementations/{implementation}/",
)
ASKS = ("/cases/{case}/comparisons/", "/cases/{case}/comparisons/{comparison}/cancellation/")
ADDS = ("/cases/{case}/controls/",)
VOIDS = ("/runs/{key}/{run}/voiding/",)
REVISES = ("/cases/{case}/revisions/new/",)
COMMENTED = ("/cases/{case}/revisions/1/comments/", "/cases/{case}/comments/{comment}/resolution/")
REDACTION = ("/cases/{case}/review/redaction-approval/", "/cases/{case}/review/redaction-return/")
CONTROL = ("/cases/{case}/controls/{control}/approval/",)
EXPECTATION = ("/cases/{case}/review/expectation-approval/", "/cases/{case}/review/expectation-return/")
REVIEWS = (*REVISES, *COMMENTED, *REDACTION, *CONTROL, *EXPECTATION)
# Who may do each of these is in test_case_details.
CASE_ACTS = tuple(
    f"/cases/{{case}}/{act}/"
    for act in (
        *(
            "statement",
            "details",
            "owners",
            "submission",
            "reproduction",
            "sending-back",
            "non-replayable",
            "reopening",
        ),
        *("reopening", "containment", "security-incident", "flags", "re-review", "closing/rollout", "grader-findings"),
        "grader-findings/{comment}/confirmation",
    )
)
WRITES = (*ASKS, *ADDS, *VOIDS, *REVIEWS, *CASE_ACTS)
OPEN_LISTS = ("/cases/", "/reviews/", "/runs/", "/implementations/", "/cases/new/", "/implementations/new/")


WHATEVER = {"reason": "x", "revision": "1", "note": "x", "resolution": "x", "text": "x"}


@dataclass(frozen=True)
class World:
    project: Project
    owner: User
    case: Case
    comparison: Comparison
    control: Control
    comment: ReviewComment

    def address(self, route: str) -> str:
        run = self.comparison.runs()[0]
        return route.format(
            case=self.case.readable_id,
            comparison=self.comparison.number,
            key=self.project.key,
            run=run.number,
            implementation=self.comparison.old_id,
            control=self.control.pk,
            comment=self.comment.pk,
        )


@pytest.fixture
def world(project: Project, everyone: User, case: Case) -> World:
    comparison = recorded.compared(case, everyone)
    revision = factories.revision(case)
    comment = comments.add(everyone, revision=revision, pointer="/events/0", text="Whose order?")
    return World(project, everyone, case, comparison, factories.control(revision, everyone), comment)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_the_routes_tested_here_are_all_that_name_an_object() -> None:
    patterns = [str(pattern.pattern) for pattern in get_resolver("replaycases.web.urls").url_patterns]
    elsewhere = ("people/", "account/", "invitations/", "password-reset/")  # in test_people_pages
    named = [pattern for pattern in patterns if "<" in pattern and not pattern.startswith(elsewhere)]
    assert len(named) == len({*READS, *WRITES})


def test_a_foreign_object_does_not_exist_whatever_the_role(world: World) -> None:
    foreign = factories.project("XX")
    for role in Role:
        client = client_of(factories.person(foreign, role))
        answers = {route: client.get(world.address(route)).status_code for route in READS}
        assert answers == dict.fromkeys(READS, 404)


def test_a_foreign_object_takes_no_write(world: World) -> None:
    client = client_of(factories.everyone(factories.project("XX")))
    answers = {route: client.post(world.address(route)).status_code for route in WRITES}
    assert answers == dict.fromkeys(WRITES, 404)


def test_a_member_reads_what_is_not_quarantined_whatever_the_role(world: World) -> None:
    redirected = ("/cases/{case}/comparisons/", "/cases/{case}/controls/")
    for role in Role:
        client = client_of(factories.person(world.project, role))
        answers = {route: client.get(world.address(route)).status_code for route in READS}
        assert answers == {**dict.fromkeys(READS, 200), **dict.fromkeys(redirected, 302)}


@pytest.mark.parametrize(
    ("routes", "roles"),
    [
        (ASKS, REQUESTS_REPLAYS),
        (ADDS, ADDS_CONTROLS),
        (VOIDS, VOIDS_RUN_SETS),
        (REVISES, ADDS_REVISIONS),
        (COMMENTED, COMMENTS),
        ((*REDACTION, *CONTROL), DECIDES_REDACTION),
        (EXPECTATION, DECIDES_EXPECTATION),
    ],
)
def test_a_write_is_done_only_by_the_roles_that_may(
    world: World, routes: tuple[str, ...], roles: frozenset[Role]
) -> None:
    for role in set(Role) - roles:
        client = client_of(factories.person(world.project, role))
        answers = {route: client.post(world.address(route), WHATEVER).status_code for route in routes}
        assert answers == dict.fromkeys(routes, 403)


def test_without_an_account_there_is_only_the_login(world: World, client: Client) -> None:
    for route in (*READS, *OPEN_LISTS):
        response = client.get(world.address(route))
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/login/?next=")


def test_lists_hold_nothing_of_another_project(world: World) -> None:
    client = client_of(factories.person(factories.project("XX"), Role.VIEWER))
    for route in ("/cases/", "/runs/", "/implementations/"):
        html = client.get(route).content.decode()
        assert world.case.readable_id not in html
        assert ">agent<" not in html


def test_an_implementation_of_another_project_cannot_be_chosen(world: World) -> None:
    foreign = factories.project("XX")
    stranger = factories.everyone(foreign)
    case = factories.case(foreign, stranger)
    form = {"old": world.comparison.old_id, "new": world.comparison.new_id, "size": 2}
    assert client_of(stranger).post(f"/cases/{case.readable_id}/comparisons/", form).status_code == 422


def test_an_unreadable_number_in_an_address_is_not_found(signed_in: Client, case: Case) -> None:
    for number in ("0", "99999999999999999999"):
        assert signed_in.get(f"/cases/{case.readable_id}/comparisons/{number}/").status_code == 404
        assert signed_in.get(f"/runs/RC/{number}/").status_code == 404
    assert signed_in.get("/cases/RC-99999999999999999999/").status_code == 404
