"""A redaction that took the bug with it is not approved; what is not known is not the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from replaycases.cases import evidence, gates, immutability, intake, jobs
from replaycases.cases.models import Case, Classification, FixtureRevision, Implementation, Provenance, Redaction, Run
from replaycases.redaction.record import Record
from replaycases.verdict.behaviour import differences
from replaycases.verdict.manifest import parse
from tests import factories, in_process
from tests.cases.gates.asking import ended, gate, override
from tests.factories import People

pytestmark = pytest.mark.django_db

# The bug shows only where owner and requester are one.
CODE = """
def replay(session):
    found = session.tools.call("refund.lookup", {"order": "o-1"})
    if found["owner"] == found["requester"]:
        session.finish(message="Your refund was completed.", status="done")
    else:
        session.finish(message="I could not confirm the refund yet.", status="open")
"""


def fixture(owner: str, requester: str) -> bytes:
    document = json.loads(factories.fixture())
    document["events"][0]["outcome"]["value"] = {"owner": owner, "requester": requester}
    return json.dumps(document).encode()


@pytest.fixture
def raw(of: People) -> Case:
    """Revision 1, and the version in which it happened."""
    made = factories.case(of.project, of.responder, fixture("c-1", "c-1"))
    affected = factories.implementation(of.project, of.engineer, CODE, version="7")
    Provenance.objects.create(case=made, affected=affected)
    return factories.fresh(made)


@pytest.fixture
def redacted(of: People, raw: Case) -> Case:
    """Revision 2, made of revision 1."""
    return with_revision(of, raw, fixture("s-9", "s-9"), source=factories.revision(raw))


def with_revision(of: People, case: Case, data: bytes, *, source: FixtureRevision | None) -> Case:
    added = intake.add_revision(of.responder, case=case, fixture=data)
    looked_at(of, added, source=source)
    return factories.fresh(case)


def looked_at(of: People, revision: FixtureRevision, *, source: FixtureRevision | None) -> Redaction:
    nothing = {"key": "00" * 32, "known": [], "record": Record().as_json()}
    kept = evidence.store(
        of.project,
        json.dumps(nothing).encode(),
        media_type=evidence.JSON_TYPE,
        classification=Classification.REDACTED,
    )
    return Redaction.objects.create(
        revision=revision,
        source=source,
        policy_digest="sha256:p",
        detectors="1",
        record=kept,
        mapping=kept,
        made_by=of.privacy,
        made_at=timezone.now(),
    )


def asked(of: People, case: Case, number: int, size: int = 2) -> list[Run]:
    revision = FixtureRevision.objects.select_related("case").get(case=case, number=number)
    affected: Implementation = case.provenance.affected
    runs = jobs.request_run_set(of.engineer, revision=revision, implementation=affected, size=size).runs
    return list(runs.order_by("number"))


def did(of: People, case: Case, number: int, *what: str, **more: Any) -> list[Run]:
    """Runs of the affected version on that revision, ended as violated, with these behaviours."""
    runs = asked(of, case, number, len(what))
    for run, behaviour in zip(runs, what, strict=True):
        ended(run, **{"status": "completed", "passed": False, "did": behaviour, **more})
    return runs


def equivalent(of: People, case: Case) -> gates.Gate:
    return gate(case, "redaction_approved", "equivalent", of.privacy)


# --- by what the replays did ------------------------------------------------------------------------------------------


def test_a_relation_that_was_kept_is_the_same_and_one_that_was_lost_keeps_the_redaction_from_being_approved(
    of: People, raw: Case
) -> None:
    first = factories.revision(raw)
    kept = with_revision(of, raw, fixture("s-9", "s-9"), source=first)
    before, after = asked(of, kept, 1)[0], asked(of, kept, 2)[0]
    in_process.replay_all()
    found = equivalent(of, kept)
    assert (found.state, found.detail) == (
        "satisfied",
        "agent 7 does on revision 2 what it did on revision 1, in 2 and 2 runs: the same violated checks, calls and "
        "counts of actions.",
    )
    lost = with_revision(of, kept, fixture("s-8", "s-9"), source=first)
    after = asked(of, lost, 3)[0]
    in_process.replay_all()
    found = equivalent(of, lost)
    assert (found.state, [shown.number for shown in found.evidence]) == (
        "unsatisfied",
        [before.number + 1, after.number + 1],
    )
    assert found.detail.startswith("The redacted revision shows another behaviour than revision 1")
    manifests = [parse(evidence.read(Run.objects.get(pk=run.pk).manifest)) for run in (before, after)]
    assert "Check completed: violated, now held." in differences(*manifests)
    with pytest.raises(gates.GatesClosed):
        gates.require_open(lost, "redaction_approved", actor=of.privacy)


NOT_THE_SAME: dict[str, tuple[list[str], list[str], str]] = {
    "nothing on the raw revision": ([], ["x", "x"], "has 0 results on revision 1, and 2 are needed"),
    "nothing on the redacted revision": (["x", "x"], [], "has 0 results on revision 2, and 2 are needed"),
    "once only": (["x", "x"], ["x"], "has 1 results on revision 2"),
    "varies on the raw revision": (["x", "y"], ["x", "x"], "The 2 runs on revision 1 differ"),
    "varies on the redacted revision": (["x", "x"], ["x", "y"], "The 2 runs on revision 2 differ"),
    "not kept": (["x", "x"], ["", ""], "is not kept"),
    "neither kept": (["", ""], ["", ""], "is not kept"),
    "another": (["x", "x"], ["y", "y"], "shows another behaviour than revision 1"),
}


@pytest.mark.parametrize("name", NOT_THE_SAME)
def test_what_is_not_known_to_be_the_same_is_not(of: People, redacted: Case, name: str) -> None:
    before, after, why = NOT_THE_SAME[name]
    for number, what in ((1, before), (2, after)):
        if what:
            did(of, redacted, number, *what)
    found = equivalent(of, redacted)
    assert (found.state, why in found.detail) == ("unsatisfied", True), found.detail
    assert found.remedy


def test_what_violates_nothing_on_the_raw_revision_shows_no_bug_that_could_be_kept(of: People, redacted: Case) -> None:
    for number in (1, 2):
        did(of, redacted, number, "x", "x", passed=None)
    found = equivalent(of, redacted)
    assert (found.state, "no bug is seen there" in found.detail) == ("unsatisfied", True)


def test_a_run_that_waits_or_came_to_nothing_is_waited_for_or_voided_and_that_is_said(
    of: People, redacted: Case
) -> None:
    did(of, redacted, 1, "x", "x")
    did(of, redacted, 2, "x", "x")
    did(of, redacted, 2, "y", status="environment_unavailable", passed=None)
    assert equivalent(of, redacted).state == "satisfied"
    (late,) = asked(of, redacted, 2, 1)
    assert equivalent(of, redacted).detail == "1 of 4 runs on revision 2 have not ended."
    held = jobs.lease(late.pk, worker="w")
    assert held is not None
    jobs.give_up(held, "no such host")
    assert equivalent(of, redacted).detail.startswith(f"Run {late.number} on revision 2 gave no result")
    jobs.void(of.qa, run_set=late.run_set, reason="A broken host.")
    found = equivalent(of, redacted)
    assert found.state == "satisfied"
    assert "voided a set of 1: A broken host." in found.detail


def test_runs_of_another_version_say_nothing_of_the_affected_one(of: People, redacted: Case) -> None:
    did(of, redacted, 1, "x", "x")
    did(of, redacted, 2, "x", "x")
    other = factories.implementation(of.project, of.engineer, factories.NEW_CODE, version="8")
    Provenance.objects.update(affected=other)
    assert equivalent(of, redacted).detail.startswith("agent 8 has 0 results on revision 1")
    Provenance.objects.update(affected=None)
    assert equivalent(of, redacted).detail == "The affected version is not recorded."


# --- by how the revision was made -------------------------------------------------------------------------------------


def test_a_first_revision_in_which_nothing_was_replaced_has_nothing_to_be_the_same_as(of: People, raw: Case) -> None:
    first = factories.revision(raw)
    for source in (None, first):
        looked_at(of, first, source=source)
        assert equivalent(of, raw).detail.startswith("Nothing was replaced")
        assert equivalent(of, raw).state == "not_applicable"


@pytest.mark.parametrize("itself", [False, True])
def test_a_later_revision_made_by_hand_is_red_itself(of: People, raw: Case, itself: bool) -> None:
    case = with_revision(of, raw, fixture("s-8", "s-9"), source=None)
    if itself:  # nothing had to be replaced in what was written by hand
        looked_at(of, factories.revision(case), source=factories.revision(case))
    assert equivalent(of, case).detail == "agent 7 was not replayed on this revision."
    jobs.request_comparison(of.engineer, revision=factories.revision(case), old=case.provenance.affected, new=None)
    in_process.replay_all()
    found = equivalent(of, case)
    assert (found.state, found.detail.startswith("agent 7 is not red")) == ("unsatisfied", True)


def test_a_redacted_revision_that_was_edited_by_hand_does_what_the_raw_one_did(of: People, redacted: Case) -> None:
    did(of, redacted, 1, "x", "x")
    did(of, redacted, 2, "x", "x")
    edited = with_revision(of, redacted, fixture("s-8", "s-9"), source=None)
    assert equivalent(of, edited).detail.startswith("agent 7 has 0 results on revision 3")
    did(of, edited, 3, "y", "y")
    found = equivalent(of, edited)
    assert found.detail.startswith("The redacted revision shows another behaviour than revision 1")
    assert found.remedy.startswith("Undo what was edited by hand")
    again = with_revision(of, edited, fixture("s-7", "s-7"), source=None)
    did(of, again, 4, "x", "x")
    assert equivalent(of, again).detail.startswith("agent 7 does on revision 4 what it did on revision 1")


def test_what_is_redacted_of_an_edited_redaction_does_what_the_raw_one_did(of: People, redacted: Case) -> None:
    did(of, redacted, 1, "x", "x")
    edited = with_revision(of, redacted, fixture("s-8", "s-9"), source=None)
    did(of, edited, 3, "y", "y")
    again = with_revision(of, edited, fixture("s-6", "s-9"), source=factories.revision(edited))
    did(of, again, 4, "y", "y")
    found = equivalent(of, again)
    assert (found.state, "another behaviour than revision 1" in found.detail) == ("unsatisfied", True)


def test_only_other_expectations_of_a_redacted_revision_ask_it_to_be_the_same_and_them_to_be_red(
    of: People, redacted: Case
) -> None:
    document = json.loads(fixture("s-9", "s-9"))
    document["expected"]["prohibited_claims"][0]["statement"] = "A refund that nobody made is told as made."
    edited = with_revision(of, redacted, json.dumps(document).encode(), source=None)
    did(of, edited, 1, "x", "x")
    assert equivalent(of, edited).detail.startswith("agent 7 has 0 results on revision 2")
    did(of, edited, 2, "x", "x")
    assert equivalent(of, edited).detail == "agent 7 was not replayed on this revision."
    jobs.request_comparison(of.engineer, revision=factories.revision(edited), old=edited.provenance.affected, new=None)
    in_process.replay_all()
    assert equivalent(of, edited).detail.startswith("agent 7 does on revision 2 what it did on revision 1")


def test_a_redacted_revision_stays_one_when_somebody_looks_at_it_again(of: People, redacted: Case) -> None:
    did(of, redacted, 1, "x", "x")
    did(of, redacted, 2, "y", "y")
    looked_at(of, factories.revision(redacted), source=None)
    assert equivalent(of, redacted).detail.startswith("The redacted revision shows another behaviour")


def test_a_revision_at_which_nobody_looked_has_no_raw_one_yet(of: People, redacted: Case) -> None:
    immutability.remove("default")
    Redaction.objects.all().delete()
    found = equivalent(of, redacted)
    assert (found.state, found.detail.startswith("Nobody looked yet")) == ("not_applicable", True)


# --- overrides --------------------------------------------------------------------------------------------------------


def never_red(of: People, case: Case) -> None:
    """Two people agree that red is missing on the current revision, in which the affected version held."""
    jobs.request_comparison(of.engineer, revision=factories.revision(case), old=case.provenance.affected, new=None)
    in_process.replay_all()
    Case.objects.filter(pk=case.pk).update(stage="in_review")
    override(of, case)


def test_where_red_was_never_there_nothing_can_be_the_same(of: People, redacted: Case) -> None:
    did(of, redacted, 1, "x", "x", passed=True)
    never_red(of, with_revision(of, redacted, fixture("s-8", "s-9"), source=source(redacted)))
    found = equivalent(of, factories.fresh(redacted))
    assert (found.state, found.detail) == (
        "not_applicable",
        "Two people agreed that red is missing: nothing can be the same as it.",
    )


def test_a_missing_red_does_not_excuse_a_redaction_whose_raw_revision_was_red(of: People, redacted: Case) -> None:
    did(of, redacted, 1, "x", "x")
    never_red(of, with_revision(of, redacted, fixture("s-8", "s-9"), source=source(redacted)))
    assert equivalent(of, factories.fresh(redacted)).state == "unsatisfied"


def source(case: Case) -> FixtureRevision:
    return FixtureRevision.objects.get(case=case, number=1)


def test_only_an_error_can_be_overridden() -> None:
    allowed = {
        state: gates.may_override("equivalent", state, "redaction_approved") for state in ("error", "unsatisfied")
    }
    assert allowed == {"error": True, "unsatisfied": False}


# --- cost -------------------------------------------------------------------------------------------------------------


def test_only_who_asks_for_it_pays_for_it(of: People, redacted: Case) -> None:
    with CaptureQueriesContext(connection) as queries:
        gates.gates_of(redacted, "in_review", actor=of.privacy)
    assert not [query["sql"] for query in queries if "cases_redaction" in query["sql"]]
    with CaptureQueriesContext(connection) as queries:
        gates.gates_of(redacted, "redaction_approved", actor=of.privacy)
    assert len(queries) <= 8
