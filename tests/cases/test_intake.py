from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import intake, policies, texts
from replaycases.cases.models import Case, Control, FixtureRevision, OutcomeType, Payload, Stage
from replaycases.cases.neighbours import PLACEHOLDERS
from replaycases.fixture.findings import FixtureInvalid
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor() -> User:
    return factories.everyone(factories.project())


@pytest.fixture
def case(actor: User) -> Case:
    return factories.case(actor.memberships.first().project, actor)


def test_a_case_begins_in_quarantine_with_its_first_revision(case: Case) -> None:
    assert (case.readable_id, case.stage, case.case_id) == ("RC-1", Stage.QUARANTINED, "refund-claimed")
    assert factories.revision(case).number == 1


def test_numbers_count_in_each_project(actor: User, case: Case) -> None:
    again = factories.case(case.project, actor, factories.fixture(case_id="other"))
    elsewhere = factories.project("OTHER")
    foreign = factories.case(elsewhere, factories.everyone(elsewhere))
    assert (again.readable_id, foreign.readable_id) == ("RC-2", "OTHER-1")


def test_an_invalid_fixture_leaves_nothing_behind(actor: User) -> None:
    project = actor.memberships.first().project
    with pytest.raises(FixtureInvalid):
        factories.case(project, actor, b'{"schema_version": "2.0"}')
    assert not Case.objects.exists()
    assert not Payload.objects.exists()


def opened(actor: User, **changes: Any) -> Case:
    """A case that one member opens; `changes` replace what `create_case` takes."""
    return intake.create_case(actor, **{"project": actor.memberships.first().project, **factories.STATEMENT, **changes})


@pytest.mark.parametrize("text", ["", "   ", "the answer was bad", "see ticket 17"])
@pytest.mark.parametrize("part", ["trigger", "prohibited_outcome", "deciding_evidence"])
def test_a_failure_statement_with_an_empty_or_vague_part_is_refused_by_name(actor: User, part: str, text: str) -> None:
    with pytest.raises(ValidationError) as refused:
        opened(actor, **{part: text})
    assert list(refused.value.message_dict) == [part]
    assert not Case.objects.exists()


@pytest.mark.parametrize(
    ("field", "cap"), [("title", texts.TITLE_CAP), ("incident_id", texts.NAME_CAP), ("trigger", texts.TEXT_CAP)]
)
def test_text_that_is_too_long_is_refused_and_not_cut(actor: User, field: str, cap: int) -> None:
    with pytest.raises(ValidationError) as refused:
        opened(actor, **{field: "long word " * cap})
    assert list(refused.value.message_dict) == [field]


def test_text_that_a_column_cannot_hold_is_shown_as_escapes(actor: User) -> None:
    case = opened(actor, title="nul \x00 lone \ud800")
    assert Case.objects.get(pk=case.pk).title == "nul \\u0000 lone \\ud800"


def test_a_case_may_be_opened_before_there_is_a_fixture(actor: User) -> None:
    case = opened(actor, reported_symptom="The customer says that no money came.", security_incident=True)
    kept = Case.objects.get(pk=case.pk)
    assert (kept.stage, kept.case_id, kept.current_revision, kept.evidence_expires_at) == (
        "quarantined",
        "",
        None,
        None,
    )
    assert (kept.reported_symptom, kept.security_incident) == ("The customer says that no money came.", True)


def test_the_first_revision_names_a_blank_case_and_later_ones_keep_the_name(actor: User) -> None:
    case = opened(actor)
    intake.add_revision(actor, case=case, fixture=factories.fixture(case_id="named"), seen_revision=0)
    case.refresh_from_db()
    assert (case.case_id, factories.revision(case).number) == ("named", 1)
    with pytest.raises(ValidationError):
        intake.add_revision(actor, case=case, fixture=factories.fixture(case_id="renamed"))


# --- evidence ends ---------------------------------------------------------------------------------------------------


