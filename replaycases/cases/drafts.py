"""From a captured run to a case: what somebody chooses, kept until it is a fixture."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction

from replaycases.accounts import access
from replaycases.accounts.models import Team, User
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import (
    behalf,
    capture_ends,
    captures,
    details,
    events,
    evidence,
    failure_statement,
    held_documents,
    incident_reports,
    intake,
    outlines,
    policies,
    reading,
    recorded_provenance,
    recorded_results,
    texts,
)
from replaycases.cases.models import (
    AuditEvent,
    Boundary,
    Capture,
    Case,
    Draft,
    FixtureRevision,
    IncidentReport,
    Payload,
)
from replaycases.cases.policies import InvalidTransition, SeenAnother
from replaycases.fixture.model import Fixture
from replaycases.importers.effects import check_effects, said_to_read
from replaycases.importers.neutral import NeutralRun, Step
from replaycases.importers.registry import Imported, to_case
from replaycases.importers.supplied import Supplied, supplied_from
from replaycases.importers.to_fixture import kept_steps

JSON = Any
CHANGED = "Somebody changed the draft since you looked. Look again."


def of_run(capture: Capture, run: int) -> Draft | None:
    return Draft.objects.filter(capture=capture, run=run).select_related("capture__project", "choices", "case").first()


def save(actor: User, *, capture: Capture, run: int, choices: Mapping[str, JSON]) -> Draft:
    """Keep what was chosen of this run, in place of what was before, which is destroyed. `choices` holds parts of
    `Supplied`; None and what is empty is no choice. Raises PermissionDenied, EvidenceDestroyed for a capture whose time
    is over, ImportRefused for a part that is malformed or cannot be of this run, ValidationError for a run that the
    capture does not hold."""
    access.require(actor, capture.project, *CAPTURES)
    choices = {name: value for name, value in choices.items() if value is not None and value not in ("", [], {})}
    supplied = supplied_from(choices)
    check_effects(supplied.effects)
    if not 0 <= run < capture.runs:
        raise ValidationError({"run": f"{capture.readable_id} holds {capture.runs} runs, counted from 0."})
    outlines.require_fits(outlines.of_run(capture, run), supplied)
    with transaction.atomic():
        policies.require_roles_locked(actor, capture.project, *CAPTURES)
        capture = Capture.objects.select_related("project", "payload").defer("payload__body").get(pk=capture.pk)
        capture_ends.require_there(capture)
        # Equal choices of two runs are not the same evidence: each ends with its own capture.
        said = {"capture": str(capture.pk), "run": run, "choices": choices}
        data = json.dumps(said, ensure_ascii=False, sort_keys=True).encode()
        kept = evidence.store(capture.project, data, media_type=evidence.JSON_TYPE, expires_at=capture.expires_at)
        former = set(Draft.objects.filter(capture=capture, run=run).values_list("choices", flat=True))
        draft, _ = Draft.objects.update_or_create(
            capture=capture, run=run, defaults={"choices": kept, "edited_by": actor}
        )
        evidence.discard(former - {kept.pk})
        if draft.case is not None:
            behalf.in_part_theirs(draft.case, {actor.pk})
        events.record(
            actor=actor,
            action="draft.edited",
            subject=draft,
            project=capture.project,
            case=draft.case,
            object_hash=kept.digest,
            after={"capture": str(capture.pk), "run": run, "chosen": sorted(choices)},
        )
    return draft


def choices_of(draft: Draft) -> dict[str, JSON]:
    """Raises SeenAnother where others were chosen since the draft was loaded: what was before is destroyed."""
    try:
        return choices_in(draft.choices)
    except Payload.DoesNotExist:
        raise SeenAnother(CHANGED) from None


def choices_in(payload: Payload) -> dict[str, JSON]:
    """What `save` kept in these bytes."""
    chosen: dict[str, JSON] = json.loads(evidence.read(payload))["choices"]
    return chosen


def choices_shown_to(reader: User, draft: Draft) -> dict[str, JSON] | None:
    """The choices for whom what they quote is open to; None for everybody else, and for every program."""
    if draft.choices.purged_at is not None or not reading.access_to(draft, reader).open:
        return None
    return choices_of(draft)


def imported(actor: User, draft: Draft) -> Imported:
    """What the run becomes with what was chosen so far. Raises ImportRefused for what is still to be supplied,
    FixtureInvalid for an expectation that is no valid one, and as `captures.recording_of`."""
    run = captures.recording_of(actor, draft.capture).read(draft.run)
    return to_case(run, _supplied(draft))


def make_case(
    actor: User,
    *,
    draft: Draft,
    title: str,
    trigger: str,
    prohibited_outcome: str,
    deciding_evidence: str,
    seen: str,
    despite: str = "",
    security_incident: bool = False,
    findings: Sequence[IncidentReport] = (),
    owners: Mapping[Boundary, User | Team | None] | None = None,
    trace_id: str = "",
) -> Case:
    """The case, with the draft's fixture as its first revision. `seen` is the digest of the choices that the actor
    looked at; `despite` says why a case is made of a recording that does not break what is said to be the incident.
    `findings` about the trace of the capture are settled with the case and stand in it as what graders said. `owners`
    as in `details.set_owners`; `trace_id` is said where the capture names none. Raises InvalidTransition if
    there is one already, SeenAnother where other choices stand in the draft than those, ValidationError where no
    expectation was chosen, for another trace than the capture names and where `despite` is wanted, and as `imported`,
    `intake.create_case`, `details.set_owners` and `incident_reports.settle_with`."""
    capture_ends.require_there(draft.capture)
    if trace_id.strip() not in ("", draft.capture.trace_id or trace_id.strip()):
        raise ValidationError({"trace_id": f"{draft.capture.readable_id} names its trace already: leave it out."})
    _require_seen(draft, seen)
    if draft.case is not None:
        raise InvalidTransition(f"{draft.case.readable_id} was made of this run already. Add a revision to it.")
    tried = _tried(actor, draft)
    fixture = _require_case(tried, failure_statement.faults(trigger, prohibited_outcome, deciding_evidence), despite)
    with transaction.atomic():
        case = intake.create_case(
            actor,
            project=draft.capture.project,
            title=title,
            incident_id=fixture.incident_id,
            trigger=trigger,
            prohibited_outcome=prohibited_outcome,
            deciding_evidence=deciding_evidence,
            reported_symptom=draft.capture.symptom,
            security_incident=security_incident,
            fixture=tried.made.as_bytes(),
            ends_by=draft.capture.expires_at,
            said_to_read=said_to_read(tried.supplied.effects),
        )
        _require_unchanged(draft)
        _tie(draft, case)
        incident_reports.settle_with(actor, incident_reports=findings, capture=draft.capture, case=case)
        _keep_what_it_says(actor, case, draft, tried, trace_id)
        if owners:
            details.set_owners(actor, case=case, owners=owners)
        if tried.held:
            _note_not_seen(actor, draft, case, tried.held, despite)
    return case


def _require_case(tried: _Tried, faults: Mapping[str, str], despite: str) -> Fixture:
    """The fixture. Raises ValidationError, by field, where it lacks an expectation, for the `faults` of the failure
    statement, and where the recording keeps the incident and nobody says why a case is made of it."""
    if tried.made.fixture is None:
        raise ValidationError({"expected": "Say what must and must not happen: a case needs an expectation."})
    if tried.held and not despite.strip():
        faults = {**faults, "despite": _not_seen(tried.held)}
    if faults:
        raise ValidationError(dict(faults))
    texts.kept(despite, field="despite")
    return tried.made.fixture


def _tie(draft: Draft, case: Case) -> None:
    """The case is the draft's from now on, and in part the work of everybody who brought or chose something of it."""
    capture = draft.capture
    if not Draft.objects.filter(pk=draft.pk, case=None).update(case=case):
        raise InvalidTransition("Somebody else made a case of this run in the meantime. Look again.")
    Capture.objects.filter(pk=capture.pk).update(has_case=True)
    brought = {capture.captured_by_id, capture.on_behalf_of_id, *behalf.senders_of(capture)}
    behalf.in_part_theirs(case, brought | _editors(draft))


