from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from replaycases.accounts.models import Project, Scope, User
from replaycases.accounts.roles import Role
from replaycases.api.base import MULTIPART_SLACK
from replaycases.cases import people
from replaycases.cases.models import Capture, Draft, Payload
from tests import factories
from tests.api.conftest import client_of
from tests.api.otlp_requests import TRACE as ID
from tests.api.otlp_requests import as_json, chat
from tests.api.world import CHOICES, OF_RUN, TRACE

ADDRESS = "/api/v1/captures/"
STATEMENT = {name: factories.STATEMENT[name] for name in OF_RUN}


def send(client: APIClient, data: bytes = TRACE, **query: str) -> Any:
    asked = "&".join(f"{name}={value}" for name, value in {"project": "RC", **query}.items())
    return client.post(f"{ADDRESS}?{asked}", data, content_type="application/octet-stream")


def choose(client: APIClient, capture: str, choices: Any = CHOICES, run: int = 0) -> Any:
    return client.put(f"{ADDRESS}{capture}/runs/{run}/draft/", {"choices": choices}, format="json")


def make_case(client: APIClient, capture: str, seen: str = "x", run: int = 0, **said: Any) -> Any:
    address = f"{ADDRESS}{capture}/runs/{run}/case/"
    return client.post(address, {**STATEMENT, "seen": seen, **said}, format="json")


def program_of(user: User, project: Project, *scopes: Scope) -> APIClient:
    _, secret = people.create_token(user, project=project, name="any", scopes=list(scopes), days=1)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def test_a_body_is_kept_as_the_bytes_that_came(api: APIClient, project: Project) -> None:
    response = send(api, trace_id="t-1", evidence_days="3")
    assert response.status_code == 201
    shown = response.json()
    assert (shown["origin"], shown["format"], shown["runs"]) == ("api", "chat-transcript", 1)
    assert (shown["trace_id"], shown["size"]) == ("t-1", len(TRACE))
    capture = Capture.objects.get()
    assert capture.expires_at < timezone.now() + timedelta(days=3, minutes=1)


def test_a_json_body_is_a_file_too_and_is_not_parsed_on_its_way(api: APIClient, project: Project) -> None:
    twice = b'{"messages": 1, ' + TRACE[1:]  # the strict parser of other bodies takes no name twice
    response = api.post(f"{ADDRESS}?project=RC", twice, content_type="application/json")
    nothing = api.generic("POST", f"{ADDRESS}?project=RC", CONTENT_TYPE="application/octet-stream")
    assert [response.status_code, nothing.status_code] == [201, 422]
    assert nothing.json()["findings"][0]["id"].startswith("import.")


def test_a_file_of_a_multipart_body_is_the_same_capture(api: APIClient, project: Project) -> None:
    first = send(api).json()
    again = api.post(ADDRESS, {"project": "RC", "file": io.BytesIO(TRACE)}, format="multipart")
    assert (again.status_code, again.json()["id"]) == (200, first["id"])


def test_what_people_say_goes_into_a_body_and_into_no_address(api: APIClient, project: Project) -> None:
    for word in ("symptom", "name"):
        refused = send(api, **{word: "x"})
        assert refused.status_code == 400
        assert f'"{word}":' in refused.content.decode()
        assert "multipart" in refused.content.decode()
    said = {"project": "RC", "name": "trace.json", "symptom": "A refund"}
    kept = api.post(ADDRESS, {**said, "file": io.BytesIO(TRACE)}, format="multipart").json()
    assert (kept["name"], kept["symptom"]) == ("trace.json", "A refund")


def test_nothing_that_is_sent_is_passed_over_in_silence(api: APIClient, project: Project) -> None:
    assert send(api, x="1").status_code == 400
    body = {"project": "RC", "file": io.BytesIO(TRACE)}
    assert api.post(f"{ADDRESS}?trace_id=t", body, format="multipart").status_code == 400
    body = {"project": "RC", "file": [io.BytesIO(TRACE), io.BytesIO(TRACE + b"\n")]}
    assert api.post(ADDRESS, body, format="multipart").json() == {"file": ["Send it once."]}
    assert (
        api.post(f"{ADDRESS}?project=XX&project=RC", TRACE, content_type="application/octet-stream").status_code == 400
    )
    body = {"project": "RC", "file": io.BytesIO(TRACE), "symptoms": "A refund"}
    assert api.post(ADDRESS, body, format="multipart").status_code == 400
    assert not Capture.objects.exists()