def test_quarantined_evidence_ends_with_the_retention_of_its_project(actor: User) -> None:
    case = opened(actor, fixture=factories.fixture())
    kept = case.created_at + timedelta(days=case.project.retention_days)
    assert case.evidence_expires_at is not None
    assert abs(case.evidence_expires_at - kept) < timedelta(minutes=1)
    assert factories.revision(case).payload.expires_at == case.evidence_expires_at


def test_evidence_may_end_sooner(actor: User) -> None:
    case = opened(actor, fixture=factories.fixture(), evidence_days=2)
    assert case.evidence_expires_at is not None
    assert case.evidence_expires_at < case.created_at + timedelta(days=3)


@pytest.mark.parametrize("days", [0, -1, 31])
def test_evidence_never_lives_longer_than_its_project_keeps_any(actor: User, days: int) -> None:
    with pytest.raises(ValidationError, match="1 to 30 days"):
        opened(actor, fixture=factories.fixture(), evidence_days=days)
    assert not Payload.objects.exists()


def test_what_comes_later_ends_with_the_rest_of_the_case(actor: User) -> None:
    case = opened(actor, fixture=factories.fixture(), evidence_days=2)
    revision = intake.add_revision(actor, case=case, fixture=factories.fixture(prompt_version="2"))
    control = intake.add_control(
        actor,
        revision=revision,
        name="confirmed",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="control-1"),
        mutation=factories.MUTATION,
    )
    assert control.mutation is not None
    kept = {payload.expires_at for payload in (revision.payload, control.payload, control.mutation)}
    assert kept == {case.evidence_expires_at}


def test_a_control_is_neither_the_incident_nor_another_control_again(actor: User, case: Case) -> None:
    revision = factories.revision(case)
    factories.control(revision, actor, name="confirmed")
    add = partial(intake.add_control, actor, revision=revision, name="late", outcome_type=OutcomeType.TIMEOUT)
    with pytest.raises(ValidationError, match="the incident itself"):
        add(fixture=factories.fixture(), mutation=factories.MUTATION)
    with pytest.raises(ValidationError, match="the control confirmed again"):
        add(fixture=factories.control_fixture("confirmed"), mutation=factories.MUTATION)
    renamed = {**json.loads(factories.control_fixture("confirmed")), "case_id": "late", "incident_id": "INC-2"}
    renamed["recorded_by"] = {"commit": "abc", "recorder": "another"}
    with pytest.raises(ValidationError, match="the control confirmed again"):
        add(fixture=json.dumps(renamed, indent=2).encode(), mutation=factories.MUTATION)
    assert revision.controls.count() == 1
    later = {**renamed, "frozen_at": "2025-03-01T10:00:01+01:00"}  # where the time matters, another way
    assert add(fixture=json.dumps(later).encode(), mutation=factories.MUTATION).name == "late"


def test_the_first_quarantined_bytes_of_a_blank_case_give_it_an_end(actor: User) -> None:
    case = opened(actor)
    revision = intake.add_revision(actor, case=case, fixture=factories.fixture())
    case.refresh_from_db()
    assert case.evidence_expires_at is not None
    assert revision.payload.expires_at == case.evidence_expires_at


def test_redacted_bytes_do_not_end(actor: User, case: Case) -> None:
    assert (case.evidence_expires_at, factories.revision(case).payload.expires_at) == (None, None)


# --- on somebody's behalf --------------------------------------------------------------------------------------------


def test_a_case_is_captured_on_behalf_of_another_member(actor: User) -> None:
    other = factories.person(actor.memberships.first().project, Role.VIEWER)
    case = opened(actor, fixture=factories.fixture(), on_behalf_of=other)
    assert (case.on_behalf_of, factories.revision(case).on_behalf_of) == (other, other)


def test_nobody_is_captured_for_who_is_not_a_member(actor: User, case: Case) -> None:
    stranger = factories.person(factories.project("OTHER"), Role.RESPONDER)
    left = factories.person(case.project, Role.RESPONDER)
    left.is_active = False
    for behalf in (actor, stranger, left):
        with pytest.raises(ValidationError) as refused:
            opened(actor, on_behalf_of=behalf)
        assert list(refused.value.message_dict) == ["on_behalf_of"]
        with pytest.raises(ValidationError):
            intake.add_revision(actor, case=case, fixture=factories.fixture(prompt_version="2"), on_behalf_of=behalf)
    assert case.revisions.count() == 1


