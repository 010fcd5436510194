"""Redacting a case: a raw revision becomes one in which what identifies somebody is replaced, by policy and by rules.

The same raw revision, policy, rules and key give the same bytes, so that a rule that is added changes nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import SETS_REDACTION_POLICY
from replaycases.cases import (
    events,
    evidence,
    intake,
    policies,
    reading,
    redaction_edits,
    redaction_policies,
    redaction_rows,
    redaction_rules,
    redaction_scans,
    seen_spans,
)
from replaycases.cases.models import Case, FixtureRevision, Redaction, RedactionPolicy
from replaycases.cases.policies import InvalidTransition, SeenAnother
from replaycases.cases.redaction_scans import CaseKey, Look
from replaycases.fixture.strict_json import parse
from replaycases.redaction import kind_words
from replaycases.redaction import redact as pipeline
from replaycases.redaction.manual import ManualRule
from replaycases.redaction.policy import Policy
from replaycases.redaction.record import Open, Record, record_of, rescan
from replaycases.redaction.residual import DIGITS, ORIGINAL
from replaycases.redaction.scan import DETECTORS_VERSION
from replaycases.redaction.surrogates.surrogates import NoSurrogate

WITH_DETECT = "Detect rules stand beside this 1.0 fixture, and both would have to be redacted as one. Write it as 2.0."
RESIDUAL = (ORIGINAL, DIGITS)
_NOT_REDACTED = "It cannot be redacted as it is: {}. Mark, keep or leave out what is in the way by a rule."


def source_of(revision: FixtureRevision) -> FixtureRevision:
    """The raw revision that it was made of, itself where it was made by hand."""
    made = redaction_rows.newest(revision)
    return made.source if made is not None and made.source is not None else revision


def redact(actor: User, *, case: Case, seen_revision: int) -> FixtureRevision:
    """The raw revision behind the current one, redacted under the policy in force and the rules that stand; it is the
    current revision then. Where nothing had to be replaced, the current one stays and is noted as read.
    `seen_revision` is its number as the actor saw it. Raises PermissionDenied, SeenAnother, InvalidTransition where it
    cannot be redacted or is redacted so already, EvidenceDestroyed."""
    policies.require(case, actor, "redact")
    current = _seen(case, seen_revision)
    source = source_of(current)
    reading.require(source, actor)
    made = _made(case, source)
    if evidence.digest_of(made.data) == current.payload.digest:
        newest = redaction_rows.newest(current)
        if newest is not None and newest.source is not None and _says_all(newest, made.look):
            raise InvalidTransition("It is redacted so already: neither the policy nor a rule is new.")
        _keep(actor, case, current, made.look, "redaction.made")
        return current
    return intake.add_revision(
        actor,
        case=case,
        fixture=made.data,
        changed=_said(made.look),
        seen_revision=seen_revision,
        look=made.look,
    )


def look_again(actor: User, *, case: Case, seen_revision: int) -> Redaction:
    """The detectors look at the current revision anew, under the policy in force. Of one that was made by redacting it
    stays so: what was replaced, lost, and asked for by rules that did not fit, no second look sees. Raises as `redact`,
    and InvalidTransition where rules wait for the next redaction."""
    policies.require(case, actor, "redact")
    current = _seen(case, seen_revision)
    reading.require(current, actor)
    detect = evidence.read(current.detect) if current.detect else None
    look = redaction_edits.look_at(case.project, case, evidence.read(current.payload), detect, again=True)
    with transaction.atomic():
        _require_no_rule_is_new(policies.require_locked(case, actor, "redact"), current)
        return _keep(actor, case, current, _with_its_making(look, current), "redaction.looked_again")


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a policy would do with a case: how many values of each kind it replaces now and would replace, how many
    findings are and would be open."""

    now: Mapping[str, int]
    then: Mapping[str, int]
    open_now: int
    open_then: int


def preview(actor: User, *, case: Case, data: Mapping[str, Any]) -> Preview:
    """Nothing is kept. Raises PermissionDenied for who may not set the policy or not read the case and for a program,
    ValidationError for a policy that is none."""
    policies.refuse_tokens(actor)
    access.require(actor, case.project, *SETS_REDACTION_POLICY)
    number = (redaction_policies.current(case.project) or RedactionPolicy(number=0)).number
    policy = redaction_policies.checked(case.project, data, number=number + 1)
    source = source_of(_current(case))
    reading.require(source, actor)
    before = _made(case, source).look.record
    after = _run(source, policy, redaction_scans.key_of(case), redaction_rules.standing(source)).look.record
    return Preview(now=before.counts, then=after.counts, open_now=len(before.open), open_then=len(after.open))


