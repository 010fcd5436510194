"""The comparison page: what it says, what it hides, and that only an earned verdict is green."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.test import Client

from replaycases.accounts.models import Project, User
from replaycases.cases import intake, jobs
from replaycases.cases.models import Case, Classification, Comparison, OutcomeType, RunSet, RunState
from tests import factories
from tests.web import recorded


def page(client: Client, comparison: Comparison, query: str = "") -> str:
    case = comparison.revision.case
    response = client.get(f"/cases/{case.readable_id}/comparisons/{comparison.number}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_a_fix_is_shown_from_red_to_green_with_its_first_divergence(
    signed_in: Client, case: Case, everyone: User
) -> None:
    html = page(signed_in, recorded.compared(case, everyone))
    assert 'class="badge big ok final"' in html
    assert (
        "agent 1 makes the claim “The refund was completed” (completed) in 2 of 2 runs; "
        "2 holds every check in 2 of 2 runs, on the same fixture."
    ) in html
    assert "First divergence: after call 1 refund.lookup, status done → open" in html
    assert '<a href="#outcome-status" data-key="d">Go to it</a>' in html
    assert '<tr class="chg" id="outcome-status">' in html
    assert "2 of 2 runs the same" in html


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (recorded.RED, recorded.RED, "Still failing"),
        (recorded.GREEN, recorded.GREEN, "Not reproduced"),
        (recorded.RED, recorded.DIVERGED, "Diverged"),
        (recorded.DIVERGED, recorded.GREEN, "Not reproduced"),
        (recorded.RED, recorded.says("Nothing to say."), "Still failing"),
    ],
)
def test_no_other_verdict_has_a_green_badge(
    signed_in: Client, case: Case, everyone: User, old: recorded.Script, new: recorded.Script, word: str
) -> None:
    html = page(signed_in, recorded.compared(case, everyone, old, new)).partition('id="labels"')[0]
    assert word in html
    assert 'class="badge ok' not in html
    assert 'class="badge big ok' not in html


def test_a_pass_without_isolation_is_not_green(signed_in: Client, case: Case, everyone: User) -> None:
    html = page(signed_in, recorded.compared(case, everyone, tier="process")).partition('id="labels"')[0]
    assert "Unisolated pass" in html
    assert 'class="badge big dunno"' in html
    assert 'class="badge ok' not in html


def test_a_divergence_from_the_recording_is_set_against_the_recording(
    signed_in: Client, case: Case, everyone: User
) -> None:
    html = page(signed_in, recorded.compared(case, everyone, new=recorded.DIVERGED))
    fork = html.partition('class="fork"')[2].partition("</section>")[0]
    assert "recorded" in fork
    assert re.search(r'<mark class="o">1</mark>', fork)
    assert re.search(r'<mark class="n">2</mark>', fork)
    assert 'href="#step-1"' in html
    assert "not answered: the run ended here" in re.sub(r"<[^>]+>", "", html)


def test_equal_rows_are_hidden_with_their_number_and_shown_on_request(
    signed_in: Client, case: Case, everyone: User
) -> None:
    comparison = recorded.compared(case, everyone)
    hidden = page(signed_in, comparison)
    number = re.search(r"only differences, (\d+) equal rows hidden", hidden)
    assert number is not None
    shown = page(signed_in, comparison, "?show=all")
    rows = shown.count("<tr") - hidden.count("<tr")
    assert rows == int(number[1]) > 0
    assert 'id="outcome-finish"' not in hidden + shown
    assert '<th scope="row" class="fld">network' in shown
    assert '<th scope="row" class="fld">network' not in hidden


def test_the_last_equal_call_before_the_divergence_is_shown_among_the_differences(
    signed_in: Client, project: Project, everyone: User
) -> None:
    event = json.loads(factories.fixture())["events"][0]
    events = [{**event, "seq": seq, "attempt": f"a-{seq}"} for seq in (1, 2)]
    case = factories.case(project, everyone, factories.fixture(events=events))
    calls = (recorded.LOOKUP, recorded.LOOKUP)
    old = recorded.says("Your refund was completed.", *calls, status="done")
    new = recorded.says("I could not confirm it.", *calls, status="open")
    html = page(signed_in, recorded.compared(case, everyone, old, new))
    assert 'id="step-2"' in html
    assert 'id="step-1"' not in html
    assert "after call 2 refund.lookup" in html


def test_a_new_version_that_still_fails_is_told_with_what_it_does(
    signed_in: Client, case: Case, everyone: User
) -> None:
    html = page(signed_in, recorded.compared(case, everyone, recorded.RED, recorded.RED))
    told = "agent 2 makes the claim “The refund was completed” (completed) in 2 of 2 runs, as agent 1 does, on the same"
    assert told in html


def test_a_new_version_that_fails_beside_the_boundary_is_not_said_to_fail_as_old_does(
    signed_in: Client, case: Case, everyone: User
) -> None:
    html = page(signed_in, recorded.compared(case, everyone, recorded.RED, recorded.says("Nothing to say.")))
    assert "agent 2 does not say “It is open” (open) in 2 of 2 runs on the same fixture." in html


def test_another_verdict_is_told_by_its_reason_with_the_versions(signed_in: Client, case: Case, everyone: User) -> None:
    html = page(signed_in, recorded.compared(case, everyone, recorded.GREEN, recorded.GREEN))
    assert "agent 1 against 2: Old did not reproduce the incident" in html


def test_controls_that_were_not_run_are_said_to_be_so(signed_in: Client, case: Case, everyone: User) -> None:
    html = page(signed_in, recorded.compared(case, everyone))
    assert "Controls: not run" in html
    assert "No gate accepts a verdict without them." in html


def test_while_runs_are_outstanding_there_is_progress_and_no_verdict(
    signed_in: Client, case: Case, everyone: User
) -> None:
    old = factories.implementation(case.project, everyone, factories.OLD_CODE, version="1")
    new = factories.implementation(case.project, everyone, factories.NEW_CODE, version="2")
    comparison = recorded.requested(case, everyone, old, new)
    recorded.end(comparison.runs()[0], recorded.RED)
    html = page(signed_in, comparison)
    assert "1 of 4 done" in html
    assert "place 1 in the queue" in html
    assert "Waiting for runs" in html
    assert "hx-get=" in html
    assert 'class="badge ok' not in html.partition('id="labels"')[0]


def test_progress_says_how_many_runs_were_asked_for_elsewhere(signed_in: Client, case: Case, everyone: User) -> None:
    first = recorded.compared(case, everyone)
    again = jobs.request_comparison(everyone, revision=first.revision, old=first.old, new=first.new, size=2)
    html = page(signed_in, again)
    assert "4 of 8 done" in html
    assert "4 of these were asked for elsewhere" in html


def test_compare_again_brings_the_same_two_versions(signed_in: Client, case: Case, everyone: User) -> None:
    comparison = recorded.compared(case, everyone)
    link = re.search(r'href="([^"]+)#request">Compare again', page(signed_in, comparison))
    assert link is not None
    form = signed_in.get(unescape(link[1])).content.decode()
    assert [f'value="{pk}" selected' in form for pk in (comparison.old_id, comparison.new_id)] == [True, True]


def test_the_page_asks_less_often_the_longer_it_waits(signed_in: Client, case: Case, everyone: User) -> None:
    old = factories.implementation(case.project, everyone, factories.OLD_CODE, version="1")
    new = factories.implementation(case.project, everyone, factories.NEW_CODE, version="2")
    comparison = recorded.requested(case, everyone, old, new)
    waits = ["", "?wait=3", "?wait=9", "?wait=10", "?wait=999", "?wait=0", "?wait=9999", "?wait=x", "?wait=-1"]
    delays = [re.search(r"load delay:(\d+)s", page(signed_in, comparison, query)) for query in waits]
    assert [int(found[1]) for found in delays if found] == [2, 3, 9, 10, 10, 2, 2, 2, 2]


def test_a_computed_page_asks_no_more(signed_in: Client, case: Case, everyone: User) -> None:
    assert "hx-get=" not in page(signed_in, recorded.compared(case, everyone))


def test_quarantined_manifests_are_withheld_from_who_may_not_read_them(
    looking: Client, project: Project, everyone: User
) -> None:
    case = factories.case(project, everyone, classification=Classification.QUARANTINED)
    html = page(looking, recorded.compared(case, everyone))
    assert "The manifests are quarantined evidence" in html
    assert "Verified red to green" in html
    assert "could not confirm the refund" not in html
    assert "The refund was completed" not in html.partition("<main")[2]
    assert "refund.lookup" not in html


def test_what_is_withheld_is_not_called_missing(looking: Client, project: Project, everyone: User) -> None:
    case = factories.case(project, everyone, classification=Classification.QUARANTINED)
    html = page(looking, recorded.compared(case, everyone)).partition('id="labels"')[0]
    assert "Withheld with the manifests" in html
    assert '<dd class="v">withheld</dd>' in html
    for untrue in ("not known yet", "no result yet", "no verdict to read", "not run", "Nothing yet about the fix"):
        assert untrue not in html


def test_runs_of_a_quarantined_case_stay_withheld_in_another_case_with_the_same_fixture(
    looking: Client, project: Project, everyone: User
) -> None:
    secret = factories.case(project, everyone, classification=Classification.QUARANTINED)
    first = recorded.compared(secret, everyone)
    assert first.old is not None
    assert first.new is not None
    other_bytes = json.dumps(json.loads(factories.fixture()), indent=1).encode()
    public = factories.case(project, everyone, other_bytes, classification=Classification.PUBLIC)
    second = recorded.finish(recorded.requested(public, everyone, first.old, first.new), recorded.RED, recorded.GREEN)
    html = page(looking, second)
    assert "The manifests are quarantined evidence" in html
    assert "could not confirm the refund" not in html


def test_a_crash_has_no_values_to_set_side_by_side(signed_in: Client, case: Case, everyone: User) -> None:
    html = page(signed_in, recorded.compared(case, everyone, new=recorded.CRASHED))
    assert "First divergence: the workflow crashed" in html
    assert 'class="fork"' not in html


def test_a_verdict_on_an_earlier_revision_says_so(signed_in: Client, case: Case, everyone: User) -> None:
    comparison = recorded.compared(case, everyone)
    intake.add_revision(everyone, case=case, fixture=factories.fixture(prompt_version="2"))
    assert "This compares revision 1. The case has a later one" in page(signed_in, comparison)


def test_a_voided_set_stays_listed_with_its_reason(signed_in: Client, case: Case, everyone: User) -> None:
    comparison = recorded.compared(case, everyone)
    jobs.void(everyone, run_set=comparison.runs()[0].run_set, reason="the worker's clock was wrong")
    html = page(signed_in, comparison)
    assert "Listed, not read" in html
    assert "the worker&#x27;s clock was wrong" in html
    assert "Verified red to green" not in html.partition('id="labels"')[0]


def test_cancelled_runs_of_a_control_are_listed(signed_in: Client, case: Case, everyone: User) -> None:
    intake.add_control(
        everyone,
        revision=factories.revision(case),
        name="confirmed",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="confirmed"),
    )
    factories.opened(case, everyone)
    comparison = recorded.compared(case, everyone)
    assert "Listed, not read" not in page(signed_in, comparison)
    again = jobs.request_comparison(
        everyone, revision=comparison.revision, old=comparison.old, new=comparison.new, size=2
    )
    jobs.cancel(everyone, subject=again)
    listed = page(signed_in, comparison).partition("Listed, not read")[2]
    assert "2 control runs: nothing is said of the implementation" in listed


def test_a_voided_set_of_a_control_is_listed_and_one_under_other_checks_is_not(
    signed_in: Client, case: Case, everyone: User
) -> None:
    intake.add_control(
        everyone,
        revision=factories.revision(case),
        name="confirmed",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="control-1"),
    )
    factories.opened(case, everyone)
    comparison = recorded.compared(case, everyone)
    on_control = comparison.sets_read().get(control__isnull=False)
    jobs.void(everyone, run_set=on_control, reason="the control was wrong")
    other_checks = RunSet.objects.create(
        project=on_control.project,
        revision=comparison.revision,
        implementation=comparison.new,
        size=1,
        fixture_hash=comparison.revision.fixture_hash,
        checks_hash="sha256:other",
        requested_by=everyone,
    )
    jobs.void(everyone, run_set=other_checks, reason="judged by other rules")
    html = page(signed_in, comparison)
    assert "the control was wrong" in html
    assert "judged by other rules" not in html


def test_cancelling_keeps_what_had_finished(signed_in: Client, case: Case, everyone: User) -> None:
    old = factories.implementation(case.project, everyone, factories.OLD_CODE, version="1")
    new = factories.implementation(case.project, everyone, factories.NEW_CODE, version="2")
    comparison = recorded.requested(case, everyone, old, new)
    recorded.end(comparison.runs()[0], recorded.RED)
    address = f"/cases/{case.readable_id}/comparisons/{comparison.number}/cancellation/"
    assert signed_in.post(address).status_code == 302
    states = sorted(comparison.runs().values_list("state", flat=True))
    assert states == [RunState.CANCELLED, RunState.CANCELLED, RunState.CANCELLED, RunState.FINISHED]


def test_cancelling_is_offered_only_for_runs_that_the_comparison_asked_for(
    signed_in: Client, case: Case, everyone: User
) -> None:
    old = factories.implementation(case.project, everyone, factories.OLD_CODE, version="1")
    new = factories.implementation(case.project, everyone, factories.NEW_CODE, version="2")
    mine, theirs = (recorded.requested(case, everyone, old, new) for _ in range(2))
    assert 'id="cancel"' in page(signed_in, mine)
    jobs.cancel(everyone, subject=mine)
    waiting = page(signed_in, mine)
    assert "4 of 8 done" in waiting
    assert 'id="cancel"' not in waiting
    assert 'id="cancel"' in page(signed_in, theirs)


def test_a_comparison_is_requested_by_the_form(signed_in: Client, case: Case, everyone: User) -> None:
    old = factories.implementation(case.project, everyone, factories.OLD_CODE, version="1")
    new = factories.implementation(case.project, everyone, factories.NEW_CODE, version="2")
    form = {"old": old.pk, "new": new.pk, "size": 3, "with_controls": "on"}
    response = signed_in.post(f"/cases/{case.readable_id}/comparisons/", form)
    comparison = Comparison.objects.get()
    assert response.headers["Location"] == f"/cases/{case.readable_id}/comparisons/{comparison.number}/"
    assert comparison.runs().count() == 6
    assert comparison.with_controls


def test_one_side_alone_is_requested_by_the_form_and_none_is_refused(
    signed_in: Client, case: Case, everyone: User
) -> None:
    affected = factories.implementation(case.project, everyone, factories.OLD_CODE, version="1")
    address = f"/cases/{case.readable_id}/comparisons/"
    refused = signed_in.post(address, {"size": 2})
    assert (refused.status_code, b"Choose at least one implementation." in refused.content) == (422, True)
    asked = signed_in.post(address, {"old": affected.pk, "size": 2, "with_controls": "on"}, follow=True)
    assert asked.status_code == 200
    comparison = Comparison.objects.get()
    assert (comparison.old, comparison.new, comparison.runs().count()) == (affected, None, 2)


@pytest.mark.parametrize("size", ["1", "0", "51", "x", ""])
def test_a_run_set_of_fewer_than_two_or_more_than_fifty_is_refused(
    signed_in: Client, case: Case, everyone: User, size: str
) -> None:
    old = factories.implementation(case.project, everyone, factories.OLD_CODE, version="1")
    new = factories.implementation(case.project, everyone, factories.NEW_CODE, version="2")
    response = signed_in.post(f"/cases/{case.readable_id}/comparisons/", {"old": old.pk, "new": new.pk, "size": size})
    assert response.status_code == 422
    assert b"errorlist" in response.content
    assert not Comparison.objects.exists()


def test_the_same_code_on_both_sides_is_refused(signed_in: Client, case: Case, everyone: User) -> None:
    one = factories.implementation(case.project, everyone, version="1")
    response = signed_in.post(f"/cases/{case.readable_id}/comparisons/", {"old": one.pk, "new": one.pk, "size": 2})
    assert response.status_code == 422
    assert b"Old and new are the same code" in response.content


def test_a_closed_case_takes_no_comparison(signed_in: Client, case: Case, everyone: User) -> None:
    Case.objects.filter(pk=case.pk).update(stage="retired")
    response = signed_in.post(f"/cases/{case.readable_id}/comparisons/", {})
    assert response.status_code == 409
    assert b"The case is retired." in response.content
