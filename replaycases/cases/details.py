"""What is said about a case apart from its evidence: the statement, links and versions, owners, containment, and what
a grader found.

Every change is one transaction on the locked case, with its audit event. The event names what changed by ids and cut
texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import models, transaction
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import Project, Team, User
from replaycases.accounts.roles import DECIDES_EXPECTATION
from replaycases.cases import decisions, events, evidence, failure_statement, flags, people, policies, texts
from replaycases.cases.models import (
    Boundary,
    Case,
    CaseOwner,
    Decision,
    DecisionKind,
    FlagReason,
    GraderFinding,
    Implementation,
    Provenance,
    StatementEdit,
)
from replaycases.fixture.canonical import digest

URL_CAP = 500
TEST_CAP = 300
# What an audit event repeats of a text.
TOLD_CAP = 200
_NEEDED = "This must be said."

# What a revision in a lane is judged and run by.
RELIED_ON = {"affected": "the affected version", "fixed": "the fixed version", "covering_test": "the covering test"}
STATEMENT = ("trigger", "prohibited_outcome", "deciding_evidence")
_is_web_address = URLValidator(schemes=["http", "https"], message="Give a full address that begins with https://.")


# --- the failure statement ------------------------------------------------------------------------------------------


def statement_hash(case: Case) -> str:
    """ "sha256:…" over what `edit_statement` changes: the page carries it, so that nobody overwrites what they did not
    see."""
    return digest({name: getattr(case, name) for name in ("title", *STATEMENT, "reported_symptom")})


def edit_statement(
    actor: User,
    *,
    case: Case,
    title: str,
    trigger: str,
    prohibited_outcome: str,
    deciding_evidence: str,
    reported_symptom: str,
    seen: str | None = None,
) -> Case:
    """State it anew. An approved expectation was approved for the old words and is void if one of the three parts
    changed. `seen` is the `statement_hash` that the person saw. Raises PermissionDenied, InvalidTransition,
    SeenAnother, or ValidationError with a sentence for each part that says nothing."""
    said = {
        "title": texts.kept(title, cap=texts.TITLE_CAP, missing=_NEEDED, field="title"),
        "trigger": texts.kept(trigger, field="trigger"),
        "prohibited_outcome": texts.kept(prohibited_outcome, field="prohibited_outcome"),
        "deciding_evidence": texts.kept(deciding_evidence, field="deciding_evidence"),
        "reported_symptom": texts.kept(reported_symptom, field="reported_symptom"),
    }
    faults = failure_statement.faults(said["trigger"], said["prohibited_outcome"], said["deciding_evidence"])
    if faults:
        raise ValidationError({name: [sentence] for name, sentence in faults.items()})
    with transaction.atomic():
        case = policies.require_locked(case, actor, "edit_statement")
        if seen is not None and seen != statement_hash(case):
            raise policies.SeenAnother("Somebody edited the statement since you opened it. Look again.")
        before = _assign(case, said)
        voided = before.keys() & set(STATEMENT) and _restated(actor, case)
        _changed(actor, case, "statement.edited", case, before, said, {"expectation": "voided"} if voided else {})
    return case


def _restated(actor: User, case: Case) -> list[Decision]:
    """The statement is in part this person's from now on: somebody else approves it, and what was approved is void."""
    StatementEdit.objects.create(case=case, editor=actor)
    return decisions.void_kinds(case, (DecisionKind.EXPECTATION,), "The failure statement was edited.")


# --- links, versions, owners ----------------------------------------------------------------------------------------


def edit_provenance(
    actor: User,
    *,
    case: Case,
    incident_url: str,
    trace_id: str,
    trace_url: str,
    affected: Implementation | None,
    fixed: Implementation | None,
    covering_test: str,
    run_record: Mapping[str, Mapping[str, str]] | None = None,
) -> Provenance:
    """Links to the incident and its trace, the affected and the fixed version, and the test that covers it now. Each
    may be empty; those that a lane relies on not while a revision stands in one, and another one in their place asks
    for a re-review at once. `run_record`, as `Provenance.run_record`, stays as it is where it is None. Raises
    PermissionDenied, InvalidTransition, ValidationError by field."""
    said: dict[str, Any] = {
        "incident_url": _url("incident_url", incident_url),
        "trace_id": texts.kept(trace_id, cap=texts.NAME_CAP, field="trace_id"),
        "trace_url": _url("trace_url", trace_url),
        "affected": _of_project("affected", affected, case.project),
        "fixed": _of_project("fixed", fixed, case.project),
        "covering_test": texts.kept(covering_test, cap=TEST_CAP, field="covering_test"),
        **({} if run_record is None else {"run_record": run_record}),
    }
    if affected is not None and affected == fixed:
        raise ValidationError({"fixed": "The fixed version is the affected one. Register the fix as its own version."})
    with transaction.atomic():
        case = policies.require_locked(case, actor, "edit_details")
        kept = Provenance.objects.filter(case=case).select_related("affected", "fixed").first()
        provenance = kept or Provenance(case=case)
        _refuse_emptied(case, provenance, said)
        before = _assign(provenance, said, new=kept is None)
        _changed(actor, case, "provenance.edited", provenance, before, said)
        _review_replaced(case, before)
    return provenance


