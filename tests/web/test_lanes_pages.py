"""Lanes: the overview, one lane, its policy, and the promotion of several cases with a preview."""

from __future__ import annotations

from datetime import timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import lanes, proposals
from replaycases.cases.models import Case, CiReport, Lane, LaneEntry, LaneName
from tests import factories
from tests.factories import People
from tests.web.conftest import client_of

OVERVIEW = "/lanes/"
BULK = "/lanes/RC/nonblocking/promotion/"


def html_of(user: User, address: str, status: int = 200) -> str:
    response = client_of(user).get(address)
    assert response.status_code == status
    return response.content.decode()


def panel(html: str, name: str) -> str:
    return html.partition(f'aria-labelledby="{name}"')[2].partition("</section>")[0]


def chosen(case: Case) -> str:
    return f"{case.readable_id} {factories.revision(case).fixture_hash}"


# --- overview -------------------------------------------------------------------------------------------------------


def test_the_overview_counts_cases_runs_and_verdicts_of_each_lane(people: People) -> None:
    factories.with_history(people, factories.nonblocking(people))
    html = panel(html_of(people.viewer, OVERVIEW), "lane-nonblocking")
    assert '<a href="/lanes/RC/nonblocking/">1</a>' in html
    assert "Verified red to green" in html
    assert "Runs of lane nonblocking in the last 14 days: 10 held." in html


def test_a_lane_in_which_nothing_stands_says_so(people: People) -> None:
    html = panel(html_of(people.viewer, OVERVIEW), "lane-blocking")
    assert "No case stands here." in html
    assert "none in 14 days" in html


def test_a_verdict_that_is_not_over_the_fixed_version_is_not_counted_as_one(people: People) -> None:
    case = factories.nonblocking(people)
    case.provenance.fixed = case.provenance.affected
    case.provenance.save()
    html = panel(html_of(people.viewer, OVERVIEW), "lane-nonblocking")
    assert "Not compared with its fixed version" in html
    assert "Verified red to green" not in html


def test_flagged_cases_are_said_to_block_still(people: People) -> None:
    factories.blocking(people)
    Case.objects.update(flagged=True)
    assert "1, still blocking" in panel(html_of(people.viewer, OVERVIEW), "lane-blocking")
    assert "asked for, still blocking" in html_of(people.viewer, "/lanes/RC/blocking/")


def test_reports_from_elsewhere_stand_apart_the_newest_first(people: People) -> None:
    lane = Lane.objects.create(project=people.project, name=LaneName.BLOCKING)
    for days, version in ((2, "older"), (1, "newer")):
        CiReport.objects.create(
            lane=lane,
            lane_digest="sha256:lane",
            implementation_name="agent",
            implementation_version=version,
            implementation_digest="sha256:code",
            exit_code=30,
            digest=f"sha256:{version}",
            pushed_by=people.engineer,
            pushed_at=timezone.now() - timedelta(days=days),
        )
    html = panel(html_of(people.viewer, OVERVIEW), "lane-blocking")
    assert html.index("agent newer") < html.index("agent older")
    assert "No gate reads them" in html


def test_the_overview_shows_one_project_and_no_foreign_one(people: People) -> None:
    factories.project("XX")
    assert html_of(people.viewer, f"{OVERVIEW}?project=XX", 404)
    assert html_of(people.viewer, "/lanes/XX/blocking/", 404)
    assert html_of(people.viewer, "/lanes/RC/no-such/", 404)
    lonely = User.objects.create_user("lonely", "lonely@example.invalid")
    assert "You are in no project yet" in html_of(lonely, OVERVIEW)


def test_more_cases_in_a_lane_cost_no_more_queries(people: People) -> None:
    def queries(address: str) -> int:
        client = client_of(people.viewer)
        client.get(address)
        with CaptureQueriesContext(connection) as captured:
            client.get(address)
        return len(captured)

    factories.with_history(people, factories.nonblocking(people))
    few = queries(OVERVIEW), queries("/lanes/RC/nonblocking/")
    factories.with_history(people, factories.nonblocking(people, factories.fixture(case_id="another")))
    assert (queries(OVERVIEW), queries("/lanes/RC/nonblocking/")) == few


# --- policy ---------------------------------------------------------------------------------------------------------


def test_qa_sets_the_policy_and_nobody_else(people: People) -> None:
    said = {"repeated_runs": "7", "minimum_history": "12"}
    assert "Set the policy" in html_of(people.qa, OVERVIEW)
    assert "Set the policy" not in html_of(people.viewer, OVERVIEW)
    for told in (said, {"repeated_runs": "many"}):
        assert client_of(people.viewer).post("/lanes/RC/blocking/policy/", told).status_code == 403
    assert client_of(people.qa).post("/lanes/RC/blocking/policy/", said).status_code == 302
    lane = Lane.objects.get(name=LaneName.BLOCKING)
    assert (lane.repeated_runs, lane.minimum_history) == (7, 12)


