"""The list of cases, the page of one, and opening a new one."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import intake
from replaycases.cases.models import Case, Classification
from tests import factories
from tests.web import recorded


def html_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def listed(client: Client, query: str) -> list[str]:
    html = html_of(client, f"/cases/{query}")
    return [part.partition("<")[0] for part in html.split('/">')[1:] if part.startswith("RC-")]


@pytest.mark.parametrize("word", ["rc-1", "RC-1", "claimed a REFUND", "inc-1", "refund-claimed"])
def test_a_case_is_found_by_its_names(signed_in: Client, case: Case, word: str) -> None:
    assert listed(signed_in, f"?q={word}") == ["RC-1"]


def test_a_case_is_found_by_the_start_of_a_hash(signed_in: Client, case: Case) -> None:
    revision = factories.revision(case)
    assert listed(signed_in, f"?q={revision.fixture_hash[:20]}") == ["RC-1"]
    assert listed(signed_in, f"?q={revision.content_hash.removeprefix('sha256:')[:10].upper()}") == ["RC-1"]
    assert listed(signed_in, "?q=0000000000") == []


def test_stage_lane_and_verdict_filter_apart(signed_in: Client, case: Case, everyone: User) -> None:
    recorded.compared(case, everyone)
    factories.case(case.project, everyone, factories.fixture(case_id="another"))
    assert listed(signed_in, "?stage=quarantined") == ["RC-2", "RC-1"]
    assert listed(signed_in, "?stage=reproduced") == []
    assert listed(signed_in, "?lane=blocking") == []
    assert listed(signed_in, "?verdict=verified_red_to_green") == ["RC-1"]
    assert listed(signed_in, "?verdict=none") == ["RC-2"]


def test_a_verdict_on_an_earlier_revision_is_not_shown_as_the_cases(
    signed_in: Client, case: Case, everyone: User
) -> None:
    recorded.compared(case, everyone)
    assert "Verified red to green</span></a>" in html_of(signed_in, "/cases/")
    intake.add_revision(everyone, case=case, fixture=factories.fixture(prompt_version="2"))
    assert "Verified red to green</span></a>" not in html_of(signed_in, "/cases/")
    assert "never compared" in html_of(signed_in, "/cases/")
    docket = html_of(signed_in, "/cases/RC-1/").partition('class="docket"')[2].partition("<main")[0]
    assert "Verified red to green" not in docket


@pytest.mark.parametrize(
    ("query", "kind"),
    [("?q=nothing-like-it", "No case matches these filters"), ("?stage=bogus", "A filter in the address is not known")],
)
def test_an_empty_list_says_which_kind_of_empty(signed_in: Client, case: Case, query: str, kind: str) -> None:
    assert kind in html_of(signed_in, f"/cases/{query}")


def test_an_empty_project_and_no_project_are_two_kinds_of_empty(client: Client, project: Project, viewer: User) -> None:
    client.force_login(viewer)
    assert "No cases yet" in html_of(client, "/cases/")
    client.force_login(User.objects.create_user("lonely", "lonely@example.invalid"))
    assert "You are in no project yet" in html_of(client, "/cases/")


def test_the_case_page_keeps_statement_stage_lane_and_results_apart(
    signed_in: Client, case: Case, everyone: User
) -> None:
    recorded.compared(case, everyone)
    html = html_of(signed_in, "/cases/RC-1/")
    for text in (
        "The lookup gave no state.",
        "The reply says that the refund was completed.",
        "The state was unknown.",
    ):
        assert text in html
    assert '<li class="now" aria-current="step">Quarantined<small>' in html
    assert html.count("not in it") == 3
    assert html.count("2 of 2 the same") == 2
    assert "Verified red to green" in html
    assert "asked for a comparison" in html


def docket_of(client: Client) -> str:
    return html_of(client, "/cases/RC-1/").partition('id="docket"')[2].partition("</section>")[0]


def test_a_case_that_nobody_asked_to_compare_is_not_said_to_wait(
    signed_in: Client, case: Case, everyone: User, django_capture_on_commit_callbacks: Any
) -> None:
    assert "not compared yet" in docket_of(signed_in)
    first = recorded.compared(case, everyone)
    assert first.old is not None
    assert first.new is not None
    assert "not compared yet" not in docket_of(signed_in)
    with django_capture_on_commit_callbacks(execute=True):
        factories.control(factories.revision(case), everyone)
    assert "Control not passed" in docket_of(signed_in)
    recorded.requested(case, everyone, first.old, first.new)
    assert "Waiting for runs" in docket_of(signed_in)


def test_controls_show_their_result_and_their_mutations(signed_in: Client, case: Case, everyone: User) -> None:
    factories.control(factories.revision(case), everyone)
    recorded.compared(case, everyone)
    html = html_of(signed_in, "/cases/RC-1/")
    assert "failed, as it should" in html
    assert "Controls: passed" in html_of(signed_in, "/cases/RC-1/comparisons/1/")


def test_declared_gaps_stand_with_their_cost_where_the_case_page_says(
    signed_in: Client, project: Project, everyone: User
) -> None:
    missing = [{"pointer": "/monotonic", "cost": "nothing can be said about retry delays"}]
    factories.case(project, everyone, factories.fixture(missing=missing))
    page = html_of(signed_in, "/cases/RC-1/")
    assert '<a href="/cases/RC-1/revisions/1/">the document and its declared gaps</a>' in page
    assert "nothing can be said about retry delays" in html_of(signed_in, "/cases/RC-1/revisions/1/")


def test_a_viewer_is_told_why_no_replay_can_be_asked_for(looking: Client, case: Case) -> None:
    html = html_of(looking, "/cases/RC-1/")
    assert "You cannot ask for replays. This needs the role" in html
    assert "Request the replays" not in html


def new_case(project: Project, fixture: bytes, **changes: str) -> dict[str, object]:
    return {
        "project": str(project.pk),
        "title": "Claimed a refund",
        "incident_id": "INC-7",
        "trigger": "the lookup timed out",
        "prohibited_outcome": "the reply says completed",
        "deciding_evidence": "the final message",
        "fixture": io.BytesIO(fixture),
        **changes,
    }


def test_a_case_is_opened_with_its_fixture(signed_in: Client, project: Project) -> None:
    response = signed_in.post("/cases/new/", new_case(project, factories.fixture()))
    assert response.headers["Location"] == "/cases/RC-1/"
    assert Case.objects.get().incident_id == "INC-7"


def test_a_second_case_of_a_name_is_opened_and_the_first_one_named(signed_in: Client, project: Project) -> None:
    signed_in.post("/cases/new/", new_case(project, factories.fixture()))
    response = signed_in.post("/cases/new/", new_case(project, factories.fixture()), follow=True)
    assert "The fixture bears the case_id refund-claimed, as RC-1 does." in response.content.decode()
    assert Case.objects.count() == 2


def test_a_name_of_its_own_is_no_reason_for_a_warning(signed_in: Client, project: Project) -> None:
    signed_in.post("/cases/new/", new_case(project, factories.fixture()))
    other = factories.fixture(case_id="another")
    response = signed_in.post("/cases/new/", new_case(project, other), follow=True)
    assert "RC-2 is open." in response.content.decode()
    assert "bears the case_id" not in response.content.decode()


def test_every_finding_is_shown_with_its_pointer_and_nothing_is_kept(signed_in: Client, project: Project) -> None:
    broken = factories.fixture(frozen_at="yesterday", events=[])
    response = signed_in.post("/cases/new/", new_case(project, broken))
    assert response.status_code == 422
    assert "<code>/frozen_at</code>" in response.content.decode()
    assert "the lookup timed out" in response.content.decode()
    assert not Case.objects.exists()


def test_a_fixture_that_is_not_json_is_a_finding(signed_in: Client, project: Project) -> None:
    response = signed_in.post("/cases/new/", new_case(project, b'{"a": NaN, "a": 1}'))
    assert response.status_code == 422
    assert "json." in response.content.decode()


@pytest.mark.parametrize("part", ["trigger", "prohibited_outcome", "deciding_evidence"])
def test_a_failure_statement_without_a_part_is_refused_and_the_part_named(
    signed_in: Client, project: Project, part: str
) -> None:
    response = signed_in.post("/cases/new/", new_case(project, factories.fixture(), **{part: "  "}))
    assert response.status_code == 422
    assert f'id="id_{part}_error"' in response.content.decode()
    assert not Case.objects.exists()


@pytest.mark.parametrize("part", ["title", "trigger"])
def test_a_part_that_takes_more_room_than_is_kept_is_refused_not_cut(
    signed_in: Client, project: Project, part: str
) -> None:
    said = "\x01" * 250 if part == "title" else "The lookup said " + "\x01" * 3000
    response = signed_in.post("/cases/new/", new_case(project, factories.fixture(), **{part: said}))
    assert response.status_code == 422
    assert "characters; at most" in response.content.decode()
    assert not Case.objects.exists()


def test_only_a_responder_opens_cases(client: Client, project: Project) -> None:
    client.force_login(factories.person(project, *(set(Role) - {Role.RESPONDER})))
    assert "Opening one needs the role Responder" in html_of(client, "/cases/new/")
    assert client.post("/cases/new/", new_case(project, factories.fixture())).status_code == 422
    assert not Case.objects.exists()


def test_a_revision_downloads_its_exact_bytes(signed_in: Client, case: Case) -> None:
    response = signed_in.get("/cases/RC-1/revisions/1/document/")
    assert response.content == factories.fixture()
    assert response.headers["Content-Disposition"] == 'attachment; filename="RC-1-revision-1.json"'


def test_quarantined_bytes_are_only_for_who_may_read_them(looking: Client, project: Project, everyone: User) -> None:
    factories.case(project, everyone, classification=Classification.QUARANTINED)
    assert looking.get("/cases/RC-1/revisions/1/document/").status_code == 403
