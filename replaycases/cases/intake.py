"""How a case comes in: its fixture, later revisions of it, and controls beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import CHANGES_CONTENT, CREATES_CASES
from replaycases.cases import (
    behalf,
    comparing,
    control_rules,
    events,
    evidence,
    expiry,
    failure_statement,
    fixtures,
    held_documents,
    lifecycle,
    numbers,
    policies,
    recording_ages,
    redaction_edits,
    redaction_scans,
    texts,
)
from replaycases.cases.models import Case, Control, FixtureRevision, OutcomeType, Payload, Stage
from replaycases.cases.models.fixture_revision import MOST_TIMEOUTS
from replaycases.cases.policies import InvalidTransition
from replaycases.cases.redaction_scans import Look
from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture, is_non_replayable
from replaycases.fixture.stated_effects import effectful_tools, unstated_tools
from replaycases.fixture.timeouts import timeouts_of
from replaycases.fixture.unrecorded import unrecorded_answers
from replaycases.replay.controls import MutationInvalid, mutate


@dataclass(frozen=True, kw_only=True)
class _Upload:
    """A valid fixture as it was brought, with the bytes to keep, what the detectors say of a revision, and the tools of
    which the draft behind it said that they only read."""

    loaded: Fixture
    fixture: bytes
    detect: bytes | None
    look: Look | None = None
    said_to_read: Sequence[str] | None = None


def create_case(
    actor: User,
    *,
    project: Project,
    title: str,
    incident_id: str,
    trigger: str,
    prohibited_outcome: str,
    deciding_evidence: str,
    fixture: bytes | None = None,
    detect: bytes | None = None,
    reported_symptom: str = "",
    security_incident: bool = False,
    on_behalf_of: User | None = None,
    evidence_days: int | None = None,
    ends_by: datetime | None = None,
    said_to_read: Sequence[str] | None = None,
) -> Case:
    """A new case in quarantine, with its first revision if there is a fixture already. `evidence_days` is how long its
    quarantined evidence lives, at most and without it as long as the project keeps any, and never beyond `ends_by`,
    when what it was made of ends; `said_to_read` as in `_Upload`. Raises FixtureInvalid with every finding,
    PermissionDenied, or ValidationError by field for text that is missing or too long and for somebody on whose behalf
    nothing can be captured; nothing is kept then."""
    access.require(actor, project, *CREATES_CASES)
    upload = _looked_at(project, None, _upload(fixture, detect, said_to_read)) if fixture is not None else None
    latest = expiry.expiry_for(project, evidence_days)
    expires_at = min(latest, ends_by) if ends_by is not None else latest
    faults = failure_statement.faults(trigger, prohibited_outcome, deciding_evidence)
    if faults:
        raise ValidationError(faults)
    said = {
        "title": texts.kept(title, cap=texts.TITLE_CAP, field="title"),
        "incident_id": texts.kept(incident_id, cap=texts.NAME_CAP, field="incident_id"),
        "trigger": texts.kept(trigger, field="trigger"),
        "prohibited_outcome": texts.kept(prohibited_outcome, field="prohibited_outcome"),
        "deciding_evidence": texts.kept(deciding_evidence, field="deciding_evidence"),
        "reported_symptom": texts.kept(reported_symptom, field="reported_symptom"),
    }
    behalf.require_member(project, actor, on_behalf_of)
    with transaction.atomic():
        policies.require_roles_locked(actor, project, *CREATES_CASES)
        case = Case(
            project=project,
            number=numbers.take(project, "next_number"),
            **said,
            security_incident=security_incident,
            created_by=actor,
            on_behalf_of=on_behalf_of,
        )
        case.full_clean(exclude=["case_id", "current_revision"])
        case.save(force_insert=True)
        after: dict[str, object] = {"stage": case.stage, **behalf.in_event(on_behalf_of)}
        if upload is not None:
            revision = _add(actor, case, upload, expires_at, on_behalf_of=on_behalf_of)
            after |= {"revision": revision.number}
        events.record(
            actor=actor,
            action="case.created",
            subject=case,
            project=project,
            case=case,
            object_hash=upload.loaded.fixture_hash if upload is not None else "",
            after=after,
        )
    return case


def same_name(case: Case) -> list[Case]:
    """The other cases of the project, not retired, whose fixture bears the same case_id, oldest first: only one of them
    can stand in lanes."""
    if not case.case_id:
        return []
    named = Case.objects.filter(project=case.project, case_id=case.case_id).exclude(pk=case.pk)
    return list(named.exclude(stage=Stage.RETIRED).select_related("project").order_by("number"))


def add_revision(
    actor: User,
    *,
    case: Case,
    fixture: bytes,
    detect: bytes | None = None,
    changed: str = "",
    on_behalf_of: User | None = None,
    seen_revision: int | None = None,
    recorded: bool = False,
    look: Look | None = None,
    said_to_read: Sequence[str] | None = None,
) -> FixtureRevision:
    """A new, immutable revision, which becomes the current one; the first one of a blank case names it, later ones keep
    the name. `changed` says what is new in it, `seen_revision` is the number of the one that was edited (0 for none),
    `recorded` says that it was made of a captured run: nothing else makes a fixture that can be read only replayable.
    `look` is what was found in it where it was redacted just now; without `said_to_read` what was said before holds.
    Raises as `create_case`; PermissionDenied too for a workflow engineer who changes more than what is expected,
    ValidationError where nothing is changed, SeenAnother if another revision is current, InvalidTransition for a closed
    case."""
    policies.require(case, actor, "add_revision")
    upload = _upload(fixture, detect, said_to_read)
    upload = replace(upload, look=look) if look is not None else _looked_at(case.project, case, upload)
    said = texts.kept(changed, field="changed")
    with transaction.atomic():
        case = policies.require_locked(case, actor, "add_revision")
        before = case.current_revision
        _require_new(case, upload.loaded, before, seen_revision, recorded=recorded)
        _require_may_change(actor, case, upload.loaded, before)
        behalf.require_member(case.project, actor, on_behalf_of)
        expires_at = end_of_more(case)
        revision = _add(actor, case, upload, expires_at, on_behalf_of=on_behalf_of, changed=said)
        events.record(
            actor=actor,
            action="revision.added",
            subject=revision,
            project=case.project,
            case=case,
            object_hash=revision.fixture_hash,
            before={"number": before.number if before else 0},
            after={"number": revision.number, **behalf.in_event(on_behalf_of)},
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
    tool: str = "",
    seen_revision: int | None = None,
) -> Control:
    """A control beside a revision, under a name that no other control of it has. `mutation` is a JSON Patch on the
    control after which it must still be a valid fixture. `tool` is the tool with an effect whose outcome it shows; it
    may be left out where the revision has one or none; its calls there must not contradict `outcome_type`.
    `seen_revision` is the number of the current one from which it was written. Verdicts that read the revision's
    controls are cleared: they wait for replays of this one too, and pass nothing without them. Raises as
    `add_revision`."""
    policies.require(revision.case, actor, "add_control")
    upload = _upload(fixture, detect)
    mutated = _mutated(fixture, mutation) if mutation is not None else None
    control_rules.require_filled(fixture)
    shown = control_rules.tool_shown(revision, upload.loaded, tool)
    control_rules.require_shows(upload.loaded, shown, outcome_type)
    with transaction.atomic():
        case = policies.require_locked(revision.case, actor, "add_control")
        _require_current(case, seen_revision, did="wrote from")
        free = control_rules.free_name(revision, name)
        control_rules.require_other(revision, upload.loaded)
        ends = _ends(case, end_of_more(case))
        control = Control(
            revision=revision,
            name=free,
            outcome_type=outcome_type,
            tool=shown,
            payload=_keep(case.project, fixture, ends),
            detect=_keep(case.project, detect, ends) if detect is not None else None,
            mutation=_keep(case.project, mutation, ends) if mutation is not None else None,
            fixture_hash=upload.loaded.fixture_hash,
            checks_hash=upload.loaded.checks_hash,
            mutated_hash=mutated.fixture_hash if mutated else "",
            created_by=actor,
        )
        control.full_clean()
        control.save(force_insert=True)
        expiry.end_with(actor, case=case, brought=_brought(control.payload, control.detect, control.mutation))
        comparing.control_added(control)
        events.record(
            actor=actor,
            action="control.added",
            subject=control,
            project=case.project,
            case=case,
            object_hash=control.fixture_hash,
            after={
                "revision": str(revision.pk),
                "outcome_type": control.outcome_type,
                "tool": shown,
            },
        )
    return control


# --- what is refused ------------------------------------------------------------------------------------------------


def _upload(fixture: bytes, detect: bytes | None, said_to_read: Sequence[str] | None = None) -> _Upload:
    loaded = load_fixture(fixture, detect=detect)
    return _Upload(loaded=loaded, fixture=fixture, detect=detect, said_to_read=said_to_read)


def _looked_at(project: Project, case: Case | None, upload: _Upload) -> _Upload:
    return replace(upload, look=redaction_edits.look_at(project, case, upload.fixture, upload.detect))


def _require_current(case: Case, seen: int | None, *, did: str) -> None:
    if seen is not None and seen != (number := case.current_revision.number if case.current_revision else 0):
        raise policies.SeenAnother(f"Revision {number} is the current one, and you {did} {seen}. Look again.")


def _require_new(
    case: Case, loaded: Fixture, before: FixtureRevision | None, seen: int | None, *, recorded: bool
) -> None:
    _require_current(case, seen, did="edited")
    number = before.number if before else 0
    if case.case_id and loaded.case_id != case.case_id:
        raise ValidationError({"fixture": "The fixture names another case; a revision keeps the case_id."})
    if before and not (recorded or is_non_replayable(loaded)) and fixtures.is_non_replayable(before):
        lifted = f"Revision {number} says that it can be read only, and no edit makes it a recording of what happened."
        raise ValidationError({"fixture": f"{lifted} Capture the incident with its content, as a new case."})
    if before and (loaded.fixture_hash, loaded.checks_hash) == (before.fixture_hash, before.checks_hash):
        raise ValidationError({"fixture": f"Nothing is changed: this is what revision {number} says already."})


def _require_may_change(actor: User, case: Case, loaded: Fixture, before: FixtureRevision | None) -> None:
    """Who is here for the workflow's sake changes what is expected, and never what was recorded."""
    if before and before.content_hash == loaded.content_hash:
        return
    if not access.has_any(actor, case.project, CHANGES_CONTENT):
        raise PermissionDenied(
            f"You may change only what is expected. What was recorded: {access.lacking(case.project, CHANGES_CONTENT)}"
        )


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


