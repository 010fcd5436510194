"""Whose work something is, beside who brings it in: who asked for it, and whose program sent what it is made of."""

from __future__ import annotations

import json
from collections.abc import Iterable
from uuid import UUID

from django.core.exceptions import ValidationError

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.cases import events
from replaycases.cases.models import AuditEvent, Capture, Case, StatementEdit


def require_member(project: Project, actor: User, behalf: User | None) -> None:
    """Raises ValidationError for the actor themselves and for somebody who is not in the project."""
    if behalf is None:
        return
    if behalf == actor:
        raise ValidationError({"on_behalf_of": "You need not name yourself: what you do is yours anyway."})
    if not behalf.is_active:
        raise ValidationError({"on_behalf_of": f"{behalf} is not active."})
    if not access.roles_of(behalf, project):
        raise ValidationError({"on_behalf_of": f"{behalf} is not a member of project {project.key}."})


def in_event(behalf: User | None) -> dict[str, str]:
    """The part of an audit event that names them."""
    return {"on_behalf_of": str(behalf.pk)} if behalf is not None else {}


def note_senders(actor: User, capture: Capture, senders: set[UUID]) -> None:
    """Their programs sent what the capture holds, whoever asked for it, or they brought the same bytes, or had them
    brought: they approve nothing of what is made of it, nor of what was made of it already. In the transaction that
    makes the capture, or that brings it again."""
    new = senders - senders_of(capture) - {capture.captured_by_id, capture.on_behalf_of_id}
    if not new:
        return
    for draft in capture.drafts.filter(case__isnull=False).select_related("case"):
        assert draft.case is not None
        in_part_theirs(draft.case, new)
    events.record(
        actor=actor,
        action="capture.senders_noted",
        subject=capture,
        project=capture.project,
        object_hash=capture.payload.digest,
        after={"sent_by": sorted(map(str, new))},
    )


def senders_of(capture: Capture) -> set[UUID]:
    noted = AuditEvent.objects.filter(object_id=str(capture.pk), action="capture.senders_noted")
    return {UUID(person) for after in noted.values_list("after", flat=True) for person in json.loads(after)["sent_by"]}


def in_part_theirs(case: Case, people: Iterable[UUID | None]) -> None:
    """What they captured, sent or chose is in the case, whoever makes it: they approve nothing of it."""
    StatementEdit.objects.bulk_create(StatementEdit(case=case, editor_id=person) for person in people if person)
