"""The list of cases: what each filter finds, in few queries, whatever the words are."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from replaycases.accounts.models import Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import details, searching
from replaycases.cases.models import Boundary, Case, CaseOwner, Stage
from replaycases.web import case_list
from tests import factories
from tests.web import recorded


def listed(client: Client, query: str) -> list[str]:
    response = client.get(f"/cases/{query}")
    assert response.status_code == 200
    html = response.content.decode()
    return [part.partition("<")[0] for part in html.split('/">')[1:] if part.startswith(("RC-", "OTHER-"))]


@pytest.fixture
def three(project: Project, everyone: User) -> list[Case]:
    """RC-1 to RC-3, the newest last, so the first in the list."""
    return [factories.case(project, everyone, factories.fixture(case_id=f"own-name-{n}")) for n in (1, 2, 3)]


def change(case: Case, **columns: Any) -> None:
    Case.objects.filter(pk=case.pk).update(**columns)


def test_a_project_is_chosen_by_its_key(signed_in: Client, three: list[Case], everyone: User) -> None:
    other = factories.project("OTHER")
    factories.case(other, factories.everyone(other))
    assert listed(signed_in, "?project=OTHER") == []
    everyone.memberships.create(project=other, role=Role.VIEWER)
    assert listed(signed_in, "?project=OTHER") == ["OTHER-1"]
    assert listed(signed_in, "?project=RC") == ["RC-3", "RC-2", "RC-1"]


def test_cases_are_found_by_owner(signed_in: Client, three: list[Case], everyone: User, project: Project) -> None:
    colleague = factories.person(project, Role.QA)
    mine, theirs = (Team.objects.create(project=project, name=name) for name in ("Mine", "Theirs"))
    mine.members.add(everyone)
    theirs.members.add(colleague)
    details.set_owners(everyone, case=three[0], owners={Boundary.WORKFLOW: everyone, Boundary.PRIVACY: everyone})
    details.set_owners(everyone, case=three[1], owners={Boundary.WORKFLOW: mine})
    details.set_owners(everyone, case=three[2], owners={Boundary.WORKFLOW: theirs, Boundary.PRIVACY: colleague})
    assert listed(signed_in, "?owner=me") == ["RC-2", "RC-1"]
    assert listed(signed_in, f"?owner=user:{colleague.pk}") == ["RC-3"]
    assert listed(signed_in, f"?owner=team:{mine.pk}") == ["RC-2"]
    assert listed(signed_in, "?owner=user:nobody") == []


def test_a_persons_cases_are_leafed_through_once_each_and_only_where_they_may_be_seen(
    signed_in: Client, three: list[Case], everyone: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    colleague = factories.person(project, Role.QA)
    other = factories.project("OTHER")
    colleague.memberships.create(project=other, role=Role.QA)
    hidden = factories.case(other, factories.everyone(other))
    for case in (*three, hidden):
        for boundary in (Boundary.WORKFLOW, Boundary.PRIVACY):
            CaseOwner.objects.create(case=case, boundary=boundary, user=colleague)
    monkeypatch.setattr(case_list, "ROWS_A_PAGE", 2)
    pages = [f"?owner=user:{colleague.pk}{more}" for more in ("", "&page=2", "&page=9", "&project=RC")]
    assert [listed(signed_in, page) for page in pages] == [["RC-3", "RC-2"], ["RC-1"], ["RC-1"], ["RC-3", "RC-2"]]
    assert [signed_in.get(f"/cases/{page}").context["page"].total for page in pages] == [3, 3, 3, 3]
    change(three[1], flagged=True)
    assert listed(signed_in, f"?owner=user:{colleague.pk}&flagged=on") == ["RC-2"]


def test_what_a_text_finds_is_counted_where_the_rows_tell_and_leafed_through_where_they_do_not(
    signed_in: Client, three: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_list, "ROWS_A_PAGE", 2)
    pages = [signed_in.get(f"/cases/?q=INC-1{more}").context["page"] for more in ("", "&page=2", "&page=9")]
    assert [(page.number, page.first, page.last, page.total, page.has_next) for page in pages] == [
        (1, 1, 2, None, True),
        (2, 3, 3, 3, False),
        (2, 3, 3, 3, False),
    ]


def test_ones_own_and_ones_teams_cases_are_leafed_through_together_once_each(
    signed_in: Client, three: list[Case], everyone: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    teams = [Team.objects.create(project=project, name=name) for name in ("One", "Two")]
    for team in teams:
        team.members.add(everyone)
    other = factories.project("OTHER")
    hidden = factories.case(other, factories.everyone(other))
    for case, owner in ((three[2], {"team": teams[0]}), (three[1], {"user": everyone}), (hidden, {"user": everyone})):
        for boundary in (Boundary.WORKFLOW, Boundary.PRIVACY, Boundary.DEPENDENCY):
            CaseOwner.objects.create(case=case, boundary=boundary, **owner)
    CaseOwner.objects.create(case=three[1], boundary=Boundary.SUITE_POLICY, team=teams[1])
    CaseOwner.objects.create(case=three[0], boundary=Boundary.WORKFLOW, user=everyone)
    assert listed(signed_in, "?owner=me") == ["RC-3", "RC-2", "RC-1"]
    assert "1 to 3 of 3" in signed_in.get("/cases/?owner=me").content.decode()
    monkeypatch.setattr(case_list, "ROWS_A_PAGE", 1)
    pages = [f"?owner=me{more}" for more in ("", "&page=2", "&page=3", "&page=9", "&project=RC")]
    assert [listed(signed_in, page) for page in pages] == [["RC-3"], ["RC-2"], ["RC-1"], ["RC-1"], ["RC-3"]]
    told = [signed_in.get(f"/cases/{page}").content.decode() for page in pages[:4]]
    for words, html in zip(("1 to 1, and more", "2 to 2, and more", "3 to 3 of 3", "3 to 3 of 3"), told, strict=True):
        assert words in html


def test_marks_and_expiry_filter_and_what_runs_out_first_stands_first(signed_in: Client, three: list[Case]) -> None:
    now = timezone.now()
    change(three[0], evidence_expires_at=now + timedelta(days=5), flagged=True)
    change(three[1], evidence_expires_at=now + timedelta(days=2), security_incident=True)
    change(three[2], evidence_expires_at=now + timedelta(days=40))
    assert listed(signed_in, "?expires=7") == ["RC-2", "RC-1"]
    assert listed(signed_in, "?flagged=on") == ["RC-1"]
    assert listed(signed_in, "?security=on") == ["RC-2"]
    assert listed(signed_in, "?flagged=on&security=on") == []


@pytest.mark.parametrize("query", ["?expires=-1", "?project=NOT", "?lane=fast", "?owner=team:x", "?verdict=green"])
def test_an_unknown_filter_shows_nothing(signed_in: Client, three: list[Case], query: str) -> None:
    assert listed(signed_in, query) == []
    assert "A filter in the address is not known" in signed_in.get(f"/cases/{query}").content.decode()


@pytest.mark.parametrize("word", ["gave", "OWN-NAME-2", "name-2", "inc-1", "é", "%", "_", "\\", "re", "a"])
def test_a_piece_is_found_as_it_stands(signed_in: Client, three: list[Case], word: str) -> None:
    change(three[1], title=f"It {word} here", incident_id="INC-1", case_id="own-name-2")
    change(three[0], title="Nothing", incident_id="X", case_id="y")
    change(three[2], title="Nothing", incident_id="X", case_id="y")
    assert listed(signed_in, f"?q={word.replace('%', '%25')}") == ["RC-2"]


def test_a_word_that_stands_nearly_everywhere_is_found_too(
    signed_in: Client, three: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "FREQUENT", 2)
    change(three[0], title="Something else")
    assert listed(signed_in, "?q=claimed") == ["RC-3", "RC-2"]
    assert listed(signed_in, "?q=own-name-1") == ["RC-1"]


def test_another_projects_case_is_not_found_by_its_id(signed_in: Client, three: list[Case]) -> None:
    other = factories.project("OTHER")
    foreign = factories.case(other, factories.everyone(other))
    assert listed(signed_in, "?q=OTHER-1") == []
    assert listed(signed_in, f"?q={factories.revision(foreign).fixture_hash}") == ["RC-3", "RC-2", "RC-1"][:0]


def test_pages_can_be_leafed_through(signed_in: Client, three: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_list, "ROWS_A_PAGE", 2)
    first = signed_in.get("/cases/").content.decode()
    assert "1 to 2 of 3" in first
    assert 'href="?page=2" rel="next"' in first
    assert listed(signed_in, "?page=2") == ["RC-1"]
    assert listed(signed_in, "?page=99") == ["RC-1"]
    assert listed(signed_in, "?page=x") == ["RC-3", "RC-2"]


def test_more_than_are_counted_are_said_to_be_more(
    signed_in: Client, three: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(case_list, "ROWS_A_PAGE", 1)
    monkeypatch.setattr(case_list, "COUNTED", 2)
    assert "1 to 1, and more" in signed_in.get("/cases/").content.decode()
    last = signed_in.get("/cases/?page=2").content.decode()
    assert "narrow the search to see them" in last
    assert 'rel="next"' not in last
    assert listed(signed_in, "?page=3") == ["RC-2"]


def test_hostile_titles_stay_text(signed_in: Client, three: list[Case]) -> None:
    change(three[0], title="<script>alert(1)</script>\u202e", incident_id='"><b>')
    html = signed_in.get("/cases/?q=alert").content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "U+202E" in html
    assert "&quot;&gt;&lt;b&gt;" in html


def test_an_incident_that_is_not_contained_and_a_re_review_are_marked(signed_in: Client, three: list[Case]) -> None:
    assert "not contained" not in signed_in.get("/cases/").content.decode()
    change(three[0], security_incident=True, flagged=True)
    html = signed_in.get("/cases/").content.decode()
    assert html.count("not contained</span>") == 1
    assert html.count("re-review asked</span>") == 1


EVERY_FILTER = "?q=claimed&project=RC&stage=quarantined&lane=blocking&verdict=none&owner=me&expires=30&flagged=on"


@pytest.mark.parametrize(
    ("query", "found"),
    [("", ["RC-3", "RC-2", "RC-1"]), ("?q=claimed", ["RC-3", "RC-2", "RC-1"]), ("?owner=me", []), (EVERY_FILTER, [])],
)
def test_the_list_takes_few_queries_whatever_it_holds(
    signed_in: Client, three: list[Case], django_assert_max_num_queries: Any, query: str, found: list[str]
) -> None:
    change(three[0], stage=Stage.REPRODUCED)
    with django_assert_max_num_queries(12):
        assert listed(signed_in, query) == found


def test_a_verdict_leads_to_the_newest_comparison_of_the_current_revision(
    signed_in: Client, three: list[Case], everyone: User, project: Project
) -> None:
    first, second = (recorded.compared(three[2], everyone) for _ in range(2))
    html = signed_in.get("/cases/").content.decode()
    assert [html.count(f'href="/cases/RC-{n}/comparisons/latest/"') for n in (1, 2, 3)] == [0, 0, 1]
    led = signed_in.get("/cases/RC-3/comparisons/latest/").headers["Location"]
    assert led == f"/cases/RC-3/comparisons/{second.number}/" != f"/cases/RC-3/comparisons/{first.number}/"
    assert signed_in.get("/cases/RC-1/comparisons/latest/").status_code == 404
    everyone.memberships.filter(project=project).delete()
    assert signed_in.get("/cases/RC-3/comparisons/latest/").status_code == 404
