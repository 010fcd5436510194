from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import comments, intake, lifecycle
from replaycases.cases.models import Case, Classification, Decision, DecisionKind, Stage
from tests import factories
from tests.web.conftest import client_of

REVIEW = "/cases/RC-1/review/"
APPROVE = f"{REVIEW}redaction-approval/"
RETURN = f"{REVIEW}redaction-return/"
EXPECT = f"{REVIEW}expectation-approval/"


@pytest.fixture
def waiting(project: Project, responder: User) -> Case:
    """Submitted, in quarantine, by somebody who only captures."""
    made = factories.case(project, responder, classification=Classification.QUARANTINED)
    return in_stage(made, Stage.IN_REVIEW)


def in_stage(case: Case, stage: Stage) -> Case:
    """As if it had come there: what leads to it is tested elsewhere."""
    Case.objects.filter(pk=case.pk).update(stage=stage)
    case.refresh_from_db()
    return case


def words(response: Any) -> str:
    return str(response.content.decode())


def seen(case: Case, **more: Any) -> dict[str, Any]:
    shown = factories.revision(case)
    return {
        "revision": shown.number,
        "content_hash": shown.content_hash,
        "fixture_hash": shown.fixture_hash,
        "checks_hash": shown.checks_hash,
        **more,
    }


def test_the_page_says_what_is_to_be_decided_with_its_hashes(waiting: Case, reviewer: User) -> None:
    factories.opened(waiting, reviewer)
    html = words(client_of(reviewer).get(REVIEW))
    shown = factories.revision(waiting)
    assert "Redaction of revision 1" in html
    assert "Expectation of revision 1" in html
    assert shown.content_hash in html
    assert shown.checks_hash in html
    assert "The reply never says: “The refund was completed.”" in html
    assert "The incident" in html


def test_the_capturer_is_told_beside_the_button_why_not(waiting: Case, responder: User, project: Project) -> None:
    another = factories.everyone(project)
    factories.see_everything(another, waiting)
    assert "You cannot approve:" not in words(client_of(another).get(REVIEW))
    factories.person(project, Role.VIEWER)
    both = client_of(responder)
    from replaycases.accounts.models import Membership

    Membership.objects.create(project=project, user=responder, role=Role.PRIVACY_REVIEWER)
    html = words(both.get(REVIEW))
    assert "You captured this case. Somebody else approves it." in html
    assert both.post(APPROVE, seen(waiting)).status_code == 403


def test_a_case_without_a_fixture_has_nothing_to_review(signed_in: Client, project: Project, everyone: User) -> None:
    intake.create_case(everyone, project=project, **factories.STATEMENT)
    assert "Nothing to review yet" in words(signed_in.get(REVIEW))


def test_who_cannot_read_the_evidence_decides_nothing_about_it(waiting: Case, owner: User) -> None:
    client = client_of(owner)
    html = words(client.get(REVIEW))
    assert "You cannot read what it covers" in html
    assert "The refund was completed" not in html.replace(waiting.prohibited_outcome, "")
    assert client.post(EXPECT, seen(waiting)).status_code == 403
    assert not Decision.objects.exists()


def test_approving_takes_two_steps_and_shows_hash_and_counts(waiting: Case, reviewer: User) -> None:
    factories.see_everything(reviewer, waiting)
    client = client_of(reviewer)
    html = words(client.get(REVIEW))
    address = re.search(r'href="(/cases/RC-1/review/redaction-approval/[^"]+)"', html)
    assert address is not None
    confirm = words(client.get(address[1].replace("&amp;", "&")))
    assert factories.revision(waiting).content_hash[7:23] in confirm
    assert "<dt>Events</dt><dd>1</dd>" in confirm
    assert not Decision.objects.exists()


