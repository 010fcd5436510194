"""Recorded runs of production come in: recognised, kept as raw evidence, read again for who makes a case of them."""

from __future__ import annotations

from django.db import transaction

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import CAPTURES, READS_QUARANTINED_EVIDENCE
from replaycases.cases import behalf, events, evidence, expiry, held_documents, numbers, policies, texts
from replaycases.cases.models import Capture, Origin
from replaycases.importers import recorded
from replaycases.importers.registry import Recording, open_recording

CAPTURE_TYPE = "application/octet-stream"


def bring(
    actor: User,
    *,
    project: Project,
    data: bytes,
    origin: Origin,
    name: str = "",
    format: str | None = None,
    trace_id: str = "",
    symptom: str = "",
    on_behalf_of: User | None = None,
    evidence_days: int | None = None,
) -> Capture:
    """The capture that holds exactly these bytes: a new one, or the one that the project has already, as it is. What
    our own recorder wrote has it as its origin, by whichever way it came. Raises ImportRefused for a file that no
    importer reads (nothing is kept), PermissionDenied, ValidationError for a text or a time that is too long,
    EvidenceTooLarge, EvidenceDestroyed while what the project has of it is past its time and about to be destroyed."""
    access.require(actor, project, *CAPTURES)
    recording = open_recording(data, format=format)
    if recording.format.name == recorded.NAME:
        origin = Origin.RECORDER
    said = {
        "name": texts.kept(name, cap=texts.NAME_CAP, field="name"),
        "trace_id": texts.kept(trace_id, cap=texts.NAME_CAP, field="trace_id"),
        "symptom": texts.kept(symptom, field="symptom"),
    }
    behalf.require_member(project, actor, on_behalf_of)
    expires_at = expiry.expiry_for(project, evidence_days)
    with transaction.atomic():
        policies.require_roles_locked(actor, project, *CAPTURES)
        kept = Capture.objects.filter(project=project, purged_at=None)
        there = kept.filter(payload__digest=evidence.digest_of(data)).first()
        if there is not None:
            require_there(there)
            return there
        payload = evidence.store(project, data, media_type=CAPTURE_TYPE, expires_at=expires_at)
        capture = Capture.objects.create(
            project=project,
            number=numbers.take(project, "next_capture_number"),
            payload=payload,
            origin=origin,
            format=recording.format.name,
            runs=len(recording.runs),
            **said,
            captured_by=actor,
            on_behalf_of=on_behalf_of,
            expires_at=payload.expires_at or expires_at,
        )
        held_documents.of_capture(capture, recording)
        events.record(
            actor=actor,
            action="capture.brought",
            subject=capture,
            project=project,
            object_hash=payload.digest,
            after={
                "origin": origin,
                "format": capture.format,
                "runs": capture.runs,
                "size": payload.size,
                **behalf.in_event(on_behalf_of),
            },
        )
    return capture


def recording_of(actor: User, capture: Capture) -> Recording:
    """The capture, read again. Raises PermissionDenied for who may not read raw evidence, EvidenceDestroyed,
    EvidenceDamaged."""
    access.require(actor, capture.project, *READS_QUARANTINED_EVIDENCE)
    require_there(capture)
    return open_recording(evidence.read(capture.payload), format=capture.format)


def require_there(capture: Capture) -> None:
    """Raise EvidenceDestroyed, with what is left of it, once its time is over."""
    if is_gone(capture):
        raise evidence.EvidenceDestroyed(destroyed(capture))


def is_gone(capture: Capture) -> bool:
    return capture.purged_at is not None or evidence.is_gone(capture.payload)


def destroyed(capture: Capture) -> str:
    """What is said in place of a capture whose time was over: when, and the receipt."""
    payload, name, at = capture.payload, capture.readable_id, capture.purged_at
    if at is None:
        return f"The time of {name} is over: it is opened no more, and destroyed at the next look at the calendar."
    return (
        f"{name} was destroyed on {at:%-d %b %Y} UTC, when its time was over. Its receipt: "
        f"{payload.size} bytes, {payload.digest}. Capture the run anew."
    )
