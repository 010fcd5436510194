"""What the detectors say of a revision: found when it comes in, kept sealed beside it, counted for the gates."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.cases import decisions, evidence, redaction_policies, seen_spans
from replaycases.cases.models import (
    Case,
    Control,
    DecisionKind,
    FixtureRevision,
    Payload,
    Redaction,
    RedactionPolicy,
    RedactionRule,
)
from replaycases.cases.policies import InvalidTransition, SeenAnother
from replaycases.fixture.pointer import resolve, split
from replaycases.fixture.strict_json import parse
from replaycases.redaction.kind_words import kind_word
from replaycases.redaction.leaves import text_of
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
    """What was found in a document before it is kept as a revision, and by what. `to_be_read` is what
    `seen_spans.pages_and_pieces` says of it. `key_from` is where the key was kept
    when it was read, None where it was drawn. `applied` are the rules of the source, None where it was only read.
    `waived` leads from what a finding is called under this key to the name by which two people let it stand before."""

    record: Record
    to_be_read: int
    case_key: CaseKey
    key_from: Payload | None
    policy: RedactionPolicy | None
    source: FixtureRevision | None = None
    rules: int = 0
    applied: frozenset[UUID] | None = None
    waived: Mapping[str, str] = field(default_factory=dict)


def key_of(case: Case | None) -> CaseKey:
    """The case's key as it was used last, with all that was replaced under it; a new one where there is none, or where
    it was destroyed."""
    last = _mapped(case).select_related("mapping").order_by("-made_at").first() if case is not None else None
    if case is None or last is None or evidence.is_gone(last.mapping):
        return CaseKey(key=secrets.token_bytes(KEY_BYTES))
    return replace(opened(last.mapping), known=known_beside(case, None))


def known_beside(case: Case, source: FixtureRevision | None) -> tuple[Known, ...]:
    """What was replaced in the other raw revisions of the case, as each was redacted last: it must not come back."""
    rows = _mapped(case).filter(source__isnull=False)
    if source is not None:
        rows = rows.exclude(source=source)
    newest = dict(rows.order_by("made_at").values_list("source", "mapping"))
    kept = Payload.objects.filter(pk__in=newest.values()).exclude(evidence.gone()).order_by("pk")
    return tuple(dict.fromkeys(one for payload in kept for one in opened(payload).known))


def _mapped(case: Case) -> QuerySet[Redaction]:
    return Redaction.objects.filter(revision__case=case, mapping__purged_at=None)


def look_at(project: Project, case: Case | None, fixture: bytes, detect: bytes | None) -> Look:
    """Read a document that was not redacted just now. No lock is held: `keep` refuses what was outrun. What was found
    in an approved revision of the case when it was approved was seen by a person and is no finding again."""
    scanner = _scanner(project, case)
    documents = [parse(data) for data in (fixture, detect) if data is not None]
    records = [scanner.scan(one) for one in documents]
    left, waived = _not_accepted(case, records, scanner)
    return Look(
        record=replace(records[0], open=left),
        to_be_read=seen_spans.pages_and_pieces(documents[0]),
        case_key=scanner.case_key,
        key_from=scanner.case_key.kept,
        policy=scanner.policy,
        waived=waived,
    )


def require_nothing_in(control: Control) -> None:
    """Raises InvalidTransition where the detectors find in a control what must go, EvidenceDestroyed."""
    found = open_in(control)
    if found:
        kinds = ", ".join(sorted({kind_word(one.kind) for one in found}))
        raise InvalidTransition(
            f"Control {control.name} holds what must go ({kinds}). Add one without it, or have the policy keep it."
        )


def open_in(control: Control) -> tuple[Open, ...]:
    """What must go of a control before its bytes are shown: in its fixture, its detect rules and its mutation. What
    was found in the approved revision beside it was seen there. Raises EvidenceDestroyed."""
    case = control.revision.case
    scanner = _scanner(case.project, case)
    held = [payload for payload in (control.payload, control.detect, control.mutation) if payload is not None]
    records = [scanner.scan(parse(evidence.read(payload))) for payload in held]
    return _not_accepted(case, records, scanner)[0]


@dataclass(frozen=True, kw_only=True)
class _Scanner:
    """By what the documents of a case are read. `made` are surrogates whose originals nobody knows any more."""

    policy: RedactionPolicy | None
    case_key: CaseKey
    made: tuple[Known, ...] = field(repr=False)

    def scan(self, document: JSON) -> Record:
        known = (*self.case_key.known, *self.made)
        return rescan(document, policy=redaction_policies.as_policy(self.policy), known=known, key=self.case_key.key)


def _scanner(project: Project, case: Case | None) -> _Scanner:
    case_key = key_of(case)
    made = _made_before(case) if case is not None and not case_key.known else ()
    return _Scanner(policy=redaction_policies.current(project), case_key=case_key, made=made)


def _made_before(case: Case) -> tuple[Known, ...]:
    """The surrogates of the case as it was redacted last, read where its record says that they stand: what stood for
    what is destroyed with an approval. In a block that was encoded anew stands more than what was replaced, so none is
    told of it."""
    rows = Redaction.objects.filter(revision__case=case, source__isnull=False).order_by("-made_at")
    row = rows.select_related("record", "revision__payload").first()
    if row is None or evidence.is_gone(row.record) or evidence.is_gone(row.revision.payload):
        return ()
    document = parse(evidence.read(row.revision.payload))
    return tuple(
        (seam.kind, "", text[seam.new_start : seam.new_end])
        for change in record_of(row).changes
        if change.pointer is not None and (text := _text_at(document, change.pointer, in_key=change.in_key))
        for seam in change.seams
        if not any(name.startswith(_BLOCKS) for name in seam.path)
    )


_BLOCKS = ("base64@", "hex@")


def _text_at(document: JSON, pointer: str, *, in_key: bool) -> str:
    return split(pointer)[-1] if in_key else text_of(resolve(document, pointer)) or ""


def _not_accepted(
    case: Case | None, records: Sequence[Record], scanner: _Scanner
) -> tuple[tuple[Open, ...], Mapping[str, str]]:
    found = [one for record in records for one in record.open]
    approved = _approved(case, scanner) if found else _Approved()
    return tuple(one for one in found if (one.kind, one.fits) not in approved.accepted), approved.waived


def keep(actor: User, revision: FixtureRevision, look: Look, ends: datetime) -> Redaction:
    """In the transaction that adds the revision or looks at it anew, with the case locked. Raises SeenAnother where the
    case was redacted since `look_at`."""
    case, project = revision.case, revision.case.project
    now = key_of(case)
    if now.kept != look.key_from:
        raise SeenAnother("Somebody redacted the case in the meantime. Look again.")
    if look.applied is not None and look.applied != _rules_of(look.source):
        raise SeenAnother("Somebody added a rule, or took one back, in the meantime. Redact it again.")
    record = look.record.capped()
    return Redaction.objects.create(
        revision=revision,
        source=look.source,
        policy=look.policy,
        policy_digest=redaction_policies.as_policy(look.policy).digest,
        detectors=DETECTORS_VERSION,
        record=_store(project, case, {"record": record.as_json()}, ends),
        mapping=look.case_key.kept or _store(project, case, _mapping(look.case_key), ends),
        open=[
            {"finding": look.waived.get(name, name), "kind": one.kind, "detector": one.detector}
            for one in record.open
            for name in [finding_of(look.case_key.key, one)]
        ],
        lost=len(record.lost),
        facts=len(record.facts),
        spans=seen_spans.to_be_seen(record, look.to_be_read),
        counts=record.counts,
        rules=look.rules,
        made_by=actor,
        made_at=timezone.now(),
    )


def _rules_of(source: FixtureRevision | None) -> frozenset[UUID]:
    standing = RedactionRule.objects.filter(source=source, withdrawn_at=None)
    return frozenset(standing.values_list("pk", flat=True))


def record_of(redaction: Redaction) -> Record:
    """The places. Raises EvidenceDestroyed, EvidenceDamaged."""
    return read_record(json.loads(evidence.read(redaction.record))["record"])


def finding_of(key: bytes, one: Open) -> str:
    """By what a waiver names a finding: its detector, its place and its value, under the case's key."""
    said = json.dumps([one.kind, one.detector, one.place.pointer, one.place.in_key, one.place.path, one.fits])
    return hmac.new(key, f"finding:{said}".encode("utf-8", "surrogatepass"), "sha256").hexdigest()