def _keep_what_it_says(actor: User, case: Case, draft: Draft, tried: _Tried, said: str) -> None:
    """What the run says beside its fixture: the documents that it was given, and the case's provenance. `said` is the
    id of its trace by a person's word."""
    if case.current_revision is not None:
        held_documents.of_steps(case.current_revision, tried.steps)
    trace_id = draft.capture.trace_id or said.strip() or captures.open_trace_id(tried.run)
    recorded_provenance.keep(actor, case=case, run=tried.run, supplied=tried.supplied, trace_id=trace_id)


def _note_not_seen(actor: User, draft: Draft, case: Case, held: Sequence[str], despite: str) -> None:
    events.record(
        actor=actor,
        action="draft.incident_not_seen",
        subject=draft,
        project=case.project,
        case=case,
        object_hash=draft.choices.digest,
        after={"held": list(held), "reason": texts.kept(despite, field="despite")},
    )


def revise(actor: User, *, draft: Draft, changed: str, seen: str, seen_revision: int | None = None) -> Case:
    """The draft's fixture as the next revision of the case that was made of it. `seen` as in `make_case`. Raises
    SeenAnother, and as `intake.add_revision`."""
    if draft.case is None:
        raise InvalidTransition("No case was made of this run yet.")
    _require_seen(draft, seen)
    tried = _tried(actor, draft)
    with transaction.atomic():
        revision = intake.add_revision(
            actor,
            case=draft.case,
            fixture=tried.made.as_bytes(),
            changed=changed,
            seen_revision=seen_revision,
            recorded=True,
            said_to_read=said_to_read(tried.supplied.effects),
        )
        _require_unchanged(draft)
        _require_not_lengthened(draft.capture, revision)
        _keep_what_it_says(actor, revision.case, draft, tried, "")
    return revision.case


