"""Approvals: who may give one, which stands, and what voids it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet, UUIDField, Value
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import texts
from replaycases.cases.models import (
    Case,
    Control,
    Decision,
    DecisionKind,
    DecisionOutcome,
    FixtureRevision,
    Redaction,
    StatementEdit,
    Waiver,
)

REPLACED = "took the place of what was approved."
"""How the reason ends for which an approval was voided by the next revision, and not because somebody took it back."""

TAKEN_BACK = "Taken back by who returned it."

Authors = Iterable[tuple[int, UUID, UUID | None]]
"""(number, author, on whose behalf or None) for every revision of a case, by number; 0 is the failure statement."""


def contributors(case: Case, revisions: Authors | None = None) -> dict[UUID, str]:
    """Everybody whose work the case's current revision is, with how: who captured the case, who edited any of its
    revisions, on whose behalf, and who restated a part of the failure statement. They approve nothing of it. One
    query, or none where `revisions` are given."""
    found = {case.created_by_id: "You captured this case."}
    if case.on_behalf_of_id:
        found.setdefault(case.on_behalf_of_id, "This case was captured on your behalf.")
    for number, author, behalf in _authors_of([case.pk])[case.pk] if revisions is None else revisions:
        found.setdefault(
            author,
            f"You edited revision {number}."
            if number
            else "You edited the failure statement or what the case was made of, or decided about a place of it.",
        )
        if behalf:
            found.setdefault(behalf, f"Revision {number} was made on your behalf.")
    return found


def _authors_of(cases: Collection[UUID]) -> dict[UUID, list[tuple[int, UUID, UUID | None]]]:
    """`Authors` of each of the cases. One query."""
    nobody = Value(None, output_field=UUIDField())
    revisions = FixtureRevision.objects.filter(case__in=cases).order_by()
    restated = StatementEdit.objects.filter(case__in=cases).order_by()
    rows = revisions.values_list("case_id", "number", "created_by_id", "on_behalf_of_id").union(
        restated.values_list("case_id", Value(0), "editor_id", nobody)
    )
    found: dict[UUID, list[tuple[int, UUID, UUID | None]]] = {case: [] for case in cases}
    for case, number, author, behalf in sorted(rows, key=lambda row: row[1]):
        found[case].append((number, author, behalf))
    return found


def own_work(actor: User, case: Case, revisions: Authors | None = None) -> str:
    """Why the actor may not approve anything of the case: it is their own work. "" if it is not."""
    how = contributors(case, revisions).get(actor.pk, "")
    return f"{how} Somebody else approves it." if how else ""


def own_work_of(actor: User, cases: Iterable[Case]) -> dict[UUID, str]:
    """What `own_work` says of each of the cases, by its key. One query."""
    chosen = {case.pk: case for case in cases}
    authors = _authors_of(chosen)
    return {key: own_work(actor, case, authors[key]) for key, case in chosen.items()}


def is_work_of(user: User, case: str = "") -> Q:
    """Of many rows those whose case is the user's work, as `contributors` says of one case. `case` leads to it
    ("case__")."""
    made = Q(created_by=user) | Q(on_behalf_of=user)
    edited = FixtureRevision.objects.filter(made, case=OuterRef(f"{case}pk"))
    roles = ("created_by", "on_behalf_of")
    restated = StatementEdit.objects.filter(case=OuterRef(f"{case}pk"), editor=user)
    return Q(*((f"{case}{role}", user) for role in roles), Exists(edited), Exists(restated), _connector=Q.OR)


def not_work_of(user: User, cases: QuerySet[Case, Any]) -> QuerySet[Case, Any]:
    """Those of the cases that are not the user's work, as `contributors` says. One anti-join each: a database that is
    asked for "either of" looks at every case."""
    edited = FixtureRevision.objects.filter(case=OuterRef("pk"))
    return (
        cases.exclude(created_by=user)
        .exclude(on_behalf_of=user)
        .filter(~Exists(StatementEdit.objects.filter(case=OuterRef("pk"), editor=user)))
        .filter(~Exists(edited.filter(created_by=user)), ~Exists(edited.filter(on_behalf_of=user)))
    )


def standing(case: Case) -> dict[str, Decision]:
    """The approvals of the case that stand, by kind; those of controls apart. One query."""
    approved = Decision.objects.filter(case=case, outcome=DecisionOutcome.APPROVED, voided_at=None, control=None)
    return {decision.kind: decision for decision in approved.select_related("decided_by", "revision")}


def waivers_of(given: Decision) -> list[Waiver]:
    """The waivers that held when the redaction was approved, of what was found then. One query, or none where the
    case's were read before."""
    looked, at = given.redaction, given.decided_at
    if looked is None:
        return []
    found = {one["finding"] for one in looked.open}
    confirmed = [one for one in given.case.waivers.all() if one.confirmed_at and one.confirmed_at <= at < one.until]
    return [one for one in confirmed if one.finding in found and (one.ended_at is None or one.ended_at > at)]


