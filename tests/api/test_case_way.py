"""A case's way through the API: what was seen is what is decided, and what stops it is said."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from replaycases.accounts.models import Project
from replaycases.accounts.roles import Role
from replaycases.cases.models import Boundary, Case, CaseOwner, Decision, FixtureRevision, LaneEntry, LaneName, Proposal
from tests import factories
from tests.api.conftest import client_of

OTHER = "sha256:" + "0" * 64


@pytest.fixture
def team(db: None) -> factories.People:
    return factories.people(factories.project())


def post(user: Any, address: str, body: dict[str, Any] | None = None) -> Any:
    return client_of(user).post(f"/api/v1/{address}", body or {}, format="json")


def test_a_gate_that_blocks_is_409_with_every_gate_and_what_to_do(team: factories.People) -> None:
    case = factories.case(team.project, team.responder)
    seen = {"fixture_hash": factories.revision(case).fixture_hash}
    response = post(team.responder, f"cases/{case.pk}/submissions/", seen)
    assert response.status_code == 409
    gates = {gate["name"]: gate for gate in response.json()["gates"]}
    assert gates["red"]["state"] == "unsatisfied"
    assert gates["red"]["remedy"] in response.json()["detail"]
    assert gates["statement"]["state"] == "satisfied"
    listed = client_of(team.responder).get(f"/api/v1/cases/{case.pk}/gates/?to=in_review").json()["gates"]
    assert {gate["name"] for gate in listed} == set(gates)


def test_a_target_that_is_none_is_400(team: factories.People) -> None:
    case = factories.case(team.project, team.responder)
    for query in ("", "?to=", "?to=retired"):
        assert client_of(team.qa).get(f"/api/v1/cases/{case.pk}/gates/{query}").status_code == 400


def test_a_case_that_cannot_be_replayed_says_why_and_what_is_missing_until_it_is_opened_again(
    team: factories.People,
) -> None:
    case = factories.case(team.project, team.responder)

    def said() -> Any:
        return client_of(team.vendor).get(f"/api/v1/cases/{case.pk}/").json()["non_replayable"]

    assert said() is None
    CaseOwner.objects.create(case=case, boundary=Boundary.WORKFLOW, user=team.engineer)
    why = {"reason": "The scheduler decided it.", "missing": "Its log."}
    assert post(team.qa, f"cases/{case.pk}/non-replayable-marks/", why).status_code == 200
    assert said() == why
    assert post(team.qa, f"cases/{case.pk}/reopenings/", {"reason": "The log was found."}).status_code == 200
    assert said() is None


def test_what_a_dependencys_owner_said_is_read_the_newest_first(team: factories.People) -> None:
    case = factories.case(team.project, team.responder)
    seen = {"revision": 1, "fixture_hash": factories.revision(case).fixture_hash}
    for acceptance in ("unknown", "before_acceptance"):
        said = post(team.vendor, f"cases/{case.pk}/dependency-statements/", {**seen, "acceptance": acceptance})
        assert said.status_code == 201
    client = client_of(team.qa)
    listed = client.get(f"/api/v1/dependency-statements/?case={case.pk}").json()["results"]
    assert [one["acceptance"] for one in listed] == ["before_acceptance", "unknown"]
    assert client.get(f"/api/v1/dependency-statements/{listed[1]['id']}/").json() == listed[1]
    assert len(client.get("/api/v1/dependency-statements/?acceptance=unknown").json()["results"]) == 1


def test_a_decision_on_other_bytes_than_were_seen_is_409_and_none_is_made(team: factories.People) -> None:
    case = factories.in_review(team)
    body = {"outcome": "approved", "revision": 1, "content_hash": OTHER}
    assert post(team.privacy, f"cases/{case.pk}/redaction-decisions/", body).status_code == 409
    assert not Decision.objects.exists()


def test_a_redaction_is_approved_by_somebody_else_and_only_so(team: factories.People) -> None:
    case = factories.in_review(team)
    team.responder.memberships.create(project=team.project, role=Role.PRIVACY_REVIEWER)
    address, hashed = f"cases/{case.pk}/redaction-decisions/", factories.revision(case).content_hash
    body = {"outcome": "approved", "revision": 1, "content_hash": hashed}
    own = post(team.responder, address, body)
    assert own.status_code == 403
    assert own.json()["detail"] == "You captured this case. Somebody else approves it."
    assert post(team.privacy, address, body).status_code == 409  # they have not looked at it
    factories.see_everything(team.privacy, case)
    approved = post(team.privacy, address, body)
    assert approved.status_code == 201
    assert (approved.json()["outcome"], approved.json()["content_hash"]) == ("approved", hashed)
    assert Case.objects.get().stage == "redaction_approved"


def test_a_return_needs_a_reason(team: factories.People) -> None:
    case = factories.in_review(team)
    body = {"outcome": "returned", "revision": 1, "content_hash": factories.revision(case).content_hash}
    assert post(team.privacy, f"cases/{case.pk}/redaction-decisions/", body).status_code == 400
    returned = post(team.privacy, f"cases/{case.pk}/redaction-decisions/", {**body, "note": "A name is left."})
    assert (returned.status_code, returned.json()["outcome"]) == (201, "returned")


def test_a_revision_on_another_one_than_was_seen_is_409(team: factories.People) -> None:
    case = factories.case(team.project, team.responder)
    factories.opened(case, team.responder)
    changed = json.loads(factories.fixture(frozen_at="2025-03-02T10:00:00+01:00"))
    body = {"case": str(case.pk), "fixture": changed, "seen_revision": 2}
    assert post(team.responder, "revisions/", body).status_code == 409
    added = post(team.responder, "revisions/", {**body, "seen_revision": 1, "changed": "The day."})
    assert (added.status_code, added.json()["number"], added.json()["changed"]) == (201, 2, "The day.")
    address = f"/api/v1/revisions/{added.json()['id']}/differences/"
    found = client_of(team.responder).get(address).json()
    assert [(one["pointer"], one["kind"], one["new"]) for one in found["differences"]] == [
        ("/frozen_at", "changed", "2025-03-02T10:00:00+01:00")
    ]
    assert found["approved"] is False  # who reviews it reads all of it
    assert client_of(team.viewer).get(address).status_code == 403  # it holds values of quarantined evidence


def test_a_case_starts_blank_and_gets_its_fixture_later(team: factories.People) -> None:
    made = post(team.responder, "cases/", {"project": "RC", **factories.STATEMENT})
    assert (made.status_code, made.json()["current_revision"], made.json()["case_id"]) == (201, None, "")
    body = {"case": made.json()["id"], "fixture": json.loads(factories.fixture()), "seen_revision": 0}
    assert post(team.responder, "revisions/", body).status_code == 201
    assert FixtureRevision.objects.get().fixture_case_id == "refund-claimed"


def test_a_statement_that_somebody_changed_meanwhile_is_409(team: factories.People) -> None:
    case = factories.case(team.project, team.responder)
    client = client_of(team.responder)
    seen = client.get(f"/api/v1/cases/{case.pk}/").json()["statement_hash"]
    change = {"seen": seen, "title": "Said that the refund was paid"}
    assert client.patch(f"/api/v1/cases/{case.pk}/", change, format="json").json()["title"] == change["title"]
    assert client.patch(f"/api/v1/cases/{case.pk}/", change, format="json").status_code == 409
    assert Case.objects.get().trigger == factories.STATEMENT["trigger"]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"kind": "override"}, {"gate", "until"}),
        ({"kind": "demotion"}, {"until"}),
        ({"kind": "demotion", "until": "2030-01-01T00:00:00Z"}, {"owner"}),
        ({"kind": "retirement", "gate": "red"}, {"gate"}),
    ],
)
def test_a_proposal_has_the_parts_of_its_kind(team: factories.People, body: dict[str, str], fields: set[str]) -> None:
    case = factories.case(team.project, team.responder)
    response = post(team.lead, "proposals/", {"case": str(case.pk), "reason": "Why.", **body})
    assert response.status_code == 400
    assert set(response.json()) == fields


def test_a_case_comes_out_of_blocking_by_two_people(team: factories.People) -> None:
    case = factories.blocking(team)
    until = (timezone.now() + timedelta(days=5)).isoformat()
    body = {"case": str(case.pk), "kind": "demotion", "reason": "It varies.", "until": until}
    made = post(team.qa, "proposals/", {**body, "owner": str(team.engineer.pk)})
    assert made.status_code == 201
    address = f"proposals/{made.json()['id']}/confirmation/"
    assert post(team.qa, address).status_code == 403
    assert post(team.owner, address).json()["state"] == "confirmed"
    assert post(team.lead, address).status_code == 409
    assert LaneEntry.objects.get(left_at=None).lane.name == LaneName.NONBLOCKING
    assert Proposal.objects.get().decided_by == team.owner


def test_many_cases_are_previewed_and_promoted_each_by_itself(team: factories.People) -> None:
    ready = factories.reproduced(team)
    early = factories.case(team.project, team.responder, factories.fixture(case_id="early"))
    ids = [str(ready.pk), str(early.pk)]
    previews = post(team.qa, "promotion-previews/", {"lane": "nonblocking", "cases": ids}).json()["previews"]
    assert [row["will_move"] for row in previews] == [True, False]
    assert not LaneEntry.objects.exists()
    chosen = [{"case": str(case.pk), "fixture_hash": factories.revision(case).fixture_hash} for case in (ready, early)]
    outcomes = post(team.qa, "bulk-promotions/", {"lane": "nonblocking", "chosen": chosen}).json()["outcomes"]
    assert [(row["case"], row["moved"]) for row in outcomes] == [(ids[0], True), (ids[1], False)]
    assert "only while it is reproduced" in outcomes[1]["why"]


def test_a_secret_is_shown_once(team: factories.People) -> None:
    body = {"project": "RC", "name": "CI", "scopes": ["read"], "days": 3}
    made = post(team.engineer, "tokens/", body).json()
    assert made["secret"].startswith("rc_")
    client = client_of(team.engineer)
    for address in ("/api/v1/tokens/", f"/api/v1/tokens/{made['token']['id']}/"):
        assert made["secret"] not in client.get(address).content.decode()
    revoked = post(team.engineer, f"tokens/{made['token']['id']}/revocation/")
    assert revoked.json()["revoked_at"] is not None
    assert post(team.engineer, f"tokens/{made['token']['id']}/revocation/").status_code == 409


def test_comments_of_quarantined_evidence_are_shown_to_who_may_read_it(team: factories.People) -> None:
    case = factories.quarantined(team)
    body = {"revision": str(factories.revision(case).pk), "pointer": "/input/order", "text": "Is o-1 a real order?"}
    assert post(team.privacy, "comments/", body).status_code == 201
    assert client_of(team.privacy).get("/api/v1/comments/").json()["results"] == []
    factories.opened(case, team.privacy)
    assert len(client_of(team.privacy).get("/api/v1/comments/").json()["results"]) == 1
    for other in (team.viewer, team.qa):
        assert client_of(other).get("/api/v1/comments/").json()["results"] == []


@pytest.mark.parametrize("address", ["cases/x/", "nothing/", "cases", "runs/1/manifest/x/"])
def test_an_unknown_address_is_404_as_json(team: factories.People, address: str) -> None:
    response = client_of(team.viewer).get(f"/api/v1/{address}")
    assert (response.status_code, response.headers["Content-Type"]) == (404, "application/json")


def test_the_root_lists_every_resource(team: factories.People) -> None:
    client = client_of(team.viewer)
    for noun, address in client.get("/api/v1/").json()["resources"].items():
        assert address.endswith(f"/api/v1/{noun}/")
        assert client.get(address).status_code in (200, 405), noun


def test_a_foreign_person_cannot_be_named(team: factories.People) -> None:
    foreign = factories.person(Project.objects.create(key="XX", name="Other"), Role.QA)
    case = factories.case(team.project, team.responder)
    client = client_of(team.qa)
    body = {"owners": [{"boundary": "privacy", "user": str(foreign.pk)}]}
    assert client.patch(f"/api/v1/cases/{case.pk}/owners/", body, format="json").status_code == 400


def test_the_audit_chain_is_shown_to_roles_that_audit(team: factories.People) -> None:
    case = factories.case(team.project, team.responder)
    for user, shown in ((team.qa, True), (team.security, True), (team.responder, False), (team.viewer, False)):
        events = client_of(user).get(f"/api/v1/audit-events/?case={case.pk}").json()["results"]
        assert [event["action"] for event in events] == (["case.created"] if shown else [])
