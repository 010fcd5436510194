"""What was found in a revision, as its rows say it: nothing here reads evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case as Either
from django.db.models import Exists, OuterRef, Q, QuerySet, When
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import events, evidence
from replaycases.cases.models import (
    Case,
    Classification,
    FixtureRevision,
    Payload,
    Redaction,
    RedactionPolicy,
    RedactionRule,
    Waiver,
)
from replaycases.cases.policies import InvalidTransition
from replaycases.redaction.kind_words import kind_word
from replaycases.redaction.scan import DETECTORS_VERSION


def policy_name(number: int) -> str:
    """What a version of a project's policy is called; 0 where it has none of its own."""
    return f"version {number}" if number else "the built-in policy"


def newest(revision: FixtureRevision) -> Redaction | None:
    """The one that counts; None for a revision that nobody looked at."""
    return newest_of([revision.pk]).get(revision.pk)


def require_newest(revision: FixtureRevision) -> Redaction:
    """Raises InvalidTransition where nobody looked at it."""
    found = newest(revision)
    if found is None:
        raise InvalidTransition("Nobody looked yet for what must go. Redact it first.")
    return found


@dataclass(frozen=True, kw_only=True)
class InTheWay:
    """What a look says must not stay. `left` are the open findings that no waiver covers; of relations between values
    `lost` is how many were lost, and no waiver lets one be."""

    lost: int
    left: list[Mapping[str, str]]


def in_the_way(redaction: Redaction, waivers: Iterable[Waiver] | None = None) -> InTheWay:
    """`waivers` are those of the case that hold now; they are read where they are not given."""
    left = left_open(redaction) if waivers is None else standing(redaction, waivers)
    return InTheWay(lost=redaction.lost, left=left)


def left_open(redaction: Redaction) -> list[Mapping[str, str]]:
    """The open findings that no waiver covers now."""
    case = redaction.revision.case_id
    return standing(redaction, holding([case])[case]) if redaction.open else []


def require_nothing_open(revision: FixtureRevision) -> None:
    """What is new in what is expected was looked through like all else before it is redacted evidence. Raises
    InvalidTransition where it holds what must go, or lost a relation."""
    looked = require_newest(revision)
    if revision.payload.classification == Classification.QUARANTINED and not is_of_today(looked):
        raise InvalidTransition("It was looked through by an earlier policy or earlier detectors: look again first.")
    found = in_the_way(looked)
    if found.lost:
        raise InvalidTransition(f"Relations between values were lost: {found.lost}. Change what is expected first.")
    if found.left:
        raise InvalidTransition(f"What is expected holds what must go ({kinds(found.left)}). Change it first.")


def is_of_today(looked: Redaction) -> bool:
    """Whether it was found under the policy in force and by the detectors of today."""
    policies = RedactionPolicy.objects.filter(project=looked.revision.case.project_id)
    in_force = policies.order_by("-number").values_list("pk", flat=True).first()
    return looked.policy_id == in_force and looked.detectors == DETECTORS_VERSION


def in_event(redaction: Redaction) -> dict[str, object]:
    """What an approval names beside the bytes: under which policy and by which detectors they were looked through, and
    which waivers hold."""
    case = redaction.revision.case_id
    found = {found["finding"] for found in redaction.open}
    return named_with(redaction, [waiver for waiver in holding([case])[case] if waiver.finding in found])


def named_with(redaction: Redaction, waivers: Iterable[Waiver]) -> dict[str, object]:
    """The same with waivers that are known. `policy_version` is 0 for the built-in policy."""
    return {
        "policy": redaction.policy_digest,
        "policy_version": redaction.policy.number if redaction.policy is not None else 0,
        "detectors": redaction.detectors,
        "waivers": [str(waiver.pk) for waiver in waivers],
    }


def kinds(found: Iterable[Mapping[str, str]]) -> str:
    """What the findings are, in words."""
    return ", ".join(sorted({kind_word(one["kind"]) for one in found}))


def rules_changed(redaction: Redaction) -> bool:
    """Whether people added a rule, or took one back, since they were applied: it shows something else than they
    decided."""
    return has_changed_rules(with_rules_changed(Redaction.objects.filter(pk=redaction.pk)).get())


def with_rules_changed(rows: QuerySet[Redaction]) -> QuerySet[Redaction]:
    """The same of each, as `has_changed_rules`. What was only read applied none."""
    later = Q(added_at__gt=OuterRef("made_at")) | Q(withdrawn_at__gt=OuterRef("made_at"))
    changed = RedactionRule.objects.filter(later, source=OuterRef("source"))
    unused = RedactionRule.objects.filter(source=OuterRef("revision"), withdrawn_at=None)
    return rows.annotate(has_changed_rules=Either(When(source=None, then=Exists(unused)), default=Exists(changed)))


def has_changed_rules(row: Redaction) -> bool:
    """What `with_rules_changed` noted on it."""
    return bool(vars(row)["has_changed_rules"])


def newest_of(revisions: Collection[UUID]) -> dict[UUID, Redaction]:
    """What `newest` says of each that was looked at. One query."""
    rows = Redaction.objects.filter(revision__in=revisions).select_related("source", "policy")
    return {row.revision_id: row for row in rows.order_by("made_at")}


def holding(cases: Collection[UUID]) -> dict[UUID, list[Waiver]]:
    """The waivers of each case that hold now: confirmed, not ended, their time not over. One query."""
    found: dict[UUID, list[Waiver]] = {case: [] for case in cases}
    for waiver in Waiver.objects.filter(holds(), case__in=cases).select_related("asked_by", "confirmed_by"):
        found[waiver.case_id].append(waiver)
    return found


def holds() -> Q:
    return given() & Q(until__gt=timezone.now())


def given() -> Q:
    """Waivers that are confirmed and not ended, whether their time is over or not."""
    return Q(confirmed_at__isnull=False, ended_at=None)


def standing(redaction: Redaction, waivers: Iterable[Waiver]) -> list[Mapping[str, str]]:
    """The open findings that no waiver covers."""
    return left_by(redaction, {waiver.finding for waiver in waivers})


def left_by(redaction: Redaction, waived: Collection[str]) -> list[Mapping[str, str]]:
    """The open findings that are not among those that are `waived`, by their names."""
    return [found for found in redaction.open if found["finding"] not in waived]


def forget(actor: User, case: Case) -> None:
    """The keys of the case, and what stood for what, are destroyed: from now on nobody can lead a surrogate back. In
    the transaction of the approval."""
    kept = _mappings(case).select_for_update().defer("body")
    for payload in kept:
        evidence.destroy(payload)
    if kept:
        events.record(
            actor=actor,
            action="redaction.mapping_destroyed",
            subject=case,
            project=case.project,
            case=case,
            after={"payloads": len(kept), "digests": [payload.digest for payload in kept]},
        )


def _mappings(case: Case) -> QuerySet[Payload]:
    of_case = Redaction.objects.filter(revision__case=case)
    return Payload.objects.filter(pk__in=of_case.values("mapping"), purged_at=None)