# --- what they are made of ------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Made:
    """`data` is the redacted fixture: the raw bytes themselves where nothing is to be replaced."""

    look: Look
    data: bytes


def _made(case: Case, source: FixtureRevision) -> _Made:
    row = redaction_policies.current(case.project)
    return _run(
        source,
        redaction_policies.as_policy(row),
        redaction_scans.key_of(case),
        redaction_rules.standing(source),
        row=row,
    )


def _run(
    source: FixtureRevision,
    policy: Policy,
    case_key: CaseKey,
    rules: list[ManualRule],
    *,
    row: RedactionPolicy | None = None,
) -> _Made:
    if source.detect is not None:
        raise InvalidTransition(WITH_DETECT)
    raw = evidence.read(source.payload)
    document = parse(raw)
    try:
        done = pipeline.redact(document, policy=policy, key=case_key.key, rules=rules)
    except NoSurrogate as error:
        raise InvalidTransition(_NOT_REDACTED.format(error)) from None
    record = record_of(done, key=case_key.key)
    look = Look(
        record=record.with_open([*record.open, *_come_back(source, done.document, policy, case_key, record)]),
        to_be_read=seen_spans.pages_and_pieces(done.document),
        case_key=CaseKey(key=case_key.key, known=done.mapping),
        key_from=case_key.kept,
        policy=row,
        source=source,
        rules=len(rules),
        applied=frozenset(UUID(rule.id) for rule in rules),
    )
    if source.number > 1:
        look = redaction_edits.with_relations(look, case=source.case, number=source.number, document=document)
    return _Made(look=look, data=_bytes(done.document) if done.document != document else raw)


def _come_back(
    source: FixtureRevision, document: Any, policy: Policy, case_key: CaseKey, record: Record
) -> Iterator[Open]:
    """What was replaced in an earlier raw revision and somebody wrote into this one, where it was not replaced too."""
    before = redaction_scans.known_beside(source.case, source)
    there = {one.place for one in record.open}
    for one in rescan(document, policy=policy, key=case_key.key, known=before).open if before else ():
        if one.detector in RESIDUAL and one.place not in there:
            yield one


def _require_no_rule_is_new(case: Case, current: FixtureRevision) -> None:
    """A second look applies no rule, and would hide that one waits."""
    newest = redaction_rows.newest(current) if case.current_revision_id == current.pk else None
    if newest is not None and redaction_rows.rules_changed(newest):
        raise InvalidTransition("Rules were added or taken back since it was redacted. Redact it again.")


def _with_its_making(look: Look, current: FixtureRevision) -> Look:
    before = redaction_rows.newest(current)
    if before is None or before.source is None or evidence.is_gone(before.record):
        return look
    told = redaction_scans.record_of(before)
    places = {one.place for one in look.record.open}
    unfit = [one for one in told.open if one.detector.startswith("manual:") and one.place not in places]
    record = told.with_open([*unfit, *look.record.open])
    return replace(look, record=record, source=before.source, rules=before.rules)


def _says_all(newest: Redaction, look: Look) -> bool:
    """Whether the same was done under the same policy, by the same detectors and with the same rules."""
    same = newest.policy == look.policy and newest.detectors == DETECTORS_VERSION
    return same and not redaction_rows.rules_changed(newest)


def _bytes(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass") + b"\n"


def _keep(actor: User, case: Case, current: FixtureRevision, look: Look, action: Any) -> Redaction:
    with transaction.atomic():
        case = policies.require_locked(case, actor, "redact")
        if case.current_revision_id != current.pk:
            raise SeenAnother("Another revision is current. Look again.")
        ends = current.payload.expires_at or intake.end_of_more(case)
        row = redaction_scans.keep(actor, current, look, ends)
        events.record(
            actor=actor,
            action=action,
            subject=current,
            project=case.project,
            case=case,
            object_hash=current.content_hash,
            after={"redaction": str(row.pk), "open": len(row.open), "policy": row.policy_digest},
        )
    return row


def _seen(case: Case, number: int) -> FixtureRevision:
    current = _current(case)
    if current.number != number:
        raise SeenAnother(f"Revision {current.number} is the current one, and you saw {number}. Look again.")
    return current


def _current(case: Case) -> FixtureRevision:
    if case.current_revision_id is None:
        raise InvalidTransition("The case has no fixture yet.")
    found = FixtureRevision.objects.select_related("payload", "detect", "case__project")
    return found.get(pk=case.current_revision_id)


def _said(look: Look) -> str:
    rules = f"; rules of people: {look.rules}" if look.rules else ""
    return f"Redacted under {look.policy or 'the built-in policy'}: {kind_words.counted(look.record.counts)}{rules}."
