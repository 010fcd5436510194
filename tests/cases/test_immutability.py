from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.models import Model
from django.db.models.signals import pre_migrate
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions, details, evidence, immutability, intake, jobs, proposals, redaction_rows
from replaycases.cases.models import (
    Capture,
    Case,
    CiReport,
    CiResult,
    Control,
    Decision,
    DecisionKind,
    DecisionOutcome,
    FixtureRevision,
    GraderFinding,
    Lane,
    LaneEntry,
    LaneName,
    Origin,
    OutcomeType,
    Proposal,
    ProposalState,
    Run,
    RunSet,
    RunState,
)
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def actor() -> User:
    return factories.everyone(factories.project())


@pytest.fixture
def run_set(actor: User) -> RunSet:
    project = actor.memberships.first().project
    revision = factories.revision(factories.case(project, actor))
    return jobs.request_run_set(
        actor, revision=revision, implementation=factories.implementation(project, actor), size=2
    )


def refused(statement: str, *, match: str = "immutable") -> None:
    """The database itself says no."""
    with pytest.raises(IntegrityError, match=match), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE cases_fixturerevision SET fixture_hash = 'sha256:0'", "DELETE FROM cases_fixturerevision"],
)
def test_a_revision_is_changed_by_nobody(run_set: RunSet, statement: str) -> None:
    refused(statement)
    assert FixtureRevision.objects.get().fixture_hash != "sha256:0"


def test_a_control_is_changed_by_nobody(actor: User, run_set: RunSet) -> None:
    intake.add_control(
        actor,
        revision=run_set.revision,
        name="success",
        outcome_type=OutcomeType.SUCCESS,
        fixture=factories.fixture(case_id="other"),
    )
    refused("UPDATE cases_control SET name = 'x'")
    refused("DELETE FROM cases_control")
    assert Control.objects.get().name == "success"


def test_a_run_that_has_ended_is_changed_by_nobody(actor: User, run_set: RunSet) -> None:
    jobs.cancel(actor, subject=run_set)
    refused("UPDATE cases_run SET state = 'queued', finished_at = NULL")
    refused("DELETE FROM cases_run")
    assert set(Run.objects.values_list("state", flat=True)) == {RunState.CANCELLED}


def test_a_run_set_is_not_resized_or_deleted(run_set: RunSet) -> None:
    refused("UPDATE cases_runset SET size = 1")
    refused("DELETE FROM cases_runset")
    assert RunSet.objects.get().size == run_set.size


def test_a_run_set_is_voided_once_and_its_reason_stays(actor: User, run_set: RunSet) -> None:
    jobs.void(actor, run_set=run_set, reason="The worker's host had no disk space.")
    refused("UPDATE cases_runset SET void_reason = 'another'")
    refused("UPDATE cases_runset SET voided_at = NULL, voided_by_id = NULL, void_reason = ''")
    assert RunSet.objects.get().void_reason == "The worker's host had no disk space."


def test_migrating_again_keeps_the_triggers(run_set: RunSet) -> None:
    call_command("migrate", verbosity=0)
    refused("DELETE FROM cases_fixturerevision")
    assert FixtureRevision.objects.get() == run_set.revision


