"""Every route that the router knows, and every role: what is another project's does not exist, and a token never
decides. A new route is tested without a word here, or the test says what it lacks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from rest_framework.response import Response
from rest_framework.test import APIClient

from replaycases.accounts.models import Scope, User
from replaycases.accounts.roles import Role
from replaycases.api.authentication import HasScope
from replaycases.api.base import ApiViewSet
from replaycases.api.urls import RESOURCES, router
from replaycases.cases import people, reading
from replaycases.cases.models import Case, Classification, Control
from replaycases.cases.policies import BY_PERSON
from tests import factories
from tests.api.conftest import client_of
from tests.api.world import World

# What a program may do; everything else is for people. A new write is for people until it is written here.
BY_PROGRAMS = {
    Scope.READ: {"POST promotion-previews/"},
    Scope.CASES: {
        "POST cases/",
        "PATCH cases/",
        "PATCH cases/provenance/",
        "PATCH cases/owners/",
        "PUT cases/security-incident/",
        "POST cases/submissions/",
        "POST revisions/",
        "POST controls/",
        "POST comments/",
        "POST flags/",
        "POST grader-findings/",
        "PUT captures/runs/0/draft/",
        "POST captures/runs/0/case/",
    },
    Scope.REPLAYS: {
        "POST cases/reproductions/",
        "POST cases/history-runs/",
        "POST implementations/",
        "POST run-sets/",
        "POST run-sets/cancellation/",
        "POST comparisons/",
        "POST comparisons/cancellation/",
    },
    Scope.CAPTURES: {
        "POST captures/",
        "POST captures/from-trace/",
        "POST findings/",
    },
    Scope.RESULTS_PUSH: {"POST ci-reports/"},
    Scope.LANE_PULL: set(),
    Scope.OTLP: set(),  # it sends, and reads and writes nothing here
}
# Decisions, which the services themselves refuse to a program, whatever the API says.
DECISIONS = {
    "POST cases/containments/",
    "POST cases/dependency-statements/",
    "POST redaction-policies/",
    "POST redactions/seen/",
    "POST redaction-rules/",
    "POST redaction-rules/withdrawal/",
    "POST waivers/",
    "POST waivers/confirmation/",
    "POST waivers/ending/",
    "POST cases/redactions/",
    "POST cases/looks/",
    "POST cases/redaction-previews/",
    "POST cases/redaction-decisions/",
    "POST cases/expectation-decisions/",
    "POST cases/promotions/",
    "POST cases/returns/",
    "POST cases/non-replayable-marks/",
    "POST cases/reopenings/",
    "POST cases/re-reviews/",
    "POST controls/decisions/",
    "POST raw-reads/",
    "POST proposals/",
    "POST proposals/confirmation/",
    "POST proposals/refusal/",
    "POST proposals/withdrawal/",
    "POST closing-steps/",
    "POST grader-findings/confirmation/",
    "PATCH lanes/",
    "POST capture-rules/",
    "PATCH capture-rules/",
    "POST findings/dismissal/",
    "POST findings/case/",
}


@dataclass(frozen=True, kw_only=True)
class Route:
    """`name` is its method and path without the id."""

    method: str
    path: str
    noun: str
    view: type[ApiViewSet]
    action: str

    @property
    def name(self) -> str:
        return f"{self.method} {self.path.replace('ID/', '')}"

    @property
    def detail(self) -> bool:
        return "ID/" in self.path

    def ask(self, client: APIClient, world: World) -> Response:
        address = "/api/v1/" + self.path.replace("ID", world.objects.get(self.noun, ""))
        body = world.bodies.get(self.name, {})
        query = {"gates": "?to=blocking", "differences": "?since=1"}.get(self.action, "")
        if self.method == "GET":
            response = client.get(address + query)
            if response.streaming:
                b"".join(response)  # as a client would, to the end
            return response
        if self.name == "POST captures/":  # the body is the file
            address += f"?project={world.team.project.key}"
        return client.generic(self.method, address, json.dumps(body), content_type="application/json")


def routes() -> Iterator[Route]:
    for pattern in router.urls:
        path = re.sub(r"<\w+:pk>", "ID", str(pattern.pattern)).replace("<int:run>", "0")
        view, actions = pattern.callback.cls, pattern.callback.actions
        for method, action in actions.items():
            if method != "head":
                yield Route(method=method.upper(), path=path, noun=path.partition("/")[0], view=view, action=action)


ROUTES = list(routes())
WRITES = [route for route in ROUTES if route.method != "GET"]


def program_of(user: User, world: World, *scopes: Scope) -> APIClient:
    _, secret = people.create_token(user, project=world.team.project, name="any", scopes=list(scopes), days=1)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def test_the_routes_are_those_of_the_resources() -> None:
    assert {route.noun for route in ROUTES} == set(RESOURCES)
    assert len({route.name for route in ROUTES if not route.detail}) == len([r for r in ROUTES if not r.detail])


def test_what_belongs_to_another_project_does_not_exist_for_any_role_on_any_route(world: World) -> None:
    other = factories.project("XX")
    strangers = [factories.person(other, role) for role in Role] + [factories.everyone(other)]
    found = [
        (route.name, stranger.memberships.count(), response.status_code)
        for stranger in strangers
        for client in [client_of(stranger)]
        for route in ROUTES
        if route.detail
        for response in [route.ask(client, world)]
        if response.status_code != 404
    ]
    assert found == []


def test_every_list_is_walked_row_by_row_to_its_end(world: World) -> None:
    client = client_of(factories.everyone(world.team.project))
    lists = [r for r in ROUTES if r.method == "GET" and not r.detail and r.action == "list" and r.noun != "needs"]
    for route in lists:
        whole = client.get(f"/api/v1/{route.path}?page_size=500").json()["results"]
        walked, address = [], f"/api/v1/{route.path}?page_size=1"
        while address and len(walked) <= len(whole):
            page = client.get(address).json()
            walked, address = walked + page["results"], page["next"]
        assert walked == whole, route.name


def test_a_filter_that_a_list_does_not_have_is_refused_with_those_that_it_has(world: World) -> None:
    client = client_of(factories.everyone(world.team.project))
    for route in ROUTES:
        if route.method == "GET" and route.action == "list" and route.noun != "needs":
            refused = client.get(f"/api/v1/{route.path}?mood=x&page_size=1")
            assert (refused.status_code, list(refused.json())) == (400, ["mood"]), route.name
            assert "page_size" in refused.json()["mood"][0]
    refused = client.get("/api/v1/findings/?state=x&project=RC&project=XX&format=json").json()
    assert "waiting" in refused["state"][0]
    assert refused["project"] == ["Send it once."]


def test_a_list_holds_nothing_of_another_project(world: World) -> None:
    client = client_of(factories.everyone(factories.project("XX")))
    own = {"projects": 1, "memberships": len(Role)}
    for route in ROUTES:
        if route.method == "GET" and not route.detail and route.noun != "needs":
            assert len(route.ask(client, world).json()["results"]) == own.get(route.noun, 0), route.name


def test_every_object_is_shown_to_who_belongs_to_its_project(world: World) -> None:
    """So that a 404 above says something: the same addresses answer somebody of the project."""
    clients = [client_of(user) for user in (world.team.engineer, world.team.qa, world.team.privacy)]
    clients.append(client_of(administrator(world)))
    for route in ROUTES:
        if route.method == "GET":
            assert 200 in {route.ask(client, world).status_code for client in clients}, route.name


def administrator(world: World) -> User:
    return User.objects.get(memberships__role=Role.ADMINISTRATOR, memberships__project=world.team.project)


def test_nobody_is_told_anything_without_signing_in(world: World) -> None:
    for route in ROUTES:
        response = route.ask(APIClient(), world)
        assert response.status_code == 401, route.name
        assert response.headers["WWW-Authenticate"].startswith("Bearer"), route.name


@pytest.mark.parametrize("secret", ["rc_unknown", "", "nothing", "rc_" + "é" * 40])
def test_a_token_that_is_not_known_is_401(world: World, secret: str) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}".encode("latin-1").decode("latin-1"))
    response = client.get("/api/v1/cases/")
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_revoked_token_is_401(world: World) -> None:
    owner = world.team.engineer
    token, secret = people.create_token(owner, project=world.team.project, name="x", scopes=["read"], days=1)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    assert client.get("/api/v1/cases/").status_code == 200
    people.revoke_token(owner, token=token)
    assert client.get("/api/v1/cases/").status_code == 401


def test_each_write_needs_the_scope_that_is_told_and_the_others_are_for_people(world: World) -> None:
    told = {name: scope for scope, names in BY_PROGRAMS.items() for name in names}
    assert {route.name: route.view.write_scopes.get(route.action) for route in WRITES} == {
        route.name: told.get(route.name) for route in WRITES
    }


@pytest.mark.parametrize("missing", Scope)
def test_a_missing_scope_is_403_and_named(world: World, missing: Scope) -> None:
    everyone = factories.everyone(world.team.project)
    client = program_of(everyone, world, *(scope for scope in Scope if scope != missing))
    for route in WRITES:
        if route.name in BY_PROGRAMS[missing]:
            response = route.ask(client, world)
            assert response.status_code == 403, route.name
            assert response.json() == {"detail": f"The token lacks the scope {missing}."}, route.name
    if missing == Scope.LANE_PULL:
        assert client.get(f"/api/v1/lanes/{world.objects['lanes']}/export/").status_code == 403
    if missing == Scope.OTLP:
        assert client.post("/v1/traces", "{}", content_type="application/json").status_code == 403
    if missing == Scope.READ:
        assert client.get("/api/v1/cases/").status_code == 403


@pytest.mark.parametrize("superuser", [False, True])
def test_a_token_with_every_scope_and_role_does_nothing_that_is_for_people(world: World, superuser: bool) -> None:
    everyone = factories.everyone(world.team.project)
    everyone.is_superuser = superuser
    everyone.save()
    client = program_of(everyone, world, *Scope)
    allowed = set().union(*BY_PROGRAMS.values())
    for route in WRITES:
        if route.name not in allowed:
            response = route.ask(client, world)
            assert (response.status_code, response.json()) == (403, {"detail": BY_PERSON}), route.name


@pytest.mark.parametrize("superuser", [False, True])
def test_the_services_refuse_every_decision_to_a_token_by_themselves(
    world: World, superuser: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the API forgot to ask for a scope."""
    monkeypatch.setattr(HasScope, "has_permission", lambda *_: True)
    everyone = factories.everyone(world.team.project)
    everyone.is_superuser = superuser
    everyone.save()
    client = program_of(everyone, world, *Scope)
    asked = [route for route in WRITES if route.name in DECISIONS]
    assert {route.name for route in asked} == DECISIONS
    for route in asked:
        assert route.ask(client, world).status_code == 403, route.name


