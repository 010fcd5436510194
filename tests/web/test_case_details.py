"""What a person does on a case's page: each step by its form, refused with what is there now, and said in its place."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import CLOSES_AS_NON_REPLAYABLE, CONFIRMS_CONTAINMENT, EDITS_DETAILS, SENDS_BACK, Role
from replaycases.cases import decisions, details
from replaycases.cases.models import (
    AuditEvent,
    Boundary,
    Case,
    CaseOwner,
    ClosingItem,
    ClosingStep,
    DecisionKind,
    DecisionOutcome,
    GraderFinding,
    Provenance,
    ReviewFlag,
    Stage,
)
from tests import factories
from tests.web import recorded
from tests.web.conftest import client_of

STATEMENT = {
    "title": "Claimed a refund",
    "trigger": "The lookup timed out.",
    "prohibited_outcome": "The reply says that the refund was completed.",
    "deciding_evidence": "The state was unknown.",
    "reported_symptom": "",
}
POSTS = (
    "submission",
    "reproduction",
    "sending-back",
    "non-replayable",
    "reopening",
    "containment",
    "security-incident",
    "flags",
    "re-review",
    "closing/rollout",
    "grader-findings",
    "statement",
    "details",
    "owners",
)
SAID = {"reason": "x", "missing": "x", "note": "x", "why": "policy_changed", "detail": "x", "flagged": "yes"}


def now(case: Case) -> Case:
    return Case.objects.get(pk=case.pk)


def at_stage(case: Case, stage: Stage) -> None:
    Case.objects.filter(pk=case.pk).update(stage=stage)


def page(client: Client, case: Case) -> str:
    return client.get(f"/cases/{case.readable_id}/").content.decode()


# --- who may --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", POSTS)
def test_a_foreign_case_takes_nothing(case: Case, route: str) -> None:
    client, before = client_of(factories.everyone(factories.project("XX"))), AuditEvent.objects.count()
    assert client.post(f"/cases/RC-1/{route}/", SAID).status_code == 404
    assert AuditEvent.objects.count() == before


@pytest.mark.parametrize("route", POSTS)
def test_a_viewer_does_nothing(looking: Client, case: Case, route: str) -> None:
    before = AuditEvent.objects.count()
    assert looking.post(f"/cases/RC-1/{route}/", SAID).status_code == 403
    assert AuditEvent.objects.count() == before


@pytest.mark.parametrize(
    ("route", "roles"),
    [
        ("sending-back", SENDS_BACK),
        ("non-replayable", CLOSES_AS_NON_REPLAYABLE),
        ("containment", CONFIRMS_CONTAINMENT),
        ("details", EDITS_DETAILS),
        ("owners", EDITS_DETAILS),
        ("grader-findings", EDITS_DETAILS),
    ],
)
def test_each_act_is_refused_to_every_other_role(case: Case, route: str, roles: frozenset[Role]) -> None:
    for role in set(Role) - roles:
        client = client_of(factories.person(case.project, role))
        assert client.post(f"/cases/RC-1/{route}/", SAID).status_code == 403


# --- the next step --------------------------------------------------------------------------------------------------


def test_a_case_is_submitted_by_the_form_of_its_page(project: Project) -> None:
    of = factories.people(project)
    made = factories.quarantined(of)
    client = client_of(of.responder)
    seen = factories.revision(made).fixture_hash
    assert f'name="fixture_hash" value="{seen}"' in page(client, made)
    assert client.post(f"/cases/{made}/submission/", {"fixture_hash": seen}).headers["Location"] == f"/cases/{made}/"
    assert now(made).stage == Stage.IN_REVIEW
    assert "Submit for review</button>" not in page(client, made)


def test_a_step_that_a_gate_would_refuse_is_off_and_says_why(project: Project) -> None:
    of = factories.people(project)
    made = factories.case(project, of.responder)
    html = page(client_of(of.responder), made)
    assert "The affected version is not recorded. Record it." in html
    assert f'action="/cases/{made}/submission/"' not in html


def test_another_fixture_than_was_seen_is_a_conflict_that_shows_both(signed_in: Client, case: Case) -> None:
    seen = "sha256:" + "0" * 64
    response = signed_in.post("/cases/RC-1/submission/", {"fixture_hash": seen})
    html = response.content.decode()
    assert response.status_code == 409
    assert "The case is not what you saw" in html
    assert seen in html
    assert factories.revision(case).fixture_hash in html
    assert now(case).stage == Stage.QUARANTINED


def test_closed_gates_are_listed_with_what_to_do(signed_in: Client, case: Case) -> None:
    response = signed_in.post("/cases/RC-1/submission/", {"fixture_hash": factories.revision(case).fixture_hash})
    assert response.status_code == 409
    html = response.content.decode()
    assert "Something is still missing" in html
    missing, _, folded = html.partition('<details class="fold"')
    assert "Affected version reproduces" in missing
    assert "Failure statement</strong>" in folded
    assert f'href="/cases/{case}/statement/">Failure statement</a>' in folded
    assert now(case).stage == Stage.QUARANTINED


def test_the_page_says_whose_turn_it_is(looking: Client, signed_in: Client, case: Case) -> None:
    assert "this is yours to do" in page(signed_in, case)
    html = page(looking, case)
    assert "waits for somebody else" in html
    assert "This needs the role Responder in project RC." in html
    assert 'action="/cases/RC-1/submission/"' not in html


def test_containment_comes_first_and_is_confirmed_on_the_page(signed_in: Client, case: Case) -> None:
    signed_in.post("/cases/RC-1/security-incident/", {"flagged": "yes"})
    assert "not contained" in page(signed_in, case)
    assert signed_in.post("/cases/RC-1/containment/", {"note": " "}).status_code == 422
    signed_in.post("/cases/RC-1/containment/", {"note": "Keys were changed."})
    assert "Keys were changed." in page(signed_in, case)
    assert now(case).contained_at is not None


def test_a_case_is_closed_and_opened_again_with_reasons(signed_in: Client, case: Case, everyone: User) -> None:
    assert "Name an owner first" in page(signed_in, case)
    assert "Close as non-replayable</button>" not in page(signed_in, case)
    said = {"reason": "No clock.", "missing": "Its clock."}
    assert signed_in.post("/cases/RC-1/non-replayable/", said).status_code == 409
    details.set_owners(everyone, case=case, owners={Boundary.WORKFLOW: everyone})
    assert signed_in.post("/cases/RC-1/non-replayable/", {"reason": "x", "missing": ""}).status_code == 422
    signed_in.post("/cases/RC-1/non-replayable/", said)
    assert now(case).stage == Stage.NON_REPLAYABLE
    html = page(signed_in, case)
    assert "<p>No clock.</p>" in html
    assert "Missing: Its clock." in html
    assert 'action="/cases/RC-1/reopening/"' in html
    signed_in.post("/cases/RC-1/reopening/", {"reason": "The clock was found."})
    assert now(case).stage == Stage.QUARANTINED


def test_sending_back_asks_for_a_reason(signed_in: Client, case: Case) -> None:
    at_stage(case, Stage.REDACTION_APPROVED)
    refused = signed_in.post("/cases/RC-1/sending-back/", {"reason": ""})
    assert refused.status_code == 422
    assert "Say why." in refused.content.decode()
    signed_in.post("/cases/RC-1/sending-back/", {"reason": "The order number is left in call 3."})
    assert now(case).stage == Stage.IN_REVIEW


def test_a_re_review_is_asked_for_and_noted(signed_in: Client, case: Case) -> None:
    assert signed_in.post("/cases/RC-1/flags/", {"why": "because"}).status_code == 404
    signed_in.post("/cases/RC-1/flags/", {"why": "policy_changed", "detail": "Policy 12"})
    assert "a policy changed" in page(signed_in, case)
    signed_in.post("/cases/RC-1/re-review/", {"note": "It holds under policy 12 too."})
    assert not now(case).flagged
    assert ReviewFlag.objects.get().cleared_at is not None


# --- what is said about it ------------------------------------------------------------------------------------------


def statement(case: Case, **changes: str) -> dict[str, str]:
    return {**STATEMENT, "seen": details.statement_hash(now(case)), **changes}


def test_the_statement_is_edited_and_a_vague_part_is_refused_beside_it(signed_in: Client, case: Case) -> None:
    assert 'value="Claimed a refund that was not known"' in signed_in.get("/cases/RC-1/statement/").content.decode()
    refused = signed_in.post("/cases/RC-1/statement/", statement(case, prohibited_outcome="the answer was bad"))
    assert refused.status_code == 422
    assert 'id="id_prohibited_outcome_error"' in refused.content.decode()
    assert "which claim or effect must never follow" in refused.content.decode()
    assert signed_in.post("/cases/RC-1/statement/", statement(case)).status_code == 302
    assert now(case).trigger == "The lookup timed out."


def test_words_that_somebody_else_changed_meanwhile_are_not_overwritten(signed_in: Client, case: Case) -> None:
    begun = statement(case)
    signed_in.post("/cases/RC-1/statement/", statement(case, trigger="The lookup ended in an error."))
    assert signed_in.post("/cases/RC-1/statement/", begun).status_code == 409
    assert now(case).trigger == "The lookup ended in an error."


def test_the_statement_says_who_approved_it_for_which_fixture(signed_in: Client, case: Case) -> None:
    assert "not approved; stated by" in page(signed_in, case)
    owner = factories.person(case.project, Role.INCIDENT_OWNER)
    at_stage(case, Stage.IN_REVIEW)
    revision = factories.revision(case)
    kind, outcome = DecisionKind.EXPECTATION, DecisionOutcome.APPROVED
    decisions.record(owner, revision=revision, kind=kind, outcome=outcome, note="")
    html = page(signed_in, case).partition('<h2 id="fs">')[2].partition("</header>")[0]
    assert "for revision 1" in html
    assert f"approved</span> by {owner}, " in html
    assert revision.fixture_hash in html


def test_the_versions_of_the_newest_comparison_are_offered(signed_in: Client, case: Case, everyone: User) -> None:
    assert "chosen from the newest comparison" not in signed_in.get("/cases/RC-1/details/").content.decode()
    ran = recorded.compared(case, everyone)
    html = signed_in.get("/cases/RC-1/details/").content.decode()
    assert "chosen from the newest comparison" in html
    assert f'<option value="{ran.old_id}" selected>' in html.partition('name="affected"')[2].partition("</select>")[0]
    assert f'<option value="{ran.new_id}" selected>' in html.partition('name="fixed"')[2].partition("</select>")[0]
    assert not Provenance.objects.filter(affected__isnull=False).exists()


def test_links_and_versions_are_edited(signed_in: Client, case: Case, everyone: User) -> None:
    version = factories.implementation(case.project, everyone)
    said = {"incident_url": "https://tracker.example/1", "trace_id": "tr-1", "affected": str(version.pk)}
    assert signed_in.post("/cases/RC-1/details/", said).status_code == 302
    assert Provenance.objects.get().affected == version
    assert 'href="https://tracker.example/1"' in page(signed_in, case)
    refused = signed_in.post("/cases/RC-1/details/", {"trace_url": "javascript:alert(1)"})
    assert refused.status_code == 422
    assert 'id="id_trace_url_error"' in refused.content.decode()


def test_owners_are_chosen_among_the_projects_people(signed_in: Client, case: Case, everyone: User) -> None:
    stranger = factories.everyone(factories.project("XX"))
    chosen = {"workflow": f"user:{everyone.pk}"}
    assert signed_in.post("/cases/RC-1/owners/", {"workflow": f"user:{stranger.pk}"}).status_code == 422
    assert signed_in.post("/cases/RC-1/owners/", chosen).status_code == 302
    assert [(row.boundary, row.user) for row in CaseOwner.objects.all()] == [(Boundary.WORKFLOW, everyone)]
    assert "nobody yet" in page(signed_in, case)


def test_a_finding_of_a_grader_is_recorded_and_confirmed_by_another(signed_in: Client, case: Case) -> None:
    assert signed_in.post("/cases/RC-1/grader-findings/", {"grader": "claims"}).status_code == 422
    said = {"grader": "claims", "version": "4", "label": "false claim", "result": "0.97"}
    signed_in.post("/cases/RC-1/grader-findings/", said)
    finding = GraderFinding.objects.get()
    assert "You recorded it. Another incident owner confirms it." in page(signed_in, case)
    owner = client_of(factories.person(case.project, Role.INCIDENT_OWNER))
    address = f"/cases/RC-1/grader-findings/{finding.pk}/confirmation/"
    assert f'action="{address}"' in page(owner, case)
    assert signed_in.post(address).status_code == 409
    assert owner.post(address).status_code == 302
    assert "confirmed by" in page(signed_in, case)


def test_the_closing_checklist_is_noted_step_by_step(signed_in: Client, case: Case) -> None:
    assert "No comparison has looked at the controls yet." in page(signed_in, case)
    for step in ClosingStep:
        assert signed_in.post(f"/cases/RC-1/closing/{step}/", {"note": f"I looked at {step}"}).status_code == 302
    assert "I looked at hand_off" in page(signed_in, case)
    assert signed_in.post("/cases/RC-1/closing/rollout/", {"note": "again"}).status_code == 409
    assert signed_in.post("/cases/RC-1/closing/parade/", {"note": "x"}).status_code == 404
    assert ClosingItem.objects.count() == len(ClosingStep)


def test_a_case_from_a_blank_form_waits_for_its_fixture(signed_in: Client, project: Project) -> None:
    said = {
        **STATEMENT,
        "project": str(project.pk),
        "incident_id": "INC-2",
        "start": "blank",
        "security_incident": "on",
    }
    assert signed_in.post("/cases/new/", said).headers["Location"] == "/cases/RC-1/"
    made = Case.objects.get()
    assert (made.current_revision, made.security_incident) == (None, True)
    assert "it needs the recorded fixture" in page(signed_in, made)


def test_a_case_without_its_fixture_is_not_blank_by_accident(signed_in: Client, project: Project) -> None:
    said = {**STATEMENT, "project": str(project.pk), "incident_id": "INC-2"}
    refused = signed_in.post("/cases/new/", said)
    assert refused.status_code == 422
    assert "or start from a blank form" in refused.content.decode()


# --- queries --------------------------------------------------------------------------------------------------------


def test_the_page_of_a_case_with_everything_takes_twelve_queries(
    project: Project, django_assert_max_num_queries: Any
) -> None:
    of = factories.people(project)
    made = factories.blocking(of)
    details.record_grader_finding(of.responder, case=made, grader="g", version="1", label="l", result="")
    Case.objects.filter(pk=made.pk).update(flagged=True, security_incident=True)
    ReviewFlag.objects.create(case=made, reason="drifted", raised_by=of.qa, raised_at=timezone.now())
    for person in (of.qa, of.engineer, of.responder, of.viewer):
        client = client_of(person)
        with django_assert_max_num_queries(12):
            html = page(client, made)
    assert "a probe found drift" in html


@pytest.mark.parametrize(("roles", "links"), [((Role.RESPONDER, Role.QA_LEAD), True), ((Role.RESPONDER,), False)])
def test_a_missing_red_leads_to_its_override_for_who_may_propose_one(
    project: Project, roles: tuple[Role, ...], links: bool
) -> None:
    case = factories.case(project, factories.person(project, Role.RESPONDER))
    client = client_of(factories.person(project, *roles))
    refused = client.post("/cases/RC-1/submission/", {"fixture_hash": factories.revision(case).fixture_hash})
    address = 'href="/cases/RC-1/overrides/?gate=red"'
    for html in (page(client, case), refused.content.decode()):
        assert (address in html) is links
        assert ("This needs the role QA lead" in html) is not links


def test_no_override_is_offered_where_the_red_was_seen(project: Project) -> None:
    of = factories.people(project)
    made = factories.quarantined(of)
    assert "without it" not in page(client_of(of.responder), made)


def test_a_case_that_can_only_be_read_says_so_in_words(signed_in: Client, project: Project, everyone: User) -> None:
    mark = {"class": "non_replayable", "reason": "Spans without content."}
    to_read = factories.case(project, everyone, factories.fixture(case_id="spans", replayability=mark))
    other = factories.case(project, everyone)
    said = [signed_in.get(f"/cases/{case.readable_id}/").content.decode() for case in (to_read, other)]
    assert ["Forensic reading only" in html for html in said] == [True, False]


def test_a_dependency_owner_confirms_on_the_page_that_the_tools_named_there_have_no_effect(
    client: Client, project: Project, everyone: User
) -> None:
    case = factories.case(project, everyone)
    client.force_login(factories.person(project, Role.DEPENDENCY_OWNER))
    page, revision = f"/cases/{case.readable_id}/", factories.revision(case)
    assert "it names no effect: <code>refund.lookup</code>" in client.get(page).content.decode()
    seen = {"revision": revision.number, "fixture_hash": revision.fixture_hash, "acceptance": "unknown"}
    sent = client.post(f"{page}dependency-statements/", {**seen, "no_effect_confirmed": "yes"}, follow=True)
    assert case.dependency_statements.get().no_effect_confirmed
    assert "tools without an effect confirmed" in sent.content.decode()
