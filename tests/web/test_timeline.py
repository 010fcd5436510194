"""Audit events as sentences, and the page of a case's own."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from replaycases.accounts.models import User
from replaycases.cases import details, jobs
from replaycases.cases.audit_actions import ACTIONS
from replaycases.cases.models import AuditEvent, Case
from replaycases.web import audit_page, timeline
from replaycases.web.sentences import SENTENCES
from tests import factories
from tests.web import recorded

DOMAIN = Path(jobs.__file__).parent


def named_in_the_domain() -> set[str]:
    """Every string of the domain's sources that is an action's name, the registry itself left out."""
    return {
        node.value
        for path in DOMAIN.rglob("*.py")
        if path.name not in {"audit_actions.py", "notices.py"}
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in ACTIONS
    }


def test_every_action_has_a_sentence_and_no_sentence_is_left_over() -> None:
    assert set(SENTENCES) == ACTIONS


def test_no_action_is_named_that_nothing_records() -> None:
    composed = {f"proposal.{state}" for state in ("confirmed", "declined", "withdrawn")}
    composed |= {f"{kind}.returned" for kind in ("redaction", "expectation")}
    assert ACTIONS - named_in_the_domain() - composed == set()


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ({"size": 2, "classification": "very_secret"}, "size 2, classification very secret"),
        ({"decision": "sha256:00", "public": True}, "public yes"),
        ({"flagged": True, "reason": "policy_changed"}, "reason a policy changed"),
        ({"reason": "the id a_b was wrong", "note": ""}, "reason “the id a_b was wrong”"),
        ({"covering_test": "tests/test_a_b.py"}, "covering test tests/test_a_b.py"),
        ({"list": ["a"], "nothing": None}, ""),
        ({"reason": "x" * 700}, f"reason “{'x' * 592}…"),
        ({"stage": "in_review", "until": "2026-12-29T21:26:27.140002+00:00"}, "until 29 Dec 2026"),
    ],
)
def test_an_events_facts_are_told_in_words(after: dict[str, object], told: str) -> None:
    event = AuditEvent(action="case.flagged", after=json.dumps(after), before="{}")
    assert timeline.entry_of(event).details == told


def test_owners_are_told_by_what_they_own_and_not_by_their_ids() -> None:
    after = json.dumps({"prohibited_outcome": "user:6694ae26-15a0-4edc-b809-25992367d262", "privacy": ""})
    event = AuditEvent(action="owners.set", after=after, before="{}")
    assert timeline.entry_of(event).details == "prohibited outcome, none for privacy"


def test_the_versions_of_a_case_are_told_by_name_however_many_events_name_them(case: Case, everyone: User) -> None:
    old, new = (factories.implementation(case.project, everyone, version=version) for version in ("1", "2"))
    kept = {"incident_url": "", "trace_id": "", "trace_url": "", "covering_test": ""}
    for affected, fixed in ((old, None), (new, old), (old, new), (old, None)):
        details.edit_provenance(everyone, case=case, affected=affected, fixed=fixed, **kept)
    events = list(timeline.events_of(case).filter(action="provenance.edited"))
    with CaptureQueriesContext(connection) as asked:
        [day] = timeline.days(events)
    assert [entry.details for entry in day.entries] == [
        "fixed version: none",
        "affected version: agent 1, fixed version: agent 2",
        "affected version: agent 2, fixed version: agent 1",
        "affected version: agent 1",
    ]
    assert len(asked) == 1
    with CaptureQueriesContext(connection) as asked:
        told = [entry.details for day in timeline.of_case(case, 2, [old]) for entry in day.entries]
    assert told == ["fixed version: none", "affected version: agent 1, fixed version: another one"]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("action", "after", "told"),
    [
        (
            "proposal.made",
            {"kind": "demotion", "gate": "", "reason": "Vendor.", "until": "2026-12-29T09:00:00+00:00", "state": "x"},
            "demotion, reason “Vendor.”, until 29 Dec 2026",
        ),
        ("proposal.made", {"kind": "override", "gate": "red"}, "override of “Affected version reproduces”"),
        ("proposal.made", {"kind": "of_another_release", "gate": "gone"}, "of_another_release of “gone”"),
        ("run_set.requested", {"size": 1, "mutated": False, "lane": "blocking"}, "1 run, lane blocking"),
        ("run_set.requested", {"size": 5, "mutated": True}, "5 runs, mutated"),
    ],
)
def test_proposals_and_replays_are_told_by_what_was_asked_for(action: str, after: dict[str, object], told: str) -> None:
    event = AuditEvent(action=action, after=json.dumps(after), before="{}")
    assert timeline.entry_of(event).details == told


def test_two_verdicts_of_a_case_are_told_apart_and_each_counts_its_runs_once(
    client: Client, case: Case, everyone: User
) -> None:
    first = recorded.compared(case, everyone)
    assert first.old is not None
    assert first.new is not None
    recorded.finish(recorded.requested(case, everyone, first.old, first.new), recorded.RED, recorded.GREEN)
    client.force_login(everyone)
    said = client.get("/audit/?action=comparison.computed").content.decode()
    lines = [line.partition("</li>")[0] for line in said.split("<li>")[1:] if "over 8 runs" in line]
    assert sorted(line.partition("comparison ")[2][0] for line in lines) == ["1", "2"]
    assert all(line.count("over ") == 1 and line.count(" runs") == 1 for line in lines)


@pytest.mark.django_db
def test_roles_and_invitations_are_told_with_the_people_they_are_about(everyone: User) -> None:
    nina = factories.person(factories.project("XX"))
    nina.display_name = "Nina"
    nina.save()
    said = {"before": '{"roles": ["viewer"]}', "after": '{"roles": ["qa", "viewer"]}', "object_id": str(nina.pk)}
    back = said | {"before": said["after"], "after": said["before"]}
    invited = json.dumps({"user": str(everyone.pk), "roles": ["qa"], "invited_by": str(nina.pk)})
    events = [
        AuditEvent(action="role.granted", at=nina.date_joined, **said),
        AuditEvent(action="role.revoked", at=nina.date_joined, **back),
        AuditEvent(action="invitation.accepted", at=nina.date_joined, before="{}", after=invited),
    ]
    [day] = timeline.days(events)
    assert [entry.details for entry in day.entries] == ["QA to Nina", "QA from Nina", "invited by Nina"]


def test_an_action_of_another_release_is_told_by_its_name() -> None:
    event = AuditEvent(action="case.moved_on", after="{}", before="{}")
    assert timeline.entry_of(event).sentence == "case: moved on"


@pytest.mark.django_db
def test_a_cases_timeline_is_one_query_whatever_belongs_to_it(case: Case, everyone: User) -> None:
    recorded.compared(case, everyone)
    with CaptureQueriesContext(connection) as captured:
        days = timeline.of_case(case)
    assert len(captured) == 1
    told = [entry.event.action for day in days for entry in day.entries]
    assert told[-1] == "case.created"
    assert {"comparison.requested", "comparison.computed"} <= set(told)


def test_the_page_shows_a_hundred_events_and_leads_on_to_the_older_ones(
    signed_in: Client, case: Case, everyone: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_page, "ROWS", 2)
    for number in range(2, 5):
        factories.control(factories.revision(case), everyone, name=f"control {number}")
    first = signed_in.get("/cases/RC-1/timeline/").content.decode()
    assert first.count("added a control") == 2
    older = f"?before={AuditEvent.objects.order_by('-sequence')[1].sequence}"
    assert f'href="{older}"' in first
    second = signed_in.get(f"/cases/RC-1/timeline/{older}").content.decode()
    assert (second.count("added a control"), second.count("opened the case")) == (1, 1)
    assert "Older" not in second


def test_the_export_is_json_lines_of_the_case_alone_and_is_recorded(
    signed_in: Client, case: Case, everyone: User
) -> None:
    factories.case(case.project, everyone, factories.fixture(case_id="other"))
    response = signed_in.post("/cases/RC-1/timeline/export/")
    assert response.headers["Content-Disposition"] == 'attachment; filename="RC-1-timeline.jsonl"'
    lines = [json.loads(line) for line in b"".join(response).decode().splitlines()]
    assert {line["case"] for line in lines} == {"RC-1"}
    assert lines[0]["action"] == "case.created"
    exported = AuditEvent.objects.get(action="audit.exported")
    assert (exported.case, exported.actor, json.loads(exported.after)["events"]) == (case, everyone, len(lines))


def test_a_foreign_cases_timeline_does_not_exist(case: Case) -> None:
    client = Client()
    client.force_login(factories.everyone(factories.project("XX")))
    assert client.get("/cases/RC-1/timeline/").status_code == 404
    assert client.post("/cases/RC-1/timeline/export/").status_code == 404
    assert not AuditEvent.objects.filter(action="audit.exported").exists()