def test_a_closed_gate_refuses_and_nothing_is_approved(waiting: Case, reviewer: User) -> None:
    comments.add(reviewer, revision=factories.revision(waiting), pointer="/events/0", text="Whose?")
    factories.see_everything(reviewer, waiting)
    client = client_of(reviewer)
    assert "block" in words(client.get(REVIEW))
    answer = client.post(APPROVE, seen(waiting))
    assert answer.status_code == 409
    assert "omment" in words(answer)
    assert not Decision.objects.exists()


def test_a_reviewer_approves_what_was_shown(waiting: Case, reviewer: User, open_gates: None) -> None:
    factories.see_everything(reviewer, waiting)
    answer = client_of(reviewer).post(APPROVE, seen(waiting, note="Looked at every value."))
    assert answer.headers["Location"] == REVIEW
    decision = Decision.objects.get()
    assert (decision.kind, decision.decided_by, decision.note) == ("redaction", reviewer, "Looked at every value.")
    waiting.refresh_from_db()
    assert waiting.stage == Stage.REDACTION_APPROVED


@pytest.mark.parametrize("field", ["revision", "content_hash"])
def test_a_change_between_page_and_post_is_a_conflict(
    waiting: Case, reviewer: User, open_gates: None, field: str
) -> None:
    before = seen(waiting)
    stale = {**before, field: 7 if field == "revision" else "sha256:" + "0" * 64}
    answer = client_of(reviewer).post(APPROVE, stale)
    assert answer.status_code == 409
    assert client_of(reviewer).get(APPROVE, stale).status_code == 409
    assert not Decision.objects.exists()


def test_a_new_revision_between_page_and_post_is_a_conflict(
    waiting: Case, reviewer: User, responder: User, open_gates: None
) -> None:
    before = seen(waiting)
    intake.add_revision(responder, case=waiting, fixture=factories.fixture(input={"order": "o-2"}))
    assert client_of(reviewer).post(APPROVE, before).status_code == 409
    assert not Decision.objects.exists()


def test_a_return_needs_a_reason_and_shows_it(waiting: Case, reviewer: User) -> None:
    client = client_of(reviewer)
    refused = client.post(RETURN, seen(waiting, note=""))
    assert refused.status_code == 422
    assert client.post(RETURN, seen(waiting, note="A name stands in the note.")).status_code == 302
    html = words(client.get(REVIEW))
    assert "returned" in html
    assert "A name stands in the note." in html


def test_the_owner_approves_the_expectation_once_it_can_be_read(project: Project, responder: User, owner: User) -> None:
    case = in_stage(factories.case(project, responder), Stage.IN_REVIEW)
    client = client_of(owner)
    confirm = words(client.get(EXPECT, {key: seen(case)[key] for key in ("revision", "fixture_hash", "checks_hash")}))
    assert case.prohibited_outcome in confirm
    assert client.post(EXPECT, {**seen(case), "checks_hash": "sha256:" + "1" * 64}).status_code == 409
    assert client.post(EXPECT, seen(case)).status_code == 302
    assert Decision.objects.get().kind == DecisionKind.EXPECTATION
    assert "The expectation is approved by" in words(client.get(REVIEW))
    assert "Approve the expectation" not in words(client.get(REVIEW))


def test_the_expectation_is_returned_with_a_reason(project: Project, responder: User, owner: User) -> None:
    case = in_stage(factories.case(project, responder), Stage.IN_REVIEW)
    client = client_of(owner)
    assert client.post(f"{REVIEW}expectation-return/", seen(case, note="")).status_code == 422
    assert client.post(f"{REVIEW}expectation-return/", seen(case, note="Too narrow.")).status_code == 302
    assert Decision.objects.get().note == "Too narrow."


