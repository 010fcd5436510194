"""Redaction over the API: what a member sees of it, and that it is no way round what the pages ask."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from replaycases.accounts.models import Scope, User
from replaycases.accounts.roles import Role
from replaycases.cases import people, raw_reads, redaction_policies, redaction_rows
from replaycases.cases.models import Case, Redaction, RedactionRule, Waiver
from tests import factories
from tests.api.conftest import client_of

MAIL = "jane.doe@corp.test"
Built = tuple[factories.People, Case]


def in_review() -> Built:
    team = factories.people(factories.project())
    return team, factories.in_review(team, factories.fixture(input={"message": f"write to {MAIL}"}))


@pytest.fixture(scope="module")
def built(made_once: Callable[..., Built]) -> Built:
    return made_once(in_review)


@pytest.fixture
def team(built: Built, db: None) -> factories.People:
    return deepcopy(built[0])


@pytest.fixture
def case(built: Built, db: None) -> Case:
    return deepcopy(built[1])


def post(user: User, path: str, body: Any = None) -> Any:
    return client_of(user).post(f"/api/v1/{path}", body or {}, format="json")


def looked(case: Case) -> Redaction:
    return redaction_rows.require_newest(factories.revision(factories.fresh(case)))


def asked(case: Case, **changes: Any) -> dict[str, Any]:
    redaction = looked(case)
    until = (timezone.now() + timedelta(days=3)).isoformat()
    found = [one["finding"] for one in redaction.open]
    return {"redaction": str(redaction.pk), "open": found, "reason": "It is our own.", "until": until, **changes}


def test_a_member_sees_kinds_and_detectors_and_no_value(team: factories.People, case: Case) -> None:
    client = client_of(team.viewer)
    [row] = client.get(f"/api/v1/redactions/?case={case.pk}").json()["results"]
    assert [(one["kind"], one["detector"]) for one in row["open"]] == [("email", "personal:email")]
    whole = client.get(f"/api/v1/redactions/{row['id']}/")
    assert len(whole.json()["left_open"]) == 1
    assert MAIL not in whole.content.decode()


def test_values_that_a_policy_lets_stand_are_told_to_no_program_and_to_who_reads_raw_evidence(
    team: factories.People,
) -> None:
    redaction_policies.save(team.privacy, project=team.project, data={"allowed": [MAIL]}, note="Ours.", seen=0)
    _, secret = people.create_token(team.privacy, project=team.project, name="CI", scopes=[Scope.READ], days=1)
    program = client_of(team.privacy)
    program.logout()
    program.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    for client, told in ((client_of(team.privacy), True), (client_of(team.viewer), False), (program, False)):
        [row] = client.get("/api/v1/redaction-policies/").json()["results"]
        assert (row["allowed"], MAIL in json.dumps(row)) == (1, told)


def test_a_waiver_takes_two_and_says_what_is_wrong(team: factories.People, case: Case) -> None:
    assert post(team.privacy, "waivers/", asked(case, open=["0" * 64])).status_code == 400
    assert post(team.privacy, "waivers/", asked(case, until="2020-01-01T00:00:00Z")).status_code == 400
    assert post(team.responder, "waivers/", asked(case)).status_code == 403
    [waiver] = post(team.privacy, "waivers/", asked(case)).json()["waivers"]
    assert post(team.privacy, "waivers/", asked(case)).status_code == 409
    assert post(team.privacy, f"waivers/{waiver['id']}/confirmation/").status_code == 403
    stranger = factories.everyone(factories.project("XX"))
    assert post(stranger, f"waivers/{waiver['id']}/confirmation/").status_code == 404
    assert post(stranger, "waivers/", asked(case)).status_code == 400
    assert post(team.security, f"waivers/{waiver['id']}/confirmation/").status_code == 200
    assert redaction_rows.left_open(looked(case)) == []
    assert post(team.security, f"waivers/{waiver['id']}/ending/").status_code == 200
    assert Waiver.objects.get().ended_by == team.security


def test_a_rule_redacting_and_looking_are_the_same_services(team: factories.People, case: Case) -> None:
    source = str(case.current_revision_id)
    rule = {"source": source, "action": "mark", "place": {"pointer": "/input/nothing"}, "reason": "A desk."}
    assert post(team.privacy, "redaction-rules/", rule).status_code == 400
    for wrong in ({"action": "keep", "kind": "email"}, {"action": "drop", "place": {"pointer": "input"}}):
        refused = post(team.privacy, "redaction-rules/", {**rule, "place": {"pointer": "/input/message"}, **wrong})
        assert refused.status_code == 400, wrong
    there = {**rule, "kind": "text", "place": {"pointer": "/input/message", "start": 0, "end": 5}}
    assert post(team.privacy, "redaction-rules/", there).status_code == 201
    assert post(team.privacy, f"cases/{case.pk}/redactions/", {"seen_revision": 7}).status_code == 409
    made = post(team.privacy, f"cases/{case.pk}/redactions/", {"seen_revision": 1})
    assert (made.status_code, made.json()["number"]) == (201, 2)
    assert looked(case).rules == 1
    assert post(team.privacy, f"cases/{case.pk}/looks/", {"seen_revision": 2}).status_code == 201
    assert post(team.privacy, f"redaction-rules/{RedactionRule.objects.get().pk}/withdrawal/").status_code == 200


def test_a_preview_says_what_is_replaced_now_and_what_would_be(team: factories.People, case: Case) -> None:
    answer = post(team.privacy, f"cases/{case.pk}/redaction-previews/", {"policy": {"kinds_off": ["email"]}})
    assert answer.json() == {"now": {"email": 1}, "then": {}, "open_now": 0, "open_then": 0}


def test_places_are_seen_only_by_who_has_them_open(team: factories.People, case: Case) -> None:
    address, spans = f"redactions/{looked(case).pk}/seen/", looked(case).spans
    assert post(team.privacy, address, {"spans": [0]}).status_code == 403
    raw_reads.begin(team.privacy, case=case, reason="To review it.")
    assert post(team.privacy, address, {"spans": [spans]}).status_code == 400
    assert post(team.privacy, address, {"spans": [0]}).json() == {"seen": [0], "spans": spans}


def test_an_approval_over_the_api_asks_for_nothing_open_and_for_everything_seen(
    team: factories.People, case: Case
) -> None:
    revision = factories.revision(case)
    body = {"outcome": "approved", "revision": 1, "content_hash": revision.content_hash}
    other = factories.person(team.project, Role.PRIVACY_REVIEWER)
    refused = post(other, f"cases/{case.pk}/redaction-decisions/", body)
    assert refused.status_code == 409
    assert "residual" in [gate["name"] for gate in refused.json()["gates"] if gate["state"] == "unsatisfied"]
    [waiver] = post(team.privacy, "waivers/", asked(case)).json()["waivers"]
    assert post(team.security, f"waivers/{waiver['id']}/confirmation/").status_code == 200
    unseen = post(other, f"cases/{case.pk}/redaction-decisions/", body)
    assert (unseen.status_code, "You have not looked at" in unseen.json()["detail"]) == (409, True)
    factories.see_everything(other, case)
    approved = post(other, f"cases/{case.pk}/redaction-decisions/", body)
    assert approved.status_code == 201
    seen = looked(case)
    named = {"id": str(seen.pk), "policy": seen.policy_digest, "policy_version": 0, "detectors": seen.detectors}
    assert approved.json()["redaction"] == {**named, "waivers": [waiver["id"]]}
    assert post(team.security, f"waivers/{waiver['id']}/ending/").status_code == 200
    [listed] = client_of(team.viewer).get("/api/v1/decisions/").json()["results"]
    assert listed["redaction"] == approved.json()["redaction"]  # what was ended later held then
