"""Who may read recorded evidence and what was made from it: one rule, for pages and API alike.

Something is as restricted as the most restricted bytes that it was made from, as these are classified now: a manifest
holds values of its fixture, and a verdict holds values of every run it reads, also of runs of another case that has
the same fixture.

Two things are asked. Whether somebody *may* read it is a matter of their roles, and is all that a decision needs.
Whether it is *open* to them is asked wherever it is shown or sent: raw evidence is open to who may read it and has
said why they need to (`cases.raw_reads`), for a while and never to a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import READS_NEW_EXPECTATION, READS_QUARANTINED_EVIDENCE, Role
from replaycases.cases import evidence
from replaycases.cases.models import (
    Capture,
    Case,
    Classification,
    Comparison,
    Control,
    Decision,
    DecisionKind,
    DecisionOutcome,
    Draft,
    FixtureRevision,
    Payload,
    RawRead,
    Run,
)

Readable = FixtureRevision | Run | Comparison | Control | Capture | Draft
NO_PROGRAM = "A token reads no raw evidence. Sign in and read it as yourself."


class ReasonNeeded(PermissionDenied):
    """It is raw evidence of `of`, which the person may read once they have said why they need to."""

    def __init__(self, of: Case | Capture) -> None:
        super().__init__(f"This is raw evidence of {of.readable_id}. Say first why you need to read it.")
        self.of = of


@dataclass(frozen=True, kw_only=True)
class Access:
    """How somebody stands to something. `may`: their roles read it. `raw`: its bytes are quarantined. `read`: the raw
    read by which it is open to them now, None where there is none or none is needed."""

    may: bool
    raw: bool
    read: RawRead | None = None

    @property
    def open(self) -> bool:
        """Whether its content is shown."""
        return self.may and (not self.raw or self.read is not None)

    @property
    def asks(self) -> bool:
        """Whether only the reason is missing."""
        return self.may and not self.open


def access_to(subject: Readable, user: User, *, held: frozenset[Role] | None = None) -> Access:
    """What is to be asked before anything of the content is shown or sent. `held` as in `readable_by`."""
    raw = classification_of(subject) == Classification.QUARANTINED
    may = _may(subject, user, raw=raw, held=held)
    return Access(may=may, raw=raw, read=live(user, of_what(subject)) if raw and may else None)


def require_open(subject: Readable, user: User) -> Access:
    """Raise PermissionDenied unless its content may be shown to the user now: ReasonNeeded where only that is
    missing."""
    found = access_to(subject, user)
    if found.open:
        return found
    if not found.may:
        raise PermissionDenied(not_shown())
    raise PermissionDenied(NO_PROGRAM) if user.token is not None else ReasonNeeded(of_what(subject))


def live(user: User, of: Case | Capture) -> RawRead | None:
    """The raw read by which the user sees raw evidence of the case or the capture now, if their roles do too."""
    reads = RawRead.objects.live(user, timezone.now()).filter(**as_field(of))
    return reads.order_by("-until").first()


def live_cases(user: User) -> QuerySet[RawRead, Any]:
    """The keys of all cases of which `live` finds one, for a query over many."""
    return RawRead.objects.live(user, timezone.now()).exclude(case=None).values_list("case", flat=True)


def begins(of: Case | Capture, user: User) -> bool:
    """Whether some raw evidence of it is such that the user may read it. What each part is, is asked again when it is
    shown."""
    roles = access.roles_of(user, of.project)
    if reads_quarantined(roles) or isinstance(of, Capture):
        return reads_quarantined(roles)
    return reads_quarantined(roles, only_expectation_is_new=True) and _redaction_stands(of).exists()


def of_what(subject: Readable) -> Case | Capture:
    """The case or the capture that a raw read of the subject is of."""
    match subject:
        case Capture():
            return subject
        case Draft():
            return subject.capture
        case FixtureRevision():
            return subject.case
        case Run():
            return subject.run_set.revision.case
        case _:
            return subject.revision.case


def whole_of(case: Case | None, capture: Capture | None) -> Case | Capture:
    """The one that is given. Raises ValueError where neither is."""
    of = case or capture
    if of is None:
        raise ValueError("a raw read is of a case or of a capture")
    return of


def digest_of(of: Case | Capture) -> str:
    """What stood there to be read: the capture's file, or the content of the case's current revision."""
    if isinstance(of, Capture):
        return of.payload.digest
    return of.current_revision.content_hash if of.current_revision else ""


def as_field(of: Case | Capture) -> Mapping[str, Case | Capture]:
    """By which field a raw read names it."""
    return {"capture": of} if isinstance(of, Capture) else {"case": of}


def readable_by(subject: Readable, user: User, *, held: frozenset[Role] | None = None) -> bool:
    """Whether the user may see it: every member may see what is redacted or public; quarantined evidence, and what was
    made from it, is as `reads_quarantined` says. `held` are the user's roles in the project, where they are known."""
    raw = classification_of(subject) == Classification.QUARANTINED
    return _may(subject, user, raw=raw, held=held)


def _may(subject: Readable, user: User, *, raw: bool, held: frozenset[Role] | None) -> bool:
    roles = access.roles_of(user, of_what(subject).project) if held is None else held
    if not raw:
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
    return _redaction_stands(subject.case).filter(content_hash=subject.content_hash).exists()


def _redaction_stands(case: Case) -> QuerySet[Decision]:
    approved = Decision.objects.filter(kind=DecisionKind.REDACTION, outcome=DecisionOutcome.APPROVED, voided_at=None)
    return approved.filter(case=case)


def require(subject: Readable, user: User) -> None:
    """Raise PermissionDenied unless the user may see it: for what is decided about it, or written beside it."""
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


def sources_end(subject: Run | Comparison) -> datetime | None:
    """When the first of the raw bytes that it was made from ends, whatever its own end is."""
    own = subject.manifest_id if isinstance(subject, Run) else subject.document_id
    sources = Payload.objects.filter(_parts(subject), data_key__isnull=False).exclude(_rows(own))
    return min((ends for ends in sources.values_list("expires_at", flat=True) if ends), default=None)


def destroyed(subject: Readable) -> str:
    """What is said in place of it where its bytes, or any that it was made from, are opened no more; "" where all can
    be read. One query."""
    gone = Payload.objects.filter(_parts(subject)).filter(evidence.gone()).defer("body", "data_key")
    first = gone.order_by("purged_at").first()
    return evidence.destroyed(first) if first is not None else ""


def _parts(subject: Readable) -> Q:
    if isinstance(subject, Capture):
        return _rows(subject.payload_id)
    if isinstance(subject, Draft):
        return _rows(subject.choices_id)
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
