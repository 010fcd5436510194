"""Taking back the return of a redaction, as long as its author has not answered with another revision."""

from __future__ import annotations

from django.db import transaction

from replaycases.accounts.models import User
from replaycases.cases import decisions, events, policies
from replaycases.cases.models import Case, Decision, DecisionKind, DecisionOutcome, Stage
from replaycases.cases.policies import InvalidTransition


def last_of(actor: User) -> Case | None:
    """The case whose redaction the actor returned last, where that still stands: its revision is the current one and
    nobody decided anything else since. One query."""
    given = Decision.objects.filter(
        decided_by=actor,
        kind=DecisionKind.REDACTION,
        outcome=DecisionOutcome.RETURNED,
        voided_at=None,
        case__stage=Stage.IN_REVIEW,
        case__redaction_returned=True,
    )
    found = given.visible_to(actor).select_related("case__project", "case").order_by("-decided_at").first()
    return found.case if found is not None and found.revision_id == found.case.current_revision_id else None


def take_back(actor: User, *, case: Case) -> Decision:
    """The redaction waits again as if it had not been returned; that it was stays in the history. Raises
    PermissionDenied, InvalidTransition where the actor returned nothing that still stands."""
    with transaction.atomic():
        case = policies.require_locked(case, actor, "return_redaction")
        given = case.decisions.filter(
            revision=case.current_revision,
            kind=DecisionKind.REDACTION,
            outcome=DecisionOutcome.RETURNED,
            decided_by=actor,
            voided_at=None,
        ).first()
        if given is None or not case.redaction_returned:
            raise InvalidTransition("You returned nothing here that could be taken back: look at the case again.")
        decisions.take_back(given)
        events.record(
            actor=actor,
            action="redaction.return_taken_back",
            subject=given.revision,
            project=case.project,
            case=case,
            object_hash=given.content_hash,
            after={"decision": str(given.pk)},
        )
    return given