# --- who may do what -------------------------------------------------------------------------------------------------


def test_only_a_responder_creates_cases(actor: User) -> None:
    project = actor.memberships.first().project
    with pytest.raises(PermissionDenied):
        factories.case(project, factories.person(project, Role.WORKFLOW_ENGINEER))


def test_a_new_revision_becomes_the_current_one_and_leaves_the_first(actor: User, case: Case) -> None:
    first = factories.revision(case)
    second = intake.add_revision(actor, case=case, fixture=factories.fixture(incident_id="INC-2"))
    case.refresh_from_db()
    assert case.current_revision == second
    assert second.number == 2
    assert list(case.revisions.order_by("number")) == [first, second]


def test_a_revision_of_another_case_is_refused(actor: User, case: Case) -> None:
    with pytest.raises(ValidationError):
        intake.add_revision(actor, case=case, fixture=factories.fixture(case_id="other"))


def test_a_revision_that_changes_nothing_is_refused(actor: User, case: Case) -> None:
    reordered = json.dumps(json.loads(factories.fixture()), sort_keys=True, indent=1).encode()
    with pytest.raises(ValidationError, match="Nothing is changed"):
        intake.add_revision(actor, case=case, fixture=reordered)
    assert case.revisions.count() == 1


def test_a_revision_of_what_is_not_current_any_more_is_refused(actor: User, case: Case) -> None:
    intake.add_revision(actor, case=case, fixture=factories.fixture(prompt_version="2"), seen_revision=1)
    with pytest.raises(policies.SeenAnother):
        intake.add_revision(actor, case=case, fixture=factories.fixture(prompt_version="3"), seen_revision=1)
    assert case.revisions.count() == 2


def test_a_revision_says_what_its_author_changed(actor: User, case: Case) -> None:
    intake.add_revision(actor, case=case, fixture=factories.fixture(prompt_version="2"), changed=" Prompt 2. ")
    assert case.revisions.get(number=2).changed == "Prompt 2."


def test_a_workflow_engineer_changes_what_is_expected_and_nothing_else(actor: User, case: Case) -> None:
    engineer = factories.person(case.project, Role.WORKFLOW_ENGINEER, Role.QA)
    with pytest.raises(PermissionDenied, match="only what is expected"):
        intake.add_revision(engineer, case=case, fixture=factories.fixture(prompt_version="2"))
    revision = intake.add_revision(engineer, case=case, fixture=factories.fixture(expected=factories.EXPECTED_MORE))
    assert (revision.number, revision.created_by) == (2, engineer)


def test_a_workflow_engineer_does_not_bring_the_first_fixture(actor: User) -> None:
    case = opened(actor)
    engineer = factories.person(case.project, Role.WORKFLOW_ENGINEER)
    with pytest.raises(PermissionDenied):
        intake.add_revision(engineer, case=case, fixture=factories.fixture())
    assert not case.revisions.exists()


# --- controls --------------------------------------------------------------------------------------------------------


def effects(*tools: str, case_id: str = "refund-claimed") -> bytes:
    """A fixture in which each of the tools has an effect."""
    events = json.loads(factories.fixture())["events"]
    for seq, tool in enumerate(tools, 2):
        events.append(
            {**events[0], "seq": seq, "attempt": f"a-{seq}", "tool": tool, "effect": {"action": tool, "accepted": True}}
        )
    return factories.fixture(events=events, case_id=case_id)


def shown(actor: User, revision: FixtureRevision, fixture: bytes, tool: str) -> str:
    control = intake.add_control(
        actor, revision=revision, name="c", outcome_type=OutcomeType.SUCCESS, fixture=fixture, tool=tool
    )
    return control.tool


