"""What a dependency's owner says of a revision: when the dependency had accepted, and whether it answers so."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import decisions, events, fixtures, policies, reading, texts
from replaycases.cases.models import Acceptance, Case, DependencyStatement, FixtureRevision
from replaycases.cases.policies import SeenAnother


def state(
    actor: User,
    *,
    case: Case,
    revision_number: int,
    fixture_hash: str,
    acceptance: str,
    authored_confirmed: bool = False,
    no_effect_confirmed: bool = False,
    note: str = "",
) -> DependencyStatement:
    """Keep what the dependency owner says of exactly the revision that they saw; the newest statement of a revision
    counts. `acceptance` is a value of Acceptance. The answers that nobody recorded, and that the tools of which the
    fixture names no effect have none, are confirmed only by somebody who may read them and whose work they are not.
    Raises PermissionDenied, InvalidTransition, SeenAnother, ValidationError by field."""
    policies.require(case, actor, "state_acceptance")
    if acceptance not in Acceptance.values:
        raise ValidationError({"acceptance": f"Say one of: {', '.join(Acceptance.values)}."})
    said = texts.kept(note, field="note")
    with transaction.atomic():
        case = policies.require_locked(case, actor, "state_acceptance")
        revision = _seen(case, revision_number, fixture_hash)
        if authored_confirmed and not revision.authored_answers:
            raise ValidationError(
                {"authored_confirmed": "Every answer of this revision was recorded: none is to confirm."}
            )
        if no_effect_confirmed and not fixtures.unstated_tools_of(revision):
            raise ValidationError({"no_effect_confirmed": "Every tool of this revision has an effect."})
        if authored_confirmed or no_effect_confirmed:
            _require_may_confirm(actor, case, revision)
        statement = DependencyStatement.objects.create(
            case=case,
            revision=revision,
            acceptance=acceptance,
            authored_confirmed=authored_confirmed,
            no_effect_confirmed=no_effect_confirmed,
            note=said,
            said_by=actor,
            said_at=timezone.now(),
        )
        events.record(
            actor=actor,
            action="dependency.stated",
            subject=statement,
            project=case.project,
            case=case,
            object_hash=revision.fixture_hash,
            after={
                "revision": revision.number,
                "acceptance": acceptance,
                "authored_confirmed": authored_confirmed,
                "no_effect_confirmed": no_effect_confirmed,
                "note": said,
            },
        )
    return statement


def leaves_open(case: Case) -> bool:
    """Whether the current revision holds less than its fixture needs, and nobody who owns the dependency confirmed it
    last. One query, or none; what an old revision did not keep is not looked up."""
    revision = case.current_revision
    if revision is None or not (revision.authored_answers or revision.unstated_tools):
        return False
    said = revision.dependency_statements.order_by("-said_at").first()
    confirmed = (said.authored_confirmed, said.no_effect_confirmed) if said else (False, False)
    return any(asked(revision, answers=confirmed[0], effects=confirmed[1]))


def asked(revision: FixtureRevision, *, answers: bool, effects: bool) -> tuple[bool, bool]:
    """Whether an owner is still asked for a word on the answers that the recording does not hold, and on the tools of
    which the fixture names no effect; `answers` and `effects` are what was confirmed last. No query."""
    return bool(revision.authored_answers and not answers), bool(revision.unstated_tools and not effects)


def _seen(case: Case, number: int, fixture_hash: str) -> FixtureRevision:
    current = case.current_revision
    assert current is not None  # the rule asks for one
    if (current.number, current.fixture_hash) != (number, fixture_hash):
        raise SeenAnother(f"Revision {current.number} is the current one now, with other bytes. Look again.")
    return current


def _require_may_confirm(actor: User, case: Case, revision: FixtureRevision) -> None:
    reading.require(revision, actor)
    own = decisions.own_work(actor, case)
    if own:
        raise PermissionDenied(own)
