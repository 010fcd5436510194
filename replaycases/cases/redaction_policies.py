"""A project's redaction policy: versions of data, the newest of which is in force."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max, Q

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import SETS_REDACTION_POLICY
from replaycases.cases import events, flags, policies, texts
from replaycases.cases.models import Case, FlagReason, RedactionPolicy
from replaycases.cases.policies import SeenAnother
from replaycases.cases.redaction_rows import policy_name
from replaycases.redaction.folding import is_encodable
from replaycases.redaction.leaves import leaves
from replaycases.redaction.policy import BUILT_IN, Policy, PolicyInvalid, read_policy


def current(project: Project) -> RedactionPolicy | None:
    """The version in force; None where the project has none of its own and the built-in one holds."""
    return RedactionPolicy.objects.filter(project=project).order_by("-number").first()


def as_policy(row: RedactionPolicy | None) -> Policy:
    """What the redaction room reads."""
    if row is None:
        return BUILT_IN
    return read_policy({**row.data, "name": row.project.key, "version": str(row.number)})


def checked(project: Project, data: Mapping[str, Any], *, number: int) -> Policy:
    """The policy that these data would be. Raises ValidationError with every problem; name and version are not theirs
    to say."""
    if not isinstance(data, dict):
        raise ValidationError({"policy": "A policy is a JSON object."})
    named = data.keys() & {"name", "version"}
    if named:
        told = " and ".join(sorted(named))
        raise ValidationError(
            {"policy": f"Leave out {told}: they are the project's key and the number of the version."}
        )
    if not all(is_encodable(leaf.text) and "\0" not in leaf.text for leaf in leaves(data)):
        raise ValidationError({"policy": "A text in it has a NUL or half of a surrogate pair, and cannot be kept."})
    try:
        return read_policy({**data, "name": project.key, "version": str(number)})
    except PolicyInvalid as invalid:
        raise ValidationError({"policy": invalid.problems}) from None


def save(actor: User, *, project: Project, data: Mapping[str, Any], note: str, seen: int) -> RedactionPolicy:
    """The next version, in force from now on. `seen` is the number of the version that was edited, 0 for the built-in
    one. What is in review is looked at again under it before it can be approved; what was approved under another one is
    flagged for a re-review. Raises PermissionDenied, ValidationError, SeenAnother where there is a newer version."""
    why = texts.kept(note, missing="Say what is new in it and why.", field="note")
    policies.refuse_tokens(actor)
    checked(project, data, number=seen + 1)
    with transaction.atomic():
        policies.require_roles_locked(actor, project, *SETS_REDACTION_POLICY)
        number = RedactionPolicy.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
        if number != seen:
            told = f"Version {number} of the policy is in force, and you edited {policy_name(seen)}."
            raise SeenAnother(f"{told} Look again.")
        before = current(project)
        policy = checked(project, data, number=number + 1)
        if as_policy(before).digest == policy.digest:
            raise ValidationError({"policy": f"Nothing is changed: this is what {policy_name(number)} says already."})
        row = RedactionPolicy.objects.create(
            project=project, number=number + 1, data=dict(data), digest=policy.digest, note=why, created_by=actor
        )
        events.record(
            actor=actor,
            action="redaction_policy.saved",
            subject=row,
            project=project,
            object_hash=policy.digest,
            before={"number": number},
            after={"number": row.number, "note": why},
        )
        _flag(project, row)
    return row


def _flag(project: Project, row: RedactionPolicy) -> None:
    """What was approved stays approved and goes on as it does, in a lane also while the case is back in review:
    somebody looks at it again."""
    approved = Case.objects.filter(Q(stage__in=policies.APPROVED) | ~Q(lane=""), project=project)
    detail = f"Its redaction was approved before version {row.number} of the redaction policy."
    for case in approved.select_related("project").order_by("number"):
        flags.raise_flag(None, case=case, reason=FlagReason.POLICY_CHANGED, detail=detail)