def test_a_control_that_was_written_from_another_revision_is_refused(actor: User, case: Case) -> None:
    revision = factories.revision(case)
    said = {"name": "c", "outcome_type": OutcomeType.SUCCESS, "fixture": factories.fixture(case_id="c")}
    with pytest.raises(policies.SeenAnother, match="Revision 1 is the current one, and you wrote from 2"):
        intake.add_control(actor, revision=revision, seen_revision=2, **said)
    assert intake.add_control(actor, revision=revision, seen_revision=1, **said).name == "c"


def test_a_control_is_about_the_only_tool_that_has_an_effect(actor: User) -> None:
    revision = factories.revision(opened(actor, fixture=effects("pay")))
    assert revision.effectful_tools == ["pay"]
    assert shown(actor, revision, effects("pay", case_id="c"), "") == "pay"


def test_of_several_tools_with_an_effect_a_control_names_one(actor: User) -> None:
    revision = factories.revision(opened(actor, fixture=effects("pay", "ship")))
    for tool in ("", "refund.lookup", "unknown"):
        with pytest.raises(ValidationError, match="pay, ship"):
            shown(actor, revision, effects("pay", case_id="c"), tool)
    assert shown(actor, revision, effects("pay", case_id="c"), "pay") == "pay"


def test_a_control_names_a_tool_that_its_own_fixture_uses(actor: User) -> None:
    revision = factories.revision(opened(actor, fixture=effects("pay", "ship")))
    with pytest.raises(ValidationError, match="does not use ship"):
        shown(actor, revision, effects("pay", case_id="c"), "ship")


def test_a_control_is_not_said_to_show_an_outcome_that_its_recorded_calls_contradict(actor: User) -> None:
    revision = factories.revision(opened(actor, fixture=effects("pay")))
    add = partial(intake.add_control, actor, revision=revision, name="c", fixture=effects("pay", case_id="c"))
    with pytest.raises(ValidationError, match="choose what is recorded: success") as refused:
        add(outcome_type=OutcomeType.TIMEOUT)
    assert list(refused.value.message_dict) == ["outcome_type"]
    assert not Control.objects.exists()
    assert add(outcome_type=OutcomeType.SUCCESS).outcome_type == "success"


def test_a_control_is_refused_as_long_as_its_author_has_not_filled_it_in(actor: User, case: Case) -> None:
    begun = json.dumps(json.loads(factories.fixture(case_id="c", input={"order": PLACEHOLDERS[0]})), indent=1)
    line = next(number for number, row in enumerate(begun.split("\n"), 1) if PLACEHOLDERS[0] in row)
    add = partial(intake.add_control, actor, revision=factories.revision(case), name="c")
    with pytest.raises(ValidationError) as refused:
        add(outcome_type=OutcomeType.SUCCESS, fixture=begun.encode())
    assert refused.value.message_dict == {"fixture": [f"Line {line} still says “{PLACEHOLDERS[0]}”."]}
    assert not Control.objects.exists()


def test_a_control_names_no_tool_where_none_has_an_effect(actor: User, case: Case) -> None:
    revision = factories.revision(case)
    with pytest.raises(ValidationError, match="no tool has an effect"):
        shown(actor, revision, factories.fixture(case_id="c"), "refund.lookup")
    assert shown(actor, revision, factories.fixture(case_id="c"), "") == ""


@pytest.mark.parametrize(
    ("mutation", "finding"),
    [
        (b'[{"op": "replace", "path": "/events/9/outcome", "value": 1}]', "mutation.invalid"),
        (b'{"op": "replace"}', "mutation.invalid"),
        (b'[{"op": "remove", "path": "/expected/required_disclosures"}]', "mutation.invalid"),
        (b"[", "mutation.invalid"),
    ],
)
def test_a_mutation_that_does_not_fit_its_control_is_refused(
    actor: User, case: Case, mutation: bytes, finding: str
) -> None:
    with pytest.raises(FixtureInvalid) as refused:
        intake.add_control(
            actor,
            revision=factories.revision(case),
            name="c",
            outcome_type=OutcomeType.SUCCESS,
            fixture=factories.fixture(case_id="c"),
            mutation=mutation,
        )
    assert refused.value.findings[0].id.startswith(finding)
    assert not Control.objects.exists()