def test_nobody_says_of_what_they_bring_that_it_is_no_raw_evidence(world: World) -> None:
    """On no route that takes a fixture: what comes in is sealed and has an end until somebody else approves it."""
    new = json.loads(factories.fixture(case_id="another"))
    told = {"POST cases/": {**world.bodies["POST cases/"], "fixture": new}}
    told |= {name: body for name, body in world.bodies.items() if "fixture" in body}
    assert set(told) == {"POST cases/", "POST revisions/", "POST controls/"}
    client = client_of(factories.everyone(world.team.project))
    for name, body in told.items():
        [route] = [route for route in WRITES if route.name == name]
        refused = route.ask(client, replace(world, bodies={name: {**body, "classification": "redacted"}}))
        assert (refused.status_code, list(refused.json())) == (400, ["classification"]), name
        assert route.ask(client, replace(world, bodies={name: body})).status_code == 201, name
    case = Case.objects.latest("number")
    brought = [factories.revision(case), world.case.revisions.latest("number"), Control.objects.latest("created_at")]
    assert {reading.classification_of(one) for one in brought} == {Classification.QUARANTINED}


def test_a_token_sees_only_its_own_project(world: World) -> None:
    other = factories.project("XX")
    owner = factories.everyone(world.team.project)
    for role in Role:
        owner.memberships.create(project=other, role=role)
    factories.case(other, owner)
    client = program_of(owner, world, Scope.READ)
    assert {case["project"] for case in client.get("/api/v1/cases/").json()["results"]} == {"RC"}
    assert {case["project"] for case in client_of(owner).get("/api/v1/cases/").json()["results"]} == {"RC", "XX"}