def last_approval(actor: User, revision: FixtureRevision, kind: DecisionKind) -> Decision | None:
    """The approval since which the revision is read: of an earlier revision, the actor's own newest, else the newest
    of anybody. None where no earlier one was approved, or where that was taken back: all of it is read then."""
    given = _given(kind).filter(case=revision.case_id, revision__number__lt=revision.number)
    newest = given.select_related("decided_by", "revision__case__project", "revision__payload")
    newest = newest.order_by("-revision__number")
    return newest.filter(decided_by=actor).first() or newest.first()


def was_approved(revision: FixtureRevision, kind: DecisionKind) -> bool:
    """Whether somebody approved the revision and nobody took that back, whatever took its place since."""
    return _given(kind).filter(revision=revision).exists()


def _given(kind: DecisionKind) -> QuerySet[Decision]:
    stands = Q(voided_at=None) | Q(void_reason__endswith=REPLACED)
    return Decision.objects.filter(stands, kind=kind, outcome=DecisionOutcome.APPROVED, control=None)


def record(
    actor: User,
    *,
    revision: FixtureRevision,
    kind: DecisionKind,
    outcome: DecisionOutcome,
    note: str,
    control: Control | None = None,
    redaction: Redaction | None = None,
) -> Decision:
    """Keep a decision about exactly this revision (or control), with what was found in it where its redaction is
    approved. The caller holds the case's lock and has checked who and when; the database checks again that nobody
    approves their own work and that the hashes are the revision's."""
    subject = control or revision
    decision = Decision.objects.create(
        case=revision.case,
        revision=revision,
        control=control,
        kind=kind,
        outcome=outcome,
        content_hash=revision.content_hash,
        fixture_hash=subject.fixture_hash,
        checks_hash=subject.checks_hash,
        redaction=redaction,
        note=note_of(note),
        decided_by=actor,
        decided_at=timezone.now(),
    )
    if outcome == DecisionOutcome.APPROVED:
        _repeat_on_cases([decision], approved=True)
    _repeat_return(decision)
    return decision


def note_of(text: str) -> str:
    """What somebody said beside a decision, as it is kept. Raises ValidationError where it is too long."""
    return texts.kept(text)


def reason_of(text: str) -> str:
    """The same where something must be said."""
    return texts.kept(text, missing="Say why.")


def void(chosen: QuerySet[Decision], reason: str) -> list[Decision]:
    """End the approvals among `chosen` that stand, for good. Returns them."""
    ended = list(chosen.filter(outcome=DecisionOutcome.APPROVED, voided_at=None))
    chosen.filter(pk__in=[decision.pk for decision in ended]).update(voided_at=timezone.now(), void_reason=reason)
    _repeat_on_cases(ended, approved=False)
    return ended


def _repeat_on_cases(changed: Iterable[Decision], *, approved: bool) -> None:
    """Whether an expectation's approval stands, on its case: for lists, which must not ask for each row."""
    cases = [decision.case_id for decision in changed if decision.kind == DecisionKind.EXPECTATION]
    Case.objects.filter(pk__in=cases).update(expectation_approved=approved)


def _repeat_return(decision: Decision) -> None:
    """Whether the revision came back, on its case; a new revision takes it off again. What is voided leaves it."""
    names = {DecisionKind.REDACTION: "redaction_returned", DecisionKind.EXPECTATION: "expectation_returned"}
    if name := names.get(DecisionKind(decision.kind)):
        of_current = Case.objects.filter(pk=decision.case_id, current_revision=decision.revision)
        of_current.update(**{name: decision.outcome == DecisionOutcome.RETURNED})


def take_back(given: Decision) -> None:
    """A return that was not meant: it asks nobody for anything any more. The caller holds the case's lock and has
    checked who and when."""
    given.voided_at, given.void_reason = timezone.now(), TAKEN_BACK
    given.save(update_fields=["voided_at", "void_reason"])
    Case.objects.filter(pk=given.case_id, current_revision=given.revision).update(redaction_returned=False)


def void_kinds(case: Case, kinds: Iterable[DecisionKind], reason: str) -> list[Decision]:
    return void(Decision.objects.filter(case=case, kind__in=list(kinds), control=None), reason)


def require_not_author(actor: User, control: Control) -> None:
    """Raise PermissionDenied for who added the control; that nobody whose work the case is approves it is a rule of the
    action."""
    if actor.pk == control.created_by_id:
        raise PermissionDenied("You added this control. Somebody else approves it.")
