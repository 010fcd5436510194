"""What a case is closed with: the checklist of what a green replay does not show and somebody looks at before the
incident is closed, and why a case cannot be replayed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import SIGNS_HAND_OFF
from replaycases.cases import events, policies, texts
from replaycases.cases.models import AuditEvent, Case, ClosingItem, ClosingStep, Stage


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step, with the note of whoever did it; None while it is open."""

    step: ClosingStep
    item: ClosingItem | None


def steps_of(case: Case) -> list[Step]:
    """Every step in the order in which they are done. One query."""
    done = {item.step: item for item in ClosingItem.objects.filter(case=case).select_related("done_by")}
    return [Step(step=step, item=done.get(step)) for step in ClosingStep]


def note_step(actor: User, *, case: Case, step: ClosingStep, note: str) -> ClosingItem:
    """The actor looked at it and says how they know. Each step once; the hand-off is signed by an incident owner.
    Raises PermissionDenied, InvalidTransition, ValidationError without a note."""
    said = texts.kept(note, missing="Say how you know.", field="note")
    with transaction.atomic():
        case = policies.require_locked(case, actor, "close_step")
        if step == ClosingStep.HAND_OFF and not access.has_any(actor, case.project, SIGNS_HAND_OFF):
            raise PermissionDenied(access.lacking(case.project, SIGNS_HAND_OFF))
        if ClosingItem.objects.filter(case=case, step=step).exists():
            raise policies.InvalidTransition("This step is noted already.")
        item = ClosingItem.objects.create(case=case, step=step, note=said, done_by=actor, done_at=timezone.now())
        events.record(
            actor=actor,
            action="closing.step_noted",
            subject=item,
            project=case.project,
            case=case,
            object_hash=case.current_revision.fixture_hash if case.current_revision else "",
            after={"step": step.value},
        )
    return item


def why_non_replayable(case: Case) -> Mapping[str, str]:
    """The "reason" and what is "missing", as they were said when the case was last marked; {} unless it is so now. One
    query, or none."""
    if case.stage != Stage.NON_REPLAYABLE:
        return {}
    marked = AuditEvent.objects.filter(case=case, action="case.non_replayable").order_by("-sequence").first()
    said = json.loads(marked.after) if marked is not None else {}
    return {name: str(said.get(name, "")) for name in ("reason", "missing")}