def test_a_superusers_token_sees_only_its_own_project_too(world: World) -> None:
    other = factories.project("XX")
    foreign = factories.revision(factories.case(other, factories.everyone(other)))
    owner = factories.everyone(world.team.project)
    owner.is_superuser = True
    owner.save()
    client = program_of(owner, world, Scope.READ)
    assert {case["project"] for case in client.get("/api/v1/cases/").json()["results"]} == {"RC"}
    for address in (f"cases/{foreign.case_id}", f"revisions/{foreign.pk}"):
        assert client.get(f"/api/v1/{address}/").status_code == 404
        assert client_of(owner).get(f"/api/v1/{address}/").status_code == 200


def test_every_write_is_refused_to_somebody_whose_roles_do_not_reach_it(world: World) -> None:
    """A viewer of the project sees the object, and may do nothing with it."""
    client = client_of(world.team.viewer)
    own = {"POST tokens/", "POST notifications/reading/", "POST promotion-previews/", "POST redactions/seen/"}
    hidden = {"POST invitations/revocation/", "POST tokens/revocation/"}
    several = {"POST bulk-promotions/"}  # each row says why it stayed
    for route in WRITES:
        if route.name not in own | several | {"POST implementations/"}:
            expected = {404} if route.name in hidden else {403}
            assert {route.ask(client, world).status_code} == expected, route.name