def _refuse_emptied(case: Case, kept: Provenance, said: Mapping[str, Any]) -> None:
    """Without its fixed version a revision runs no more, and its lane would say that it stands there all the same."""
    emptied = [name for field, name in RELIED_ON.items() if getattr(kept, field) and not said[field]]
    if case.lane and emptied:
        raise policies.InvalidTransition(
            f"A revision of the case stands in lane {case.lane}, which relies on {' and '.join(emptied)}. "
            "Record another one in its place, or have two people retire the case."
        )


def _review_replaced(case: Case, before: Mapping[str, Any]) -> None:
    """The lane relies on something else from now on: its next review is due at once."""
    replaced = [name for field, name in RELIED_ON.items() if before.get(field)]
    if case.lane and replaced:
        case.review_due_at = timezone.now()
        case.save(update_fields=["review_due_at"])
        verb = "was" if len(replaced) == 1 else "were"
        detail = f"Due at once: {' and '.join(replaced)} {verb} replaced in lane {case.lane}."
        flags.raise_flag(None, case=case, reason=FlagReason.REVIEW_DATE_PASSED, detail=detail)


def set_owners(actor: User, *, case: Case, owners: Mapping[Boundary, User | Team | None]) -> list[CaseOwner]:
    """Name who answers for each boundary in `owners`; None names nobody. Boundaries that are not in it stay as they
    are. Returns the owners as they are now. Raises PermissionDenied, InvalidTransition, and ValidationError for
    somebody outside the project."""
    for boundary, owner in owners.items():
        why_not = people.why_not_answer(owner, case.project) if owner is not None else ""
        if why_not:
            raise ValidationError({Boundary(boundary).value: why_not})
    with transaction.atomic():
        case = policies.require_locked(case, actor, "edit_details")
        kept = {owner.boundary: owner for owner in _owners_of(case)}
        before = {name: _owner_id(kept.get(name)) for name in owners}
        for boundary, named in owners.items():
            _set_owner(case, boundary, named)
        now = _owners_of(case)
        after = {name: _owner_id(next((o for o in now if o.boundary == name), None)) for name in owners}
        changed = [name for name in owners if before[name] != after[name]]
        if changed:
            _event(
                actor,
                case,
                "owners.set",
                case,
                {name: before[name] for name in changed},
                {name: after[name] for name in changed},
            )
    return now


# --- security incidents ---------------------------------------------------------------------------------------------


