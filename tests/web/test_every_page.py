"""What must hold on every page: policy, titles, landmarks, no inline code, a bounded number of queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext

from replaycases.accounts.models import Project, User
from replaycases.cases import comments
from replaycases.cases.models import Case
from tests import factories
from tests.web import recorded

PAGES = (
    "/cases/",
    "/cases/new/",
    "/captures/",
    "/captures/new/",
    "/captures/traces/",
    "/captures/documents/?id=x",
    "/captures/rules/",
    "/captures/RC-T1/",
    "/captures/RC-T1/runs/0/",
    "/captures/RC-T1/runs/0/draft/",
    "/captures/RC-T1/runs/0/leeway/",
    "/captures/RC-T1/runs/0/expectation/",
    "/captures/RC-T1/runs/0/case/",
    "/findings/",
    "/cases/RC-1/",
    "/cases/RC-1/comparisons/1/",
    "/cases/RC-1/comparisons/1/?show=all",
    "/cases/RC-1/review/",
    "/cases/RC-1/review/redaction/",
    "/cases/RC-1/review/redaction/?show=all",
    "/cases/RC-1/review/redaction/values/0/",
    "/cases/RC-1/review/redaction-approval/",
    "/cases/RC-1/review/expectation-approval/",
    "/cases/RC-1/revisions/",
    "/cases/RC-1/revisions/1/",
    "/cases/RC-1/revisions/1/?at=/events/0/outcome",
    "/cases/RC-1/revisions/2/differences/",
    "/cases/RC-1/revisions/new/",
    "/cases/RC-1/controls/new/",
    "/cases/RC-1/promotion/",
    "/cases/RC-1/promotion/?to=compatibility",
    "/cases/RC-1/demotion/",
    "/cases/RC-1/retirement/",
    "/cases/RC-1/overrides/?gate=red",
    "/people/RC/redaction-policy/",
    "/people/RC/redaction-policy/versions/new/",
    "/lanes/",
    "/lanes/RC/blocking/",
    "/lanes/RC/nonblocking/",
    "/lanes/RC/nonblocking/promotion/?case=RC-1",
    "/proposals/",
    "/reviews/",
    "/reviews/?show=all",
    "/runs/",
    "/runs/RC/1/",
    "/implementations/",
    "/implementations/new/",
    "/account/",
    "/account/password/",
    "/people/RC/",
    "/people/RC/owners/",
    "/people/RC/owners/?owner=nobody",
    "/invitations/",
    "/password-reset/",
    "/password-reset/sent/",
    "/password-reset/x/y/",
    "/no-such-page/",
    "/login/",
)


@pytest.fixture
def full(case: Case, everyone: User) -> None:
    changed = factories.fixture(input={"order": "o-2"})
    revision = factories.redacted_revision(everyone, case, changed)
    case.refresh_from_db()
    comments.add(everyone, revision=revision, pointer="/events/0/outcome", text="Whose state?")
    factories.control(revision, everyone)
    recorded.compared(case, everyone, stderr="boom")
    factories.drafted(case.project, everyone)


def test_no_page_holds_code_that_the_policy_must_allow(signed_in: Client, full: None) -> None:
    for address in PAGES:
        response = signed_in.get(address)
        html = response.content.decode()
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy
        assert not re.search(r"<script(?![^>]*\bsrc=)", html), address
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", html), address


def test_what_a_signed_in_person_saw_is_kept_by_no_cache(signed_in: Client, full: None) -> None:
    run = signed_in.get("/api/v1/runs/").json()["results"][0]["id"]
    captured = ("/captures/RC-T1/document/", "/captures/RC-T1/runs/0/steps/1/content/")
    downloads = (
        *captured,
        "/runs/RC/1/manifest/",
        "/cases/RC-1/revisions/1/document/",
        f"/api/v1/runs/{run}/manifest/",
    )
    for address in (*PAGES, *downloads, "/api/v1/cases/"):
        kept = signed_in.get(address).headers["Cache-Control"]
        assert {"no-store", "private"} <= set(kept.split(", ")), address


def test_every_page_answers_the_head_of_what_it_answers(signed_in: Client, full: None) -> None:
    for address in (*PAGES, "/runs/RC/1/manifest/", "/cases/RC-1/revisions/1/document/"):
        assert signed_in.head(address).status_code == signed_in.get(address).status_code, address


def test_every_page_has_a_title_one_heading_and_its_landmarks(signed_in: Client, full: None) -> None:
    for address in PAGES:
        html = signed_in.get(address).content.decode()
        assert re.search(r"<title>[^<]{3,} - replaycases</title>", html), address
        assert html.count("<h1") == 1, address
        assert html.count("<main id=") == 1, address
        assert '<html lang="en">' in html, address
        ids = re.findall(r'\sid="([^"]+)"', html)
        assert len(ids) == len(set(ids)), address


@pytest.mark.parametrize("address", ["/cases/", "/runs/", "/implementations/"])
def test_a_longer_list_costs_no_more_queries(
    signed_in: Client, full: None, project: Project, everyone: User, address: str
) -> None:
    few = queries(lambda: signed_in.get(address))
    for number in range(2, 7):
        case = factories.case(project, everyone, factories.fixture(case_id=f"case-{number}"))
        sides = [
            factories.implementation(
                project, everyone, f"{factories.NEW_CODE}# {number} {side}", version=f"{number}.{side}"
            )
            for side in (0, 1)
        ]
        recorded.requested(case, everyone, *sides)
    assert queries(lambda: signed_in.get(address)) == few


def test_a_case_with_many_comparisons_costs_no_more_queries(
    signed_in: Client, full: None, case: Case, everyone: User
) -> None:
    few = queries(lambda: signed_in.get("/cases/RC-1/"))
    old, new = (factories.implementation(case.project, everyone, f"{factories.NEW_CODE}# {n}", version=n) for n in "89")
    for _ in range(5):
        recorded.requested(case, everyone, old, new)
    assert queries(lambda: signed_in.get("/cases/RC-1/")) <= few + 2


def queries(act: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert act().status_code == 200
    return len(captured)


def test_a_form_without_its_token_is_refused_in_our_own_words(everyone: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(everyone)
    response = client.post("/implementations/new/", {"by": "path"})
    assert response.status_code == 403
    assert b"This form cannot be accepted" in response.content


def test_a_fault_of_ours_is_told_in_our_own_words(everyone: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr("replaycases.web.views.cases.listing", broken)
    client = Client(raise_request_exception=False)
    client.force_login(everyone)
    response = client.get("/cases/")
    assert response.status_code == 500
    assert b"Something broke on our side" in response.content
    assert b"broken on purpose" not in response.content


@override_settings(ALLOWED_HOSTS=["only.example"])
def test_a_request_that_cannot_be_read_is_told_in_our_own_words(db: None) -> None:
    response = Client().get("/cases/")
    assert response.status_code == 400
    assert b"This request cannot be read" in response.content


def test_signing_in_and_out(client: Client, everyone: User) -> None:
    everyone.set_password("a long pass phrase")
    everyone.save()
    wrong = client.post("/login/", {"username": everyone.username, "password": "no"})
    assert b"do not match an active account" in wrong.content
    right = client.post(
        "/login/?next=/runs/", {"username": everyone.username, "password": "a long pass phrase", "next": "/runs/"}
    )
    assert right.headers["Location"] == "/runs/"
    assert client.post("/logout/").status_code == 302
    assert client.get("/cases/").status_code == 302
