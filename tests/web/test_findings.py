"""Findings that programs reported: on the home page of responders, on a page of their own, and settled there."""

from __future__ import annotations

import pytest

from replaycases.accounts.models import User
from replaycases.cases import incident_reports, notifying, trace_buffer
from replaycases.cases import people as accounts
from replaycases.cases.models import Capture, Case, IncidentReport
from tests import factories
from tests.api.otlp_requests import TRACE, as_json, chat
from tests.factories import People
from tests.web.conftest import client_of

STATEMENT = {name: text for name, text in factories.STATEMENT.items() if name != "reported_symptom"}


@pytest.fixture
def finding(people: People) -> IncidentReport:
    said = {"grader": "monitor", "version": "3", "label": "claimed <b>", "trace_id": TRACE, "title": "A refund"}
    return incident_reports.report(people.responder, project=people.project, **said)


def html_of(user: User, address: str = "/") -> str:
    response = client_of(user).get(address)
    assert response.status_code == 200
    return response.content.decode()


def settled(user: User, finding: IncidentReport, how: str, **said: str) -> int:
    status = client_of(user).post(f"/findings/{finding.pk}/{how}/", said).status_code
    finding.refresh_from_db()
    return status


def test_a_finding_stands_on_the_home_page_of_responders_only(people: People, finding: IncidentReport) -> None:
    assert "Findings that nobody has looked at" in html_of(people.responder)
    assert "Findings that nobody" not in html_of(people.qa)
    notifying.look()
    assert f'<a href="/findings/{finding.pk}/">RC finding</a>' in html_of(people.owner, "/notifications/")
    settled(people.responder, finding, "dismissal", reason="It is a test.")
    assert "Findings that nobody" not in html_of(people.responder)


def test_a_responder_opens_a_case_of_it(people: People, finding: IncidentReport) -> None:
    assert "claimed &lt;b&gt;" in html_of(people.responder, f"/findings/{finding.pk}/")
    assert settled(people.responder, finding, "case", **STATEMENT) == 302
    assert finding.case == Case.objects.get()
    assert finding.case is not None
    assert finding.case.readable_id in html_of(people.viewer, f"/findings/{finding.pk}/")
    assert f'href="/findings/{finding.pk}/"' in html_of(people.viewer, f"/cases/{finding.case.readable_id}/")
    assert settled(people.responder, finding, "dismissal", reason="Too late.") == 409


@pytest.mark.parametrize(("how", "said"), [("case", {**STATEMENT, "trigger": "bad"}), ("dismissal", {"reason": " "})])
def test_what_is_missing_is_said_beside_the_form(
    people: People, finding: IncidentReport, how: str, said: dict[str, str]
) -> None:
    assert settled(people.responder, finding, how, **said) == 422
    assert (finding.settled_at, Case.objects.count()) == (None, 0)


def test_who_is_no_responder_looks_and_does_not_act(people: People, finding: IncidentReport) -> None:
    html = html_of(people.qa, f"/findings/{finding.pk}/")
    assert "It waits for a responder" in html
    assert '<form method="post" action="/findings/' not in html
    for how, said in (("case", STATEMENT), ("dismissal", {"reason": "No."}), ("capture", {})):
        assert settled(people.qa, finding, how, **said) == 403


def test_its_trace_is_captured_from_its_page(people: People, finding: IncidentReport) -> None:
    address = f"/findings/{finding.pk}/"
    assert "Capture the trace" not in html_of(people.responder, address)
    sent(people)
    assert "Capture the trace" in html_of(people.responder, address)
    assert settled(people.responder, finding, "capture") == 302
    capture = Capture.objects.get()
    html = html_of(people.viewer, address)
    assert capture.readable_id in html
    assert "Capture the trace" not in html
    assert f'href="{address}"' in html_of(people.viewer, f"/captures/{capture.readable_id}/")


def test_a_trace_that_is_not_kept_is_said_to_be_gone(people: People, finding: IncidentReport) -> None:
    client = client_of(people.responder)
    answer = client.post(f"/findings/{finding.pk}/capture/", follow=True)
    assert "never came, or its time is over" in answer.content.decode()


def test_the_list_shows_those_that_wait_first(people: People, finding: IncidentReport) -> None:
    assert "Nothing was reported" in html_of(factories.everyone(factories.project("XX")), "/findings/")
    later = incident_reports.report(
        people.responder, project=people.project, grader="monitor", version="3", label="later", trace_id="t"
    )
    settled(people.responder, finding, "dismissal", reason="It is a test.")
    html = html_of(people.viewer, "/findings/")
    assert html.index(str(later.pk)) < html.index(str(finding.pk))


def sent(of: People) -> None:
    token, _ = accounts.create_token(of.responder, project=of.project, name="collector", scopes=["captures"], days=1)
    sender = User.objects.get(pk=of.responder.pk)
    sender.token = token
    trace_buffer.receive(sender, project=of.project, signal="traces", body=as_json(chat()), protobuf=False)
