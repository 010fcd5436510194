from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from replaycases.accounts.roles import Role
from replaycases.cases import captures, drafts, held_documents, intake, outlines
from replaycases.cases.models import Capture, Draft, HeldDocument, Origin
from tests import factories
from tests.api.conftest import client_of
from tests.api.otlp_requests import chat, request, span
from tests.importers.transcripts import answers, asks, call, says, transcript, user
from tests.web.conftest import client_of as web_client_of

pytestmark = pytest.mark.django_db
CHUNK = "handbook/refunds#4711"


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


def trace(*chunks: str, number: int = 2) -> bytes:
    """A run that retrieved these chunks, in the OpenInference convention."""
    retrieval = span(number, parent=1)
    said = {"openinference.span.kind": "RETRIEVER", "input.value": "refunds"}
    for at, name in enumerate(chunks):
        said[f"retrieval.documents.{at}.document.id"] = name
        said[f"retrieval.documents.{at}.document.content"] = f"text of {name}"
    retrieval["attributes"] = [{"key": key, "value": {"stringValue": text}} for key, text in said.items()]
    return json.dumps(request(chat(1), retrieval)).encode()


def found(client: APIClient, noun: str, name: str = CHUNK) -> list[str]:
    answer = client.get(f"/api/v1/{noun}/", {"holds": name})
    assert answer.status_code == 200
    return [row["readable_id"] for row in answer.json()["results"]]


def test_captures_that_hold_a_chunk_are_found_by_its_exact_id(of: factories.People) -> None:
    for data in (trace(CHUNK, "other"), trace("third")):
        captures.bring(of.responder, project=of.project, data=data, origin=Origin.UPLOAD)
    client = client_of(of.viewer)
    assert found(client, "captures") == ["RC-T1"]
    assert found(client, "captures", "third") == ["RC-T2"]
    assert found(client, "captures", CHUNK.upper()) == []
    assert found(client, "cases") == []


def test_a_document_that_only_the_metadata_name_is_found_too_also_without_its_text(of: factories.People) -> None:
    retrieval = span(2, parent=1)
    told = {"openinference.span.kind": "RETRIEVER",
            "retrieval.documents.0.document.metadata": '{"chunk_id": "c-7", "source": "handbook.md"}'}  # fmt: skip
    retrieval["attributes"] = [{"key": key, "value": {"stringValue": text}} for key, text in told.items()]
    data = json.dumps(request(chat(1), retrieval)).encode()
    captures.bring(of.responder, project=of.project, data=data, origin=Origin.UPLOAD)
    assert [found(client_of(of.viewer), "captures", name) for name in ("c-7", "handbook.md")] == [["RC-T1"]] * 2