@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        ("UPDATE cases_run SET state = 'finished', finished_at = created_at", "run_finished_iff_manifest"),
        ("UPDATE cases_run SET attempts = 4, lease_token = 4", "run_attempts_bounded"),
        ("UPDATE cases_run SET state = 'leased'", "run_leased_iff_deadline"),
        ("UPDATE cases_run SET state = 'done'", "run_state_known"),
    ],
)
def test_the_database_refuses_a_run_that_cannot_be(run_set: RunSet, statement: str, constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


# --- decisions -------------------------------------------------------------------------------------------------------


@pytest.fixture
def of() -> factories.People:
    return factories.people(factories.project())


def approval(case: Case, by: User, **changes: Any) -> Decision:
    """A row as it would have to be, were `by` allowed."""
    revision = factories.revision(case)
    said = {
        "case": case,
        "revision": revision,
        "kind": DecisionKind.REDACTION,
        "outcome": DecisionOutcome.APPROVED,
        "content_hash": revision.content_hash,
        "fixture_hash": revision.fixture_hash,
        "checks_hash": revision.checks_hash,
        "redaction": redaction_rows.newest(revision),
        "decided_by": by,
        "decided_at": timezone.now(),
    }
    return Decision(**{**said, **changes})


def insert(row: Model) -> None:
    """By SQL alone: no service, no form, no model has a say."""
    fields = row._meta.concrete_fields
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    columns, places = ", ".join(f'"{field.column}"' for field in fields), ", ".join(["%s"] * len(fields))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f'INSERT INTO "{row._meta.db_table}" ({columns}) VALUES ({places})', values)


def edited(case: Case, by: User, prompt: str, *, on_behalf_of: User | None = None) -> None:
    intake.add_revision(by, case=case, fixture=factories.fixture(prompt_version=prompt), on_behalf_of=on_behalf_of)
    case.refresh_from_db()


def test_nobody_approves_their_own_work_by_any_sql(of: factories.People) -> None:
    at = of.project
    captured_for, editor, edited_for, early = (factories.person(at, Role.PRIVACY_REVIEWER) for _ in range(4))
    case = intake.create_case(
        of.responder, project=at, **factories.STATEMENT, fixture=factories.fixture(), on_behalf_of=captured_for
    )
    edited(case, early, "B")
    edited(case, editor, "C", on_behalf_of=edited_for)
    edited(case, of.responder, "1")  # what it was before anybody edited it
    for own in (of.responder, captured_for, early, editor, edited_for):
        with pytest.raises(IntegrityError, match="own work"):
            insert(approval(case, own))
    assert not Decision.objects.exists()
    insert(approval(case, of.privacy))
    assert Decision.objects.get().decided_by == of.privacy


