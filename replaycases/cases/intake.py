"""How a case comes in: its fixture, later revisions of it, and controls beside it."""

from __future__ import annotations

from dataclasses import replace

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Max

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import CREATES_CASES
from replaycases.cases import comparing, events, evidence, lifecycle, policies
from replaycases.cases.models import Case, Classification, Control, FixtureRevision, OutcomeType, Payload
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.controls import MutationInvalid, mutate

# Characters, as kept: a control character takes six.
TITLE_CAP = 300
INCIDENT_CAP = 200
TEXT_CAP = 4000
NAME_CAP = 200


def create_case(
    actor: User,
    *,
    project: Project,
    title: str,
    incident_id: str,
    trigger: str,
    prohibited_outcome: str,
    deciding_evidence: str,
    fixture: bytes,
    detect: bytes | None = None,
    classification: Classification = Classification.QUARANTINED,
) -> Case:
    """A new case in quarantine with its first revision. Raises FixtureInvalid with every finding, PermissionDenied, or
    ValidationError for a failure statement with a part that is empty or too long; nothing is kept then."""
    access.require(actor, project, *CREATES_CASES)
    loaded = load_fixture(fixture, detect=detect)
    with transaction.atomic():
        case = Case(
            project=project,
            number=_take_number(project),
            title=_text(title, TITLE_CAP),
            incident_id=_text(incident_id, INCIDENT_CAP),
            case_id=loaded.case_id,
            trigger=_text(trigger, TEXT_CAP),
            prohibited_outcome=_text(prohibited_outcome, TEXT_CAP),
            deciding_evidence=_text(deciding_evidence, TEXT_CAP),
            created_by=actor,
        )
        case.full_clean(exclude=["current_revision"])
        case.save(force_insert=True)
        revision = _add(actor, case, loaded, fixture, detect, classification)
        events.record(
            actor=actor,
            action="case.created",
            subject=case,
            project=project,
            case=case,
            object_hash=revision.fixture_hash,
            after={"stage": case.stage, "revision": revision.number, "classification": classification},
        )
    return case


def add_revision(
    actor: User,
    *,
    case: Case,
    fixture: bytes,
    detect: bytes | None = None,
    classification: Classification = Classification.QUARANTINED,
) -> FixtureRevision:
    """A new, immutable revision, which becomes the current one. The fixture must name the same case. Raises as
    `create_case`, and InvalidTransition for a closed case."""
    policies.require(case, actor, "add_revision")
    loaded = load_fixture(fixture, detect=detect)
    if loaded.case_id != case.case_id:
        raise ValidationError("The fixture names another case; a revision keeps the case_id.")
    with transaction.atomic():
        case = policies.require_locked(case, actor, "add_revision")
        before = case.current_revision
        revision = _add(actor, case, loaded, fixture, detect, classification)
        events.record(
            actor=actor,
            action="revision.added",
            subject=revision,
            project=case.project,
            case=case,
            object_hash=revision.fixture_hash,
            after={"number": revision.number, "classification": classification},
        )
        lifecycle.revision_added(actor, case=case, before=before, revision=revision)
    return revision


def add_control(
    actor: User,
    *,
    revision: FixtureRevision,
    name: str,
    outcome_type: OutcomeType,
    fixture: bytes,
    detect: bytes | None = None,
    mutation: bytes | None = None,
    classification: Classification = Classification.QUARANTINED,
) -> Control:
    """A control beside a revision, under a name that no other control of it has. `mutation` is a JSON Patch on the
    control after which it must still be a valid fixture. Verdicts that read the revision's controls are cleared: they
    wait for replays of this one too, and pass nothing without them. Raises as `add_revision`."""
    project = revision.case.project
    policies.require(revision.case, actor, "add_control")
    loaded = load_fixture(fixture, detect=detect)
    mutated = _mutated(fixture, mutation) if mutation is not None else None
    with transaction.atomic():
        policies.require_locked(revision.case, actor, "add_control")
        control = Control(
            revision=revision,
            name=_free_name(revision, name),
            outcome_type=outcome_type,
            payload=_keep(project, fixture, classification),
            detect=_keep(project, detect, classification) if detect is not None else None,
            mutation=_keep(project, mutation, classification) if mutation is not None else None,
            fixture_hash=loaded.fixture_hash,
            checks_hash=loaded.checks_hash,
            mutated_hash=mutated.fixture_hash if mutated else "",
            created_by=actor,
        )
        control.full_clean()
        control.save(force_insert=True)
        comparing.control_added(control)
        events.record(
            actor=actor,
            action="control.added",
            subject=control,
            project=project,
            case=revision.case,
            object_hash=loaded.fixture_hash,
            after={
                "revision": str(revision.pk),
                "outcome_type": control.outcome_type,
                "classification": classification,
            },
        )
    return control


def _free_name(revision: FixtureRevision, name: str) -> str:
    kept = _text(name, NAME_CAP)
    if revision.controls.filter(name=kept).exists():
        taken = f"Revision {revision.number} has a control of this name already. Choose another one."
        raise ValidationError({"name": taken})
    return kept


def _mutated(fixture: bytes, mutation: bytes) -> Fixture:
    """The control as mutated; what makes that no fixture is said to come of the mutation."""
    try:
        return load_fixture(mutate(fixture, mutation))
    except FixtureInvalid as invalid:
        findings = [replace(found, message=f"once mutated: {found.message}") for found in invalid.findings]
        raise FixtureInvalid(findings) from None
    except MutationInvalid as error:
        finding = Finding(
            id="mutation.invalid",
            level="error",
            pointer=error.pointer,
            message=f"the mutation {error.message}",
            hint=error.hint,
        )
        raise FixtureInvalid([finding]) from None


def _add(
    actor: User, case: Case, loaded: Fixture, fixture: bytes, detect: bytes | None, classification: Classification
) -> FixtureRevision:
    latest = case.revisions.aggregate(latest=Max("number"))["latest"] or 0
    revision = FixtureRevision.objects.create(
        case=case,
        number=latest + 1,
        payload=_keep(case.project, fixture, classification),
        detect=_keep(case.project, detect, classification) if detect is not None else None,
        schema_version=loaded.schema_version,
        fixture_case_id=loaded.case_id,
        content_hash=loaded.content_hash,
        fixture_hash=loaded.fixture_hash,
        checks_hash=loaded.checks_hash,
        effectful_tools=sorted({event.tool for event in loaded.events if event.effect is not None and event.tool}),
        created_by=actor,
    )
    case.current_revision = revision
    case.latest_comparison = None
    case.verdict = ""
    case.save(update_fields=["current_revision", "latest_comparison", "verdict"])
    return revision


def _keep(project: Project, data: bytes, classification: Classification) -> Payload:
    return evidence.store(project, data, media_type=evidence.JSON_TYPE, classification=classification)


def _take_number(project: Project) -> int:
    Project.objects.filter(pk=project.pk).update(next_number=F("next_number") + 1)
    return Project.objects.values_list("next_number", flat=True).get(pk=project.pk) - 1


def _text(text: str, cap: int) -> str:
    """Trimmed, with what a text column cannot hold as visible escapes. Raises ValidationError for more than `cap`
    characters: a statement that was cut would say something else."""
    kept = evidence.printable(text.strip())
    if len(kept) > cap:
        raise ValidationError(f"“{kept[:40]}…” has {len(kept)} characters; at most {cap} are kept.")
    return kept