def test_cases_that_hold_a_chunk_in_any_revision_are_found(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    document: dict[str, Any] = json.loads(factories.fixture())
    intake.add_revision(of.responder, case=case, fixture=json.dumps(with_chunk(document)).encode(), changed="x")
    intake.add_revision(
        of.responder, case=factories.fresh(case), fixture=factories.fixture(frozen_at="2025-03-02T10:00:00+01:00")
    )
    assert found(client_of(of.viewer), "cases") == [case.readable_id]
    assert found(client_of(of.viewer), "cases", "other") == []


def test_what_a_tool_looked_up_is_found_in_captures_and_cases_whatever_the_tool_is_called(of: factories.People) -> None:
    looked_up = json.dumps({"results": [{"document_id": CHUNK, "text": "30 days"}]})
    data = transcript(user("May I?"), asks(call("ask_desk")), answers(looked_up), says("Yes."))
    captures.bring(of.responder, project=of.project, data=data, origin=Origin.UPLOAD)
    case = factories.case(of.project, of.responder)
    document: dict[str, Any] = json.loads(factories.fixture())
    tools = [event for event in document["events"] if event["boundary"] == "tool"]
    tools[0]["outcome"] = {"type": "result", "value": looked_up}
    intake.add_revision(of.responder, case=case, fixture=json.dumps(document).encode(), changed="x")
    client = client_of(of.viewer)
    assert [found(client, noun) for noun in ("captures", "cases")] == [["RC-T1"], [case.readable_id]]


def with_chunk(document: dict[str, Any]) -> dict[str, Any]:
    last = max(event["seq"] for event in document["events"])
    retrieval = {"seq": last + 1, "boundary": "retrieval", "query": "x", "chunks": [{"id": CHUNK, "text": "x"}]}
    return {**document, "events": [*document["events"], retrieval]}


def test_a_case_that_is_made_of_a_capture_holds_what_its_steps_name_and_no_more(of: factories.People) -> None:
    retrieval = span(2, parent=1)
    told = {"openinference.span.kind": "RETRIEVER", "input.value": "refunds",
            "retrieval.documents.0.document.id": CHUNK, "retrieval.documents.0.document.content": "30 days",
            "retrieval.documents.0.document.metadata": '{"source": "handbook.md"}'}  # fmt: skip
    retrieval["attributes"] = [{"key": key, "value": {"stringValue": text}} for key, text in told.items()]
    data = json.dumps(request(chat(1), retrieval)).encode()
    capture = captures.bring(of.responder, project=of.project, data=data, origin=Origin.UPLOAD)
    steps = outlines.of_run(capture, 0).steps
    (looked_up,) = (line.number for line in steps if line.boundary == "retrieval")
    expected = {"boundary": ["x"], "prohibited_claims": [{"id": "x", "statement": "x", "detect": {"any": ["."]}}]}
    named = {"case_id": "c", "incident_id": "INC-7", "expected": expected}
    said = {name: text for name, text in factories.STATEMENT.items() if name not in ("incident_id", "reported_symptom")}
    save = partial(drafts.save, of.responder, capture=capture, run=0)
    draft = save(choices={**named, "leave_out": [looked_up]})
    case = drafts.make_case(of.responder, draft=draft, seen=draft.choices.digest, despite="It is a test.", **said)
    client = client_of(of.viewer)
    assert found(client, "cases", "handbook.md") == []
    draft = save(choices=named)
    drafts.revise(of.responder, draft=Draft.objects.get(), changed="It looked up.", seen=draft.choices.digest)
    assert [found(client, "cases", name) for name in (CHUNK, "handbook.md")] == [[case.readable_id]] * 2
    Capture.objects.update(purged_at=timezone.now())
    shown = web_client_of(of.viewer).get("/captures/documents/", {"id": "handbook.md"}).content.decode()
    assert f'<a href="/cases/{case.readable_id}/">' in shown
    assert '<a href="/captures/RC-T1/">' in shown
    assert "destroyed" in shown
    stranger = factories.person(factories.project("XX"), Role.RESPONDER)
    shown = web_client_of(stranger).get("/captures/documents/", {"id": "handbook.md"}).content.decode()
    assert "Nothing holds it" in shown


def test_what_another_project_holds_is_not_found(of: factories.People) -> None:
    other = factories.project("XX")
    data = trace(CHUNK)
    captures.bring(factories.person(other, Role.RESPONDER), project=other, data=data, origin=Origin.UPLOAD)
    assert found(client_of(of.viewer), "captures") == []
    captures.bring(of.responder, project=of.project, data=data, origin=Origin.UPLOAD)
    assert HeldDocument.objects.values("digest").distinct().count() == 2


def test_no_id_is_kept_and_a_name_by_place_is_none(of: factories.People) -> None:
    captures.bring(of.responder, project=of.project, data=trace(CHUNK, "chunk#1"), origin=Origin.UPLOAD)
    assert [row.digest for row in HeldDocument.objects.all()] == [held_documents.digest_of(of.project, CHUNK)]
    assert "4711" not in json.dumps(list(HeldDocument.objects.values()), default=str)
