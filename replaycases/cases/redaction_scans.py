"""What the detectors say of a revision: found when it comes in, kept sealed beside it, counted for the gates."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.cases import decisions, evidence, redaction_policies, seen_spans
from replaycases.cases.lifecycle import SeenAnother
from replaycases.cases.models import Case, DecisionKind, FixtureRevision, Payload, Redaction, RedactionPolicy
from replaycases.fixture.strict_json import parse
from replaycases.redaction.leaves import leaves
from replaycases.redaction.places import Kind
from replaycases.redaction.record import Open, Record, read_record, rescan
from replaycases.redaction.scan import DETECTORS_VERSION

KEY_BYTES = 32

JSON = Any
Known = tuple[Kind, str, str]
"""A value that was replaced: what it is, the original, what stands for it."""


@dataclass(frozen=True, kw_only=True)
class CaseKey:
    """The key of a case, and what it was used for. `kept` is the payload that holds both, None for a key that was drawn
    just now."""

    key: bytes = field(repr=False)
    known: tuple[Known, ...] = field(default=(), repr=False)
    kept: Payload | None = None


@dataclass(frozen=True, kw_only=True)
class Look:
    """What was found in a document before it is kept as a revision, and by what."""

    record: Record
    leaves: int
    case_key: CaseKey
    policy: RedactionPolicy | None
    source: FixtureRevision | None = None
    rules: int = 0


def key_of(case: Case | None) -> CaseKey:
    """The case's key as it was used last; a new one where there is none, or where it was destroyed."""
    if case is not None:
        last = Redaction.objects.filter(revision__case=case, mapping__purged_at=None).select_related("mapping").first()
        if last is not None and not evidence.is_gone(last.mapping):
            return opened(last.mapping)
    return CaseKey(key=secrets.token_bytes(KEY_BYTES))


def look_at(project: Project, case: Case | None, fixture: bytes, detect: bytes | None) -> Look:
    """Read a document that was not redacted just now. No lock is held: `keep` refuses what was outrun. What stands in
    an approved revision of the case was seen by a person and is no finding again."""
    policy, case_key = redaction_policies.current(project), key_of(case)
    read = redaction_policies.as_policy(policy)
    documents = [parse(data) for data in (fixture, detect) if data is not None]
    records = [rescan(one, policy=read, known=case_key.known, key=case_key.key) for one in documents]
    found = [one for record in records for one in record.open]
    accepted = _accepted(case, case_key, policy) if found else frozenset()
    left = tuple(one for one in found if (one.kind, one.fits) not in accepted)
    return Look(record=replace(records[0], open=left), leaves=leaves_in(documents[0]), case_key=case_key, policy=policy)


def leaves_in(document: JSON) -> int:
    """How many values a reviewer reads, page by page."""
    return sum(leaf.kind != "key" for leaf in leaves(document))


def keep(actor: User, revision: FixtureRevision, look: Look, ends: datetime) -> Redaction:
    """In the transaction that adds the revision or looks at it anew, with the case locked. Raises SeenAnother where the
    case was redacted since `look_at`."""
    case, project = revision.case, revision.case.project
    now = key_of(case)
    if look.case_key.kept is not None and (now.kept is None or now.kept.pk != look.case_key.kept.pk):
        raise SeenAnother("Somebody redacted the case in the meantime. Look again.")
    record = look.record
    return Redaction.objects.create(
        revision=revision,
        source=look.source,
        policy=look.policy,
        policy_digest=redaction_policies.as_policy(look.policy).digest,
        detectors=DETECTORS_VERSION,
        record=_store(project, case, {"record": record.as_json()}, ends),
        mapping=look.case_key.kept or _store(project, case, _mapping(look.case_key), ends),
        open=[
            {"finding": finding_of(look.case_key.key, one), "kind": one.kind, "detector": one.detector}
            for one in record.open
        ],
        lost=len(record.lost),
        facts=len(record.facts),
        spans=seen_spans.to_be_seen(record, look.leaves),
        counts=record.counts,
        rules=look.rules,
        made_by=actor,
        made_at=timezone.now(),
    )


def record_of(redaction: Redaction) -> Record:
    """The places. Raises EvidenceDestroyed, EvidenceDamaged."""
    return read_record(json.loads(evidence.read(redaction.record))["record"])


def finding_of(key: bytes, one: Open) -> str:
    """By what a waiver names a finding: its detector, its place and its value, under the case's key."""
    said = json.dumps([one.kind, one.detector, one.place.pointer, one.place.in_key, one.place.path, one.fits])
    return hmac.new(key, f"finding:{said}".encode("utf-8", "surrogatepass"), "sha256").hexdigest()


def _accepted(case: Case | None, case_key: CaseKey, policy: RedactionPolicy | None) -> frozenset[tuple[str, str]]:
    """What the same look finds in the revision whose redaction is approved."""
    given = decisions.standing(case).get(DecisionKind.REDACTION) if case is not None else None
    if given is None:
        return frozenset()
    revision = FixtureRevision.objects.select_related("payload", "detect").get(pk=given.revision_id)
    data = [evidence.read(payload) for payload in (revision.payload, revision.detect) if payload is not None]
    read = redaction_policies.as_policy(policy)
    found = (rescan(parse(one), policy=read, known=case_key.known, key=case_key.key) for one in data)
    return frozenset((one.kind, one.fits) for record in found for one in record.open)


def opened(payload: Payload) -> CaseKey:
    """What `Redaction.mapping` holds. Raises EvidenceDestroyed."""
    held = json.loads(evidence.read(payload))
    known: Sequence[list[Any]] = held["known"]
    return CaseKey(
        key=bytes.fromhex(held["key"]),
        known=tuple((kind, original, surrogate) for kind, original, surrogate in known),
        kept=payload,
    )


def _mapping(case_key: CaseKey) -> dict[str, JSON]:
    return {"key": case_key.key.hex(), "known": [list(one) for one in case_key.known]}


def _store(project: Project, case: Case, said: dict[str, JSON], ends: datetime) -> Payload:
    """Equal bytes of two cases are not the same evidence: each ends with its own case."""
    data = json.dumps({"case": str(case.pk), **said}, sort_keys=True).encode()
    return evidence.store(project, data, media_type=evidence.JSON_TYPE, expires_at=ends)
