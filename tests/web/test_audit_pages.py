"""The audit page: who reads it, what its filters do, how it pages, and its files."""

from __future__ import annotations

import json
import re

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from replaycases.accounts.models import ApiToken, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import events
from replaycases.cases.models import AuditEvent, Case
from replaycases.web import audit_page
from tests import factories


def signed_in_as(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def auditing(project: Project, case: Case) -> Client:
    return signed_in_as(factories.person(project, Role.SECURITY_OWNER))


def told(client: Client, query: str = "") -> list[str]:
    html = client.get(f"/audit/{query}").content.decode()
    return re.findall(r'title="audit event \d+, ([a-z_.]+),', html)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER, Role.PRIVACY_REVIEWER, Role.INCIDENT_OWNER])
def test_other_roles_neither_see_the_page_nor_the_way_to_it(project: Project, case: Case, role: Role) -> None:
    client = signed_in_as(factories.person(project, role))
    assert client.get("/audit/").status_code == 403
    assert client.post("/audit/export/").status_code == 403
    assert 'href="/audit/"' not in client.get("/cases/").content.decode()


@pytest.mark.parametrize("role", [Role.ADMINISTRATOR, Role.QA, Role.QA_LEAD, Role.SECURITY_OWNER])
def test_those_who_audit_see_the_events_of_their_projects_alone(project: Project, case: Case, role: Role) -> None:
    foreign = factories.project("XX")
    factories.case(foreign, factories.everyone(foreign))
    client = signed_in_as(factories.person(project, role))
    html = client.get("/audit/").content.decode()
    assert 'href="/audit/" aria-current="page"' in html
    assert "RC-1</a>" in html
    assert "XX-1" not in html


def test_filters_stand_in_the_address(auditing: Client, case: Case, everyone: User) -> None:
    factories.control(factories.revision(case), everyone)
    today = timezone.localdate()
    assert told(auditing) == ["control.added", "case.created"]
    assert told(auditing, "?action=control.added") == ["control.added"]
    assert told(auditing, "?case=rc-1&action=case.created") == ["case.created"]
    assert len(told(auditing, f"?person={everyone.username}&since={today}&until={today}")) == 2
    assert told(auditing, "?until=2020-01-01") == []


@pytest.mark.parametrize(
    "query",
    ["?action=no.such", "?case=RC-99", "?case=XX-1", "?case=x", "?person=nobody", "?project=XX", "?since=yesterday"],
)
def test_a_filter_that_is_not_known_shows_nothing_and_exports_nothing(
    auditing: Client, everyone: User, query: str
) -> None:
    foreign = factories.project("XX")
    factories.case(foreign, factories.everyone(foreign))
    assert "A filter is not known" in auditing.get(f"/audit/{query}").content.decode()
    assert auditing.post(f"/audit/export/{query}").status_code == 422
    assert not AuditEvent.objects.filter(action="audit.exported").exists()


def test_an_empty_answer_says_which_kind_of_empty(auditing: Client) -> None:
    assert "No event matches these filters" in auditing.get("/audit/?until=2020-01-01").content.decode()
    assert "No older event" in auditing.get("/audit/?before=1").content.decode()


@pytest.mark.parametrize("before", ["x", "-1", "9" * 40, "٣"])
def test_a_number_that_is_none_shows_the_newest(auditing: Client, before: str) -> None:
    assert told(auditing, f"?before={before}") == ["case.created"]


def test_pages_follow_the_events_own_numbers_and_keep_the_filters(
    auditing: Client, case: Case, everyone: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_page, "ROWS", 2)
    for number in range(3):
        factories.control(factories.revision(case), everyone, name=f"control {number}")
    first = auditing.get("/audit/?action=control.added").content.decode()
    older = re.search(r'href="(\?[^"]*before=\d+)" rel="next"', first)
    assert older
    query = older[1].replace("&amp;", "&")
    assert "action=control.added" in query
    assert told(auditing, query) == ["control.added"]


def test_the_files_are_attachments_that_nothing_renders(auditing: Client, case: Case) -> None:
    for kind, media in (("jsonl", "application/x-ndjson"), ("csv", "text/csv")):
        response = auditing.post("/audit/export/", {"format": kind})
        assert response.headers["Content-Disposition"] == f'attachment; filename="audit.{kind}"'
        assert response.headers["Content-Type"].startswith(media)
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert b"case.created" in b"".join(response)
    recorded = AuditEvent.objects.filter(action="audit.exported").order_by("sequence")
    assert [json.loads(event.after)["format"] for event in recorded] == ["jsonl", "csv"]


def test_an_export_is_no_link_that_can_be_followed(auditing: Client) -> None:
    assert auditing.get("/audit/export/").status_code == 405


def test_over_several_projects_the_export_is_off_and_says_why(project: Project, case: Case) -> None:
    person = factories.person(project, Role.QA)
    person.memberships.create(project=factories.project("XX"), role=Role.QA)
    client = signed_in_as(person)
    html = client.get("/audit/").content.decode()
    assert 'aria-disabled="true" aria-describedby="why-no-export"' in html
    assert "Choose one project first" in html
    refused = client.post("/audit/export/")
    assert refused.status_code == 422
    assert "Choose one project" in refused.content.decode()
    assert 'aria-disabled="true"' not in client.get("/audit/?project=RC").content.decode()


def test_a_program_is_shown_by_its_token(auditing: Client, case: Case, everyone: User) -> None:
    everyone.token = ApiToken(project=case.project, user=everyone, prefix="rc_abc")
    with transaction.atomic():
        events.record(actor=everyone, action="lane.exported", subject=case, project=case.project, case=case)
    assert "by token rc_abc…" in auditing.get("/audit/").content.decode()