def test_a_policy_out_of_bounds_is_refused_beside_its_field(people: People) -> None:
    said = {"repeated_runs": "1", "minimum_history": "12"}
    response = client_of(people.qa).post("/lanes/RC/blocking/policy/", said)
    assert response.status_code == 422
    assert "greater than or equal to 2" in response.content.decode()
    assert not Lane.objects.filter(minimum_history=12).exists()


# --- one lane -------------------------------------------------------------------------------------------------------


def test_a_lane_lists_its_cases_with_their_runs_and_what_brought_them_down(people: People) -> None:
    case = factories.blocking(people)
    until = timezone.now() + timedelta(days=7)
    made = proposals.propose_demotion(people.qa, case=case, reason="Vendor.", until=until, owner=people.engineer)
    proposals.confirm(people.owner, proposal=made)
    lanes.request_history(people.qa, case=case, runs=2)
    html = panel(html_of(people.viewer, "/lanes/RC/nonblocking/"), "inside")
    assert "2 waiting" in html
    assert "Vendor." in html
    assert f"Owner: {people.engineer}" in html


def test_reproduced_cases_wait_beside_the_nonblocking_lane(people: People) -> None:
    factories.reproduced(people)
    html = panel(html_of(people.qa, "/lanes/RC/nonblocking/"), "candidates")
    assert 'name="case" value="RC-1"' in html
    assert "Preview the promotion to nonblocking" in html
    told = panel(html_of(people.viewer, "/lanes/RC/nonblocking/"), "candidates")
    assert "You cannot promote. This needs the role QA or QA lead." in told


def test_the_compatibility_lane_says_why_its_cases_never_block(people: People) -> None:
    html = html_of(people.viewer, "/lanes/RC/compatibility/")
    assert "Its cases never block a release" in html
    assert "Preview the promotion" not in html


# --- many cases -----------------------------------------------------------------------------------------------------


def test_the_preview_says_of_each_case_whether_it_moves_and_changes_nothing(people: People) -> None:
    ready = factories.reproduced(people)
    factories.redaction_approved(people, factories.fixture(case_id="early"))
    html = html_of(people.qa, f"{BULK}?case=RC-1&case=RC-2")
    assert "1 will move, 1 will not" in html
    assert html.count('name="chosen"') == 1
    assert f'value="{chosen(ready)}"' in html
    assert "The case is redaction approved." in html
    assert not LaneEntry.objects.exists()


def test_those_that_can_are_promoted_and_each_row_says_what_became_of_it(people: People) -> None:
    ready = factories.reproduced(people)
    early = factories.redaction_approved(people, factories.fixture(case_id="early"))
    said = {"chosen": [chosen(ready), chosen(early)], "note": "together"}
    html = client_of(people.qa).post(BULK, said).content.decode()
    assert "1 of 2 moved" in html
    assert "The case is redaction approved." in html
    assert [entry.case_id for entry in LaneEntry.objects.filter(note="together")] == [ready.pk]


def test_a_case_that_changed_since_the_preview_stays(people: People) -> None:
    factories.reproduced(people)
    html = client_of(people.qa).post(BULK, {"chosen": ["RC-1 sha256:other"]}).content.decode()
    assert "another fixture now than the one you saw" in html
    assert not LaneEntry.objects.exists()


def test_a_foreign_case_is_neither_shown_nor_promoted(people: People) -> None:
    other = factories.people(factories.project("XX"))
    foreign = factories.reproduced(other)
    factories.reproduced(people, factories.fixture(case_id="of-the-same-number"))
    html = html_of(people.qa, f"{BULK}?case=XX-1&case=RC-9&case=nonsense")
    assert "Not in project RC, so not shown: XX-1, RC-9, nonsense." in html
    assert 'name="chosen"' not in html
    assert "0 of 0 moved" in client_of(people.qa).post(BULK, {"chosen": [chosen(foreign)]}).content.decode()
    assert not LaneEntry.objects.exists()


def test_who_may_not_promote_sees_no_preview(people: People) -> None:
    factories.reproduced(people)
    assert client_of(people.viewer).get(f"{BULK}?case=RC-1").status_code == 403
    assert client_of(people.viewer).post(BULK, {"chosen": ["RC-1 x"]}).status_code == 403


def test_more_than_a_hundred_are_cut_and_that_is_said(people: People) -> None:
    query = "&".join(f"case=RC-{number}" for number in range(1, 131))
    assert "30 more were chosen and are left out" in html_of(people.qa, f"{BULK}?{query}")
    said = {"chosen": [f"RC-{number} x" for number in range(1, 131)]}
    response = client_of(people.qa).post(BULK, said)
    assert response.status_code == 422
    assert "At most 100 cases" in response.content.decode()


def test_nothing_chosen_says_so(people: People) -> None:
    assert "No case was chosen" in html_of(people.qa, BULK)
    assert "No case was chosen" in client_of(people.qa).post(BULK).content.decode()