# --- what is written ------------------------------------------------------------------------------------------------


def _add(
    actor: User,
    case: Case,
    upload: _Upload,
    expires_at: datetime,
    *,
    changed: str = "",
    on_behalf_of: User | None,
) -> FixtureRevision:
    loaded, ends = upload.loaded, _ends(case, expires_at)
    before, said_to_read = case.current_revision, upload.said_to_read
    if said_to_read is None and before is not None:
        said_to_read = before.said_to_read
    revision = FixtureRevision.objects.create(
        case=case,
        number=before.number + 1 if before else 1,
        payload=_keep(case.project, upload.fixture, ends),
        detect=_keep(case.project, upload.detect, ends) if upload.detect is not None else None,
        schema_version=loaded.schema_version,
        fixture_case_id=loaded.case_id,
        content_hash=loaded.content_hash,
        fixture_hash=loaded.fixture_hash,
        checks_hash=loaded.checks_hash,
        effectful_tools=effectful_tools(loaded),
        unstated_tools=unstated_tools(loaded),
        said_to_read=None if said_to_read is None else list(said_to_read),
        non_replayable=is_non_replayable(loaded),
        authored_answers=unrecorded_answers(loaded),
        timeouts=[found.as_dict() for found in timeouts_of(loaded)[:MOST_TIMEOUTS]],
        recorded_commit=recording_ages.commit_of(loaded),
        changed=changed,
        created_by=actor,
        on_behalf_of=on_behalf_of,
    )
    held_documents.of_revision(revision, loaded)
    if upload.look is not None:
        redaction_scans.keep(actor, revision, upload.look, ends)
    case.case_id = loaded.case_id
    case.current_revision, case.revised_by, case.revised_for = revision, actor, on_behalf_of
    case.latest_comparison = None
    case.verdict = ""
    case.redaction_returned = case.expectation_returned = False
    changed_fields = ["case_id", "current_revision", "revised_by", "revised_for", "latest_comparison", "verdict"]
    case.save(update_fields=[*changed_fields, "redaction_returned", "expectation_returned"])
    expiry.end_with(actor, case=case, brought=_brought(revision.payload, revision.detect))
    return revision


def _brought(*kept: Payload | None) -> list[Payload]:
    return [payload for payload in kept if payload is not None]


def end_of_more(case: Case) -> datetime:
    """When more raw evidence of the case would end. Raises InvalidTransition once its time is over."""
    why_not = policies.no_more_evidence(case)
    if why_not:
        raise InvalidTransition(why_not)
    return case.evidence_expires_at or expiry.expiry_for(case.project, None)


def _ends(case: Case, expires_at: datetime) -> datetime:
    """When what was brought ends: all raw evidence of a case does at one time. The first to come sets it."""
    if case.evidence_expires_at is None:
        case.evidence_expires_at, case.expiry_warned = expires_at, 0
        case.save(update_fields=["evidence_expires_at", "expiry_warned"])
    return case.evidence_expires_at


def _keep(project: Project, data: bytes, ends: datetime) -> Payload:
    """Raw evidence: who brings it does not say what it holds. Only an approval makes it redacted."""
    return evidence.store(project, data, media_type=evidence.JSON_TYPE, expires_at=ends)