def test_since_my_approval_is_what_a_reviewer_sees_first(
    waiting: Case, reviewer: User, responder: User, open_gates: None
) -> None:
    client = client_of(reviewer)
    factories.see_everything(reviewer, waiting)
    client.post(APPROVE, seen(waiting))
    for order in ("o-2", "o-3"):
        waiting.refresh_from_db()
        intake.add_revision(responder, case=waiting, fixture=factories.fixture(input={"order": order}))
    factories.opened(waiting, reviewer)
    html = words(client.get(REVIEW))
    assert "Since you approved revision 1" in html
    assert "o-<mark" in html
    assert "Redaction approval voided" in words(client.get("/cases/RC-1/revisions/"))


def test_who_has_not_approved_one_sees_what_changed_since_somebody_did(
    waiting: Case, reviewer: User, responder: User, open_gates: None
) -> None:
    factories.see_everything(reviewer, waiting)
    client_of(reviewer).post(APPROVE, seen(waiting))
    for order in ("o-2", "o-3"):
        waiting.refresh_from_db()
        added = intake.add_revision(responder, case=waiting, fixture=factories.fixture(input={"order": order}))
    other = factories.person(waiting.project, Role.PRIVACY_REVIEWER)
    factories.opened(waiting, other)
    assert f"Since {reviewer} approved revision 1" in words(client_of(other).get(REVIEW))
    assert f"revision 1, approved by {reviewer}" in words(client_of(other).get(APPROVE))
    factories.opened(waiting, responder)
    told = client_of(responder).get(f"/api/v1/revisions/{added.pk}/differences/").json()
    assert (told["before"], told["approved"]) == (str(waiting.revisions.get(number=1).pk), True)


def test_a_revision_before_which_none_was_approved_is_read_whole(
    waiting: Case, reviewer: User, responder: User
) -> None:
    intake.add_revision(responder, case=waiting, fixture=factories.fixture(input={"order": "o-2"}))
    factories.opened(waiting, reviewer)
    html = words(client_of(reviewer).get(REVIEW))
    assert "To be read: the whole of revision 2" in html
    assert 'id="/events/0/outcome' in html  # the same in both
    assert "what differs from revision 1, which nobody approved" in html
    assert "all of revision 2" in words(client_of(reviewer).get(APPROVE))


def test_an_approval_that_was_taken_back_is_nothing_to_begin_from(
    waiting: Case, reviewer: User, responder: User, open_gates: None
) -> None:
    factories.see_everything(reviewer, waiting)
    client_of(reviewer).post(APPROVE, seen(waiting))
    lifecycle.send_back(reviewer, case=waiting, reason="A name was left.")
    intake.add_revision(responder, case=factories.fresh(waiting), fixture=factories.fixture(input={"order": "o-2"}))
    factories.opened(waiting, reviewer)
    assert "To be read: the whole of revision 2" in words(client_of(reviewer).get(REVIEW))


def test_who_approved_an_expectation_alone_read_no_content(
    project: Project, responder: User, owner: User, reviewer: User
) -> None:
    case = in_stage(factories.case(project, responder), Stage.IN_REVIEW)
    client_of(owner).post(EXPECT, seen(case))
    intake.add_revision(responder, case=factories.fresh(case), fixture=factories.fixture(input={"order": "o-2"}))
    factories.opened(case, reviewer)
    assert "To be read: the whole of revision 2" in words(client_of(reviewer).get(REVIEW))


def test_a_control_is_looked_at_and_approved_by_itself(project: Project, responder: User, reviewer: User) -> None:
    case = in_stage(factories.case(project, responder), Stage.IN_REVIEW)
    control = factories.control(factories.revision(case), responder)
    client = client_of(reviewer)
    address = f"/cases/RC-1/controls/{control.pk}/approval/"
    html = words(client.get(address))
    assert "/events/0/outcome/value/state" in html
    assert client.post(address, {"fixture_hash": "sha256:" + "0" * 64}).status_code == 409
    assert client.post(address, {"fixture_hash": control.fixture_hash}).status_code == 302
    assert Decision.objects.get().control == control
    assert client.post(address, {"fixture_hash": control.fixture_hash}).status_code == 409