@dataclass(frozen=True, kw_only=True)
class _Approved:
    """What is found in the revision whose redaction is approved, under the policy of the approval. `accepted` was seen
    by a person then and is no finding again; what two people let stand for a while is, and `waived` is as in `Look`."""

    accepted: frozenset[tuple[Kind, str]] = frozenset()
    waived: Mapping[str, str] = field(default_factory=dict)


def _approved(case: Case | None, scanner: _Scanner) -> _Approved:
    given = decisions.standing(case).get(DecisionKind.REDACTION) if case is not None else None
    if given is None or given.redaction is None:
        return _Approved()
    looked = given.redaction
    revision = FixtureRevision.objects.select_related("payload", "detect").get(pk=given.revision_id)
    data = [evidence.read(payload) for payload in (revision.payload, revision.detect) if payload is not None]
    then = replace(scanner, policy=looked.policy)
    found = [one for document in data for one in then.scan(parse(document)).open]
    # Nobody can tell what other detectors would have found: nothing of it counts as seen.
    seen = found if looked.detectors == DETECTORS_VERSION else []
    if evidence.is_gone(looked.record):
        only_waived = {one["kind"] for one in looked.open}
        return _Approved(accepted=frozenset((one.kind, one.fits) for one in seen if one.kind not in only_waived))
    names = {one.place: row["finding"] for one, row in zip(record_of(looked).open, looked.open, strict=True)}
    let_stand = [one for one in found if one.place in names]
    again = {(one.kind, one.fits) for one in let_stand}
    return _Approved(
        accepted=frozenset((one.kind, one.fits) for one in seen) - again,
        waived={finding_of(scanner.case_key.key, one): names[one.place] for one in let_stand},
    )


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