def test_a_file_that_no_importer_reads_is_refused_with_its_finding_and_no_value(
    api: APIClient, project: Project
) -> None:
    response = send(api, b'{"secret": "4711"}')
    assert response.status_code == 422
    (finding,) = response.json()["findings"]
    assert finding["id"] == "import.unknown-format"
    assert finding["hint"]
    assert "4711" not in response.content.decode()
    assert not Payload.objects.exists()


def test_a_body_over_the_cap_is_refused_before_it_is_read(
    api: APIClient, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replaycases.api.parsers.LARGEST_CAPTURE", 100)
    assert send(api).status_code == 413
    monkeypatch.setattr("replaycases.api.parsers.LARGEST_CAPTURE", 10**6)
    monkeypatch.setattr("replaycases.api.views.captures.LARGEST_CAPTURE", 100 - MULTIPART_SLACK)
    assert send(api, b"x" * 101).status_code == 413
    assert not Payload.objects.exists()


@pytest.mark.parametrize("query", [{"project": "XX"}, {"evidence_days": "0"}, {"evidence_days": "x"}, {"format": "x"}])
def test_what_is_said_wrongly_is_refused(api: APIClient, project: Project, query: dict[str, str]) -> None:
    assert send(api, TRACE, **query).status_code in (400, 422)
    assert not Capture.objects.exists()


def test_a_format_that_is_named_is_the_importers(api: APIClient, project: Project) -> None:
    assert send(api, format="chat-transcript").status_code == 201
    assert [one["format"] for one in api.get(f"{ADDRESS}?format=chat-transcript").json()["results"]]
    assert api.get(f"{ADDRESS}?format=otlp").json()["results"] == []


def test_only_who_captures_may_send(project: Project) -> None:
    assert send(client_of(factories.person(project, Role.QA))).status_code == 403


def test_a_program_sends_with_the_scope_of_captures(project: Project, everyone: User) -> None:
    assert send(program_of(everyone, project, Scope.CAPTURES)).status_code == 201
    assert send(program_of(everyone, project, Scope.CASES, Scope.READ)).status_code == 403


def test_a_capture_is_shown_with_its_report_and_without_content(api: APIClient, viewer: APIClient, case: Any) -> None:
    capture = send(api).json()["id"]
    shown = viewer.get(f"{ADDRESS}{capture}/")
    assert shown.status_code == 200
    report = shown.json()["report"]
    assert report["mode"] == "replay"
    assert {row["boundary"]: row["recorded"] for row in report["coverage"]}["tool"] == 1
    gaps = {gap["name"]: (gap["caps"], gap["declared"]) for gap in report["gaps"]}
    assert gaps["serving"] == (True, False)
    runs = viewer.get(f"{ADDRESS}{capture}/runs/").json()["runs"]
    assert [row["index"] for row in runs] == [0]
    assert "4711" not in shown.content.decode() + json.dumps(runs)


def test_a_run_that_is_not_there_is_said_to_be_refused(api: APIClient, project: Project) -> None:
    capture = send(api).json()["id"]
    shown = api.get(f"{ADDRESS}{capture}/?run=7").json()
    assert (shown["report"], shown["refused"]["id"]) == (None, "import.run-index")
    assert api.get(f"{ADDRESS}{capture}/?run=x").status_code == 400


def test_a_destroyed_capture_has_no_report(api: APIClient, project: Project) -> None:
    capture = send(api).json()["id"]
    choose(api, capture)
    Capture.objects.update(purged_at=timezone.now())
    assert api.get(f"{ADDRESS}{capture}/").json()["report"] is None
    for gone in (
        api.get(f"{ADDRESS}{capture}/runs/"),
        choose(api, capture),
        make_case(api, capture),
    ):
        assert gone.status_code == 410
        assert "RC-T1 was destroyed on" in gone.json()["detail"]
        assert Capture.objects.get().payload.digest in gone.json()["detail"]


def test_a_program_writes_a_draft_and_does_not_read_what_was_chosen(project: Project, everyone: User) -> None:
    program = program_of(everyone, project, Scope.CAPTURES, Scope.CASES)
    capture = send(program).json()["id"]
    assert choose(program, capture).status_code == 200
    draft = program.get(f"{ADDRESS}{capture}/runs/0/draft/").json()
    assert (draft["run"], draft["case"], draft["choices"]) == (0, None, None)
    qa = client_of(factories.person(project, Role.QA))
    assert qa.get(f"{ADDRESS}{capture}/runs/0/draft/").json()["choices"] is None


def test_what_was_chosen_is_read_by_who_says_why(api: APIClient, project: Project) -> None:
    capture = send(api).json()["id"]
    choose(api, capture)
    address = f"{ADDRESS}{capture}/runs/0/draft/"
    assert api.get(address).json()["choices"] is None
    assert api.post("/api/v1/raw-reads/", {"capture": capture, "reason": "INC-7"}, format="json").status_code == 201
    assert api.get(address).json()["choices"] == CHOICES


def test_a_program_that_captures_does_not_write_over_the_draft_of_a_person(
    api: APIClient, project: Project, everyone: User
) -> None:
    capture = send(api).json()["id"]
    seen = choose(api, capture).json()["digest"]
    assert choose(program_of(everyone, project, Scope.CAPTURES, Scope.OTLP), capture, {}).status_code == 403
    assert Draft.objects.get().choices.digest == seen


def test_a_program_makes_a_case_of_what_it_drafted(project: Project, everyone: User) -> None:
    program = program_of(everyone, project, Scope.CAPTURES, Scope.CASES)
    capture = send(program).json()["id"]
    seen = choose(program, capture).json()["digest"]
    made = make_case(program, capture, seen)
    assert (made.status_code, made.json()["created_by"]) == (201, str(everyone.pk))


@pytest.mark.parametrize("choices", [{"colour": "red"}, {"none": ["tool"]}])
def test_a_choice_that_cannot_be_made_is_refused_with_its_pointer(
    api: APIClient, project: Project, choices: dict[str, Any]
) -> None:
    response = choose(api, send(api).json()["id"], choices)
    assert response.status_code == 422
    assert response.json()["findings"][0]["pointer"] == f"/{next(iter(choices))}"
    assert not Draft.objects.exists()


def test_a_step_that_the_run_does_not_have_is_refused_as_on_the_page(api: APIClient, project: Project) -> None:
    response = choose(api, send(api).json()["id"], {**CHOICES, "leave_out": [99_999]})
    assert response.status_code == 422
    assert "there is no step 99999" in response.content.decode()
    assert not Draft.objects.exists()


def test_a_case_is_made_of_a_run_once(api: APIClient, project: Project) -> None:
    capture = send(api).json()["id"]
    assert make_case(api, capture).status_code == 404
    choose(api, capture)
    seen = choose(api, capture, {**CHOICES, "locale": "de-DE"}).json()["digest"]
    assert api.post(f"{ADDRESS}{capture}/runs/0/case/", STATEMENT, format="json").status_code == 400
    assert make_case(api, capture).status_code == 409
    made = make_case(api, capture, seen)
    assert (made.status_code, made.json()["case_id"]) == (201, "refund-claimed")
    assert make_case(api, capture, seen).status_code == 409


def test_a_case_is_made_with_its_owners_and_the_trace_that_the_capture_does_not_name(
    api: APIClient, project: Project, everyone: User
) -> None:
    capture = send(api).json()["id"]
    seen = choose(api, capture).json()["digest"]
    owners = [{"boundary": "workflow", "user": str(everyone.pk)}]
    Capture.objects.update(trace_id="t-1")
    assert "names its trace already" in make_case(api, capture, seen, trace_id="t-2").content.decode()
    Capture.objects.update(trace_id="")
    made = make_case(api, capture, seen, owners=owners, trace_id="t-2")
    assert made.status_code == 201
    case = api.get(f"/api/v1/cases/{made.json()['id']}/").json()
    assert [(owner["boundary"], owner["user"]) for owner in case["owners"]] == [("workflow", str(everyone.pk))]
    assert case["provenance"]["trace_id"] == "t-2"


def test_a_program_says_why_where_the_recording_keeps_the_incident(api: APIClient, project: Project) -> None:
    capture = send(api).json()["id"]
    kept = {"boundary": ["refunds"], "tool_sequence": {"id": "refunds", "tools": ["refund"], "mode": "exact"}}
    seen = choose(api, capture, {**CHOICES, "expected": kept}).json()["digest"]
    refused = make_case(api, capture, seen)
    assert refused.status_code == 400
    assert "The recorded run does not break refunds" in refused.content.decode()
    assert make_case(api, capture, seen, despite="It is of the run after.").status_code == 201


@pytest.mark.parametrize("run", [1, 10**30])
def test_a_run_that_the_capture_does_not_hold_has_no_draft(api: APIClient, project: Project, run: int) -> None:
    capture = send(api).json()["id"]
    assert choose(api, capture, run=run).status_code == 400
    assert api.get(f"{ADDRESS}{capture}/runs/{run}/draft/").status_code == 404
    assert make_case(api, capture, run=run).status_code == 404


# --- traces of a collector, and findings ------------------------------------------------------------------------------


def test_a_buffered_trace_becomes_a_capture_on_request(project: Project, everyone: User) -> None:
    program = program_of(everyone, project, Scope.CAPTURES, Scope.OTLP)
    assert program.post("/v1/traces", as_json(chat()), content_type="application/json").status_code == 200
    (trace,) = program.get("/api/v1/traces/").json()["results"]
    assert (trace["trace_id"], trace["spans"], trace["ended"], trace["capture"]) == (ID, 1, True, None)
    asked = {"project": "RC", "trace_id": ID}
    made = program.post(f"{ADDRESS}from-trace/", asked, format="json")
    assert (made.status_code, made.json()["origin"], made.json()["trace_id"]) == (201, "otlp", ID)
    assert program.get("/api/v1/traces/").json()["results"][0]["capture"] == made.json()["id"]
    assert program.post(f"{ADDRESS}from-trace/", {**asked, "trace_id": "0" * 32}, format="json").status_code == 400


def test_rules_are_added_and_switched_by_administrators(api: APIClient, project: Project, everyone: User) -> None:
    said = {"project": "RC", "kind": "attribute", "key": "outcome", "value": "bad"}
    rule = api.post("/api/v1/capture-rules/", said, format="json").json()
    address = f"/api/v1/capture-rules/{rule['id']}/"
    assert api.patch(address, {"enabled": False}, format="json").json()["enabled"] is False
    assert api.patch(address, {}, format="multipart").status_code == 400
    assert api.post("/api/v1/capture-rules/", {"project": "RC", "kind": "trace"}, format="json").status_code == 400
    program = program_of(everyone, project, *Scope)
    assert program.post("/api/v1/capture-rules/", said, format="json").status_code == 403


def test_a_finding_is_reported_by_a_program_and_settled_by_a_person(
    api: APIClient, project: Project, everyone: User
) -> None:
    program = program_of(everyone, project, Scope.CAPTURES)
    said = {"project": "RC", "grader": "monitor", "version": "3", "label": "claimed", "trace_id": ID}
    first, again = (program.post("/api/v1/findings/", said, format="json") for _ in range(2))
    assert (first.status_code, again.json()) == (201, first.json())
    odd = program.post("/api/v1/findings/", {**said, "titel": "Claimed"}, format="json")
    assert (odd.status_code, list(odd.json())) == (400, ["titel"])
    address = f"/api/v1/findings/{first.json()['id']}/"
    assert program.post(f"{address}dismissal/", {"reason": "No."}, format="json").status_code == 403
    assert api.get("/api/v1/findings/?waiting=true").json()["results"] == [first.json()]
    made = api.post(f"{address}case/", {**STATEMENT, "incident_id": "INC-7"}, format="json")
    assert made.status_code == 201
    assert api.get(address).json()["case"] == made.json()["id"]
    assert api.post(f"{address}dismissal/", {"reason": "No."}, format="json").status_code == 409
    assert api.get("/api/v1/findings/?waiting=true").json()["results"] == []
