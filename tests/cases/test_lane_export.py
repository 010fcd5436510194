"""A lane to take elsewhere: whole, redacted, and the same bytes that were approved."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta

import pytest
import time_machine
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions, evidence, exports, jobs, lane_export, redaction_rows
from replaycases.cases.models import (
    AuditEvent,
    Case,
    Classification,
    Control,
    Decision,
    DecisionKind,
    DecisionOutcome,
    FixtureRevision,
    Lane,
    LaneEntry,
    LaneName,
    Payload,
    Provenance,
    Run,
    RunState,
)
from replaycases.cases.policies import InvalidTransition
from replaycases.fixture.lane_index import LANE_FILE, parse
from replaycases.redaction.policy import BUILT_IN
from tests import factories
from tests.web import recorded

pytestmark = pytest.mark.django_db


@pytest.fixture
def case(project: Project, everyone: User) -> Case:
    """A case with a control, red on its affected version."""
    made = factories.case(project, everyone)
    approve(factories.control(factories.revision(made), everyone, name="Confirmed by_hand!"))
    compared = recorded.compared(made, everyone)
    Provenance.objects.update_or_create(case=made, defaults={"affected": compared.old, "fixed": compared.new})
    return Case.objects.get(pk=made.pk)


@pytest.fixture
def lane(project: Project, case: Case, everyone: User) -> Lane:
    lane = Lane.objects.create(project=project, name=LaneName.BLOCKING)
    enter(lane, case, everyone)
    return lane


def enter(lane: Lane, case: Case, actor: User) -> LaneEntry:
    return LaneEntry.objects.create(
        lane=lane, case=case, revision=factories.revision(case), entered_by=actor, entered_at=timezone.now()
    )


def approve(control: Control) -> None:
    decisions.record(
        factories.person(control.revision.case.project, Role.PRIVACY_REVIEWER),
        revision=control.revision,
        control=control,
        kind=DecisionKind.CONTROL,
        outcome=DecisionOutcome.APPROVED,
        note="",
    )


def unzipped(taken: lane_export.Taken) -> dict[str, bytes]:
    file = io.BytesIO()
    lane_export.write_zip(taken, file)
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_an_export_holds_fixture_control_mutation_and_every_manifest_of_the_affected_version(
    lane: Lane, case: Case, everyone: User
) -> None:
    files = unzipped(lane_export.take(everyone, lane=lane))
    assert set(files) == {
        "lane.json",
        "RC-1.json",
        "old/RC-1/1.manifest.json",
        "old/RC-1/2.manifest.json",
        "controls/RC-1/1-confirmed-by-hand.json",
        "controls/RC-1/1-confirmed-by-hand.mutation.json",
    }
    assert files["RC-1.json"] == evidence.read(factories.revision(case).payload)
    assert {json.loads(files[f"old/RC-1/{n}.manifest.json"])["boundary_passed"] for n in (1, 2)} == {False}


def test_the_index_lists_the_digest_of_every_file_and_reads_back_as_it_was_written(lane: Lane, everyone: User) -> None:
    taken = lane_export.take(everyone, lane=lane)
    files = unzipped(taken)
    index = parse(files.pop(LANE_FILE))
    assert index == taken.index
    assert {file.path: file.sha256 for file in index.files()} == {
        path: evidence.digest_of(data) for path, data in files.items()
    }
    (entry,) = index.entries
    assert (entry.readable_id, entry.case_id, entry.revision, entry.flagged) == ("RC-1", "refund-claimed", 1, False)


def test_the_same_lane_has_the_same_digest_and_another_one_another(
    lane: Lane, project: Project, everyone: User
) -> None:
    first, second = (lane_export.take(everyone, lane=lane).index for _ in range(2))
    assert first.digest == second.digest
    enter(lane, factories.case(project, everyone, factories.fixture(case_id="another")), everyone)
    assert lane_export.take(everyone, lane=lane).index.digest != first.digest


def test_a_finding_that_is_open_and_a_lost_relation_refuse_the_whole_export(
    lane: Lane, case: Case, everyone: User
) -> None:
    for changed, says in (
        ({"open": [factories.FOUND]}, "open findings: 1. Decide about them"),
        ({"open": [], "lost": 2}, "relations between its values that were lost: 2. Bring them back .*: no waiver"),
    ):
        factories.look(case, **changed)
        with pytest.raises(InvalidTransition, match=rf"Nothing was exported. RC-1: {says}"):
            lane_export.take(everyone, lane=lane)
    assert not AuditEvent.objects.filter(action="lane.exported").exists()
    unseen = FixtureRevision(case=case, number=2)
    assert "nobody looked yet for what must go" in exports.faults_of([unseen])[unseen.pk]


def test_a_finding_that_two_people_let_stand_is_exported_until_its_time_is_over(
    lane: Lane, case: Case, everyone: User
) -> None:
    second, now = factories.person(case.project, Role.PRIVACY_REVIEWER), timezone.now()
    factories.look(case, open=[factories.FOUND])
    factories.waiver(case, everyone, confirmed_by=second, confirmed_at=now)
    assert lane_export.take(everyone, lane=lane).index.entries[0].readable_id == "RC-1"
    with time_machine.travel(now + timedelta(days=4)), pytest.raises(InvalidTransition, match="open findings: 1"):
        lane_export.take(everyone, lane=lane)


def test_an_export_names_the_approval_of_the_redaction_and_under_what_it_was_given(
    lane: Lane, case: Case, everyone: User
) -> None:
    assert lane_export.take(everyone, lane=lane).index.entries[0].redaction is None
    revision = factories.revision(case)
    reviewer = factories.person(case.project, Role.PRIVACY_REVIEWER)
    given = decisions.record(
        reviewer,
        revision=revision,
        kind=DecisionKind.REDACTION,
        outcome=DecisionOutcome.APPROVED,
        note="",
        redaction=redaction_rows.newest(revision),
    )
    index = lane_export.take(everyone, lane=lane).index
    said = index.entries[0].redaction
    assert said is not None
    assert (said.by, said.content_hash, said.waivers, said.stands) == (
        reviewer.username,
        revision.content_hash,
        0,
        True,
    )
    assert (said.policy.name, said.policy.version, said.policy.digest) == ("built-in", "1", BUILT_IN.digest)
    assert parse(index.dump()) == index
    decisions.void(Decision.objects.filter(pk=given.pk), "Looked at again.")
    again = lane_export.take(everyone, lane=lane).index.entries[0].redaction
    assert again is not None
    assert not again.stands


def test_what_left_the_lane_is_not_exported(lane: Lane, everyone: User) -> None:
    LaneEntry.objects.update(left_at=timezone.now(), left_by="retired")
    assert lane_export.take(everyone, lane=lane).index.entries == ()


@pytest.mark.parametrize("part", ["payload", "control", "mutation", "manifest"])
def test_quarantined_bytes_of_one_case_refuse_the_whole_export_and_name_it(
    lane: Lane, case: Case, everyone: User, part: str
) -> None:
    control = factories.revision(case).controls.get()
    manifest = Run.objects.filter(state=RunState.FINISHED).order_by("number").values_list("manifest", flat=True)[0]
    keys = {
        "payload": factories.revision(case).payload_id,
        "control": control.payload_id,
        "mutation": control.mutation_id,
        "manifest": manifest,
    }
    factories.restrict(Payload.objects.get(pk=keys[part]))
    with pytest.raises(InvalidTransition, match=r"Bytes of RC-1 are still quarantined: .*Nothing was exported"):
        lane_export.take(everyone, lane=lane)
    assert not AuditEvent.objects.filter(action="lane.exported").exists()


def test_a_manifest_of_another_case_with_quarantined_bytes_refuses_it_too(
    lane: Lane, case: Case, project: Project, everyone: User
) -> None:
    other_bytes = json.dumps(json.loads(factories.fixture()), indent=1).encode()
    secret = factories.case(project, everyone, other_bytes, classification=Classification.QUARANTINED)
    old = case.provenance.affected
    assert old is not None
    recorded.finish(recorded.requested(secret, everyone, old, None), recorded.RED, recorded.GREEN)  # type: ignore[arg-type]
    with pytest.raises(InvalidTransition, match="RC-1"):
        lane_export.take(everyone, lane=lane)


def test_a_control_that_nobody_approved_is_left_out_by_name_and_keeps_nobody_from_the_rest(
    lane: Lane, case: Case, everyone: User
) -> None:
    before = lane_export.take(everyone, lane=lane)
    late = factories.control(factories.revision(case), everyone, name="late")
    factories.restrict(Payload.objects.get(pk=late.payload_id))
    taken = lane_export.take(everyone, lane=lane)
    (entry,) = taken.index.entries
    assert ([control.name for control in entry.controls], entry.controls_left_out) == (
        ["Confirmed by_hand!"],
        ("late",),
    )
    assert set(taken.payloads) == set(before.payloads)
    assert taken.index.digest != before.index.digest
    assert parse(taken.index.dump()) == taken.index
    assert taken.index.left_out() == ["RC-1: controls left out, as nobody approved them yet: late"]


def test_an_approved_control_is_in_the_lane_and_one_whose_approval_is_void_is_not(
    lane: Lane, case: Case, everyone: User
) -> None:
    approve(factories.control(factories.revision(case), everyone, name="late"))
    assert lane_export.take(everyone, lane=lane).index.entries[0].controls_left_out == ()
    decisions.void(Decision.objects.filter(control__name="late"), "Looked at again.")
    assert lane_export.take(everyone, lane=lane).index.entries[0].controls_left_out == ("late",)


def test_manifests_of_a_voided_set_stay_here(lane: Lane, case: Case, everyone: User) -> None:
    old = case.provenance.affected
    for run_set in {run.run_set for run in Run.objects.filter(run_set__implementation=old)}:
        jobs.void(everyone, run_set=run_set, reason="bad host")
    assert not [path for path in unzipped(lane_export.take(everyone, lane=lane)) if path.startswith("old/")]


def test_an_export_is_one_audit_event_with_its_digest_and_revisions(lane: Lane, case: Case, everyone: User) -> None:
    taken = lane_export.take(everyone, lane=lane)
    event = AuditEvent.objects.get(action="lane.exported")
    assert (event.actor, event.object_id, event.object_hash) == (everyone, str(lane.pk), taken.index.digest)
    assert json.loads(event.after) == {"lane": "blocking", "revisions": [str(case.current_revision_id)]}


def test_a_superuser_without_a_role_and_a_stranger_export_nothing(lane: Lane) -> None:
    superuser = User.objects.create_superuser("root", "root@example.invalid")
    stranger = factories.everyone(factories.project("XX"))
    for nobody in (superuser, stranger):
        with pytest.raises(PermissionDenied):
            lane_export.take(nobody, lane=lane)


def test_a_viewer_exports_what_is_redacted(lane: Lane, project: Project) -> None:
    viewer = factories.person(project, Role.VIEWER)
    assert len(lane_export.take(viewer, lane=lane).index.entries) == 1


def test_damaged_bytes_are_not_given_out(lane: Lane, case: Case, everyone: User) -> None:
    taken = lane_export.take(everyone, lane=lane)
    Payload.objects.filter(pk=factories.revision(case).payload_id).update(body=b"{}")
    with pytest.raises(evidence.EvidenceDamaged):
        unzipped(taken)
