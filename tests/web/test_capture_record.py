"""The run record and what another run may do otherwise: what is wrong stands beside its field, and what is not used is
told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.cases import captures, choosing, drafts, evidence, intake, raw_reads
from replaycases.cases.models import Capture, Draft, Origin
from replaycases.fixture.stated_effects import unstated_tools
from replaycases.importers import run_record
from tests import factories
from tests.cases.test_captures import STATEMENT
from tests.importers.transcripts import answers, asks, call, says, system, transcript, user
from tests.web.conftest import client_of
from tests.web.drafting import RECORD, seen_now

TRACE = transcript(
    system("Help."),
    user("refund 4711"),
    asks(call("refund", {"id": 1, "note": "x"}, id="b")),
    answers("timed out", id="b"),
    says("It is refunded."),
    model="made-up-1",
)
NAMED: dict[str, Any] = {"case_id": "refund-claimed", "incident_id": "INC-7", "frozen_at": "2026-11-01T09:00:00+01:00"}
RUN = "/captures/RC-T1/runs/0/"


@pytest.fixture
def capture(responder: User, project: Project) -> Capture:
    capture = captures.bring(responder, project=project, data=TRACE, origin=Origin.PASTE)
    raw_reads.begin(responder, capture=capture, reason="Ticket 9.")
    return capture


@pytest.fixture
def client(responder: User, capture: Capture) -> Client:
    return client_of(responder)


def chosen() -> dict[str, Any]:
    return drafts.choices_of(Draft.objects.select_related("choices").get())


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("frozen_at", "2026-11-01 09:00", "This is no instant with its offset."),
        ("time_zone", "Europe/Berlinn", "The time zone is not in the IANA database."),
        ("locale", "de_DE!", "This is no locale."),
        (
            "policies",
            '[{"name": "p", "version": "1", "sha256": "sha256:ab"}]',
            "Entry 1: sha256 is 64 hexadecimal digits",
        ),
        (
            "policies",
            '[{"name": "p", "version": "1", "sha256": "%s", "content": "x"}]' % ("a" * 64),
            "not the digest of",
        ),
        ("templates", '[{"version": "1"}, 5]', "Entry 2: an object with name, version and sha256"),
        ("ignore", "refnd /note", "The run calls no tool “refnd”"),
        ("ignore", "@human /note", "The run crosses no boundary “human”"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(client: Client, field: str, value: str, said: str) -> None:
    answer = client.post(f"{RUN}draft/", {**NAMED, field: value})
    assert answer.status_code == 422
    html = answer.content.decode()
    assert said in html.split(f'id="id_{field}"')[1].split('class="field')[0]
    assert not Draft.objects.exists()


def test_what_the_trace_holds_is_told_beside_what_was_typed(client: Client) -> None:
    said = {**NAMED, "serving_requested_model": "other-2", "workflow_version": "7", "ignore": "refund /note\nrefund /x"}
    policy = '[{"name": "p", "version": "1", "content": "30 days"}]'
    assert client.post(f"{RUN}draft/", {**said, "policies": policy}).status_code == 302
    html = client.get(f"{RUN}draft/").content.decode()
    beside = html.split('id="id_serving_requested_model"')[1].split("</div>")[0]
    assert "not used" in beside
    assert "The trace says made-up-1, and what was recorded stays." in beside
    assert "not used" not in html.split('id="id_workflow_version"')[1].split("</div>")[0]
    assert "none: it touches nothing" in html
    (kept,) = chosen()["policies"]
    assert len(kept["sha256"]) == 64


def test_what_is_known_around_the_run_is_kept_and_counted(client: Client) -> None:
    wrong = client.post(f"{RUN}draft/", {**NAMED, "record_incident_url": "ticket 9"})
    assert (wrong.status_code, '<details class="fold panel" open>' in wrong.content.decode()) == (422, True)
    said = {"record_approval_reference": "CHG-7", "record_incident_url": "https://tickets.example/9"}
    assert client.post(f"{RUN}draft/", {**NAMED, **said}).status_code == 302
    assert chosen()["record"] == {"approval_reference": "CHG-7", "incident_url": "https://tickets.example/9"}
    html = client.get(f"{RUN}draft/").content.decode()
    assert f"2 of {len(run_record.PARTS)} stated" in html
    assert "declared" in html.split('id="id_record_approval_reference"')[1].split("</div>")[0]


def test_findings_of_what_is_kept_stand_beside_their_field(client: Client, responder: User, capture: Capture) -> None:
    choosing.choose(responder, capture=capture, run=0, parts={**NAMED, "time_zone": "Nowhere/At/All"})
    html = client.get(f"{RUN}draft/").content.decode()
    assert "/time_zone" in html.split('id="id_time_zone"')[1].split('class="field')[0]


def row_of(html: str, tool: str) -> str:
    return html.split(f'<legend class="vh">{tool}</legend>')[1].split("</fieldset>")[0]


def test_a_tool_only_reads_by_a_word_that_no_gate_takes_for_a_stated_effect(
    client: Client, responder: User, capture: Capture
) -> None:
    assert "not said" in row_of(client.get(f"{RUN}draft/").content.decode(), "refund")
    both = client.post(f"{RUN}draft/", {**NAMED, "tool0-none": "on", "tool0-action": "refund"})
    assert (both.status_code, "Take the tick out" in both.content.decode()) == (422, True)
    assert client.post(f"{RUN}draft/", {**NAMED, "tool0-none": "on"}).status_code == 302
    assert chosen()["effects"] == {"tools": {"refund": None}}
    row = row_of(client.get(f"{RUN}draft/").content.decode(), "refund")
    assert ("only reads: your word" in row, "checked" in row, "<details open" in row) == (True, True, False)
    expected = {"boundary": ["x"], "tool_sequence": {"id": "x", "tools": ["refund"], "mode": "exact"}}
    choosing.choose(responder, capture=capture, run=0, parts={"expected": expected})
    for said, unstated in (({"tool0-none": "on"}, ["refund"]), ({"tool0-action": "refund"}, [])):
        client.post(f"{RUN}draft/", {**NAMED, **said, **seen_now(*RECORD)})
        made = drafts.imported(responder, Draft.objects.get())
        assert made.fixture is not None
        assert unstated_tools(made.fixture) == unstated
        row = row_of(client.get(f"{RUN}draft/").content.decode(), "refund")
        assert ("effect stated" in row) is not bool(unstated)


def test_the_owner_of_the_dependency_reads_who_said_that_a_tool_only_reads(
    client: Client, responder: User, capture: Capture
) -> None:
    expected = {"boundary": ["x"], "tool_sequence": {"id": "x", "tools": ["other"], "mode": "exact"}}
    choosing.choose(responder, capture=capture, run=0, parts={**NAMED, "expected": expected})
    client.post(f"{RUN}draft/", {**NAMED, "tool0-none": "on", **seen_now(*RECORD)})
    draft = Draft.objects.get()
    case = drafts.make_case(responder, draft=draft, seen=draft.choices.digest, **STATEMENT)
    said = "<code>refund</code> (only reads, says who drafted the case)"
    assert said in client.get(f"/cases/{case.readable_id}/").content.decode()
    revision = factories.revision(case)
    edited = {**json.loads(evidence.read(revision.payload)), "time_zone": "Europe/Paris"}
    later = intake.add_revision(responder, case=case, fixture=json.dumps(edited).encode(), changed="The zone.")
    assert later.said_to_read == revision.said_to_read == ["refund"]


def first_digest(client: Client) -> str:
    return client.get(f"{RUN}leeway/").content.decode().split('name="digest" value="')[1].split('"')[0]


def test_another_call_is_added_with_its_origin_and_taken_out(client: Client, responder: User, capture: Capture) -> None:
    choosing.choose(responder, capture=capture, run=0, parts=NAMED)
    assert "&quot;note&quot;: &quot;x&quot;" in client.get(f"{RUN}leeway/?at=2").content.decode()
    other = {"step": 2, "tool": "refund", "arguments": '{"id": 2}', "kind": "error", "error_kind": "timeout"}
    said = {**other, "action": "refund", "key": "/id", "accepted": "unknown", "origin": "authored"}
    for wrong, why in (
        ({"step": 1}, "That step calls no tool"),
        ({"error_kind": ""}, "Name the kind"),
        ({"key": "id"}, "begins with /"),
    ):
        answer = client.post(f"{RUN}leeway/alternatives/", {**said, **wrong})
        assert (answer.status_code, why in answer.content.decode()) == (422, True)
    assert client.post(f"{RUN}leeway/alternatives/", said).status_code == 302
    assert chosen()["alternatives"] == {
        "2": [
            {
                "tool": "refund",
                "arguments": {"id": 2},
                "outcome": {"type": "error", "error": {"kind": "timeout", "message": ""}},
                "effect": {"action": "refund", "key": "/id", "accepted": "unknown"},
                "origin": "authored",
            }
        ]
    }
    assert "owner confirms it." in client.get(f"{RUN}leeway/").content.decode()
    removal, taken_out = f"{RUN}leeway/removal/", {"step": "2", "digest": first_digest(client)}
    choosing.change(
        responder,
        capture=capture,
        run=0,
        part="alternatives",
        into=lambda there: {"2": [{**there["2"][0], "tool": "look_up"}, *there["2"]]},
    )
    assert client.post(removal, taken_out).status_code == 302
    assert [other["tool"] for other in chosen()["alternatives"]["2"]] == ["look_up"]
    assert client.post(removal, taken_out).status_code == 409
    assert client.post(removal, {"step": "2", "digest": first_digest(client)}).status_code == 302
    assert "alternatives" not in chosen()


def test_steps_are_optional_by_their_numbers(client: Client) -> None:
    assert client.post(f"{RUN}leeway/optional/", {"optional": "2-3"}).status_code == 302
    assert json.dumps(chosen()) == '{"optional": [2, 3]}'
    for wrong in ("9", "x"):
        assert client.post(f"{RUN}leeway/optional/", {"optional": wrong}).status_code == 422
