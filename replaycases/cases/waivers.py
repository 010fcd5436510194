"""Findings that may stand as they are: one person says why and until when, a second one agrees.

People are told before one ends. Once it has, or was ended, what it let stand is open again: a case that is approved, or
stands in a lane, is flagged.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import CONFIRMS_WAIVERS, WAIVES
from replaycases.cases import (
    beats,
    decisions,
    events,
    flags,
    policies,
    reading,
    recipients,
    redaction_rows,
    redaction_scans,
)
from replaycases.cases.models import (
    Case,
    FlagReason,
    LaneEntry,
    Notification,
    NotificationKind,
    Redaction,
    ReviewFlag,
    Waiver,
)
from replaycases.cases.policies import InvalidTransition
from replaycases.redaction.kind_words import kind_word
from replaycases.redaction.record import TOO_MANY
from replaycases.redaction.report import place_of

LONGEST_DAYS = 90
WARNED = timedelta(days=7)
"""How long before its end people are told of it."""
BATCH = 500
IN_USE = Q(case__stage__in=policies.APPROVED) | ~Q(case__lane="")
"""Of cases that are approved, or stand in a lane."""
ONE_BY_ONE = frozenset({"secret", "blind"})
"""Kinds that are never waived together with others: each needs a reason of its own."""


def ask(actor: User, *, redaction: Redaction, findings: Collection[str], reason: str, until: datetime) -> list[Waiver]:
    """Let these open findings of the case's current revision stand until then, once a second person agrees. `findings`
    are named as in `Redaction.open`. Raises PermissionDenied, InvalidTransition for a redaction that is not the newest
    one of the current revision, ValidationError."""
    why = decisions.reason_of(reason)
    _require_end(until)
    case = redaction.revision.case
    with transaction.atomic():
        case = policies.require_locked(case, actor, "waive")
        newest = redaction_rows.newest(redaction.revision)
        if newest is None or newest.pk != redaction.pk or case.current_revision_id != redaction.revision_id:
            raise InvalidTransition("What was found is outrun by a newer look. Look again.")
        reading.require(redaction.revision, actor)
        chosen = _chosen(redaction, set(findings))
        places = _places(redaction)
        asked = [
            Waiver.objects.create(
                case=case,
                redaction=redaction,
                finding=found["finding"],
                kind=found["kind"],
                detector=found["detector"],
                place=places.get(found["finding"], "")[:500],
                reason=why,
                until=until,
                asked_by=actor,
                asked_at=timezone.now(),
            )
            for found in chosen
            if _is_free(case, found["finding"])
        ]
        for waiver in asked:
            _event(actor, waiver, "waiver.asked_for")
    return asked


def confirm(actor: User, *, waiver: Waiver) -> Waiver:
    """As a second person, who reads what it is about. Raises PermissionDenied, InvalidTransition."""
    policies.refuse_tokens(actor)
    with transaction.atomic():
        waiver = _locked(waiver)
        why_not = why_not_confirm(actor, waiver)
        if why_not:
            raise PermissionDenied(why_not)
        _require_waits(waiver)
        reading.require(waiver.redaction.revision, actor)
        waiver.confirmed_by, waiver.confirmed_at = actor, timezone.now()
        waiver.save(update_fields=["confirmed_by", "confirmed_at"])
        _event(actor, waiver, "waiver.confirmed")
    return waiver


def end(actor: User, *, waiver: Waiver) -> Waiver:
    """Take it back, refuse or end it: the finding is in the way again. Raises PermissionDenied, InvalidTransition."""
    policies.refuse_tokens(actor)
    with transaction.atomic():
        waiver = _locked(waiver)
        access.require(actor, waiver.case.project, *(WAIVES | CONFIRMS_WAIVERS))
        if waiver.ended_at is not None:
            raise InvalidTransition("It was ended already.")
        waiver.ended_by, waiver.ended_at = actor, timezone.now()
        waiver.save(update_fields=["ended_by", "ended_at"])
        _event(actor, waiver, "waiver.ended")
        if waiver.confirmed_at is not None:
            _flag(waiver)
    return waiver


def look() -> int:
    """Tell of the waivers that end within WARNED, each once, and flag the cases in which one has ended since. Returns
    how many were told of or flagged; the rest of a long list waits for the next look."""
    now = timezone.now()
    ending = Waiver.objects.filter(redaction_rows.given(), case__stage__in=policies.REVIEWED)
    ending = ending.filter(until__gt=now, until__lte=now + WARNED).select_related("case__project")
    return beats.each(ending.order_by("until"), _warn) + beats.each(_unanswered(now)[:BATCH], _flag_ended)


def _unanswered(now: datetime) -> QuerySet[Waiver]:
    """Those whose time is over and that nobody was asked about since, of findings that stand in an approved revision or
    in a lane. A look at all that ever ended would never be done."""
    ended = Waiver.objects.filter(redaction_rows.given(), IN_USE, until__lte=now).select_related("case__project")
    asked = ReviewFlag.objects.filter(case=OuterRef("case"), reason=FlagReason.WAIVER_ENDED)
    open_or_later = asked.filter(Q(cleared_at=None) | Q(raised_at__gte=OuterRef("until")))
    stays = LaneEntry.objects.filter(revision=OuterRef("revision"), left_at=None)
    newer = Redaction.objects.filter(revision=OuterRef("revision"), made_at__gt=OuterRef("made_at"))
    looked = Redaction.objects.alias(found=Cast("open", TextField())).filter(
        Q(revision=OuterRef("case__current_revision")) | Exists(stays),
        ~Exists(newer),
        revision__case=OuterRef("case"),
        found__contains=OuterRef("finding"),
    )
    return ended.filter(~Exists(open_or_later), Exists(looked)).order_by("until")


def _warn(waiver: Waiver) -> int:
    people = {waiver.asked_by_id, *([waiver.confirmed_by_id] if waiver.confirmed_by_id else [])}
    case, key = waiver.case, f"waiver:{waiver.pk}"
    if not _lets_stand(waiver) or Notification.objects.filter(case=case, key=key).exists():
        return 0
    recipients.notify(
        recipients.still_members(case, people) | recipients.with_role(case, WAIVES),
        case=case,
        kind=NotificationKind.WAIVER_ENDS,
        occasion=key,
        text=f"{case.readable_id}: the waiver of a finding ({kind_word(waiver.kind)}) ends on {_day(waiver.until)}.",
    )
    return 1


@transaction.atomic
def _flag_ended(waiver: Waiver) -> int:
    waiver = _locked(waiver)
    return _flag(waiver) if waiver.ended_at is None else 0  # Somebody asked for another one meanwhile.


def _flag(waiver: Waiver) -> int:
    """1 where the case, which is locked, is flagged for it now. What is in review is asked for by a gate."""
    case = waiver.case
    asked = case.flags.filter(reason=FlagReason.WAIVER_ENDED, cleared_at=None).exists()
    if asked or not (case.stage in policies.APPROVED or case.lane) or not _lets_stand(waiver):
        return 0
    detail = f"A finding ({kind_word(waiver.kind)}) stands open since the end of its waiver, {_day(waiver.until)}."
    if waiver.ended_at is not None:
        detail = f"A finding ({kind_word(waiver.kind)}) stands open: its waiver was ended."
    flags.raise_flag(None, case=case, reason=FlagReason.WAIVER_ENDED, detail=detail)
    return 1


def _lets_stand(waiver: Waiver) -> bool:
    """Whether it is about a finding of the current revision, or of one that stands in a lane."""
    inside = LaneEntry.objects.filter(case=waiver.case, left_at=None).values_list("revision", flat=True)
    revisions = [pk for pk in (*inside, waiver.case.current_revision_id) if pk is not None]
    looked = redaction_rows.newest_of(revisions)
    return any(found["finding"] == waiver.finding for one in looked.values() for found in one.open)


def _day(at: datetime) -> str:
    return f"{at:%-d %b %Y}"


def why_not_confirm(actor: User, waiver: Waiver) -> str:
    """Why this person cannot be the second one, "" if they can."""
    roles = access.roles_of(actor, waiver.case.project)
    if roles.isdisjoint(CONFIRMS_WAIVERS):
        return access.lacking(waiver.case.project, CONFIRMS_WAIVERS)
    if actor.pk == waiver.asked_by_id:
        return "You asked for it. A second person agrees to it."
    return decisions.own_work(actor, waiver.case)


def _chosen(redaction: Redaction, wanted: set[str]) -> list[dict[str, str]]:
    chosen = list({found["finding"]: found for found in redaction.open if found["finding"] in wanted}.values())
    if not chosen or len(chosen) != len(wanted):
        raise ValidationError("Choose findings that are open here.")
    if len(chosen) > 1 and any(found["kind"] in ONE_BY_ONE for found in chosen):
        raise ValidationError("A secret, and what could not be read, is waived by itself with a reason of its own.")
    if any(found["detector"] == TOO_MANY for found in chosen):
        raise ValidationError("There are more findings than are listed. Redact it, or mend the policy, first.")
    return chosen


def _places(redaction: Redaction) -> dict[str, str]:
    record = redaction_scans.record_of(redaction)
    rows, named = zip(redaction.open, record.open, strict=True), record.named
    return {found["finding"]: place_of(one.place, named=named) for found, one in rows}


def _is_free(case: Case, finding: str) -> bool:
    """Whether none is asked for already; one whose time is over makes room."""
    there = Waiver.objects.filter(case=case, finding=finding, ended_at=None).first()
    if there is None:
        return True
    if there.until > timezone.now():
        raise InvalidTransition("This is asked for, or waived, already.")
    there.ended_by, there.ended_at = there.asked_by, timezone.now()
    there.save(update_fields=["ended_by", "ended_at"])
    return True


def _locked(waiver: Waiver) -> Waiver:
    case = policies.locked(waiver.case)
    found = Waiver.objects.select_for_update(no_key=True, of=("self",)).select_related("redaction__revision__case")
    waiver = found.get(pk=waiver.pk)
    waiver.case = case
    return waiver


def _require_waits(waiver: Waiver) -> None:
    if waiver.ended_at is not None or waiver.confirmed_at is not None:
        raise InvalidTransition("It was decided already.")
    if waiver.until <= timezone.now():
        raise InvalidTransition("The time until which it was to hold has passed. End it.")
    if waiver.redaction.revision_id != waiver.case.current_revision_id:
        raise InvalidTransition("It is of a revision that is not the current one any more. End it.")


def _require_end(until: datetime) -> None:
    now = timezone.now()
    if not now < until <= now + timedelta(days=LONGEST_DAYS):
        told = f"Name a time in the future at which it ends, at most {LONGEST_DAYS} days from now."
        raise ValidationError({"until": told})


def _event(actor: User, waiver: Waiver, action: str) -> None:
    events.record(
        actor=actor,
        action=action,
        subject=waiver,
        project=waiver.case.project,
        case=waiver.case,
        object_hash=waiver.redaction.revision.content_hash,
        after={
            "kind": waiver.kind,
            "detector": waiver.detector,
            "place": waiver.place,
            "reason": waiver.reason,
            "until": waiver.until.isoformat(),
        },
    )