def test_a_superuser_approves_no_own_work_by_any_sql(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    of.responder.is_superuser = True
    of.responder.save()
    with pytest.raises(IntegrityError, match="own work"):
        insert(approval(case, of.responder))


def test_who_only_returned_it_may_be_its_author(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    insert(approval(case, of.responder, outcome=DecisionOutcome.RETURNED, note="Not yet."))
    assert Decision.objects.get().outcome == DecisionOutcome.RETURNED
    refused("UPDATE cases_decision SET outcome = 'approved'")


@pytest.mark.parametrize("column", ["content_hash", "fixture_hash", "checks_hash"])
def test_an_approval_of_other_bytes_is_refused(of: factories.People, column: str) -> None:
    case = factories.case(of.project, of.responder)
    with pytest.raises(IntegrityError, match="other bytes"):
        insert(approval(case, of.privacy, **{column: "sha256:" + "0" * 64}))
    assert not Decision.objects.exists()


def test_an_approval_of_another_case_s_revision_is_refused(of: factories.People) -> None:
    case, other = (factories.case(of.project, of.responder) for _ in range(2))
    with pytest.raises(IntegrityError, match="other bytes"):
        insert(approval(case, of.privacy, revision=factories.revision(other)))


def control_approval(case: Case, control: Control, by: User, **changes: Any) -> Decision:
    hashes = {"fixture_hash": control.fixture_hash, "checks_hash": control.checks_hash}
    return approval(case, by, kind=DecisionKind.CONTROL, control=control, **{**hashes, **changes})


def test_nobody_approves_their_own_control_by_any_sql(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    control = factories.control(factories.revision(case), of.engineer)
    for own in (of.engineer, of.responder):
        with pytest.raises(IntegrityError, match="own work"):
            insert(control_approval(case, control, own))
    insert(control_approval(case, control, of.privacy))
    assert Decision.objects.get().control == control


def test_an_approval_of_another_control_s_bytes_is_refused(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    control = factories.control(factories.revision(case), of.engineer)
    for column in ("fixture_hash", "checks_hash"):
        revision_s = getattr(factories.revision(case), column)
        if revision_s != getattr(control, column):
            with pytest.raises(IntegrityError, match="other bytes"):
                insert(control_approval(case, control, of.privacy, **{column: revision_s}))
    other = factories.case(of.project, of.responder)
    with pytest.raises(IntegrityError, match="other bytes"):
        insert(control_approval(other, control, of.privacy))
    assert not Decision.objects.exists()


def test_a_decision_is_voided_once_and_otherwise_never_changed(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    insert(approval(case, of.privacy))
    for fixed in ("note = 'x'", "outcome = 'returned', note = 'x'", f"decided_by_id = {key(of.qa)}"):
        refused(f"UPDATE cases_decision SET {fixed}")
    refused("DELETE FROM cases_decision")
    decisions.void_kinds(case, [DecisionKind.REDACTION], "It was sent back.")
    refused("UPDATE cases_decision SET voided_at = NULL, void_reason = ''")
    refused("UPDATE cases_decision SET void_reason = 'another'")
    assert Decision.objects.get().void_reason == "It was sent back."


@pytest.mark.parametrize("column", ["created_by_id", "on_behalf_of_id"])
def test_nobody_is_made_a_stranger_to_their_own_case(of: factories.People, column: str) -> None:
    case = factories.case(of.project, of.responder)
    refused(f"UPDATE cases_case SET {column} = {key(of.qa)}", match="whose case")
    case.refresh_from_db()
    assert (case.created_by, case.on_behalf_of) == (of.responder, None)


def key(of: Model) -> str:
    return "'{}'".format(of.pk.hex if connection.vendor == "sqlite" else of.pk)


@pytest.mark.parametrize("column", ["captured_by_id", "on_behalf_of_id", "payload_id"])
def test_whose_capture_it_is_and_of_what_is_changed_by_nobody(of: factories.People, column: str) -> None:
    data = factories.fixture()
    payload = evidence.store(of.project, data, media_type="x/y", expires_at=timezone.now() + timedelta(days=1))
    capture = Capture.objects.create(
        project=of.project,
        number=1,
        payload=payload,
        origin=Origin.UPLOAD,
        format="otlp",
        runs=1,
        captured_by=of.responder,
        expires_at=payload.expires_at,
    )
    other = evidence.store(of.project, b"x", media_type="x/y", expires_at=capture.expires_at)
    to = other if column == "payload_id" else of.qa
    refused(f"UPDATE cases_capture SET {column} = {key(to)}", match="whose capture")
    Capture.objects.filter(pk=capture.pk).update(purged_at=timezone.now())
    capture.refresh_from_db()
    assert (capture.captured_by, capture.on_behalf_of, capture.payload) == (of.responder, None, payload)


# --- proposals and lanes ---------------------------------------------------------------------------------------------


def retirement(of: factories.People, case: Case) -> Proposal:
    return proposals.propose_retirement(of.lead, case=case, reason="It is covered elsewhere.")


def test_what_was_proposed_is_never_changed(of: factories.People) -> None:
    retirement(of, factories.case(of.project, of.responder))
    for fixed in ("reason = 'x'", "kind = 'extension'", f"proposed_by_id = {key(of.qa)}", "until = proposed_at"):
        refused(f"UPDATE cases_proposal SET {fixed}")
    refused("DELETE FROM cases_proposal")
    assert Proposal.objects.get().reason == "It is covered elsewhere."


def test_a_decided_proposal_stays_decided(of: factories.People) -> None:
    proposals.decline(of.qa, proposal=retirement(of, factories.case(of.project, of.responder)), note="Not yet.")
    refused("UPDATE cases_proposal SET state = 'confirmed'")
    refused("UPDATE cases_proposal SET note = 'another'")
    assert Proposal.objects.get().state == ProposalState.DECLINED


def proposed(case: Case, by: User, **changes: Any) -> Proposal:
    now = timezone.now()
    bound = {"gate": "red", "until": now + timedelta(days=1), "revision": case.current_revision}
    said = {"case": case, "kind": "override", "reason": "r", "proposed_by": by, "proposed_at": now, **bound}
    return Proposal(**{**said, **changes})


def test_nobody_puts_a_confirmed_proposal_there(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    with pytest.raises(IntegrityError, match="begins as pending"):
        insert(proposed(case, of.lead, state="confirmed", decided_by=of.qa, decided_at=timezone.now()))
    other = factories.case(of.project, of.responder)
    with pytest.raises(IntegrityError, match="of its case"):
        insert(proposed(case, of.lead, revision=other.current_revision))


def test_nobody_confirms_an_override_of_their_own_work_by_any_sql(of: factories.People) -> None:
    insert(proposed(factories.case(of.project, of.responder), of.lead))
    confirm = "UPDATE cases_proposal SET state = 'confirmed', decided_at = proposed_at, decided_by_id = "
    refused(confirm + key(of.responder))
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(confirm + key(of.lead))
    assert Proposal.objects.get().state == ProposalState.PENDING


def test_a_stay_in_a_lane_ends_once_and_is_otherwise_never_changed(of: factories.People) -> None:
    case, other = factories.case(of.project, of.responder), factories.case(of.project, of.responder)
    insert(stay(case, of.qa))
    for fixed in (f"case_id = {key(other)}", f"revision_id = {key(factories.revision(other))}", "note = 'x'"):
        refused(f"UPDATE cases_laneentry SET {fixed}")
    refused("DELETE FROM cases_laneentry")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE cases_laneentry SET left_at = entered_at, left_by = 'demoted'")
    refused("UPDATE cases_laneentry SET left_at = NULL, left_by = ''")
    refused("UPDATE cases_laneentry SET left_by = 'retired'")
    assert LaneEntry.objects.get().left_by == "demoted"


def stay(case: Case, by: User, **changes: Any) -> LaneEntry:
    lane, _ = Lane.objects.get_or_create(project=case.project, name=LaneName.BLOCKING)
    said = {"lane": lane, "case": case, "revision": case.current_revision, "entered_by": by}
    return LaneEntry(**{**said, "entered_at": timezone.now(), **changes})


def test_a_lane_holds_no_other_case_s_revision_and_no_foreign_case(of: factories.People) -> None:
    case, other = factories.case(of.project, of.responder), factories.case(of.project, of.responder)
    foreign, _ = Lane.objects.get_or_create(project=factories.project("OTHER"), name=LaneName.BLOCKING)
    for wrong in ({"revision": other.current_revision}, {"lane": foreign}):
        with pytest.raises(IntegrityError, match="a lane holds"):
            insert(stay(case, of.qa, **wrong))
    assert not LaneEntry.objects.exists()


# --- what others found -----------------------------------------------------------------------------------------------


def test_a_report_from_elsewhere_is_changed_by_nobody(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    lane, _ = Lane.objects.get_or_create(project=of.project, name=LaneName.BLOCKING)
    digest = "sha256:" + "0" * 64
    named = {"implementation_name": "agent", "implementation_version": "1", "implementation_digest": digest}
    report = CiReport.objects.create(
        lane=lane,
        lane_digest=digest,
        digest=digest,
        exit_code=1,
        pushed_by=of.qa,
        pushed_at=timezone.now(),
        **named,
    )
    CiResult.objects.create(report=report, revision=factories.revision(case), label="not_reproduced")
    for table, fixed in (("cases_cireport", "exit_code = 0"), ("cases_ciresult", "label = 'x'")):
        refused(f"UPDATE {table} SET {fixed}")
        refused(f"DELETE FROM {table}")
    assert (CiReport.objects.get().exit_code, CiResult.objects.get().label) == (1, "not_reproduced")


def test_a_grader_s_finding_is_confirmed_once_and_otherwise_never_changed(of: factories.People) -> None:
    case = factories.case(of.project, of.responder)
    finding = details.record_grader_finding(
        of.responder, case=case, grader="monitor", version="3", label="unsafe", result="0.97"
    )
    refused("UPDATE cases_graderfinding SET label = 'safe'")
    by_owner = f"confirmed_at = recorded_at, confirmed_by_id = {key(of.owner)}"
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE cases_graderfinding SET {by_owner}")
    refused("UPDATE cases_graderfinding SET confirmed_at = NULL, confirmed_by_id = NULL")
    refused("DELETE FROM cases_graderfinding")
    finding.refresh_from_db()
    assert (finding.label, finding.confirmed_by) == ("unsafe", of.owner)


# --- rows that go without a DELETE -----------------------------------------------------------------------------------


@pytest.mark.parametrize("model", immutability._kept_tables())
def test_every_table_whose_rows_are_kept_refuses_a_delete_and_loses_none(model: type[Model]) -> None:
    assert f"{model._meta.db_table}_refuse_delete" in _triggers()
    assert f"{model._meta.db_table}_refuse_loss" in _triggers()


def test_no_table_is_emptied_at_once_and_no_row_is_replaced(run_set: RunSet) -> None:
    before = list(FixtureRevision.objects.values())
    if connection.vendor == "postgresql":
        connection.check_constraints()  # what is still to be checked would stop a TRUNCATE too
        refused("TRUNCATE cases_fixturerevision CASCADE", match="none is lost")
        refused("TRUNCATE accounts_project CASCADE", match="none is lost")
    else:
        columns = ", ".join(field.column for field in FixtureRevision._meta.concrete_fields)
        other = columns.replace("id", "'0' || substr(id, 2)", 1)  # a key of its own, but the same case and number
        for taken in (columns, other):
            statement = f"REPLACE INTO cases_fixturerevision ({columns}) SELECT {taken} FROM cases_fixturerevision"
            refused(statement, match="none is lost")
    assert list(FixtureRevision.objects.values()) == before


# --- the triggers themselves -----------------------------------------------------------------------------------------


def _triggers() -> set[str]:
    listed = (
        "sqlite_master WHERE type = 'trigger'" if connection.vendor == "sqlite" else "pg_trigger WHERE NOT tgisinternal"
    )
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {'name' if connection.vendor == 'sqlite' else 'tgname'} FROM {listed}")
        return {name for (name,) in cursor.fetchall()}


def _wanted() -> set[str]:
    kept = {f"{model._meta.db_table}_refuse_loss" for model in immutability._kept_tables()}
    return kept | {refusal.name for refusal in immutability._refusals()}


def test_installing_twice_leaves_each_trigger_once() -> None:
    wanted = _wanted()
    immutability.install("default")
    immutability.install("default")
    assert _triggers() == wanted
    immutability.remove("default")
    assert not _triggers()


@pytest.mark.parametrize("gone", [CiResult, GraderFinding])
def test_tables_that_are_not_there_any_more_are_left_out(gone: type[Model]) -> None:
    immutability.remove("default")
    with connection.cursor() as cursor:
        cursor.execute(f'DROP TABLE "{gone._meta.db_table}"')
    immutability.install("default")
    assert _triggers() == {name for name in _wanted() if not name.startswith(f"{gone._meta.db_table}_")}


def test_a_guard_needs_every_table_that_it_reads() -> None:
    guard = immutability.Refusal(table="a", operation="INSERT", condition="EXISTS (SELECT 1 FROM b JOIN c ON 1 = 1)")
    assert guard.tables == {"a", "b", "c"}


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL rebuilds no table")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("model", [Case, FixtureRevision, Control, Lane])
def test_a_migration_may_rebuild_what_the_triggers_read(model: type[Model]) -> None:
    config = apps.get_app_config("cases")
    pre_migrate.send(sender=config, app_config=config, using="default")
    with connection.schema_editor() as editor:
        editor._remake_table(model)
    call_command("migrate", verbosity=0)
    assert set(_triggers()) == _wanted()
