"""What collectors sent is seen, captured and wanted by rules on pages, by those who may by API too."""

from __future__ import annotations

import re

import pytest

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import capture_rules, trace_buffer
from replaycases.cases import people as accounts
from replaycases.cases.models import BufferedTrace, Capture, CaptureRule, RuleKind
from tests import factories
from tests.api.otlp_requests import OTHER, TRACE, as_json, chat, records, span
from tests.factories import People
from tests.web.conftest import client_of

TRACES, RULES = "/captures/traces/", "/captures/rules/"


@pytest.fixture
def administrator(people: People) -> User:
    return factories.person(people.project, Role.ADMINISTRATOR)


@pytest.fixture
def sent(people: People) -> BufferedTrace:
    """A trace with an error, and another one of which only a log record came."""
    token, _ = accounts.create_token(
        people.responder, project=people.project, name="collector", scopes=["captures"], days=1
    )
    sender = User.objects.get(pk=people.responder.pk)
    sender.token = token
    body = as_json(chat(), span(2, parent=1, error=True), span(3, trace=""))
    trace_buffer.receive(sender, project=people.project, signal="traces", body=body, protobuf=False)
    trace_buffer.receive(sender, project=people.project, signal="logs", body=records(trace=OTHER), protobuf=False)
    return BufferedTrace.objects.get(trace_id=TRACE)


def html_of(user: User, address: str = TRACES) -> str:
    response = client_of(user).get(address)
    assert response.status_code == 200
    return str(response.content.decode())


def row_of(html: str, trace: str) -> str:
    found = re.search(rf"<tr>(?:(?!</tr>).)*{trace}.*?</tr>", html, re.DOTALL)
    assert found is not None
    return found[0]


def test_a_kept_trace_stands_in_the_list_without_its_content(people: People, sent: BufferedTrace) -> None:
    html = html_of(people.viewer)
    row = row_of(html, TRACE)
    assert "agent" in row
    assert re.search(r'<td class="r">2</td>.*</svg>1</span>', row, re.DOTALL)
    assert "its root has not ended" in row_of(html, OTHER)
    assert "<dt>Rejected</dt><dd>1" in html
    assert "4711" not in html


def test_a_responder_captures_a_trace_and_nobody_else_is_offered_it(people: People, sent: BufferedTrace) -> None:
    assert f"{TRACES}{sent.pk}/capture/" not in html_of(people.qa)
    client = client_of(people.responder)
    assert f"{TRACES}{sent.pk}/capture/" in html_of(people.responder)
    answer = client.post(f"{TRACES}{sent.pk}/capture/")
    capture = Capture.objects.get()
    assert answer.headers["Location"] == f"/captures/{capture.readable_id}/"
    row = row_of(html_of(people.responder), TRACE)
    assert capture.readable_id in row
    assert "<form" not in row


def test_the_capture_of_somebody_else_says_whose_program_sent_it(people: People, sent: BufferedTrace) -> None:
    other = factories.person(people.project, Role.RESPONDER)
    client_of(other).post(f"{TRACES}{sent.pk}/capture/")
    html = html_of(people.viewer, "/captures/RC-T1/")
    assert re.search(rf"Sent or brought too by</dt><dd>{people.responder}<p", html)


def test_why_a_trace_was_not_captured_is_said(people: People, sent: BufferedTrace) -> None:
    other = BufferedTrace.objects.get(trace_id=OTHER)
    answer = client_of(people.responder).post(f"{TRACES}{other.pk}/capture/", follow=True)
    assert "The trace cannot be captured: " in answer.content.decode()
    BufferedTrace.objects.filter(pk=sent.pk).update(why_not="Nothing <b> in it.")
    assert "Nothing &lt;b&gt; in it." in row_of(html_of(people.viewer), TRACE)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        (f"q={TRACE[:8].upper()}", {TRACE}),
        ("q=AGE", {TRACE}),
        ("state=errors", {TRACE}),
        ("state=captured", set()),
        ("project=RC&state=waiting", {TRACE, OTHER}),
        ("state=nonsense", set()),
    ],
)
def test_the_list_is_narrowed_by_its_address(people: People, sent: BufferedTrace, query: str, shown: set[str]) -> None:
    html = html_of(people.viewer, f"{TRACES}?{query}")
    assert {trace for trace in (TRACE, OTHER) if f"<code>{trace}</code>" in html} == shown


def test_an_empty_list_tells_how_a_collector_sends_here(people: People) -> None:
    html = html_of(people.responder)
    assert "No collector sends here yet" in html
    assert "endpoint: http://localhost:8000" in html
    assert "<code>otlp</code>" in html


def test_an_administrator_adds_a_rule_and_switches_it(
    people: People, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(administrator)
    said = {"project": str(people.project.pk), "kind": "attribute", "key": "outcome", "value": "bad"}
    assert client.post(RULES, said).status_code == 302
    rule = CaptureRule.objects.get()
    html = html_of(people.viewer, RULES)
    assert "Attribute outcome is bad" in html
    assert "<form" not in html.split("<main")[1]
    for enabled in ("no", "yes"):
        assert client.post(f"{RULES}{rule.pk}/state/", {"enabled": enabled}).status_code == 302
        rule.refresh_from_db()
        assert rule.enabled == (enabled == "yes")
    client.post(f"{RULES}{rule.pk}/state/", {"enabled": "no"})
    monkeypatch.setattr(capture_rules, "MOST", 0)
    refused = client.post(f"{RULES}{rule.pk}/state/", {"enabled": "yes"}, follow=True)
    assert "which is the most" in refused.content.decode()


def test_what_a_rule_lacks_is_said_beside_its_field(people: People, administrator: User) -> None:
    said = {"project": str(people.project.pk), "kind": "attribute", "value": "bad"}
    answer = client_of(administrator).post(RULES, said)
    assert answer.status_code == 422
    assert "Name the attribute." in answer.content.decode()
    assert client_of(people.responder).post(RULES, said).status_code == 422  # no project of theirs to choose
    assert not CaptureRule.objects.exists()


def test_a_trace_says_which_rule_wants_it(people: People, administrator: User, sent: BufferedTrace) -> None:
    rule = capture_rules.add(administrator, project=people.project, kind=RuleKind.TRACE, value=TRACE)
    assert f"trace {TRACE}" in row_of(html_of(people.viewer), TRACE)
    assert "1 trace<" in html_of(people.viewer, RULES)
    capture_rules.set_enabled(administrator, rule=rule, enabled=False)
    assert "switched off" in row_of(html_of(people.viewer), TRACE)