def test_the_author_of_a_control_does_not_approve_it(project: Project, responder: User) -> None:
    case = in_stage(factories.case(project, responder), Stage.IN_REVIEW)
    helper = factories.everyone(project)
    control = factories.control(factories.revision(case), helper)
    address = f"/cases/RC-1/controls/{control.pk}/approval/"
    client = client_of(helper)
    assert "You added this control. Somebody else approves it." in words(client.get(address))
    assert client.post(address, {"fixture_hash": control.fixture_hash}).status_code == 403


def test_the_queue_hands_out_what_expires_first(project: Project, responder: User, reviewer: User) -> None:
    for number, days in ((1, 9), (2, 2), (3, 5)):
        made = factories.case(project, responder, factories.fixture(case_id=f"case-{number}"))
        Case.objects.filter(pk=in_stage(made, Stage.IN_REVIEW).pk).update(
            evidence_expires_at=timezone.now() + timedelta(days=days)
        )
    html = words(client_of(reviewer).get("/reviews/"))
    assert re.findall(r'class="id">(RC-\d)', html) == ["RC-2", "RC-3", "RC-1"]
    assert "3 wait for you" in html


def test_the_queue_marks_own_work_and_what_waits_for_others(
    project: Project, waiting: Case, responder: User, reviewer: User
) -> None:
    assert "your own work" in words(client_of(responder).get("/reviews/"))
    qa = client_of(factories.person(project, Role.QA))
    assert "Nothing waits for you" in words(qa.get("/reviews/"))
    assert "RC-1" in words(qa.get("/reviews/?show=all"))


def test_a_case_whose_control_is_not_approved_waits_for_who_reviews_and_not_for_who_added_it(
    project: Project, waiting: Case, responder: User, reviewer: User
) -> None:
    in_stage(waiting, Stage.REPRODUCED)
    Case.objects.update(expectation_approved=True)
    shown = factories.revision(waiting)
    assert "RC-1" not in words(client_of(reviewer).get("/reviews/?show=all"))
    control = factories.control(shown, responder)
    assert '<td class="nw">1 control</td>' in words(client_of(reviewer).get("/reviews/"))
    assert "your own work" in words(client_of(responder).get("/reviews/"))
    lifecycle.approve_control(reviewer, control=control, fixture_hash=control.fixture_hash, note="")
    assert "RC-1" not in words(client_of(reviewer).get("/reviews/?show=all"))


def test_the_queue_is_empty_without_cases(signed_in: Client) -> None:
    assert "Nothing waits for you" in words(signed_in.get("/reviews/"))
    assert "No decision waits" in words(signed_in.get("/reviews/?show=all"))


def test_the_queue_of_a_stranger_holds_nothing(waiting: Case) -> None:
    elsewhere = factories.project("XX")
    assert "RC-1" not in words(client_of(factories.everyone(elsewhere)).get("/reviews/?show=all"))


def test_the_queue_takes_few_queries_whatever_its_length(project: Project, responder: User, reviewer: User) -> None:
    client = client_of(reviewer)
    for number in range(6):
        in_stage(factories.case(project, responder, factories.fixture(case_id=f"case-{number}")), Stage.IN_REVIEW)
        with CaptureQueriesContext(connection) as captured:
            assert client.get("/reviews/").status_code == 200
        assert len(captured) <= 12


def test_no_page_approves_many_redactions_at_once(project: Project, responder: User, reviewer: User) -> None:
    for number in range(2):
        in_stage(factories.case(project, responder, factories.fixture(case_id=f"case-{number}")), Stage.IN_REVIEW)
    html = words(client_of(reviewer).get("/reviews/"))
    assert 'type="checkbox"' not in html
    assert "approval/" not in html


@pytest.fixture
def open_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red, containment and the rest hold: what they ask for is tested with the gates."""
    monkeypatch.setattr("replaycases.cases.gates.gates_of", lambda *args, **kwargs: [])
