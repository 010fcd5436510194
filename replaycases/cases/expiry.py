"""How long raw evidence lives: set when it comes in, warned about, and lengthened only by two people.

Nothing else lengthens it: a review, a new revision or a replay does not. Evidence past its time is opened by nobody,
and `cases.purging` destroys it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from replaycases.accounts import roles as may
from replaycases.accounts.models import LONGEST_RETENTION_DAYS, Project, User
from replaycases.cases import beats, events, evidence, reading, recipients
from replaycases.cases.locks import lock_project
from replaycases.cases.models import (
    Boundary,
    Case,
    Classification,
    Comparison,
    Control,
    FixtureRevision,
    NotificationKind,
    Payload,
    Proposal,
    ProposalKind,
    ProposalState,
    Redaction,
    RedactionRule,
    Run,
)
from replaycases.cases.policies import InvalidTransition

# A case is warned about when its evidence has this much left. `Case.expiry_warned` counts how many were reached.
WARNINGS = (timedelta(days=7), timedelta(days=1), timedelta(0))
OVERDUE = len(WARNINGS)
BATCH = 500


def expiry_for(project: Project, days: int | None = None) -> datetime:
    """When evidence that comes in now ends: after `days`, the project's retention by default and never more than it.
    Raises ValidationError."""
    longest = project.retention_days
    kept = longest if days is None else days
    if not 1 <= kept <= longest:
        raise ValidationError(f"Raw evidence is kept for 1 to {longest} days in project {project.key}, not {kept}.")
    return timezone.now() + timedelta(days=kept)


def why_not_until(case: Case, until: datetime) -> str:
    """Why the case's evidence cannot live until then; "" if it can, once two people want it."""
    if case.evidence_expires_at is None:
        return "The case has no evidence that expires."
    if case.evidence_expires_at <= timezone.now():
        return "The time of the evidence is over: nothing lengthens it any more."
    if until <= case.evidence_expires_at:
        return f"The evidence lives until {_day(case.evidence_expires_at)} already. Name a later time."
    if until <= timezone.now():
        return "That time has passed. Name a later one."
    if until > timezone.now() + timedelta(days=LONGEST_RETENTION_DAYS):
        return f"An extension reaches at most {LONGEST_RETENTION_DAYS} days from now."
    return ""


def extend(actor: User, *, proposal: Proposal) -> Case:
    """The case's raw evidence lives until the proposal's time, as one person asked and another confirmed. Called by
    `cases.proposals` in the transaction of the confirmation, on the locked case. Bytes that another case holds for a
    shorter time end with the first of them. Raises InvalidTransition."""
    if proposal.kind != ProposalKind.EXTENSION or proposal.state != ProposalState.CONFIRMED or proposal.until is None:
        raise InvalidTransition("This needs an extension that a second person has confirmed.")
    case, until = proposal.case, proposal.until
    why_not = why_not_until(case, until)
    if why_not:
        raise InvalidTransition(why_not)
    before = case.evidence_expires_at
    case.evidence_expires_at, case.expiry_warned = until, 0
    case.save(update_fields=["evidence_expires_at", "expiry_warned"])
    lengthened = _lengthen(case, until)
    events.record(
        actor=actor,
        action="evidence.extended",
        subject=case,
        project=case.project,
        case=case,
        before={"expires_at": before.isoformat() if before else ""},
        after={"expires_at": until.isoformat(), "payloads": lengthened, "proposal": str(proposal.pk)},
    )
    return case


def end_with(actor: User, *, case: Case, brought: Iterable[Payload]) -> None:
    """The same bytes are the same evidence, and end with the first who hold them. Every case of the project that holds
    quarantined bytes among `brought` and has no end yet, because it holds them as redacted without an approval from
    before those were asked for, ends with them from now on. Who brings them for a shorter time than another case has
    takes nothing away unseen: its people are told. In the transaction that brings them, with the project's row
    locked."""
    raw = Payload.objects.filter(pk__in=[payload.pk for payload in brought], expires_at__isnull=False)
    for payload in raw.filter(classification=Classification.QUARANTINED).order_by("expires_at").defer("body"):
        holders = _holders(payload).select_related("project").order_by("number")
        for held in holders.filter(evidence_expires_at=None):
            _give_end(actor, held, payload, brought_by=case)
        if payload.expires_at == case.evidence_expires_at:
            for held in holders.filter(evidence_expires_at__gt=payload.expires_at):
                _tell_nearer(actor, held, payload, brought_by=case)


def _give_end(actor: User, case: Case, payload: Payload, *, brought_by: Case) -> None:
    assert payload.expires_at is not None
    case.evidence_expires_at = payload.expires_at
    case.save(update_fields=["evidence_expires_at"])
    _record_end(actor, case, payload, brought_by)


def _tell_nearer(actor: User, case: Case, payload: Payload, *, brought_by: Case) -> None:
    ends = payload.expires_at
    assert ends is not None
    recipients.notify(
        _told(case),
        case=case,
        kind=NotificationKind.EXPIRES_SOON,
        occasion=f"expiry:shared:{case.pk}:{payload.pk}:{ends.isoformat()}",
        text=f"{case.readable_id}: {brought_by.readable_id} brought bytes that it holds too; they end on {_day(ends)}.",
    )
    _record_end(actor, case, payload, brought_by)


