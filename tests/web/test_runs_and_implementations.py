from __future__ import annotations

import io

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.cases import evidence, jobs
from replaycases.cases.models import Case, Classification, Comparison, Implementation, Run
from replaycases.web import pages
from tests import factories
from tests.web import recorded


def test_a_run_shows_its_checks_calls_and_attempts(signed_in: Client, case: Case, everyone: User) -> None:
    recorded.compared(case, everyone)
    html = signed_in.get("/runs/RC/1/").content.decode()
    assert "violated" in html
    assert "refund.lookup" in html
    assert "1 of at most 3" in html
    assert "worker-1" in html


def test_standard_error_is_shown_escaped_with_control_characters_drawn(
    signed_in: Client, case: Case, everyone: User
) -> None:
    recorded.compared(case, everyone, stderr="Traceback <script>alert(1)</script> \u202e\u200b")
    html = signed_in.get("/runs/RC/1/").content.decode()
    assert "&lt;script&gt;alert(1)" in html
    assert ">U+202E</span>" in html
    assert "\u202e" not in html


def test_a_diverged_run_says_where_it_left_the_recording(signed_in: Client, case: Case, everyone: User) -> None:
    recorded.compared(case, everyone, new=recorded.DIVERGED)
    html = signed_in.get("/runs/RC/3/").content.decode()
    assert "Left the recording: arguments at event 1" in html
    assert "no: it ended the run" in html


def test_a_queued_run_says_that_it_waits(signed_in: Client, case: Case, everyone: User) -> None:
    old = factories.implementation(case.project, everyone, factories.OLD_CODE, version="1")
    new = factories.implementation(case.project, everyone, factories.NEW_CODE, version="2")
    recorded.requested(case, everyone, old, new)
    assert "The run waits for a worker." in signed_in.get("/runs/RC/1/").content.decode()
    assert signed_in.get("/runs/RC/1/manifest/").status_code == 404


def test_a_cancelled_run_says_so_and_nothing_of_a_lost_environment(
    signed_in: Client, case: Case, everyone: User
) -> None:
    old = factories.implementation(case.project, everyone, factories.OLD_CODE, version="1")
    new = factories.implementation(case.project, everyone, factories.NEW_CODE, version="2")
    comparison = recorded.requested(case, everyone, old, new)
    jobs.cancel(everyone, subject=comparison)
    html = signed_in.get(f"/runs/RC/{comparison.runs()[0].number}/").content.decode()
    assert "It was cancelled, which says nothing of the implementation." in html
    assert "A lost environment" not in html


def test_qa_voids_a_set_with_a_reason_and_only_once(signed_in: Client, case: Case, everyone: User) -> None:
    comparison = recorded.compared(case, everyone)
    address = "/runs/RC/1/voiding/"
    assert b"Say why the set is voided." in signed_in.post(address, {"reason": " "}, follow=True).content
    assert Comparison.objects.get(pk=comparison.pk).label == "verified_red_to_green"
    html = signed_in.post(address, {"reason": "the host was broken"}, follow=True).content.decode()
    assert "the host was broken. No verdict reads it." in html
    assert address not in html
    assert Comparison.objects.get(pk=comparison.pk).label == ""
    assert signed_in.post(address, {"reason": "again"}).status_code == 409


def test_voiding_is_offered_only_to_who_may(looking: Client, signed_in: Client, case: Case, everyone: User) -> None:
    recorded.compared(case, everyone)
    assert b"Void this set" in signed_in.get("/runs/RC/1/").content
    assert b"Void this set" not in looking.get("/runs/RC/1/").content


def test_a_manifest_downloads_its_exact_bytes(signed_in: Client, case: Case, everyone: User) -> None:
    run = recorded.compared(case, everyone).runs()[0]
    response = signed_in.get(f"/runs/RC/{run.number}/manifest/")
    assert run.manifest is not None
    assert response.content == evidence.read(run.manifest)
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_quarantined_run_tells_a_viewer_only_the_boundary(looking: Client, project: Project, everyone: User) -> None:
    case = factories.case(project, everyone, classification=Classification.QUARANTINED)
    recorded.compared(case, everyone, stderr="secret-in-stderr")
    html = looking.get("/runs/RC/1/").content.decode()
    assert "Quarantined evidence is shown only to" in html
    assert "secret-in-stderr" not in html
    assert "refund.lookup" not in html
    assert looking.get("/runs/RC/1/manifest/").status_code == 403


@pytest.mark.parametrize(
    ("query", "found"), [("?case=RC-1", 4), ("?case=RC-2", 0), ("?case=x", 0), ("?state=queued", 0)]
)
def test_runs_are_filtered_by_case_and_state(
    signed_in: Client, case: Case, everyone: User, query: str, found: int
) -> None:
    recorded.compared(case, everyone)
    html = signed_in.get(f"/runs/{query}").content.decode()
    assert html.count('scope="row"') == found
    assert ("No run matches these filters" in html) is (found == 0)


def upload(project: Project, archive: bytes, spec_path: str = "implementation.json") -> dict[str, object]:
    return {"by": "archive", "project": str(project.pk), "archive": io.BytesIO(archive), "spec_path": spec_path}


def test_more_runs_than_are_counted_are_said_to_be_more(
    signed_in: Client, case: Case, everyone: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded.compared(case, everyone)
    monkeypatch.setattr(pages, "ROWS_A_PAGE", 1)
    every = Run.objects.count()
    assert every > 2
    assert f"1 to 1 of {every}" in signed_in.get("/runs/").content.decode()
    monkeypatch.setattr(pages, "COUNTED", 2)
    assert "1 to 1 of more than 2<" in signed_in.get("/runs/").content.decode()
    last = signed_in.get("/runs/?page=99").content.decode()
    assert "2 to 2 of more than 2. Narrow the search to see the others" in last
    assert 'rel="next"' not in last


def test_an_archive_is_registered(signed_in: Client, project: Project) -> None:
    response = signed_in.post("/implementations/new/", upload(project, factories.archive(factories.NEW_CODE)))
    registered = Implementation.objects.get()
    assert response.headers["Location"] == f"/implementations/{registered.pk}/"
    html = signed_in.get(response.headers["Location"]).content.decode()
    assert registered.digest in html
    assert "agent:replay" in html


@pytest.mark.parametrize(
    ("archive", "spec_path"),
    [
        (b"no archive", "implementation.json"),
        (factories.archive(factories.NEW_CODE), "elsewhere.json"),
        (factories.archive(factories.NEW_CODE), "../../../etc/passwd"),
        (factories.archive(factories.NEW_CODE, spec={"adapter": {"kind": "other"}}), "implementation.json"),
    ],
)
def test_what_cannot_be_registered_says_why_and_where(
    signed_in: Client, project: Project, archive: bytes, spec_path: str
) -> None:
    response = signed_in.post("/implementations/new/", upload(project, archive, spec_path))
    assert response.status_code == 422
    assert b"It cannot be registered" in response.content
    assert not Implementation.objects.exists()


def test_a_path_outside_the_allowed_directories_is_refused(signed_in: Client, project: Project) -> None:
    form = {"by": "path", "project": str(project.pk), "path": "/etc/passwd"}
    response = signed_in.post("/implementations/new/", form)
    assert response.status_code == 422
    assert b"not below an allowed directory" in response.content


def test_a_viewer_cannot_register(looking: Client, project: Project) -> None:
    assert looking.post("/implementations/new/", upload(project, b"x")).status_code == 422
    assert not Implementation.objects.exists()
