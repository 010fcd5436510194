"""Object access is per object: every route that the resolver knows, with every role, on an object of another project.
A new route is tested without a word here, or the test says what it lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from http import HTTPMethod

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import URLResolver, reverse
from django.urls.resolvers import RoutePattern

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import (
    ADDS_CONTROLS,
    ADDS_REVISIONS,
    ADMINISTERS,
    CAPTURES,
    CHANGES_CONTENT,
    CLOSES_AS_NON_REPLAYABLE,
    COMMENTS,
    CONFIRMS_CONTAINMENT,
    CONFIRMS_RETIREMENT,
    CONFIRMS_WAIVERS,
    CREATES_CASES,
    DECIDES_EXPECTATION,
    DECIDES_REDACTION,
    EDITS_DETAILS,
    PROMOTES,
    PROPOSES_OVERRIDES,
    PROPOSES_RETIREMENT,
    READS_NEW_EXPECTATION,
    READS_QUARANTINED_EVIDENCE,
    REQUESTS_REPLAYS,
    REVIEWS_AGAIN,
    SENDS_BACK,
    SETS_LANE_POLICY,
    SETS_REDACTION_POLICY,
    STATES_ACCEPTANCE,
    SUBMITS,
    VOIDS_RUN_SETS,
    WAIVES,
    Role,
)
from replaycases.cases.models import AuditHead, Run
from tests import factories
from tests.api.world import World
from tests.web.conftest import client_of
from tests.web.routes import BY_SECRET, NUMBER, OPEN, PK, ask, every_route, methods

ROUTES = list(every_route())
OF_OBJECTS = [route for route in ROUTES if route.of_object]
BY_NAME = {route.name: route for route in ROUTES}
# Of each write on an object of a project: who may do it. A new write is for nobody until it is written here.
WHO: dict[str, frozenset[Role]] = {
    "case_statement": CREATES_CASES | DECIDES_EXPECTATION,
    "case_details": EDITS_DETAILS,
    "case_owners": EDITS_DETAILS,
    "case_submission": SUBMITS,
    "case_reproduction": REQUESTS_REPLAYS,
    "case_sending_back": SENDS_BACK,
    "case_non_replayable": CLOSES_AS_NON_REPLAYABLE,
    "case_reopening": CLOSES_AS_NON_REPLAYABLE,
    "case_containment": CONFIRMS_CONTAINMENT,
    "dependency_statement_list": STATES_ACCEPTANCE,
    "case_security_incident": EDITS_DETAILS | CONFIRMS_CONTAINMENT,
    "case_flag_list": COMMENTS,
    "case_re_review": REVIEWS_AGAIN | DECIDES_REDACTION,
    "case_closing_step": REVIEWS_AGAIN,
    "grader_finding_list": EDITS_DETAILS,
    "grader_finding_confirmation": DECIDES_EXPECTATION,
    "comparison_list": REQUESTS_REPLAYS,
    "comparison_cancellation": REQUESTS_REPLAYS,
    "control_list": ADDS_CONTROLS,
    "new_control": ADDS_CONTROLS,
    "control_approval": DECIDES_REDACTION,
    "new_revision": ADDS_REVISIONS,
    "revision_comments": COMMENTS,
    "comment_resolution": COMMENTS,
    # Whoever it is open to may note what they looked at: it counts for nobody but themselves.
    "redaction_seen": frozenset(Role),
    # Whoever sees the case may pass it over, or say that they are at it: it keeps nobody from anything.
    "redaction_skip": frozenset(Role),
    "redaction_skip_withdrawal": frozenset(Role),
    "redaction_list": CHANGES_CONTENT,
    "redaction_rule_list": CHANGES_CONTENT,
    "redaction_rule_withdrawal": CHANGES_CONTENT,
    "waiver_list": WAIVES,
    "waiver_confirmation": CONFIRMS_WAIVERS,
    "waiver_ending": WAIVES | CONFIRMS_WAIVERS,
    "redaction_approval": DECIDES_REDACTION,
    "redaction_return": DECIDES_REDACTION,
    "redaction_return_withdrawal": DECIDES_REDACTION,
    "expectation_approval": DECIDES_EXPECTATION,
    "expectation_return": DECIDES_EXPECTATION,
    "case_promotion": PROMOTES,
    "case_history": REQUESTS_REPLAYS,
    "case_demotion": PROMOTES,
    "case_retirement": PROPOSES_RETIREMENT,
    "case_overrides": PROPOSES_OVERRIDES,
    "lane_policy": SETS_LANE_POLICY,
    "lane_promotion": PROMOTES,
    "redaction_policy_version_list": SETS_REDACTION_POLICY,
    "redaction_policy_preview": SETS_REDACTION_POLICY,
    "proposal_confirmation": CONFIRMS_RETIREMENT,
    "proposal_refusal": CONFIRMS_RETIREMENT,
    "proposal_withdrawal": frozenset(),  # only who proposed it
    "run_voiding": VOIDS_RUN_SETS,
    "role_list": ADMINISTERS,
    "role_revocation": ADMINISTERS,
    "members_token_revocation": ADMINISTERS,
    "project_settings": ADMINISTERS,
    "team_list": ADMINISTERS,
    "team_name": ADMINISTERS,
    "team_members": ADMINISTERS,
    "invitation_list": ADMINISTERS,
    "invitation_revocation": ADMINISTERS,
    "capture_steps": CAPTURES,
    "capture_draft": CAPTURES,
    "capture_expectation": CAPTURES,
    "capture_checks": CAPTURES,
    "capture_check_changes": CAPTURES,
    "capture_check_removal": CAPTURES,
    "capture_incident": CAPTURES,
    "capture_optional": CAPTURES,
    "capture_alternatives": CAPTURES,
    "capture_alternative_removal": CAPTURES,
    "capture_case": CAPTURES,
    "capture_case_revision": CAPTURES,
    "trace_capture": CAPTURES,
    "rule_state": ADMINISTERS,
    "finding_capture": CAPTURES,
    "finding_case": CREATES_CASES,
    "finding_dismissal": CREATES_CASES,
    # Its redaction is approved: whoever decides about a new expectation may read that too.
    "case_raw_read_list": READS_QUARANTINED_EVIDENCE | READS_NEW_EXPECTATION,
    "capture_raw_read_list": READS_QUARANTINED_EVIDENCE,
    # For whoever sees the case.
    "case_timeline_export": frozenset(Role),
}
# One's own: to everybody else they do not exist, whatever the project.
OWN = {"token_revocation", "notification_reading"}


def head() -> int:
    return AuditHead.objects.get().sequence


def everybody(project: Project) -> list[User]:
    return [*(factories.person(project, role) for role in Role), factories.everyone(project)]


def test_every_route_has_sample_arguments(world: World) -> None:
    lacking = []
    for route in ROUTES:
        try:
            route.address(world)
        except KeyError as argument:
            lacking.append(f"{route.name}: {argument}")
    assert lacking == [], "say in tests/web/routes.py with which arguments these lead to an object"


def test_no_sample_is_of_a_route_that_is_gone() -> None:
    assert {*PK, *NUMBER, *BY_SECRET, *OPEN, *WHO, *OWN} <= set(BY_NAME)


def test_it_is_said_of_every_write_who_may_do_it(world: World) -> None:
    client = client_of(world.team.viewer)
    writes = {route.name for route in OF_OBJECTS if "POST" in methods(route, client, world)}
    assert writes == {*WHO, *OWN}


def test_a_foreign_object_does_not_exist_whatever_the_role_and_the_method(world: World) -> None:
    strangers = everybody(factories.project("XX"))
    asked = [(route, method) for route in OF_OBJECTS for method in methods(route, client_of(strangers[0]), world)]
    before = head()
    for stranger in strangers:
        client = client_of(stranger)
        answers = {(route.name, method): ask(route, client, world, method).status_code for route, method in asked}
        assert answers == dict.fromkeys(answers, 404), stranger
    assert head() == before


def test_an_object_is_there_for_its_own_people(world: World) -> None:
    """So that a 404 above says something."""
    clients = [client_of(user) for user in (factories.everyone(world.team.project), world.team.viewer)]
    for route in OF_OBJECTS:
        if HTTPMethod.GET in methods(route, clients[0], world):
            answers = {ask(route, client, world, HTTPMethod.GET).status_code for client in clients}
            assert 404 not in answers, route.name


def test_a_write_is_done_only_by_the_roles_that_may(world: World) -> None:
    for role in Role:
        client, before = client_of(factories.person(world.team.project, role)), head()
        refused = [name for name, roles in WHO.items() if role not in roles]
        answers = {name: ask(BY_NAME[name], client, world, HTTPMethod.POST).status_code for name in refused}
        assert answers == dict.fromkeys(refused, 403), role
        assert head() == before


def test_what_is_somebody_s_own_does_not_exist_for_others_of_the_project(world: World) -> None:
    client, before = client_of(factories.everyone(world.team.project)), head()
    assert {name: ask(BY_NAME[name], client, world, HTTPMethod.POST).status_code for name in OWN} == dict.fromkeys(
        OWN, 404
    )
    assert head() == before


def test_without_an_account_there_is_only_the_login(world: World, client: Client) -> None:
    before = head()
    for route in ROUTES:
        for method in (HTTPMethod.GET, HTTPMethod.POST):
            if route.name not in OPEN:
                response = ask(route, client, world, method)
                assert response.status_code == 302, route.name
                assert response.headers["Location"].startswith("/login/?next="), route.name
    assert head() == before


def test_a_superuser_looks_and_decides_nothing(world: World) -> None:
    """People and settings are what a superuser keeps; every other write needs a role that being one does not give."""
    root = User.objects.create_superuser("root", "root@example.invalid")
    client, before = client_of(root), head()
    asked = [name for name, roles in WHO.items() if roles != ADMINISTERS and roles != frozenset(Role)]
    answers = {name: ask(BY_NAME[name], client, world, HTTPMethod.POST).status_code for name in asked}
    assert answers == dict.fromkeys(asked, 403)
    assert head() == before


def test_a_superuser_reads_no_quarantined_evidence(world: World) -> None:
    case = factories.quarantined(world.team, factories.fixture(case_id="raw"))
    client, raw = client_of(User.objects.create_superuser("root", "root@example.invalid")), case.readable_id
    assert client.get(f"/cases/{raw}/").status_code == 200
    for address in ("revisions/1/", "revisions/1/document/", "revisions/1/differences/"):
        assert client.get(f"/cases/{raw}/{address}").status_code == 403, address
    run = Run.objects.filter(run_set__revision__case=case).exclude(manifest=None)[0]
    assert client.get(f"/runs/RC/{run.number}/manifest/").status_code == 403


def test_whose_roles_are_taken_away_loses_every_object_with_the_next_request(world: World) -> None:
    leaving = factories.everyone(world.team.project)
    client = client_of(leaving)
    assert client.get(f"/cases/{world.case.readable_id}/").status_code == 200
    leaving.memberships.all().delete()
    before = head()
    answers = {
        (route.name, method): ask(route, client, world, method).status_code
        for route in OF_OBJECTS
        for method in methods(route, client, world)
    }
    assert answers == dict.fromkeys(answers, 404)
    assert head() == before


def test_whose_account_is_closed_is_signed_out_with_the_next_request(world: World) -> None:
    leaving = factories.everyone(world.team.project)
    client = client_of(leaving)
    User.objects.filter(pk=leaving.pk).update(is_active=False)
    for route in OF_OBJECTS:
        response = ask(route, client, world, HTTPMethod.GET)
        assert (response.status_code, response.headers["Location"][:13]) == (302, "/login/?next="), route.name


# --- what stands in no address --------------------------------------------------------------------------------------


def test_lists_hold_nothing_of_another_project(world: World) -> None:
    secrets = (world.case.readable_id, world.case.title, ">agent<", "Refunds", *map(str, world.objects.values()))
    client = client_of(factories.everyone(factories.project("XX")))
    for route in ROUTES:
        if not route.takes and route.name not in OPEN and "GET" in methods(route, client, world):
            html = client.get(route.address(world), follow=True).content.decode()
            assert [secret for secret in secrets if len(secret) > 3 and secret in html] == [], route.name


@pytest.mark.parametrize(
    ("route", "form", "status"),
    [
        ("new_case", {**factories.STATEMENT}, 422),
        ("new_implementation", {"by": "archive", "spec_path": "implementation.json"}, 422),
        ("token_list", {"name": "x", "scopes": ["read"], "days": 1}, 422),
    ],
)
def test_a_foreign_project_cannot_be_named_in_a_form(
    world: World, route: str, form: dict[str, object], status: int
) -> None:
    client, before = client_of(factories.everyone(factories.project("XX"))), head()
    foreign = {**form, "project": str(world.team.project.pk)}
    assert client.post(reverse(route), foreign).status_code == status
    assert head() == before


def test_a_foreign_project_filters_nothing_into_a_list(world: World) -> None:
    client = client_of(factories.everyone(factories.project("XX")))
    assert client.get("/lanes/?project=RC").status_code == 404
    for address in ("/cases/", "/runs/", "/audit/", "/reviews/", "/proposals/"):
        for value in ("RC", str(world.team.project.pk)):
            html = client.get(f"{address}?project={value}").content.decode()
            assert world.case.readable_id not in html, address
            assert world.case.title not in html, address


def test_foreign_audit_events_are_not_exported(world: World) -> None:
    client = client_of(factories.everyone(factories.project("XX")))
    for value in ("RC", str(world.team.project.pk)):
        response = client.post(f"/audit/export/?project={value}", {"format": "jsonl"})
        told = b"".join(response) if response.streaming else response.content
        assert str(world.case.pk).encode() not in told


def test_a_foreign_case_is_not_among_those_that_are_promoted_at_once(world: World) -> None:
    client, before = client_of(factories.everyone(factories.project("XX"))), head()
    shown = client.get(f"/lanes/XX/nonblocking/promotion/?case={world.case.readable_id}")
    assert world.case.title not in shown.content.decode()
    chosen = f"{world.case.readable_id} {factories.revision(world.case).fixture_hash}"
    assert "0 of 0" in client.post("/lanes/XX/nonblocking/promotion/", {"chosen": chosen}).content.decode()
    assert head() == before


def test_an_implementation_of_another_project_cannot_be_chosen(world: World) -> None:
    foreign = factories.project("XX")
    stranger = factories.everyone(foreign)
    case, known = factories.case(foreign, stranger), world.case.provenance
    form = {"old": known.affected_id, "new": known.fixed_id, "size": 2}
    client, before = client_of(stranger), head()
    assert client.post(f"/cases/{case.readable_id}/comparisons/", form).status_code == 422
    links = {"affected": known.affected_id, "fixed": known.fixed_id}
    assert client.post(f"/cases/{case.readable_id}/details/", links).status_code == 422
    owners = {"privacy": f"user:{world.team.privacy.pk}"}
    assert client.post(f"/cases/{case.readable_id}/owners/", owners).status_code == 422
    assert head() == before


def test_every_page_of_the_administrators_site_is_for_superusers_only(world: World) -> None:
    staff = factories.everyone(world.team.project)
    staff.is_staff = True
    staff.save()
    client, before = client_of(staff), head()
    for address in administration():
        if not address.endswith(("/login/", "/logout/")):
            for answer in (client.get(address), client.post(address, {})):
                assert answer.status_code == 302, address
                assert answer.headers["Location"].startswith("/admin/login/"), address
    assert head() == before


def administration() -> Iterator[str]:
    """Every address of the administrators' site, with something for what it takes."""
    found = [("/admin/", pattern) for pattern in admin.site.get_urls()]
    while found:
        prefix, pattern = found.pop()
        address = prefix + re.sub(r"<[^>]+>", "1", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            found += [(address, below) for below in pattern.url_patterns]
        elif isinstance(pattern.pattern, RoutePattern):
            yield address


def test_an_unreadable_number_in_an_address_is_not_found(world: World) -> None:
    client = client_of(world.team.viewer)
    for number in ("0", "99999999999999999999"):
        assert client.get(f"/cases/{world.case.readable_id}/comparisons/{number}/").status_code == 404
        assert client.get(f"/runs/RC/{number}/").status_code == 404
    assert client.get("/cases/RC-99999999999999999999/").status_code == 404
