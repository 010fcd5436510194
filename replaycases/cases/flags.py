"""Re-review flags: reasons to look at a case again. A flag moves nothing: a blocking case keeps blocking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import partial

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import REVIEWS_AGAIN, Role
from replaycases.cases import beats, events, lane_moves, policies, recording_ages, redaction_rows, texts
from replaycases.cases.locks import lock_project
from replaycases.cases.models import (
    Case,
    FixtureRevision,
    FlagReason,
    LaneEntry,
    LaneName,
    Proposal,
    ProposalKind,
    ProposalState,
    Redaction,
    ReviewFlag,
    Stage,
)
from replaycases.cases.policies import OPEN, InvalidTransition
from replaycases.fixture.recording_age import OLDER
from replaycases.fixture.shape import VERSIONS
from replaycases.redaction import kind_words

BATCH = 500
# What a person may say. The others are read from the case itself.
BY_PEOPLE = (
    FlagReason.POLICY_CHANGED,
    FlagReason.PARSER_CHANGED,
    FlagReason.DRIFTED,
    FlagReason.SCHEMA_BUMPED,
)
# What asks for another look at the redaction.
OF_REDACTION = frozenset({FlagReason.POLICY_CHANGED, FlagReason.WAIVER_ENDED})
# The schema that a recording may have without being asked about again, and those that came after it.
FIRST_BUMPED_FROM = "2.0"
NEWER_SCHEMAS = VERSIONS[VERSIONS.index(FIRST_BUMPED_FROM) + 1 :]


def raise_flag(actor: User | None, *, case: Case, reason: FlagReason, detail: str) -> ReviewFlag:
    """Ask for a re-review. `actor` None is the system, for which a second flag of a reason is the first one. Raises
    PermissionDenied, InvalidTransition if it is asked for already, ValidationError without a detail."""
    said = texts.kept(detail, missing="Say what changed.")
    if actor is not None and reason not in BY_PEOPLE:
        raise ValidationError("This reason is found by the system. Choose another one.")
    with transaction.atomic():
        case = policies.require_locked(case, actor, "raise_flag") if actor is not None else policies.locked(case)
        standing = case.flags.filter(reason=reason, cleared_at=None).first()
        if standing is not None and actor is not None:
            raise InvalidTransition("A re-review is asked for already, for this reason.")
        return standing or _raise(actor, case, reason, said)


def review_again(actor: User, *, case: Case, note: str) -> Case:
    """Somebody looked at the case again and says what they found: the open flags that are theirs to answer are cleared.
    Once none is left, and they answer for more than the redaction, the next review is due after the project's interval.
    Raises PermissionDenied, InvalidTransition also where the redaction was not looked at again as a flag asks,
    ValidationError without a note."""
    said = texts.kept(note, missing="Say what you looked at and found.")
    with transaction.atomic():
        case = policies.require_locked(case, actor, "review_again")
        before = open_reasons(case)
        held = access.roles_of(actor, case.project)
        answered = _answered_by(held, case, before)
        if why_not := _why_not_cleared(case, answered):
            raise InvalidTransition(why_not)
        now = timezone.now()
        cleared = case.flags.filter(cleared_at=None, reason__in=answered)
        cleared.update(cleared_by=actor, cleared_at=now, clearing_note=said)
        left = [reason for reason in before if reason not in answered]
        case.flagged = bool(left)
        if not left and not held.isdisjoint(REVIEWS_AGAIN):
            case.review_due_at = now + timedelta(days=case.project.review_after_days)
        case.save(update_fields=["flagged", "review_due_at"])
        next_review = case.review_due_at.isoformat() if case.review_due_at else ""
        events.record(
            actor=actor,
            action="case.reviewed_again",
            subject=case,
            project=case.project,
            case=case,
            before={"flags": ", ".join(before)},
            after={"flags": ", ".join(left), "next_review": next_review, "note": said},
        )
    return case


def why_not_review_again(held: frozenset[Role], case: Case, reasons: Sequence[str]) -> str:
    """Why a re-review of the case is refused to somebody with these roles, who may note one in its stage, for what its
    open flags ask, which have these reasons; "" if it is not."""
    try:
        return _why_not_cleared(case, _answered_by(held, case, reasons))
    except PermissionDenied as refused:
        return str(refused)


def open_reasons(case: Case) -> list[str]:
    """Of the flags of the case that are not cleared."""
    return sorted(case.flags.filter(cleared_at=None).values_list("reason", flat=True))


def _answered_by(held: frozenset[Role], case: Case, reasons: Sequence[str]) -> list[str]:
    """Those of the reasons that somebody with these roles answers: who reviews redactions answers what asks about one.
    Raises PermissionDenied where none is theirs."""
    if not held.isdisjoint(REVIEWS_AGAIN):
        return list(reasons)
    mine = [reason for reason in reasons if reason in OF_REDACTION]
    if not mine:
        raise PermissionDenied(access.lacking(case.project, REVIEWS_AGAIN))
    return mine


def _why_not_cleared(case: Case, reasons: Collection[str]) -> str:
    """Why the redaction of a reviewed case was not looked at as these reasons ask; "" if it was, or if there is nothing
    to look at. What stands in a lane is asked as well, but for another look: that is had of the current revision."""
    asked = case.stage in policies.REVIEWED and not OF_REDACTION.isdisjoint(reasons)
    current = case.current_revision
    if not asked or current is None or policies.destroyed(case):
        return ""
    inside = [entry for entry in lane_moves.stays(case).values() if entry.revision_id != current.pk]
    looked_at = redaction_rows.newest_of([current.pk, *(entry.revision_id for entry in inside)])
    looked = looked_at.get(current.pk)
    if looked is None or (FlagReason.POLICY_CHANGED in reasons and not redaction_rows.is_of_today(looked)):
        return (
            f"Nobody looked at revision {current.number} under the policy in force and by the detectors of today. "
            "Look again on the page of its redaction, then note what you found."
        )
    told = [
        _of_current(case, current, looked),
        *(_of_stay(entry, looked_at.get(entry.revision_id)) for entry in inside),
    ]
    return next(filter(None, told), "")


def _of_current(case: Case, revision: FixtureRevision, looked: Redaction) -> str:
    """What of this look keeps a re-review from being noted, and what to do; "" if nothing does."""
    found = redaction_rows.in_the_way(looked)
    back = "Redact it" if case.stage == Stage.IN_REVIEW else "Send the case back to review, and redact it"
    if found.lost:
        remedy = f"{back} by a rule that brings them back, or undo what was edited by hand: no waiver lets that stand."
    else:
        remedy = f"{back}, or have two people let them stand there."
    return f"{fault} {remedy}" if (fault := _fault(revision, found)) else ""


def _of_stay(entry: LaneEntry, looked: Redaction | None) -> str:
    """The same of an earlier revision, which goes on in a lane."""
    revision = entry.revision
    if looked is None:
        fault = f"Nobody looked yet for what must go of revision {revision.number}."
    else:
        fault = _fault(revision, redaction_rows.in_the_way(looked))
    remedy = f"It stands in {entry.lane.name} until a later revision takes its place, or the case is retired."
    return f"{fault} {remedy}" if fault else ""


def _fault(revision: FixtureRevision, found: redaction_rows.InTheWay) -> str:
    if found.lost:
        return f"Relations between values of revision {revision.number} were lost: {found.lost}."
    kinds = kind_words.counted(Counter(one["kind"] for one in found.left))
    return f"Open findings in revision {revision.number}: {kinds}." if found.left else ""


def look() -> int:
    """Raise the flags that the calendar and newer parsers ask for, and give cases in lanes their review date. Returns
    how many were raised; the rest of a long list waits for the next look."""
    _set_review_dates()
    raised = 0
    for reason, cases in _due().items():
        raised += beats.each(cases.select_related("project", "current_revision")[:BATCH], partial(_find, reason))
    for cases, why in recording_ages.older():
        raised += beats.each(cases.select_related("project", "current_revision")[:BATCH], partial(_find_older, why))
    return raised


def _find(reason: FlagReason, case: Case) -> int:
    raise_flag(None, case=case, reason=reason, detail=_found(reason, case))
    return 1


def _find_older(why: Mapping[str, str], case: Case) -> int:
    assert case.current_revision is not None
    detail = why[case.current_revision.recorded_commit].removeprefix(OLDER)
    raise_flag(None, case=case, reason=FlagReason.PARSER_CHANGED, detail=detail)
    return 1


def _due() -> dict[FlagReason, QuerySet[Case]]:
    now = timezone.now()
    cases = Case.objects.filter(stage__in=OPEN)
    # By the proposal: where a later revision stood in nonblocking already, the demotion made no stay of its own.
    ended = Proposal.objects.filter(
        case=OuterRef("pk"), kind=ProposalKind.DEMOTION, state=ProposalState.CONFIRMED, until__lte=now
    )
    # A review after its end has answered that demotion.
    answered = ReviewFlag.objects.filter(case=OuterRef("case"), reason=FlagReason.DEMOTION_ENDED)
    unanswered = ended.filter(~Exists(answered.filter(raised_at__gte=OuterRef("until"))))
    due: dict[FlagReason, QuerySet[Case]] = {
        FlagReason.REVIEW_DATE_PASSED: cases.filter(review_due_at__lte=now).filter(
            ~_open_flag(FlagReason.REVIEW_DATE_PASSED)
        ),
        FlagReason.DEMOTION_ENDED: cases.filter(Exists(unanswered), lane=LaneName.NONBLOCKING),
    }
    if NEWER_SCHEMAS:
        asked = ReviewFlag.objects.filter(case=OuterRef("pk"), reason=FlagReason.SCHEMA_BUMPED)
        due[FlagReason.SCHEMA_BUMPED] = (
            cases.filter(current_revision__isnull=False)
            .exclude(current_revision__schema_version=NEWER_SCHEMAS[-1])
            .filter(~Exists(asked.filter(detail__contains=NEWER_SCHEMAS[-1])))
        )
    return due


def _open_flag(reason: FlagReason) -> Exists:
    return Exists(ReviewFlag.objects.filter(case=OuterRef("pk"), reason=reason, cleared_at=None))


def _found(reason: FlagReason, case: Case) -> str:
    if reason == FlagReason.REVIEW_DATE_PASSED:
        return f"It was due on {case.review_due_at:%-d %b %Y}."
    if reason == FlagReason.DEMOTION_ENDED:
        return "It was demoted for a time, and that time is over. Promote it again, or propose its retirement."
    return f"Schema {NEWER_SCHEMAS[-1]} is there; the current revision was recorded before it."


def _set_review_dates() -> None:
    """A case that came into a lane is reviewed again after the project's interval."""
    projects = Project.objects.filter(Exists(_undated().filter(project=OuterRef("pk"))))
    beats.each(projects, _set_review_dates_of)


@transaction.atomic
def _set_review_dates_of(project: Project) -> int:
    lock_project(project)
    due = timezone.now() + timedelta(days=project.review_after_days)
    return _undated().filter(project=project).update(review_due_at=due)


def _undated() -> QuerySet[Case]:
    return Case.objects.filter(review_due_at=None).exclude(lane="")


def _raise(actor: User | None, case: Case, reason: FlagReason, detail: str) -> ReviewFlag:
    flag = ReviewFlag.objects.create(case=case, reason=reason, detail=detail, raised_by=actor, raised_at=timezone.now())
    before = case.flagged
    case.flagged = True
    case.save(update_fields=["flagged"])
    events.record(
        actor=actor,
        action="case.flagged",
        subject=case,
        project=case.project,
        case=case,
        before={"flagged": before},
        after={"flagged": True, "reason": reason.value, "lane": case.lane},
    )
    return flag
