"""Remarks about one place of a revision. An open one keeps the redaction from being approved, whichever revision of the
case it was made about."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import events, evidence, fixtures, policies, reading, texts
from replaycases.cases.models import Case, FixtureRevision, ReviewComment
from replaycases.cases.policies import InvalidTransition
from replaycases.fixture.pointer import ABSENT, is_pointer
from replaycases.fixture.pointer import resolve as resolve_pointer

POINTER_CAP = 500


def of_case(case: Case) -> QuerySet[ReviewComment]:
    """The comments of every revision of the case, with their people."""
    found = ReviewComment.objects.filter(revision__case=case)
    return found.select_related("author", "resolved_by", "revision__case__project").order_by("created_at")


def add(actor: User, *, revision: FixtureRevision, pointer: str, text: str) -> ReviewComment:
    """A comment, open until somebody resolves it. Raises PermissionDenied for who may not read the revision, and
    ValidationError by field for a text that is empty or too long and a pointer to nothing."""
    reading.require(revision, actor)
    said = texts.kept(text, missing="Write the comment.", field="text")
    _require_place(revision, pointer)
    with transaction.atomic():
        case = policies.require_locked(revision.case, actor, "comment")
        comment = ReviewComment.objects.create(
            revision=revision, pointer=pointer, text=said, author=actor, created_at=timezone.now()
        )
        _event(actor, "comment.added", comment, case)
    return comment


def resolve(actor: User, *, comment: ReviewComment, resolution: str) -> ReviewComment:
    """The comment is dealt with, and `resolution` says how; its author may withdraw it without a word. Raises
    PermissionDenied, InvalidTransition if it is resolved, ValidationError."""
    reading.require(comment.revision, actor)
    missing = "" if actor.pk == comment.author_id else "Say how it was resolved."
    said = texts.kept(resolution, missing=missing, field="resolution")
    with transaction.atomic():
        case = policies.require_locked(comment.revision.case, actor, "comment")
        comment = ReviewComment.objects.select_related("revision").get(pk=comment.pk)
        if comment.resolved_at is not None:
            raise InvalidTransition("The comment is resolved already.")
        comment.resolved_by, comment.resolved_at, comment.resolution = actor, timezone.now(), said
        comment.save(update_fields=["resolved_by", "resolved_at", "resolution"])
        _event(actor, "comment.resolved", comment, case)
    return comment


def _require_place(revision: FixtureRevision, pointer: str) -> None:
    if len(pointer) > POINTER_CAP:
        raise ValidationError(
            {"pointer": f"The pointer has {len(pointer)} characters; at most {POINTER_CAP} are kept."}
        )
    if not is_pointer(pointer):
        raise ValidationError({"pointer": "This is no JSON Pointer. Write it like /events/1/outcome."})
    if resolve_pointer(fixtures.of_revision(revision).document, pointer) is ABSENT:
        raise ValidationError({"pointer": f"Revision {revision.number} has nothing at this place."})
    if evidence.printable(pointer) != pointer:
        raise ValidationError({"pointer": "A key on the way has characters that cannot be kept. Comment above it."})


def _event(actor: User, action: str, comment: ReviewComment, case: Case) -> None:
    """Neither the text nor the pointer: a key may be evidence too."""
    events.record(
        actor=actor,
        action=action,
        subject=comment,
        project=case.project,
        case=case,
        object_hash=comment.revision.fixture_hash,
        after={"revision": comment.revision.number},
    )
