"""Recorded runs of production come in: recognised, kept as raw evidence, read again for who makes a case of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import CAPTURES, READS_QUARANTINED_EVIDENCE
from replaycases.cases import (
    behalf,
    capture_ends,
    events,
    evidence,
    expiry,
    held_documents,
    numbers,
    outlines,
    policies,
    texts,
)
from replaycases.cases.incoming import Incoming
from replaycases.cases.models import Capture, Origin
from replaycases.importers import recorded
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import NeutralRun
from replaycases.importers.registry import Recording, open_recording

CAPTURE_TYPE = "application/octet-stream"
# What stands in the open is an id, and nothing else that a file may call one.
_TRACE_ID = re.compile(rf"[A-Za-z0-9_.:-]{{1,{texts.NAME_CAP}}}")


def bring(
    actor: User,
    *,
    project: Project,
    data: bytes | Incoming,
    origin: Origin,
    name: str = "",
    format: str | None = None,
    trace_id: str = "",
    symptom: str = "",
    on_behalf_of: User | None = None,
    evidence_days: int | None = None,
    found: Found | None = None,
) -> Capture:
    """The capture that holds exactly these bytes: a new one, or the one that the project has already: they are not read
    again then, and it stays as it is, but that who brings them now and on whose behalf are noted as its senders, and
    that it ends after `evidence_days` where that is earlier. Without a `trace_id` it is the file's own, if all of its
    runs have one. What our own recorder wrote has it as its origin, by whichever way it came. Raises ImportRefused for
    a file that no importer reads (nothing is kept), PermissionDenied, ValidationError for a text or a time that is too
    long, EvidenceTooLarge, EvidenceDestroyed while what the project has of it is past its time and about to be
    destroyed. `found` is what `find` said of these bytes, for who holds a lock already."""
    access.require(actor, project, *CAPTURES)
    digest = evidence.digest_of(data) if isinstance(data, bytes) else data.digest
    said = {
        "name": texts.kept(name, cap=texts.NAME_CAP, field="name"),
        "trace_id": texts.kept(trace_id, cap=texts.NAME_CAP, field="trace_id"),
        "symptom": texts.kept(symptom, field="symptom"),
    }
    behalf.require_member(project, actor, on_behalf_of)
    expires_at = expiry.expiry_for(project, evidence_days)
    asked_end = expires_at if evidence_days is not None else None
    with transaction.atomic():
        policies.require_roles_locked(actor, project, *CAPTURES)
        there = _brought_again(actor, project, digest, on_behalf_of, asked_end)
    if there is not None:
        return there
    plain = data if isinstance(data, bytes) else data.read()
    found = found or find(project, plain, format)
    with transaction.atomic():
        policies.require_roles_locked(actor, project, *CAPTURES)
        there = _brought_again(actor, project, digest, on_behalf_of, asked_end)
        if there is not None:
            return there
        payload = evidence.store(project, plain, media_type=CAPTURE_TYPE, expires_at=expires_at)
        capture = Capture.objects.create(
            project=project,
            number=numbers.take(project, "next_capture_number"),
            payload=payload,
            origin=Origin.RECORDER if found.format == recorded.NAME else origin,
            format=found.format,
            runs=found.runs,
            **{**said, "trace_id": said["trace_id"] or found.trace_id},
            captured_by=actor,
            on_behalf_of=on_behalf_of,
            expires_at=payload.expires_at or expires_at,
        )
        outlines.keep(capture, found.outlined)
        held_documents.of_capture(capture, found.documents)
        events.record(
            actor=actor,
            action="capture.brought",
            subject=capture,
            project=project,
            object_hash=payload.digest,
            after={
                "origin": capture.origin,
                "format": capture.format,
                "runs": capture.runs,
                "size": payload.size,
                **behalf.in_event(on_behalf_of),
            },
        )
    return capture


@dataclass(frozen=True, kw_only=True)
class Found:
    """What is kept of a recording beside its bytes, in the open: the importer's name, how many runs, the digests of
    documents, and the trace's id where all runs have the same, "" else; and sealed: its outlines."""

    format: str
    runs: int
    documents: list[str]
    trace_id: str
    outlined: outlines.Outlined


def find(project: Project, data: bytes, format: str | None) -> Found:
    """Before any lock is taken; what was read for it is let go again. A run that cannot be read holds nothing. Raises
    ImportRefused, as the first of them does where none can be read."""
    recording, names, outlined = open_recording(data, format=format), set[str | None](), outlines.Outlined()
    return Found(
        format=recording.format.name,
        runs=len(recording.runs),
        documents=held_documents.in_runs(project, _runs_of(recording, names, outlined)),
        trace_id=_one_id(names),
        outlined=outlined,
    )


def _runs_of(recording: Recording, names: set[str | None], outlined: outlines.Outlined) -> Iterator[NeutralRun]:
    """The runs that can be read, one at a time; `names` becomes the trace ids of all, `outlined` what is shown of
    them."""
    refusals = list[ImportRefused]()
    for _ in recording.runs:
        try:
            run = outlined.read(recording)
        except ImportRefused as refusal:
            refusals.append(refusal)
            names.add(None)
        else:
            names.add(run.trace_id)
            yield run
    if refusals and len(refusals) == len(recording.runs):
        raise refusals[0]


def _one_id(names: set[str | None]) -> str:
    return _in_the_open(next(iter(names)) if len(names) == 1 else None)


def open_trace_id(run: NeutralRun) -> str:
    """The run's trace, if it is an id; "" else."""
    return _in_the_open(run.trace_id)


def _in_the_open(name: str | None) -> str:
    return name if name is not None and _TRACE_ID.fullmatch(name) else ""


def _brought_again(
    actor: User, project: Project, digest: str, on_behalf_of: User | None, asked_end: datetime | None
) -> Capture | None:
    """The capture that holds these bytes already, once it is noted who brought them now. The caller holds the project's
    lock. Raises as `_there`."""
    there = _there(project, digest)
    if there is not None:
        behalf.note_senders(actor, there, {actor.pk, *([on_behalf_of.pk] if on_behalf_of else [])})
        if asked_end is not None:
            capture_ends.bring_nearer(actor, there, asked_end)
    return there


def _there(project: Project, digest: str) -> Capture | None:
    """The capture that holds these bytes already. Raises EvidenceDestroyed where its time is over."""
    kept = Capture.objects.filter(project=project, purged_at=None, payload__digest=digest)
    there = kept.select_related("project", "payload", "outline").defer("payload__body", "outline__body").first()
    if there is not None:
        capture_ends.require_there(there)
    return there


def recording_of(actor: User, capture: Capture) -> Recording:
    """The capture, read again. Raises PermissionDenied for who may not read raw evidence, EvidenceDestroyed,
    EvidenceDamaged."""
    access.require(actor, capture.project, *READS_QUARANTINED_EVIDENCE)
    capture_ends.require_there(capture)
    return open_recording(evidence.read(capture.payload), format=capture.format)
