"""Who may read recorded evidence and what was made from it: one rule, for pages and API alike.

Something is as restricted as the most restricted bytes that it was made from, as these are classified now: a manifest
holds values of its fixture, and a verdict holds values of every run it reads, also of runs of another case that has
the same fixture.
"""

from __future__ import annotations

from datetime import datetime

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import READS_NEW_EXPECTATION, READS_QUARANTINED_EVIDENCE, Role
from replaycases.cases import evidence
from replaycases.cases.models import (
    Classification,
    Comparison,
    Control,
    Decision,
    DecisionKind,
    DecisionOutcome,
    FixtureRevision,
    Payload,
    Run,
)

Readable = FixtureRevision | Run | Comparison | Control


def readable_by(subject: Readable, user: User, *, held: frozenset[Role] | None = None) -> bool:
    """Whether the user may see it: every member may see what is redacted or public; quarantined evidence, and what was
    made from it, is as `reads_quarantined` says. `held` are the user's roles in the project, where they are known."""
    roles = access.roles_of(user, _project(subject)) if held is None else held
    if classification_of(subject) != Classification.QUARANTINED:
        return bool(roles)
    return reads_quarantined(roles) or (
        reads_quarantined(roles, only_expectation_is_new=True) and _only_expectation_is_new(subject)
    )


def is_quarantined(revision: FixtureRevision) -> bool:
    """Whether its bytes are raw, for a revision that was read with its payloads: no query."""
    payloads = [revision.payload, *([revision.detect] if revision.detect else [])]
    return any(payload.classification == Classification.QUARANTINED for payload in payloads)


def reads_quarantined(held: frozenset[Role], *, only_expectation_is_new: bool = False) -> bool:
    """Whether one of the roles reads raw evidence. Where only what is expected is new in a revision, and the redaction
    of all else stands, whoever proposes or decides about the expectation reads it too, and the manifests of it."""
    return not held.isdisjoint(READS_QUARANTINED_EVIDENCE) or (
        only_expectation_is_new and not held.isdisjoint(READS_NEW_EXPECTATION)
    )


def _only_expectation_is_new(subject: Readable) -> bool:
    if isinstance(subject, Run) and subject.run_set.control_id is None:
        subject = subject.run_set.revision
    if not isinstance(subject, FixtureRevision):
        return False
    approved = Decision.objects.filter(kind=DecisionKind.REDACTION, outcome=DecisionOutcome.APPROVED, voided_at=None)
    return approved.filter(case=subject.case_id, content_hash=subject.content_hash).exists()


def require(subject: Readable, user: User) -> None:
    """Raise PermissionDenied unless the user may see it."""
    if not readable_by(subject, user):
        raise PermissionDenied(not_shown())


def not_shown() -> str:
    """The sentence for who may not read quarantined evidence."""
    return f"Quarantined evidence is shown only to: {readers()}."


def readers() -> str:
    """The roles that read quarantined evidence, in words."""
    return ", ".join(sorted(role.label for role in READS_QUARANTINED_EVIDENCE))


def classification_of(subject: Readable) -> Classification:
    """The most restricted classification among the bytes that it is, or was made from."""
    return restriction_of(subject)[0]


def restriction_of(subject: Readable) -> tuple[Classification, datetime | None]:
    """Its classification, and for raw evidence when the first of these bytes ends: what is made of them ends then."""
    found = Payload.objects.filter(_parts(subject)).values_list("classification", "expires_at").distinct()
    strictest = min((Classification(value) for value, _ in found), key=list(Classification).index)
    return strictest, min((ends for value, ends in found if value == strictest and ends is not None), default=None)


def _project(subject: Readable) -> Project:
    if isinstance(subject, Control):
        return subject.revision.case.project
    return subject.case.project if isinstance(subject, FixtureRevision) else subject.project


def _parts(subject: Readable) -> Q:
    if isinstance(subject, FixtureRevision):
        return _rows(subject.payload_id, subject.detect_id)
    if isinstance(subject, Control):
        return _controls(Control.objects.filter(pk=subject.pk))
    if isinstance(subject, Run):
        return _rows(subject.manifest_id) | _fixture(subject)
    runs: QuerySet[Run] = subject.runs()
    read = _rows(subject.document_id) | _parts(subject.revision) | Q(pk__in=runs.values("manifest"))
    for link in ("payload", "detect"):
        read |= Q(pk__in=runs.values(f"run_set__revision__{link}"))
    return read | _controls(subject.revision.controls.all()) if subject.with_controls else read


def _fixture(run: Run) -> Q:
    """What the run replays: the revision, or one of its controls."""
    if run.run_set.control_id is None:
        return _parts(run.run_set.revision)
    return _controls(Control.objects.filter(pk=run.run_set.control_id))


def _controls(controls: QuerySet[Control]) -> Q:
    parts = Q()
    for link in ("payload", "detect", "mutation"):
        parts |= Q(pk__in=controls.values(link))
    return parts


def _rows(*keys: object) -> Q:
    return Q(pk__in=[key for key in keys if key is not None])


# --- what an approval makes readable --------------------------------------------------------------------------------


def release_revision(revision: FixtureRevision) -> None:
    """A reviewer approved exactly these bytes as redacted: they, and the manifests and verdicts that were made from
    nothing else, are redacted evidence from now on. In the transaction of the approval."""
    runs = Run.objects.filter(run_set__revision=revision, run_set__control=None, manifest__isnull=False)
    evidence.release(_parts(revision) | Q(pk__in=runs.values("manifest")))
    _release_verdicts(revision)


def release_control(control: Control) -> None:
    """The same for a control: its fixture, its mutation and the manifests of both."""
    runs = Run.objects.filter(run_set__control=control, manifest__isnull=False)
    evidence.release(_controls(Control.objects.filter(pk=control.pk)) | Q(pk__in=runs.values("manifest")))
    _release_verdicts(control.revision)


def _release_verdicts(revision: FixtureRevision) -> None:
    """Verdicts of the revision of which every other part is redacted by now."""
    for comparison in Comparison.objects.filter(revision=revision, document__isnull=False):
        sources = Payload.objects.filter(_parts(comparison)).exclude(_rows(comparison.document_id))
        if not sources.filter(classification=Classification.QUARANTINED).exists():
            evidence.release(_rows(comparison.document_id))