def set_security_incident(actor: User, *, case: Case, flagged: bool) -> Case:
    """Mark the case as a security incident: from now on containment is asked for first. Only the security owner takes
    the mark away, and only before containment was confirmed. Raises PermissionDenied, InvalidTransition."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "edit_details" if flagged else "confirm_containment")
        if case.security_incident is flagged:
            return case
        case.security_incident = flagged
        case.save(update_fields=["security_incident"])
        action = "security_incident.flagged" if flagged else "security_incident.cleared"
        _event(actor, case, action, case, {"security_incident": not flagged}, {"security_incident": flagged})
    return case


def confirm_containment(actor: User, *, case: Case, note: str) -> Case:
    """The security owner says what was done: evidence kept, secrets changed. Replays are possible from now on. Raises
    PermissionDenied, InvalidTransition, ValidationError without a note."""
    said = texts.kept(note, missing=_NEEDED, field="note")
    with transaction.atomic():
        case = policies.require_locked(case, actor, "confirm_containment")
        case.contained_at = timezone.now()
        case.contained_by = actor
        case.containment_note = said
        case.save(update_fields=["contained_at", "contained_by", "containment_note"])
        _event(actor, case, "containment.confirmed", case, {}, {"note": _told(said)})
    return case


# --- what a grader found --------------------------------------------------------------------------------------------


def record_grader_finding(
    actor: User, *, case: Case, grader: str, version: str, label: str, result: str
) -> GraderFinding:
    """Keep a grader's or monitor's label as evidence; it decides nothing. Raises PermissionDenied, InvalidTransition,
    ValidationError by field."""
    said = {
        "grader": texts.kept(grader, cap=texts.NAME_CAP, missing=_NEEDED, field="grader"),
        "version": texts.kept(version, cap=texts.NAME_CAP, missing=_NEEDED, field="version"),
        "label": texts.kept(label, cap=texts.NAME_CAP, missing=_NEEDED, field="label"),
        "result": texts.kept(result, field="result"),
    }
    with transaction.atomic():
        case = policies.require_locked(case, actor, "edit_details")
        finding = GraderFinding.objects.create(case=case, recorded_by=actor, recorded_at=timezone.now(), **said)
        after = {name: _told(said[name]) for name in ("grader", "version", "label")}
        _event(actor, case, "grader_finding.recorded", finding, {}, after)
    return finding


def confirm_grader_finding(actor: User, *, finding: GraderFinding) -> GraderFinding:
    """An incident owner who did not record it says that it shows the boundary being crossed. Raises PermissionDenied,
    InvalidTransition."""
    case = finding.case
    access.require(actor, case.project, *DECIDES_EXPECTATION)
    policies.refuse_tokens(actor)
    with transaction.atomic():
        case = policies.require_locked(case, actor, "edit_details")
        access.require(actor, case.project, *DECIDES_EXPECTATION)
        kept = GraderFinding.objects.select_for_update(no_key=True).get(pk=finding.pk)
        why_not = why_not_confirm(actor, recorded_by=kept.recorded_by_id, confirmed=kept.confirmed_at is not None)
        if why_not:
            raise policies.InvalidTransition(why_not)
        kept.confirmed_by = actor
        kept.confirmed_at = timezone.now()
        kept.save(update_fields=["confirmed_by", "confirmed_at"])
        _event(actor, case, "grader_finding.confirmed", kept, {}, {"label": _told(kept.label)})
    return kept


def why_not_confirm(actor: User, *, recorded_by: UUID, confirmed: bool) -> str:
    """A sentence for an incident owner, "" if they may confirm the finding."""
    if confirmed:
        return "It is confirmed already."
    if recorded_by == actor.pk:
        return "You recorded it. Another incident owner confirms it."
    return ""


# --- what all of them are made of -----------------------------------------------------------------------------------


def _url(field: str, text: str) -> str:
    kept = texts.kept(text, cap=URL_CAP, field=field)
    if kept:
        try:
            _is_web_address(kept)
        except ValidationError as refused:
            raise ValidationError({field: refused.messages}) from None
    return kept


def _of_project(field: str, implementation: Implementation | None, project: Project) -> Implementation | None:
    if implementation is not None and implementation.project_id != project.pk:
        raise ValidationError({field: f"This version is not registered in project {project.key}."})
    return implementation


def _owners_of(case: Case) -> list[CaseOwner]:
    return list(CaseOwner.objects.filter(case=case).select_related("user", "team"))


def _owner_id(owner: CaseOwner | None) -> str:
    if owner is None:
        return ""
    return f"user:{owner.user_id}" if owner.user_id else f"team:{owner.team_id}"


def _set_owner(case: Case, boundary: Boundary, owner: User | Team | None) -> None:
    if owner is None:
        CaseOwner.objects.filter(case=case, boundary=boundary).delete()
        return
    named = {"user": None, "team": owner} if isinstance(owner, Team) else {"user": owner, "team": None}
    CaseOwner.objects.update_or_create(case=case, boundary=boundary, defaults=named)


def _assign(row: models.Model, said: Mapping[str, Any], *, new: bool = False) -> dict[str, Any]:
    """Set and save what differs. Returns what was there before, by field."""
    before = {name: getattr(row, name) for name, value in said.items() if getattr(row, name) != value}
    for name in before:
        setattr(row, name, said[name])
    if before:
        row.save(force_insert=new, update_fields=None if new else list(before))
    return before


def _changed(
    actor: User,
    case: Case,
    action: str,
    subject: models.Model,
    before: Mapping[str, Any],
    said: Mapping[str, Any],
    also: Mapping[str, str] = MappingProxyType({}),
) -> None:
    if before:
        after = {name: _told(said[name]) for name in before}
        _event(actor, case, action, subject, {name: _told(value) for name, value in before.items()}, {**after, **also})


def _told(value: object) -> str:
    """An id, the names of parts, or at most so much of a text."""
    if isinstance(value, Mapping):
        value = ", ".join(sorted(value))
    if isinstance(value, models.Model):
        return str(value.pk)
    return evidence.printable(str(value or ""), cap=TOLD_CAP)


def _event(
    actor: User,
    case: Case,
    action: str,
    subject: models.Model,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> None:
    events.record(
        actor=actor, action=action, subject=subject, project=case.project, case=case, before=before, after=after
    )
