"""The home page: what needs the person, and nothing that needs somebody else."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import lane_health, recipients
from replaycases.cases.models import Case, LaneName, Notification, NotificationKind, Proposal, ProposalKind, Stage
from replaycases.web import home_page
from tests import factories

MOST_QUERIES = 12


def page(user: User) -> str:
    client = Client()
    client.force_login(user)
    response = client.get("/")
    assert response.status_code == 200
    return response.content.decode()


def headings(html: str) -> list[str]:
    return re.findall(r"<h2[^>]*>([^<]*)</h2>", html)


def set_to(case: Case, **columns: Any) -> None:
    Case.objects.filter(pk=case.pk).update(**columns)


def filled(case: Case, person: User) -> None:
    """Something in every list."""
    soon = timezone.now() + timedelta(hours=5)
    set_to(case, stage=Stage.IN_REVIEW, evidence_expires_at=soon, flagged=True)
    ready = factories.case(case.project, case.created_by, factories.fixture(case_id="ready"))
    set_to(ready, stage=Stage.REPRODUCED, verdict="verified_red_to_green", lane=LaneName.NONBLOCKING)
    approved = factories.case(case.project, case.created_by, factories.fixture(case_id="approved"))
    set_to(approved, stage=Stage.REDACTION_APPROVED, expectation_approved=True)
    factories.control(factories.revision(approved), case.created_by)
    now = timezone.now()
    Proposal.objects.create(
        case=case,
        kind=ProposalKind.RETIREMENT,
        reason="The workflow is gone.",
        proposed_by=case.created_by,
        proposed_at=now,
    )
    factories.waiver(case, factories.person(case.project, Role.PRIVACY_REVIEWER))
    set_to(ready, previous_verdict="still_failing", last_verdict="verified_red_to_green", verdict_since=now)
    recipients.notify(
        [person.pk], case=ready, kind=NotificationKind.VERDICT_CHANGED, occasion="v", text="RC-2: the verdict changed."
    )


@pytest.fixture
def responders_case(project: Project) -> Case:
    return factories.case(project, factories.person(project, Role.RESPONDER))


def test_a_signed_out_person_is_asked_to_sign_in(client: Client) -> None:
    assert client.get("/").headers["Location"] == "/login/?next=/"


def test_every_list_is_shown_to_who_has_every_role(responders_case: Case, everyone: User) -> None:
    filled(responders_case, everyone)
    assert headings(page(everyone)) == [
        "Redaction reviews waiting",
        "Findings that may stand, if you agree",
        "Expectations waiting for your approval",
        "Controls waiting for your approval",
        "What only a dependency's owner can say",
        "A second person is needed",
        "Your cases whose verdict changed",
        "To be marked as reproduced",
        "Ready to be looked at for promotion",
        "You administer",
        "Lane health",
        "Raw evidence about to end",
        "Re-reviews due",
    ]


def test_the_page_costs_at_most_twelve_queries_however_much_there_is(responders_case: Case, everyone: User) -> None:
    client = Client()
    client.force_login(everyone)
    filled(responders_case, everyone)
    with CaptureQueriesContext(connection) as few:
        client.get("/")
    cache.clear()  # what may be a minute old is counted again
    for number in range(3, 8):
        case = factories.case(
            responders_case.project, responders_case.created_by, factories.fixture(case_id=f"case-{number}")
        )
        set_to(case, stage=Stage.IN_REVIEW, flagged=True, evidence_expires_at=timezone.now())
        recipients.notify(
            [everyone.pk], case=case, kind=NotificationKind.VERDICT_CHANGED, occasion=str(number), text="RC: changed."
        )
    with CaptureQueriesContext(connection) as many:
        client.get("/")
    assert len(many) == len(few) <= MOST_QUERIES


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ((Role.VIEWER,), "Nothing is asked of you"),
        ((Role.QA,), "No decision waits for you"),
        ((Role.DEPENDENCY_OWNER,), "No decision waits for you"),
    ],
)
def test_an_empty_page_says_which_kind_of_empty(project: Project, roles: tuple[Role, ...], said: str) -> None:
    assert said in page(factories.person(project, *roles))


def test_an_administrator_is_led_to_inviting_and_roles(project: Project) -> None:
    assert 'href="/people/">Invite people and give roles<' in page(factories.person(project, Role.ADMINISTRATOR))
    assert "Invite people and give roles" not in page(factories.person(project, Role.VIEWER))


def test_a_draft_leads_to_its_next_step(project: Project) -> None:
    responder = factories.person(project, Role.RESPONDER)
    case = factories.case(project, responder)
    html = page(responder)
    assert headings(html)[0] == "Drafts to finish"
    assert 'href="/cases/RC-1/#request">Replay it<' in html
    assert "No decision waits" not in html
    set_to(case, current_revision=None)
    assert 'href="/cases/RC-1/revisions/new/">Add the fixture<' in page(responder)


def test_an_approved_case_leads_to_what_is_left_until_it_is_reproduced(responders_case: Case, project: Project) -> None:
    set_to(responders_case, stage=Stage.REDACTION_APPROVED, expectation_approved=True)
    html = page(factories.person(project, Role.WORKFLOW_ENGINEER))
    assert headings(html)[0] == "To be marked as reproduced"
    assert 'href="/cases/RC-1/#request">Replay it<' in html
    assert "No decision waits" not in html


def test_a_dependencys_owner_is_led_to_what_they_are_asked(responders_case: Case, project: Project) -> None:
    set_to(responders_case, stage=Stage.REDACTION_APPROVED, expectation_approved=True)
    html = page(factories.person(project, Role.DEPENDENCY_OWNER))
    assert headings(html)[0] == "What only a dependency's owner can say"
    assert "revision 1: whether its tools have no effect" in html
    assert 'href="/cases/RC-1/#dependency">Say it<' in html


def test_a_control_leads_to_where_it_is_approved(responders_case: Case, project: Project) -> None:
    factories.control(factories.revision(responders_case), responders_case.created_by)
    set_to(responders_case, stage=Stage.REPRODUCED)
    html = page(factories.person(project, Role.PRIVACY_REVIEWER))
    assert headings(html)[0] == "Controls waiting for your approval"
    assert "1 control of revision 1" in html
    assert 'href="/cases/RC-1/review/#controls">Look<' in html


def test_a_proposal_leads_to_where_it_is_decided(responders_case: Case, everyone: User) -> None:
    filled(responders_case, everyone)
    proposal = Proposal.objects.get()
    assert f'href="/cases/RC-1/promotion/#proposal-{proposal.pk}">Decide<' in page(everyone)


def test_somebody_in_no_project_is_told_whom_to_ask(db: None) -> None:
    html = page(User.objects.create_user("nobody", "nobody@example.invalid"))
    assert "You are in no project yet" in html
    assert "Cases by stage and lane" not in html


def test_a_superuser_is_told_that_they_decide_nothing(case: Case) -> None:
    html = page(User.objects.create_superuser("root", "root@example.invalid"))
    assert "You hold no role in a project" in html
    assert "<b>1</b><span>Quarantined</span>" in html


def test_ones_own_work_has_no_button_and_says_why(project: Project, case: Case, everyone: User) -> None:
    set_to(case, stage=Stage.IN_REVIEW)
    html = page(everyone)
    assert "Your own work: another reviewer is needed" in html
    assert "Review<span" not in html
    other = page(factories.person(project, Role.PRIVACY_REVIEWER))
    assert 'href="/cases/RC-1/review/">Review<span class="vh"> RC-1</span>' in other


def test_evidence_past_its_time_says_so_and_that_nobody_lengthens_it_any_more(case: Case, everyone: User) -> None:
    set_to(case, evidence_expires_at=timezone.now() - timedelta(hours=1))
    html = page(everyone)
    assert "past its time" in html
    assert "Two people may lengthen it before that." in html


def test_a_flagged_blocking_case_is_said_to_keep_blocking(responders_case: Case, everyone: User) -> None:
    set_to(responders_case, stage=Stage.REPRODUCED, lane=LaneName.BLOCKING, flagged=True)
    html = page(everyone)
    assert "The case keeps blocking" in html
    assert "1 needs re-review, still blocks" in html


def test_a_changed_verdict_goes_once_it_was_seen(responders_case: Case, everyone: User) -> None:
    filled(responders_case, everyone)
    client = Client()
    client.force_login(everyone)
    row = Notification.objects.get()
    assert client.post(f"/notifications/{row.pk}/reading/", {"next": "/"}).headers["Location"] == "/"
    assert "Your cases whose verdict changed" not in page(everyone)


def test_a_long_list_shows_eight_and_says_how_many_more(responders_case: Case, everyone: User) -> None:
    set_to(responders_case, stage=Stage.IN_REVIEW)
    for number in range(9):
        case = factories.case(
            responders_case.project, responders_case.created_by, factories.fixture(case_id=f"case-{number}")
        )
        set_to(case, stage=Stage.IN_REVIEW)
    html = page(everyone)
    assert html.count(">Review<span") == 8
    assert ">2 more in review</a>" in html


# --- the strip and the chart ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"days": 6, "hours": 3}, "6 d 3 h"),
        ({"days": 12, "hours": 3}, "12 d"),
        ({"hours": 19, "minutes": 5}, "19 h"),
        ({"hours": 2, "minutes": 5}, "2 h 5 min"),
        ({"minutes": 4, "seconds": 59}, "4 min"),
        ({"seconds": -1}, "0 min"),
    ],
)
def test_a_span_is_said_in_its_largest_units(left: dict[str, int], said: str) -> None:
    assert home_page.span(timedelta(**left)) == said


def day(lane: str, at: date, **counts: int) -> lane_health.Day:
    none = {"held": 0, "violated": 0, "undetermined": 0, "environment": 0}
    return lane_health.Day(lane=lane, day=at, last=timezone.now(), **{**none, **counts})


def test_the_chart_has_a_band_a_lane_and_totals_that_add_up() -> None:
    today = timezone.localdate()
    days = [
        day("blocking", today - timedelta(days=1), held=10, violated=1),
        day("blocking", today, held=5, environment=2),
        day("nonblocking", today, undetermined=3),
        day("blocking", today - timedelta(days=14), held=99),
    ]
    health = home_page.health(days)
    assert [(band.lane, len(band.bars)) for band in health.bands] == [("nonblocking", 1), ("blocking", 2)]
    assert [(t.lane, t.held, t.violated, t.undetermined, t.environment) for t in health.totals] == [
        ("nonblocking", 0, 0, 3, 0),
        ("blocking", 15, 1, 0, 2),
    ]
    tall, low = health.bands[1].bars
    assert (tall.violated, low.violated) == (True, False)
    assert tall.held > low.held > 0
    assert health.bands[0].bars[0].held == 0


def test_a_run_that_could_not_start_is_neither_held_nor_violated() -> None:
    bar = home_page.health([day("blocking", timezone.localdate(), environment=4)]).bands[0].bars[0]
    assert (bar.held, bar.undetermined, bar.violated) == (0, 0, False)
    assert bar.environment > 0
