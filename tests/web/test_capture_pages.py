"""From a pasted trace to a case, page by page."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import captures, choosing, drafts, evidence, incident_reports, raw_reads
from replaycases.cases.models import Capture, Case, Draft, Origin
from tests import factories
from tests.importers.transcripts import answers, asks, call, says, system, transcript, user
from tests.web.conftest import client_of
from tests.web.drafting import RECORD, STEPS, seen_now

SECRET = "order 4711 of Erika"
TRACE = transcript(
    system("Help."),
    user(SECRET),
    asks(call("look_up", {"id": SECRET}, id="a")),
    answers("open", id="a"),
    asks(call("refund", {"id": 1, "note": "x"}, id="b")),
    answers("timed out", id="b"),
    says("It is refunded."),
    model="made-up-1",
)
NAMED: dict[str, Any] = {"case_id": "refund-claimed", "incident_id": "INC-7", "frozen_at": "2026-11-01T09:00:00+01:00"}
CLAIM: dict[str, Any] = {
    "add": "prohibited_claims",
    "statement": "It is refunded.",
    "any": "(?i)refunded",
    "incident": "on",
}
RUN = "/captures/RC-T1/runs/0/"


@pytest.fixture
def client(responder: User) -> Client:
    return client_of(responder)


@pytest.fixture
def capture(responder: User, project: Project) -> Capture:
    return captures.bring(responder, project=project, data=TRACE, origin=Origin.PASTE, symptom="It said so.")


@pytest.fixture
def opened(capture: Capture, responder: User) -> None:
    """The draft of its run is shown to the responder."""
    raw_reads.begin(responder, capture=capture, reason="Ticket 9.")


def choices() -> dict[str, Any]:
    return drafts.choices_of(Draft.objects.select_related("choices").get())


def seen() -> str:
    """What a page of the draft names as what it showed."""
    return Draft.objects.get().choices.digest


def page(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, address
    return answer.content.decode()


def send(client: Client, address: str, status: int = 302, also: dict[str, Any] | None = None, **said: Any) -> str:
    answer = client.post(address, {**said, **(also or {})})
    assert answer.status_code == status, answer.content.decode()
    return answer.content.decode()


# --- bringing one in ------------------------------------------------------------------------------------------------


def test_a_pasted_trace_becomes_a_capture(client: Client, project: Project) -> None:
    answer = client.post("/captures/new/", {"text": TRACE.decode(), "project": project.pk, "reported_symptom": "Bad."})
    assert answer.headers["Location"] == "/captures/RC-T1/"
    capture = Capture.objects.get()
    assert (capture.origin, capture.symptom, capture.name) == (Origin.PASTE, "Bad.", "")


def test_a_pasted_text_is_the_file_it_was_copied_from(client: Client, project: Project) -> None:
    lines = TRACE.replace(b"{", b"{\n", 1)
    sent = lines.decode().replace("\n", "\r\n")  # as a browser sends it
    assert client.post("/captures/new/", {"text": sent, "project": project.pk}).status_code == 302
    assert Capture.objects.get().payload.digest == evidence.digest_of(lines)


def test_an_uploaded_trace_keeps_its_name(client: Client, project: Project) -> None:
    file = SimpleUploadedFile("trace.json", TRACE)
    assert client.post("/captures/new/", {"file": file, "project": project.pk}).status_code == 302
    assert Capture.objects.get().name == "trace.json"


def test_a_refused_text_is_said_beside_the_field_and_kept(client: Client, project: Project) -> None:
    html = send(client, "/captures/new/", 422, text="I am no trace", project=project.pk, reported_symptom="Kept too.")
    assert "No importer recognises the file." in html
    assert "I am no trace" in html
    assert "Kept too." in html
    assert not Capture.objects.exists()


@pytest.mark.parametrize("said", [{}, {"text": "   "}])
def test_nothing_is_no_trace(client: Client, project: Project, said: dict[str, Any]) -> None:
    assert "Choose a file, or paste the trace." in send(client, "/captures/new/", 422, project=project.pk, **said)


def test_a_file_and_a_text_are_one_too_many(client: Client, project: Project) -> None:
    file = SimpleUploadedFile("trace.json", TRACE)
    assert "Send one of them." in send(client, "/captures/new/", 422, project=project.pk, file=file, text="x")


def test_the_same_bytes_lead_to_the_capture_that_holds_them(client: Client, capture: Capture) -> None:
    answer = client.post("/captures/new/", {"text": TRACE.decode(), "project": capture.project.pk}, follow=True)
    assert "These bytes are RC-T1 already." in answer.content.decode()


def test_known_formats_are_listed(client: Client, project: Project) -> None:
    assert "chat-transcript" in page(client, "/captures/new/")


def test_who_may_not_capture_is_told_what_it_needs(looking: Client, capture: Capture) -> None:
    assert "It needs the role Responder" in page(looking, "/captures/new/")
    assert "This needs the role Responder in project RC." in page(looking, RUN)
    for address in (f"{RUN}draft/", f"{RUN}expectation/", f"{RUN}case/"):
        page(looking, address, 403)


# --- the list -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", True),
        ("?q=RC-T1", True),
        ("?q=rc-t2", False),
        ("?project=RC&format=chat-transcript&origin=paste", True),
        ("?origin=upload", False),
        ("?state=open", True),
        ("?state=made", False),
        ("?state=destroyed", False),
        ("?format=nothing", False),
    ],
)
def test_the_list_is_filtered_by_its_address(client: Client, capture: Capture, query: str, found: bool) -> None:
    assert ('href="/captures/RC-T1/"' in page(client, f"/captures/{query}")) is found


def test_a_document_is_found_by_its_id(client: Client, responder: User, project: Project) -> None:
    span = {
        "traceId": "1" * 32,
        "spanId": "2" * 16,
        "name": "retrieve",
        "kind": 1,
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": [
            {"key": "openinference.span.kind", "value": {"stringValue": "RETRIEVER"}},
            {"key": "input.value", "value": {"stringValue": "refunds"}},
            {"key": "retrieval.documents.0.document.id", "value": {"stringValue": "doc-9"}},
            {"key": "retrieval.documents.0.document.content", "value": {"stringValue": "Refunds take a day."}},
        ],
    }
    data = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()
    captures.bring(responder, project=project, data=data, origin=Origin.UPLOAD)
    assert 'href="/captures/RC-T1/"' in page(client, "/captures/?holds=doc-9")
    assert 'href="/captures/RC-T1/"' not in page(client, "/captures/?holds=doc-8")


def test_a_document_is_found_by_an_id_of_any_length(client: Client, responder: User, project: Project) -> None:
    name = "s3://bucket/" + "folder/" * 60
    found = transcript(user("hi"), asks(call("search", id="a")), answers(json.dumps([{"doc_id": name}]), id="a"))
    captures.bring(responder, project=project, data=found, origin=Origin.UPLOAD)
    assert 'href="/captures/RC-T1/"' in page(client, f"/captures/documents/?id={name}")


def test_an_empty_list_says_how_to_begin(client: Client, project: Project) -> None:
    assert "Nothing was captured yet" in page(client, "/captures/")


def test_the_list_asks_as_often_whatever_it_shows(client: Client, capture: Capture, responder: User) -> None:
    counted = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as asked:
            page(client, "/captures/")
        counted.append(len(asked))
        for number in range(3):
            data = transcript(user(f"other {number}"), says("Hello."))
            other = captures.bring(responder, project=capture.project, data=data, origin=Origin.API)
            choosing.choose(responder, capture=other, run=0, parts=NAMED)
    assert counted[0] == counted[1] <= 12


# --- what it holds --------------------------------------------------------------------------------------------------


def test_the_report_says_of_each_boundary_what_it_holds(looking: Client, capture: Capture) -> None:
    html = page(looking, "/captures/RC-T1/")
    assert "All 5 recorded steps have their answers." in html
    assert "A workflow that reads the clock may decide otherwise." in html
    assert "absent" in (human := html.split('class="strong">human')[1].split("</tr>")[0])
    assert "nothing: the run crossed none" in human
    assert "Who asked, and with which rights, is not in the recording." in html


@pytest.mark.parametrize("address", ["/captures/", "/captures/RC-T1/", RUN])
def test_no_content_stands_on_pages_that_everybody_sees(looking: Client, capture: Capture, address: str) -> None:
    html = page(looking, address)
    assert "4711" not in html
    assert "It is refunded" not in html


def test_pages_of_a_capture_take_few_queries(client: Client, capture: Capture, responder: User) -> None:
    expected = {"boundary": ["x"], "tool_sequence": {"id": "x", "tools": ["refund"], "mode": "exact"}}
    choosing.choose(responder, capture=capture, run=0, parts={**NAMED, "expected": expected})
    for address in ("/captures/RC-T1/", RUN, f"{RUN}draft/", f"{RUN}expectation/", f"{RUN}case/"):
        with CaptureQueriesContext(connection) as asked:
            page(client, address)
        assert len(asked) <= 16, address


def test_a_choice_of_runs_is_offered(client: Client, responder: User, project: Project) -> None:
    one, two = (json.loads(transcript(user(said), says("Hello."))) for said in ("a", "b"))
    captures.bring(responder, project=project, data=json.dumps([one, two]).encode(), origin=Origin.PASTE)
    html = page(client, "/captures/RC-T1/?run=1")
    assert 'href="/captures/RC-T1/runs/0/"' in html
    assert "run</span>1 of 0 to 1" in html
    page(client, "/captures/RC-T1/runs/2/", 404)


def test_a_destroyed_capture_says_so(client: Client, capture: Capture) -> None:
    Capture.objects.update(purged_at=timezone.now() - timedelta(days=1))
    assert "The recorded bytes are destroyed" in page(client, "/captures/RC-T1/")
    assert "was destroyed" in page(client, RUN)
    assert "was destroyed" in page(client, f"{RUN}draft/", 410)
    assert "was destroyed" in page(client, f"{RUN}expectation/", 410)


# --- steps ----------------------------------------------------------------------------------------------------------


def test_steps_are_left_out_and_the_draft_ends(client: Client, capture: Capture) -> None:
    send(client, f"{RUN}steps/", shown="1-5", keep=[1, 3, 4, 5], ends_after=4)
    assert choices() == {"leave_out": [2], "horizon_after": 3}
    html = page(client, RUN)
    assert "3 of 5" in html
    assert 'name="ends_after" value="4" checked' in html


def test_leaving_everything_out_is_refused(client: Client, capture: Capture) -> None:
    assert "Nothing would be left." in send(client, f"{RUN}steps/", 422, shown="1-5", ends_after="")
    assert not Draft.objects.exists()


@pytest.mark.parametrize("end", ["9", "x", "-1"])
def test_no_draft_ends_where_there_is_no_step(client: Client, capture: Capture, end: str) -> None:
    answer = client.post(f"{RUN}steps/", {"shown": "1-5", "keep": [1, 2, 3, 4, 5], "ends_after": end})
    assert "horizon_after" not in (choices() if answer.status_code == 302 else {})


def test_long_runs_come_in_pages(client: Client, responder: User, project: Project) -> None:
    turns = [
        message for n in range(300) for message in (asks(call("t", {"n": n}, id=f"c{n}")), answers("x", id=f"c{n}"))
    ]
    captures.bring(responder, project=project, data=transcript(user("hi"), *turns), origin=Origin.PASTE)
    assert 'id="step-501"' not in page(client, RUN)
    assert 'id="step-501"' in page(client, f"{RUN}?page=2")
    send(client, f"{RUN}steps/", shown="501-600", keep=[502], ends_after=502, page=2)
    assert choices()["leave_out"] == [501, *range(503, 601)]
    assert "after step 502" in page(client, RUN)


# --- the run record -------------------------------------------------------------------------------------------------


def test_each_part_says_where_it_comes_from(client: Client, capture: Capture) -> None:
    html = page(client, f"{RUN}draft/")
    assert "made-up-1" in html
    assert "from the trace" in html
    assert "No trace holds it." in html
    assert "4711" not in html


def test_the_run_record_is_kept(client: Client, capture: Capture) -> None:
    send(
        client,
        f"{RUN}draft/",
        **NAMED,
        time_zone="Europe/Berlin",
        identity='{"role": "customer"}',
        serving_provider="made-up",
        serving_settings="{}",
        none=["clock", "random"],
        ignore="refund /note\n@model /metadata",
        optional="2",
        recorded_by_commit="abc",
        also={
            "tool1-action": "refund",
            "tool1-key": "/id",
            "tool1-rejected": "(?i)error",
            "tool1-guard_action": "refund",
            "tool1-guard_decision": "allow",
            "tool0-accepted": "unknown",
        },
    )
    assert choices() == {
        **NAMED,
        "time_zone": "Europe/Berlin",
        "identity": {"role": "customer"},
        "serving": {"provider": "made-up", "settings": {}},
        "none": ["clock", "random"],
        "ignore": [{"tool": "refund", "pointer": "/note"}, {"boundary": "model", "pointer": "/metadata"}],
        "optional": [2],
        "recorded_by": {"commit": "abc"},
        "effects": {
            "tools": {
                "refund": {
                    "action": "refund",
                    "key": "/id",
                    "rejected": {"any": ["(?i)error"]},
                    "guard": {"action": "refund", "decision": "allow"},
                }
            }
        },
    }


@pytest.mark.usefixtures("opened")
def test_what_was_kept_comes_back_into_the_form(client: Client, capture: Capture) -> None:
    said = {**NAMED, "ignore": "refund /note", "tool1-action": "refund", "tool1-rejected": "(?i)error"}
    send(client, f"{RUN}draft/", **said)
    before = choices()
    html = page(client, f"{RUN}draft/")
    for value in ("refund-claimed", "refund /note", "(?i)error"):
        assert value in html
    send(client, f"{RUN}draft/", **said, **seen_now(*RECORD))
    assert choices() == before


def test_the_choice_of_steps_outlives_the_run_record(client: Client, capture: Capture) -> None:
    send(client, f"{RUN}steps/", shown="1-5", keep=[1, 3, 4, 5], ends_after="")
    send(client, f"{RUN}draft/", **NAMED)
    assert choices()["leave_out"] == [2]


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize(
    ("at", "to", "said", "meanwhile"),
    [
        ("draft/", "draft/", {**NAMED, "time_zone": "Europe/Berlin"}, {"ignore": []}),
        ("", "steps/", {"shown": "1-5", "keep": [1, 2, 3, 4, 5], "ends_after": ""}, {"leave_out": [2]}),
        ("leeway/", "leeway/optional/", {"optional": "2"}, {"optional": [4]}),
        ("expectation/", "expectation/", {"expected": "{}"}, {"expected": {"boundary": ["b"]}}),
        ("expectation/", "expectation/incident/", {"incident": ["a"]}, {"expected": {"boundary": ["b"]}}),
    ],
)
def test_nothing_is_saved_over_what_somebody_else_chose_since_the_page_was_shown(
    client: Client, capture: Capture, responder: User, at: str, to: str, said: dict[str, Any], meanwhile: dict[str, Any]
) -> None:
    begun = {**NAMED, "ignore": [{"tool": "refund", "pointer": "/note"}], "expected": {"boundary": ["a", "b"]}}
    choosing.choose(responder, capture=capture, run=0, parts=begun)
    shown = re.findall(r'name="seen" value="([^"]*)"', page(client, f"{RUN}{at}"))
    choosing.choose(responder, capture=capture, run=0, parts=meanwhile)
    there = choices()
    html = send(client, f"{RUN}{to}", 409, **said, seen=shown[0])
    assert "changed since you looked" in html
    assert "What you sent" in html
    assert choices() == there
    now = re.findall(r'name="seen" value="([^"]*)"', page(client, f"{RUN}{at}"))
    send(client, f"{RUN}{to}", **said, seen=now[0])
    assert choices() != there


def test_other_parts_of_the_draft_may_change_meanwhile(client: Client, capture: Capture, responder: User) -> None:
    choosing.choose(responder, capture=capture, run=0, parts=NAMED)
    shown = seen_now(*RECORD)
    send(client, f"{RUN}steps/", shown="1-5", keep=[1, 3, 4, 5], ends_after="", **seen_now(*STEPS))
    send(client, f"{RUN}draft/", **{**NAMED, "locale": "de"}, **shown)
    assert (choices()["locale"], choices()["leave_out"]) == ("de", [2])


def test_an_end_before_a_call_is_shown_and_takes_another_one(client: Client, capture: Capture, responder: User) -> None:
    """It can be said by the API alone."""
    choosing.choose(responder, capture=capture, run=0, parts={**NAMED, "leave_out": [1], "horizon_at_call": 2})
    html = page(client, RUN)
    assert 'name="ends_after" value="3" checked' in html
    assert "2 of 5" in html
    send(client, f"{RUN}steps/", shown="1-5", keep=[2, 3, 4, 5], ends_after=4, **seen_now(*STEPS))
    assert choices() == {**NAMED, "leave_out": [1], "horizon_after": 3}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"identity": '{"a": x}'}, "Not JSON at line 1"),
        ({"tools": "{}"}, "This must be a JSON list."),
        ({"ignore": "refund"}, "is no rule"),
        ({"optional": "two"}, "Numbers of steps"),
        ({"optional": "77"}, "there is no step 77"),
        ({"tool1-key": "id"}, "begins with /"),
        ({"tool1-key": "/id"}, "Name the action"),
        ({"tool1-action": "a", "tool1-rejected": "("}, "is not RE2"),
        ({"tool1-action": "a", "tool1-rejected": '{"any": ["refused"]}'}, "This is a JSON object"),
        ({"tool1-action": "a", "tool1-guard_action": "b"}, "Name the action and the decision"),
    ],
)
def test_a_malformed_part_is_refused_beside_it(
    client: Client, capture: Capture, said: dict[str, Any], why: str
) -> None:
    html = send(client, f"{RUN}draft/", 422, **NAMED, **said)
    assert why in html
    assert "refund-claimed" in html
    assert not Draft.objects.exists()


@pytest.mark.usefixtures("opened")
def test_what_keeps_the_draft_from_being_a_fixture_is_said(client: Client, capture: Capture, responder: User) -> None:
    choosing.choose(responder, capture=capture, run=0, parts={**NAMED, "time_zone": "Nowhere/Land"})
    assert "time.zone" in page(client, f"{RUN}draft/")


def test_a_time_without_an_offset_is_refused_beside_its_field_and_nothing_counts_as_declared(
    client: Client, capture: Capture
) -> None:
    html = send(client, f"{RUN}draft/", 422, **{**NAMED, "frozen_at": "2026-01-01"})
    assert 'id="id_frozen_at_error"' in html
    assert "This is no instant with its offset." in html
    assert html.count("not saved") == len(NAMED)
    assert not Draft.objects.exists()


# --- the expectation ------------------------------------------------------------------------------------------------


@pytest.fixture
def named(client: Client, capture: Capture) -> Capture:
    send(client, f"{RUN}draft/", also={"tool1-action": "refund", "tool1-accepted": "yes"}, **NAMED)
    return capture


@pytest.mark.usefixtures("opened")
def test_a_check_is_tried_on_the_recorded_run(client: Client, named: Capture) -> None:
    send(client, f"{RUN}expectation/checks/", **CLAIM)
    html = page(client, f"{RUN}expectation/")
    assert "The incident is seen in the recorded run." in html
    assert "the final message makes this claim." in html


@pytest.mark.usefixtures("opened")
def test_nothing_is_shown_as_held_or_violated_that_was_not_computed(client: Client, capture: Capture) -> None:
    send(client, f"{RUN}expectation/checks/", **CLAIM)
    html = page(client, f"{RUN}expectation/")
    assert "not computed" in html
    assert "violated" not in html
    assert "The file does not say: case_id, incident_id, frozen_at" in html


CHECKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "required_claims": (
        {"statement": "s", "any": "a\nb", "none": "c"},
        {"required_claims": [{"id": "x", "statement": "s", "detect": {"any": ["a", "b"], "none": ["c"]}}]},
    ),
    "required_disclosures": (
        {"statement": "s", "any": "a"},
        {"required_disclosures": [{"id": "x", "statement": "s", "detect": {"any": ["a"]}}]},
    ),
    "citations": ({"chunk": "doc-1"}, {"citations": [{"id": "x", "chunk": "doc-1"}]}),
    "action_counts": ({"action": "refund", "max": 0}, {"action_counts": {"refund": {"max": 0}}}),
    "authorization": (
        {"action": "refund", "decision": "deny"},
        {"authorization": [{"id": "x", "action": "refund", "decision": "deny"}]},
    ),
    "forbid": (
        {"tool": "refund", "after_accepted": "refund"},
        {"tool_sequence": {"id": "x", "forbid": [{"tool": "refund", "after_accepted": "refund"}]}},
    ),
    "tool_sequence": (
        {"tools": "look_up\nrefund", "mode": "exact"},
        {"tool_sequence": {"id": "x", "tools": ["look_up", "refund"], "mode": "exact"}},
    ),
    "order": (
        {"action": "refund", "after": "look_up"},
        {"order": [{"id": "x", "action": "refund", "after": "look_up"}]},
    ),
    "relations": (
        {"first": "/calls/0/boundary", "kind": "different", "second": "/calls/1/boundary"},
        {"relations": [{"id": "x", "kind": "different", "pointers": ["/calls/0/boundary", "/calls/1/boundary"]}]},
    ),
    "status": ({"one_of": "done\nopen"}, {"status": {"id": "x", "one_of": ["done", "open"]}}),
    "action": ({"one_of": "", "or_none": "on"}, {"action": {"id": "x", "one_of": [None]}}),
    "limits": ({"turns": 3}, {"limits": {"id": "x", "turns": 3}}),
    "run_status": ({"forbid": ["crashed"]}, {"run_status": {"id": "x", "forbid": ["crashed"]}}),
    "schema": ({"schema": '{"type": "object"}'}, {"schema": {"id": "x", "schema": {"type": "object"}}}),
}


@pytest.mark.parametrize("kind", sorted(CHECKS))
def test_every_kind_of_check_can_be_added_and_makes_a_fixture(client: Client, named: Capture, kind: str) -> None:
    said, written = CHECKS[kind]
    sent = {name: value for name, value in {**said, "id": "x", "incident": "on"}.items() if value != ""}
    send(client, f"{RUN}expectation/checks/", add=kind, **sent)
    name = "action_counts.refund" if kind == "action_counts" else "x"
    assert choices()["expected"] == {**written, "boundary": [name]}
    html = page(client, f"{RUN}expectation/")
    assert "not computed" not in html
    assert "No fixture yet" not in html


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"add": "prohibited_claims", "statement": "x"}, "This field is required."),
        ({"add": "prohibited_claims", "statement": "x", "any": "("}, "is not RE2"),
        ({"add": "action_counts", "action": "refund"}, "Say at least one of the two bounds."),
        ({"add": "status"}, "Name at least one."),
        ({"add": "schema", "schema": '{"a": x}'}, "Not JSON"),
        ({"add": "schema", "schema": ""}, "This field is required."),
        ({"add": "limits"}, "Say at least one of the two."),
    ],
)
def test_a_check_that_says_too_little_is_refused(
    client: Client, named: Capture, said: dict[str, Any], why: str
) -> None:
    assert why in send(client, f"{RUN}expectation/checks/", 422, **said)
    assert "expected" not in choices()


def test_an_unknown_kind_of_check_is_not_there(client: Client, named: Capture) -> None:
    send(client, f"{RUN}expectation/checks/", 404, add="mood")
    assert "expected" not in choices()


def test_rules_against_calls_join_the_order_of_calls(client: Client, named: Capture) -> None:
    send(client, f"{RUN}expectation/checks/", add="tool_sequence", tools="refund", mode="subsequence")
    send(client, f"{RUN}expectation/checks/", add="forbid", tool="mail")
    sequence = choices()["expected"]["tool_sequence"]
    assert (sequence["tools"], sequence["forbid"]) == (["refund"], [{"tool": "mail"}])
    send(client, f"{RUN}expectation/checks/", add="forbid", tool="fax")
    assert choices()["expected"]["tool_sequence"]["forbid"] == [{"tool": "mail"}, {"tool": "fax"}]


def test_ids_are_made_where_none_is_chosen(client: Client, named: Capture) -> None:
    for _ in range(2):
        send(client, f"{RUN}expectation/checks/", **CLAIM)
    assert choices()["expected"]["boundary"] == ["prohibited-claim-1", "prohibited-claim-2"]


def test_a_check_is_taken_out_with_its_place_in_the_incident(client: Client, named: Capture) -> None:
    send(client, f"{RUN}expectation/checks/", **CLAIM)
    send(client, f"{RUN}expectation/checks/", add="action_counts", action="refund", min=1)
    send(client, f"{RUN}expectation/removal/", check="prohibited-claim-1")
    assert choices()["expected"] == {"action_counts": {"refund": {"min": 1}}, "boundary": []}
    send(client, f"{RUN}expectation/removal/", check="action_counts.refund")
    assert "expected" not in choices()


def test_which_checks_are_the_incident_is_chosen(client: Client, named: Capture) -> None:
    send(client, f"{RUN}expectation/checks/", **CLAIM)
    send(client, f"{RUN}expectation/checks/", add="action_counts", action="refund", max=0)
    send(client, f"{RUN}expectation/incident/", incident=["action_counts.refund", "no-such"], **seen_now("expected"))
    assert choices()["expected"]["boundary"] == ["action_counts.refund"]


def test_the_expectation_is_written_as_json(client: Client, named: Capture) -> None:
    expected = {"boundary": ["x"], "status": {"id": "x", "one_of": ["done"]}}
    send(client, f"{RUN}expectation/", expected=json.dumps(expected))
    assert choices()["expected"] == expected
    html = send(client, f"{RUN}expectation/", 422, expected='{"boundary": x')
    assert "Not JSON at line 1" in html
    assert "{&quot;boundary&quot;: x" in html


@pytest.mark.usefixtures("opened")
def test_an_expectation_that_is_none_is_kept_and_said_to_be_none(client: Client, named: Capture) -> None:
    send(client, f"{RUN}expectation/", expected='{"boundary": ["gone"], "prohibited_claims": "all", "mood": 1}')
    html = page(client, f"{RUN}expectation/")
    assert "No fixture yet" in html
    assert "/expected" in html


# --- the case -------------------------------------------------------------------------------------------------------


@pytest.fixture
def expecting(client: Client, named: Capture) -> Capture:
    send(client, f"{RUN}expectation/checks/", **CLAIM)
    return named


STATEMENT: dict[str, Any] = {
    name: factories.STATEMENT[name] for name in ("title", "trigger", "prohibited_outcome", "deciding_evidence")
}


@pytest.mark.usefixtures("opened")
def test_the_case_is_made_with_the_incident_seen(client: Client, expecting: Capture) -> None:
    Capture.objects.update(trace_id="t-1")
    said = {"grader": "monitor", "version": "3", "label": "claimed <b>", "trace_id": "t-1"}
    finding = incident_reports.report(expecting.captured_by, project=expecting.project, **said)
    html = page(client, f"{RUN}case/")
    assert "The incident is seen:" in html
    assert "violated" in html
    assert re.search(f'value="{finding.pk}"[^>]* checked', html)
    assert "monitor: claimed &lt;b&gt;" in html
    asked = html.split('id="later"')[1].split("</section>")[0]
    assert "<code>refund</code>: success, explicit rejection" in asked
    assert "have none: <code>look_up</code>" in asked
    owner = f"user:{expecting.captured_by_id}"
    said = {"seen": seen(), "findings": finding.pk, "security_incident": "on", "owner_workflow": owner, **STATEMENT}
    assert "is not one of" in send(client, f"{RUN}case/", 422, **{**said, "owner_workflow": "user:7"})
    send(client, f"{RUN}case/", **said)
    case = Case.objects.get()
    assert [(one.boundary, one.user_id) for one in case.owners.all()] == [("workflow", expecting.captured_by_id)]
    finding.refresh_from_db()
    assert (finding.case, case.security_incident) == (case, True)
    assert (case.case_id, case.incident_id, case.reported_symptom) == ("refund-claimed", "INC-7", "It said so.")
    html = page(client, f"{RUN}case/")
    assert "Nothing is changed" in html
    assert 'href="/cases/RC-1/"' in page(client, "/captures/")


@pytest.mark.usefixtures("opened")
def test_every_check_is_shown_where_the_case_is_made_and_what_says_nothing_is_told(
    client: Client, expecting: Capture
) -> None:
    send(client, f"{RUN}expectation/checks/", add="forbid", tool="no_such_tool", incident="on")
    send(client, f"{RUN}expectation/checks/", add="required_claims", statement="Sorry.", any="Sorry")
    for address in (f"{RUN}expectation/", f"{RUN}case/"):
        html = page(client, address)
        assert "says nothing" in html
        assert "“no_such_tool” is a tool that the run never offered or called" in html
        assert "The reply says: “Sorry.”" in html
    assert "Why the case is made all the same" in html
    html = send(client, f"{RUN}case/", 422, seen=seen(), **{**STATEMENT, "trigger": "bad"})
    assert "The recorded run does not break tool-sequence-1" in html
    assert 'class="errorlist' in html.split('id="id_trigger"')[1].split("</div>")[0]
    send(client, f"{RUN}case/", seen=seen(), despite="The tool is new.", trace_id="t-9", **STATEMENT)
    assert Case.objects.get().provenance.trace_id == "t-9"


def shown_in(html: str) -> str:
    """What the form that changes a check names as what it showed."""
    return html.split('name="part"')[1].split('name="seen" value="')[1].split('"')[0]


@pytest.mark.usefixtures("opened")
def test_a_check_is_changed_where_it_stands(client: Client, expecting: Capture) -> None:
    changes = f"{RUN}expectation/changes/"
    (name,) = choices()["expected"]["boundary"]
    send(client, f"{RUN}expectation/checks/", add="prohibited_claims", statement="Later.", any="later")
    html = page(client, f"{RUN}expectation/?change={name}")
    assert "Change a check" in html
    assert "It is refunded.</textarea>" in html
    said = {"check": name, "seen": shown_in(html), "statement": "It is paid.", "any": "paid"}
    assert "There is a check" in send(client, changes, 422, also={"id": "prohibited-claim-2"}, **said)
    assert "not RE2" in send(client, changes, 422, **{**said, "any": "("})
    send(client, changes, also={"id": "paid"}, **said)
    expected = choices()["expected"]
    assert [claim["id"] for claim in expected["prohibited_claims"]] == ["paid", "prohibited-claim-2"]
    assert expected["prohibited_claims"][0]["statement"] == "It is paid."
    assert expected["boundary"] == []
    send(client, changes, 409, **said)


@pytest.mark.usefixtures("opened")
def test_one_rule_of_several_is_changed_or_taken_out(client: Client, expecting: Capture) -> None:
    for tool in ("mail", "fax"):
        send(client, f"{RUN}expectation/checks/", add="forbid", tool=tool)
    send(client, f"{RUN}expectation/checks/", add="tool_sequence", tools="look_up\nrefund", mode="subsequence")
    of = {"check": "tool-sequence-1"}
    first, second, order = (page(client, f"{RUN}expectation/?change=tool-sequence-1&part={p}") for p in (0, 1, "tools"))
    assert 'value="fax"' in second
    send(client, f"{RUN}expectation/changes/", **of, part="1", seen=shown_in(second), tool="call", unless="refund")
    send(client, f"{RUN}expectation/changes/", **of, part="tools", seen=shown_in(order), tools="look_up", mode="exact")
    send(client, f"{RUN}expectation/removal/", **of, part="0", seen=shown_in(first))
    # In the first one's place stands another rule by now: a page from before names none of them any more.
    send(client, f"{RUN}expectation/removal/", 409, **of, part="0", seen=shown_in(first))
    send(client, f"{RUN}expectation/changes/", 409, **of, part="0", seen=shown_in(first), tool="mail")
    sequence = choices()["expected"]["tool_sequence"]
    assert sequence["forbid"] == [{"tool": "call", "unless": "refund"}]
    assert (sequence["tools"], sequence["mode"]) == (["look_up"], "exact")
    send(client, f"{RUN}expectation/removal/", **of)
    assert "tool_sequence" not in choices()["expected"]


@pytest.mark.parametrize("rules", [5, "abc", [1], {"tool": "refund"}])
def test_a_rule_joins_none_that_cannot_be_read(client: Client, capture: Capture, responder: User, rules: Any) -> None:
    expected = {"boundary": ["s"], "tool_sequence": {"id": "s", "forbid": rules}}
    choosing.choose(responder, capture=capture, run=0, parts={**NAMED, "expected": expected})
    send(client, f"{RUN}expectation/checks/", add="forbid", tool="refund")
    assert choices()["expected"]["tool_sequence"]["forbid"] == [{"tool": "refund"}]


@pytest.mark.usefixtures("opened")
def test_no_case_is_made_of_a_draft_that_changed_since_the_page_was_shown(
    client: Client, expecting: Capture, responder: User
) -> None:
    shown = Draft.objects.get().choices.digest
    assert f'name="seen" value="{shown}"' in page(client, f"{RUN}case/")
    choosing.choose(responder, capture=expecting, run=0, parts={"incident_id": "INC-8"})
    html = send(client, f"{RUN}case/", 422, seen=shown, **STATEMENT)
    assert "Look again." in html
    assert f'name="seen" value="{Draft.objects.get().choices.digest}"' in html
    assert not Case.objects.exists()


def test_a_vague_statement_is_refused_beside_its_part(client: Client, expecting: Capture) -> None:
    html = send(client, f"{RUN}case/", 422, **{**STATEMENT, "prohibited_outcome": "bad"})
    assert STATEMENT["trigger"] in html
    assert not Case.objects.exists()


@pytest.mark.usefixtures("opened")
def test_without_an_expectation_there_is_no_case(client: Client, named: Capture) -> None:
    assert "Say first what must and must not happen." in page(client, f"{RUN}case/")
    send(client, f"{RUN}case/", 422, **STATEMENT)
    assert not Case.objects.exists()


def test_a_second_case_is_not_made_of_one_draft(client: Client, expecting: Capture) -> None:
    send(client, f"{RUN}case/", seen=seen(), **STATEMENT)
    send(client, f"{RUN}case/", 422, seen=seen(), **STATEMENT)
    assert Case.objects.count() == 1


@pytest.mark.usefixtures("opened")
def test_a_changed_draft_is_the_next_revision_of_its_case(client: Client, expecting: Capture) -> None:
    send(client, f"{RUN}case/", seen=seen(), **STATEMENT)
    send(client, f"{RUN}expectation/checks/", add="action_counts", action="refund", min=1)
    assert "The next revision" in page(client, f"{RUN}case/")
    send(client, f"{RUN}case/revision/", 422, changed="", seen=seen(), seen_revision=1)
    html = send(client, f"{RUN}case/revision/", 422, changed="A count.", seen=seen(), seen_revision=7)
    assert "Look again." in html
    send(client, f"{RUN}case/revision/", changed="A count.", seen=seen(), seen_revision=1)
    assert factories.revision(Case.objects.get()).number == 2


# --- who ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", [role for role in Role if role != Role.RESPONDER])
def test_only_responders_choose(capture: Capture, project: Project, role: Role) -> None:
    client = client_of(factories.person(project, role))
    for address in ("steps/", "draft/", "expectation/", "expectation/checks/", "case/", "case/revision/"):
        assert client.post(f"{RUN}{address}", {}).status_code == 403, address
    assert not Draft.objects.exists()


# --- what was said in it --------------------------------------------------------------------------------------------


def test_the_content_of_a_step_is_shown_to_who_said_why(client: Client, capture: Capture) -> None:
    asked = f"{RUN}?at=2"
    html = page(client, asked)
    assert "is raw evidence" in html
    assert "4711" not in html
    answer = client.post("/captures/RC-T1/raw-reads/", {"reason": "Ticket 9.", "next": asked})
    assert answer.headers["Location"] == asked
    html = page(client, asked)
    assert SECRET in html
    assert "open" in html
    assert html.index("open to you until") < html.index('id="step-1"')
    assert 'class="contents"' in html
    for nowhere in ("99", "0", "x"):
        assert 'class="contents"' not in page(client, f"{RUN}?at={nowhere}")


def test_a_row_says_what_was_called_and_said_in_it_to_who_said_why(client: Client, capture: Capture) -> None:
    html = page(client, RUN)
    assert html.index("Why do you need to read it?") < html.index('id="step-1"')
    assert "excerpt" not in html
    assert "Started" not in html
    client.post("/captures/RC-T1/raw-reads/", {"reason": "Ticket 9."})
    answer = client.get(RUN)
    rows = re.findall(r'excerpt recorded">(.*?)</span>', answer.content.decode())
    assert [rows[0], rows[2], rows[4]] == ["asks for look_up", "asks for refund", "It is refunded."]
    assert SECRET in rows[1]
    assert "no-store" in answer.headers["Cache-Control"]


def test_who_may_not_read_raw_evidence_is_not_asked_why(looking: Client, capture: Capture) -> None:
    html = page(looking, f"{RUN}?at=2")
    assert "which your roles do not read" in html
    assert "Why do you need to read it?" not in html
    assert looking.post("/captures/RC-T1/raw-reads/", {"reason": "x"}).status_code == 403


@pytest.mark.parametrize("part", ["draft", "expectation", "case"])
def test_a_draft_quotes_the_recording_and_is_shown_to_who_said_why(
    client: Client, expecting: Capture, part: str
) -> None:
    address = f"{RUN}{part}/"
    html = page(client, address)
    assert "Why do you need to read it?" in html
    assert "The draft is raw evidence" in html
    assert "It is refunded." not in html
    answer = client.post("/captures/RC-T1/raw-reads/", {"reason": "Ticket 9.", "next": address})
    assert answer.headers["Location"] == address
    html = page(client, address)
    assert "Why do you need to read it?" not in html
    assert "open to you until" in html


def test_what_somebody_sent_comes_back_with_what_is_wrong_in_it_and_nothing_else_of_the_draft(
    client: Client, expecting: Capture
) -> None:
    html = send(client, f"{RUN}draft/", 422, identity="{", case_id="written-by-me")
    assert "Nothing was saved" in html
    assert "written-by-me" in html
    assert "errorlist" in html
    assert NAMED["case_id"] not in html
    assert "Why do you need to read it?" in html