def _require_not_lengthened(capture: Capture, revision: FixtureRevision) -> None:
    """The raw evidence of a case ends at one time, which people may have put off; that of its capture they have not."""
    ends = revision.payload.expires_at
    if ends is not None and ends > capture.expires_at:
        raise InvalidTransition(
            f"{revision.case.readable_id} is kept longer than {capture.readable_id}, and nothing lengthens a capture. "
            "Add the revision to the case by hand, from what the case holds."
        )


@dataclass(frozen=True, kw_only=True)
class _Tried:
    """What the run becomes with what was supplied, the checks that are the incident and that it keeps as it was
    recorded, and the steps that are in the fixture."""

    run: NeutralRun
    supplied: Supplied
    made: Imported
    held: tuple[str, ...]
    steps: tuple[Step, ...]


def _tried(actor: User, draft: Draft) -> _Tried:
    run, supplied = captures.recording_of(actor, draft.capture).read(draft.run), _supplied(draft)
    made = to_case(run, supplied)
    kept = kept_steps(run, supplied)[: len(made.document["events"])]
    held: tuple[str, ...] = ()
    if made.fixture is not None:
        results = recorded_results.results_of(made.fixture, run, supplied)
        held = recorded_results.incident_held(made.fixture, results)
    return _Tried(run=run, supplied=supplied, made=made, held=held, steps=tuple(step for _, step in kept))


def _not_seen(held: tuple[str, ...]) -> str:
    return (
        f"The recorded run does not break {', '.join(held)}: a replay that is true to it will not turn red. Change "
        "the expectation, or say why the case is made all the same."
    )


def _require_seen(draft: Draft, seen: str) -> None:
    if seen != draft.choices.digest:
        raise SeenAnother(CHANGED)


def _require_unchanged(draft: Draft) -> None:
    """What the fixture was made of is what stands in the draft until the transaction ends."""
    if Draft.objects.select_for_update().get(pk=draft.pk).choices_id != draft.choices_id:
        raise SeenAnother(CHANGED)


def _editors(draft: Draft) -> set[UUID | None]:
    """Everybody who chose something of it, not the last one alone."""
    edits = AuditEvent.objects.filter(object_id=str(draft.pk), action="draft.edited")
    return {draft.edited_by_id, *edits.values_list("actor", flat=True)}


def _supplied(draft: Draft) -> Supplied:
    return supplied_from({**choices_of(draft), "run": draft.run})