def _record_end(actor: User, case: Case, payload: Payload, brought_by: Case) -> None:
    assert payload.expires_at is not None
    events.record(
        actor=actor,
        action="evidence.end_set",
        subject=case,
        project=case.project,
        case=case,
        object_hash=payload.digest,
        after={"expires_at": payload.expires_at.isoformat(), "brought_by": brought_by.readable_id},
    )


def expiring(cases: QuerySet[Case]) -> QuerySet[Case]:
    """Those whose raw evidence ends within the first warning's time or has ended, the first to end first."""
    return cases.filter(evidence_expires_at__lte=timezone.now() + WARNINGS[0]).order_by("evidence_expires_at")


def look() -> int:
    """Warn about evidence that ends soon or has ended: once at 7 days, once at 1 day, once when it is past its time.
    Returns how many cases were warned about; the rest of a long list waits for the next look."""
    warned = 0
    for level in range(OVERDUE, 0, -1):
        reached = timezone.now() + WARNINGS[level - 1]
        due = Case.objects.filter(evidence_expires_at__lte=reached, expiry_warned__lt=level)
        first = due.select_related("project").order_by("evidence_expires_at")[:BATCH]
        warned += beats.each(first, partial(_warn, level=level))
    return warned


@transaction.atomic
def _warn(case: Case, *, level: int) -> bool:
    lock_project(case.project)
    unchanged = Case.objects.filter(
        pk=case.pk, evidence_expires_at=case.evidence_expires_at, expiry_warned=case.expiry_warned
    )
    if not unchanged.update(expiry_warned=level):
        return False
    ends = case.evidence_expires_at
    assert ends is not None
    past = level == OVERDUE
    recipients.notify(
        _told(case),
        case=case,
        kind=NotificationKind.EXPIRED if past else NotificationKind.EXPIRES_SOON,
        occasion=f"expiry:{level}:{case.pk}:{ends.isoformat()}",
        text=f"{case.readable_id}: its raw evidence {'ended' if past else 'ends'} on {_day(ends)}.",
    )
    return True


def _told(case: Case) -> recipients.People:
    """Who captured or edited it, who owns its privacy, and every privacy reviewer."""
    return (
        recipients.contributors(case)
        | recipients.owners(case, Boundary.PRIVACY)
        | recipients.with_role(case, may.DECIDES_REDACTION)
    )


def _lengthen(case: Case, until: datetime) -> int:
    """Move the end of the case's quarantined bytes to `until`, or to the end of another case that holds them, if that
    is earlier; and of what was made of them, to theirs. Never shortens. Returns how many moved."""
    moved = 0
    raw = Payload.objects.filter(_held_by(case)).filter(classification=Classification.QUARANTINED, purged_at=None)
    for payload in raw.defer("body"):
        others = _holders(payload).exclude(pk=case.pk)
        earliest: datetime | None = others.aggregate(at=Min("evidence_expires_at"))["at"]
        ends = min(until, earliest) if earliest else until
        moved += evidence.lengthen(payload, ends)
    return moved + sum(_follow(subject) for subject in _made_of_raw(case))


def _made_of_raw(case: Case) -> Iterator[Run | Comparison]:
    """Runs first: a verdict was made of their manifests."""
    runs = Run.objects.filter(run_set__revision__case=case, manifest__data_key__isnull=False)
    yield from runs.select_related("run_set__revision", "manifest").defer("manifest__body")
    verdicts = Comparison.objects.filter(revision__case=case, document__data_key__isnull=False)
    yield from verdicts.select_related("revision", "document").defer("document__body")


def _follow(subject: Run | Comparison) -> bool:
    made, ends = subject.manifest if isinstance(subject, Run) else subject.document, reading.sources_end(subject)
    return made is not None and ends is not None and evidence.lengthen(made, ends)


def _held_by(case: Case) -> Q:
    revisions = FixtureRevision.objects.filter(case=case)
    controls = Control.objects.filter(revision__in=revisions)
    held = Q(pk__in=revisions.values("payload")) | Q(pk__in=revisions.values("detect"))
    for link in ("payload", "detect", "mutation"):
        held |= Q(pk__in=controls.values(link))
    redactions, rules = Redaction.objects.filter(revision__case=case), RedactionRule.objects.filter(source__case=case)
    for rows, link in ((redactions, "record"), (redactions, "mapping"), (rules, "body")):
        held |= Q(pk__in=rows.values(link))
    return held


def _holders(payload: Payload) -> QuerySet[Case]:
    """The cases that hold these bytes."""
    revisions = FixtureRevision.objects.filter(Q(payload=payload) | Q(detect=payload)).order_by()
    controls = Control.objects.filter(Q(payload=payload) | Q(detect=payload) | Q(mutation=payload)).order_by()
    return Case.objects.filter(pk__in=revisions.values("case").union(controls.values("revision__case")))


def _day(at: datetime) -> str:
    return f"{at:%-d %b %Y %H:%M} UTC"
