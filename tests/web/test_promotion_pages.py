"""The promotion page: gates of the next lane, why the button is off, history, owners, overrides, and the way out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.cases import details, intake, lanes, proposals
from replaycases.cases.models import Boundary, Case, LaneEntry, LaneName, Proposal, ProposalKind, RunSet
from tests import factories
from tests.factories import People
from tests.web.conftest import client_of

ADDRESS = "/cases/RC-1/promotion/"


def html_of(user: User, address: str = ADDRESS, status: int = 200) -> str:
    response = client_of(user).get(address)
    assert response.status_code == status
    return response.content.decode()


def posted(user: User, address: str, **said: object) -> tuple[int, str]:
    response = client_of(user).post(address, said, follow=True)
    return response.status_code, response.content.decode()


def seen(case: Case) -> str:
    return factories.revision(factories.fresh(case)).fixture_hash


@pytest.mark.parametrize("address", [ADDRESS, "/cases/RC-1/demotion/", "/cases/RC-1/overrides/?gate=red"])
def test_the_bar_says_where_the_page_belongs(people: People, address: str) -> None:
    factories.redaction_approved(people)
    html = html_of(people.qa, address)
    assert 'href="/cases/" aria-current="page"' in html
    assert 'href="/lanes/" aria-current' not in html


def test_a_case_with_open_gates_says_which_and_its_button_is_off(people: People) -> None:
    factories.redaction_approved(people)
    html = html_of(people.qa)
    assert "Promote RC-1 to <code>nonblocking</code>" in html
    assert 'aria-disabled="true" aria-describedby="why-not"' in html
    assert "Not possible yet:" in html
    assert "The case is redaction approved." in html
    assert "The expectation of revision 1 is not approved." in html


def test_the_gates_that_block_stand_first_and_are_counted(people: People) -> None:
    factories.redaction_approved(people)
    rows = html_of(people.qa).partition("<tbody>")[2].partition("</tbody>")[0].split("<tr ")[1:]
    blocking = ['class="block"' in row for row in rows]
    assert blocking == sorted(blocking, reverse=True)
    assert f"{sum(blocking)} unsatisfied" in html_of(people.qa)


def test_a_reproduced_case_is_promoted_with_a_note(people: People) -> None:
    case = factories.reproduced(people)
    html = html_of(people.qa)
    assert "Every gate is satisfied." in html
    status, html = posted(people.qa, ADDRESS, lane="nonblocking", fixture_hash=seen(case), note="after the release")
    assert (status, "Revision 1 stands in lane nonblocking now." in html) == (200, True)
    assert LaneEntry.objects.get(case=case, left_at=None).note == "after the release"
    assert "Promote RC-1 to <code>blocking</code>" in html


def test_a_promotion_that_the_gates_refuse_shows_them_again(people: People) -> None:
    case = factories.nonblocking(people)
    response = client_of(people.qa).post(ADDRESS, {"lane": "blocking", "fixture_hash": seen(case)})
    html = response.content.decode()
    assert response.status_code == 409
    assert "Nothing was changed" in html
    assert "0 of 10 runs counted" in html
    assert not LaneEntry.objects.filter(lane__name=LaneName.BLOCKING).exists()


def test_a_promotion_of_another_fixture_than_the_one_seen_is_refused(people: People) -> None:
    factories.reproduced(people)
    response = client_of(people.qa).post(ADDRESS, {"lane": "nonblocking", "fixture_hash": "sha256:other"})
    assert response.status_code == 409
    assert "another fixture now than the one you saw" in response.content.decode()
    assert not LaneEntry.objects.exists()


def test_a_lane_that_there_is_not_is_refused_beside_the_form(people: People) -> None:
    case = factories.reproduced(people)
    assert posted(people.qa, ADDRESS, lane="golden", fixture_hash=seen(case))[0] == 422
    assert not LaneEntry.objects.exists()


def test_who_may_not_promote_is_told_and_refused(people: People) -> None:
    case = factories.reproduced(people)
    assert "This needs the role QA or QA lead in project RC." in html_of(people.responder)
    assert posted(people.responder, ADDRESS, lane="nonblocking", fixture_hash=seen(case))[0] == 403
    assert not LaneEntry.objects.exists()


def test_another_projects_case_is_not_there(people: People) -> None:
    factories.reproduced(people)
    stranger = factories.everyone(factories.project("XX"))
    for address in (ADDRESS, "/cases/RC-1/demotion/", "/cases/RC-1/retirement/", "/cases/RC-1/overrides/?gate=red"):
        html_of(stranger, address, 404)
        assert client_of(stranger).post(address).status_code == 404
    assert client_of(stranger).post("/cases/RC-1/history/", {"runs": 1}).status_code == 404


def test_a_case_that_blocks_says_so_and_has_no_button(people: People) -> None:
    factories.blocking(people)
    html = html_of(people.qa)
    assert "RC-1 stands in lane <code>blocking</code>" in html
    assert "Nothing to do:" in html
    assert "Promote RC-1</button>" not in html
    beside = html_of(people.qa, f"{ADDRESS}?to=nonblocking")
    assert "Revision 1 blocks already. Two people demote it." in beside
    assert "Every gate is satisfied." not in beside


def test_a_case_without_a_fixture_has_no_gates(project: Project, people: People) -> None:
    factories.case(project, people.responder)
    Case.objects.update(current_revision=None)
    html = html_of(people.qa)
    assert "The case has no fixture yet" in html
    assert "The gates are computed once the case has a fixture." in html
    assert "Every gate is about" not in html
    assert "computed at" not in html
    assert 'aria-disabled="true"' in html


def test_owners_versions_and_the_approval_with_its_hashes_stand_beside_the_gates(people: People) -> None:
    case = factories.reproduced(people)
    details.set_owners(people.engineer, case=case, owners={Boundary.PRIVACY: None})
    html = html_of(people.qa)
    assert html.count(str(people.owner)) >= 5
    assert "nobody yet" in html
    assert "tests/test_refund.py" in html
    assert seen(case) in html.partition('id="expectation"')[2].partition("</section>")[0]
    assert factories.revision(case).checks_hash in html


def test_the_lanes_history_is_a_strip_with_a_text_and_a_table(people: People) -> None:
    case = factories.nonblocking(people)
    assert "No run in this lane yet" in html_of(people.qa)
    lanes.request_history(people.qa, case=case, runs=2)
    html = html_of(people.qa)
    assert "The last 2 runs of RC-1 in lane nonblocking: 2 waiting." in html
    assert "2 runs outstanding" in html
    assert "no: has not ended" in html
    factories.with_history(people, case)
    html = html_of(people.qa)
    assert "12 held" in html
    assert "12 of 10 counted" in html


def test_runs_are_queued_from_the_page(people: People) -> None:
    case = factories.nonblocking(people)
    before = RunSet.objects.count()
    status, html = posted(people.qa, "/cases/RC-1/history/", runs="3")
    assert (status, "3 runs are queued." in html) == (200, True)
    assert RunSet.objects.filter(lane_entry__case=case, size=3).count() == 1
    assert posted(people.qa, "/cases/RC-1/history/", runs="0")[0] == 422
    assert posted(people.viewer, "/cases/RC-1/history/", runs="3")[0] == 403
    assert RunSet.objects.count() == before + 1


def test_a_demotion_is_proposed_with_an_owner_and_shown_with_who_may_confirm(people: People) -> None:
    case = factories.blocking(people)
    until = (timezone.localdate() + timedelta(days=7)).isoformat()
    assert "QA or QA lead" in html_of(people.qa, "/cases/RC-1/demotion/")
    said = {"reason": "The provider changed.", "owner": f"user:{people.engineer.pk}", "until": until}
    status, html = posted(people.qa, "/cases/RC-1/demotion/", **said)
    assert status == 200
    assert "The provider changed." in html
    assert "You proposed it." in html
    assert Proposal.objects.get().owner == people.engineer
    assert factories.fresh(case).lane == "blocking"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"reason": " "}, "This field is required."),
        ({"owner": "user:nobody"}, "Select a valid choice."),
        ({"until": "2020-01-01"}, "Name a time in the future"),
        ({"until": "soon"}, "Enter a valid date."),
    ],
)
def test_a_demotion_that_lacks_something_says_what(people: People, changed: dict[str, str], told: str) -> None:
    factories.blocking(people)
    until = (timezone.localdate() + timedelta(days=7)).isoformat()
    said = {"reason": "Why.", "owner": f"user:{people.engineer.pk}", "until": until, **changed}
    status, html = posted(people.qa, "/cases/RC-1/demotion/", **said)
    assert status == 422
    assert told in html
    [name] = changed
    assert f'id="id_{name}_error"' in html
    assert not Proposal.objects.exists()


def test_nothing_is_demoted_that_does_not_block(people: People) -> None:
    factories.nonblocking(people)
    assert "The case does not stand in blocking." in html_of(people.qa)
    assert "You cannot propose this." in html_of(people.qa, "/cases/RC-1/demotion/")
    assert posted(people.qa, "/cases/RC-1/demotion/")[0] == 409


def test_a_retirement_is_proposed_by_the_lead_only(people: People) -> None:
    factories.reproduced(people)
    assert posted(people.qa, "/cases/RC-1/retirement/", reason="Gone.")[0] == 403
    assert posted(people.lead, "/cases/RC-1/retirement/", reason="The tool is gone.")[0] == 200
    assert Proposal.objects.get().kind == ProposalKind.RETIREMENT


def without_red(people: People) -> Case:
    """In review, its affected version no longer known."""
    case = factories.in_review(people)
    said = {"incident_url": "", "trace_id": "trace-1", "trace_url": "", "covering_test": ""}
    details.edit_provenance(people.engineer, case=case, affected=None, fixed=None, **said)
    return case


def test_an_override_is_proposed_for_a_gate_that_takes_one(people: People) -> None:
    without_red(people)
    until = (timezone.localdate() + timedelta(days=7)).isoformat()
    address = "/cases/RC-1/overrides/"
    assert "Override the gate “Affected version reproduces” of RC-1" in html_of(people.lead, f"{address}?gate=red")
    assert posted(people.lead, address, gate="promoter", reason="Why.", until=until)[0] == 409
    assert posted(people.lead, address, gate="no-such", reason="Why.", until=until)[0] == 422
    assert posted(people.lead, address, gate="red", reason="The trace shows it.", until=until)[0] == 200
    assert Proposal.objects.get().gate == "red"


def test_overrides_stay_on_the_page_with_both_names_also_when_they_no_longer_hold(people: People) -> None:
    case = without_red(people)
    until = timezone.now() + timedelta(days=3)
    made = proposals.propose_override(people.lead, case=case, gate="red", reason="The trace shows it.", until=until)
    proposals.confirm(people.owner, proposal=made, note="Seen.")
    html = html_of(people.qa)
    assert f"{people.lead}, second {people.owner}" in html
    assert "Green without red until" in html
    intake.add_revision(people.responder, case=case, fixture=factories.fixture(prompt_version="2"), changed="Prompt.")
    html = html_of(people.qa)
    assert "was for revision 1" in html
    assert f"{people.lead}, then {people.owner}: Seen." in html


def test_the_compatibility_lane_says_why_its_cases_never_block(people: People) -> None:
    factories.reproduced(people)
    html = html_of(people.qa, f"{ADDRESS}?to=compatibility")
    assert "Promote RC-1 to <code>compatibility</code>" in html
    assert "can never block a release" in html


def test_the_whole_page_takes_twelve_queries(people: People) -> None:
    case = factories.nonblocking(people)
    factories.with_history(people, case)
    client = client_of(people.viewer)
    client.get(ADDRESS)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(ADDRESS).status_code == 200
    assert len(captured) <= 12, "\n".join(query["sql"][:150] for query in captured)
