"""What people decide of single places of a raw revision: rules that every redaction of it applies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from replaycases.accounts.models import User
from replaycases.cases import behalf, events, evidence, policies, reading, redaction_rows, redaction_scans, texts
from replaycases.cases.models import FixtureRevision, RedactionRule, RuleAction
from replaycases.cases.policies import InvalidTransition
from replaycases.fixture.strict_json import parse
from replaycases.redaction.manual import (
    Action,
    ManualRule,
    ManualRuleInvalid,
    PlaceUnknown,
    as_json,
    mac,
    rule_from,
    value_at,
)
from replaycases.redaction.places import Kind, Place
from replaycases.redaction.report import place_of

MOST_RULES = 500
_ACTIONS: Mapping[RuleAction, Action] = {
    RuleAction.MARK: "mark",
    RuleAction.KEEP: "keep",
    RuleAction.JOIN: "join",
    RuleAction.SPLIT: "split",
    RuleAction.SURROGATE: "surrogate",
    RuleAction.DROP: "drop",
    RuleAction.STRUCTURAL: "structural",
}
_WITHOUT_VALUE = (RuleAction.DROP, RuleAction.STRUCTURAL)


def standing(source: FixtureRevision) -> list[ManualRule]:
    """Those that hold for the next redaction of the raw revision, in the order in which they were added. Raises
    EvidenceDestroyed."""
    rows = RedactionRule.objects.filter(source=source, withdrawn_at=None).select_related("body")
    return [rule_from(json.loads(evidence.read(row.body))["rule"]) for row in rows.order_by("added_at", "pk")]


@dataclass(frozen=True, kw_only=True)
class Raw:
    """A raw revision that was read for rules about it. `named` are the pointers of members whose names are values."""

    document: Any = field(repr=False)
    key: bytes = field(repr=False)
    named: frozenset[str] = field(repr=False)


def read(actor: User, source: FixtureRevision) -> Raw:
    """Raises as `add`."""
    policies.require(source.case, actor, "redact")
    reading.require(source, actor)
    key, document = _kept_key(source), parse(evidence.read(source.payload))
    looks = (redaction_rows.newest(source), source.redacted_as.order_by("made_at").last())
    told = [redaction_scans.record_of(look) for look in looks if look is not None]
    return Raw(document=document, key=key, named=frozenset(name for record in told for name in record.named))


def add(
    actor: User,
    *,
    source: FixtureRevision,
    action: RuleAction,
    place: Place,
    reason: str,
    kind: Kind | None = None,
    other: Place | None = None,
    surrogate: str = "",
    raw: Raw | None = None,
) -> RedactionRule:
    """From the next redaction on. Whoever adds a rule made a part of the result and does not approve it. `raw` is what
    `read` gave for the source, where several are added. Raises PermissionDenied, InvalidTransition, ValidationError for
    a place that the revision does not have and for a rule that lacks what its action needs, EvidenceDestroyed."""
    why = texts.kept(reason, missing="Say why.", field="reason")
    raw = raw or read(actor, source)
    _require_whole(action, kind, other, surrogate)
    try:
        fits = "" if action in _WITHOUT_VALUE else mac(raw.key, value_at(raw.document, place))
        other_fits = mac(raw.key, value_at(raw.document, other)) if other is not None else ""
    except PlaceUnknown:
        raise ValidationError({"place": "The revision has nothing at this place. Look again."}) from None
    rule = ManualRule(
        id=str(uuid4()),
        action=_ACTIONS[action],
        place=place,
        fits=fits,
        kind=kind,
        other=other,
        other_fits=other_fits,
        surrogate=surrogate,
        reason=why,
    )
    _require_readable(rule)
    with transaction.atomic():
        case = policies.require_locked(source.case, actor, "redact")
        if RedactionRule.objects.filter(source=source, withdrawn_at=None).count() >= MOST_RULES:
            raise InvalidTransition(f"{MOST_RULES} rules stand already. Take some back, or mend the policy.")
        body = evidence.store(
            case.project,
            json.dumps({"case": str(case.pk), "rule": as_json(rule)}, sort_keys=True).encode(),
            media_type=evidence.JSON_TYPE,
            expires_at=source.payload.expires_at or case.evidence_expires_at,
        )
        row = RedactionRule.objects.create(
            pk=rule.id,
            source=source,
            action=action,
            kind=kind or "",
            place=place_of(place, named=raw.named)[:500],
            body=body,
            reason=why,
            added_by=actor,
            added_at=timezone.now(),
        )
        behalf.in_part_theirs(case, {actor.pk})
        _event(actor, row, "redaction_rule.added")
    return row


def withdraw(actor: User, *, rule: RedactionRule) -> RedactionRule:
    """It does not hold for the next redaction any more. Raises PermissionDenied, InvalidTransition."""
    with transaction.atomic():
        case = policies.require_locked(rule.source.case, actor, "redact")
        rule = RedactionRule.objects.select_for_update(no_key=True, of=("self",)).get(pk=rule.pk)
        if rule.withdrawn_at is not None:
            raise InvalidTransition("It was taken back already.")
        rule.withdrawn_by, rule.withdrawn_at = actor, timezone.now()
        rule.save(update_fields=["withdrawn_by", "withdrawn_at"])
        behalf.in_part_theirs(case, {actor.pk})
        _event(actor, rule, "redaction_rule.withdrawn")
    return rule


def _kept_key(source: FixtureRevision) -> bytes:
    """By which the rule knows its value again."""
    found = redaction_scans.key_of(source.case)
    if found.kept is None:
        raise InvalidTransition(
            "The key of the case was destroyed with the approval. Redact it again, then add the rule."
        )
    return found.key


def _require_whole(action: RuleAction, kind: Kind | None, other: Place | None, surrogate: str) -> None:
    lacks = {
        RuleAction.MARK: ("kind", "Say what it is.", kind is None),
        RuleAction.JOIN: ("other", "Say with which value it is one.", other is None),
        RuleAction.SURROGATE: ("surrogate", "Say what stands for it.", not surrogate.strip()),
    }.get(action)
    if lacks is not None and lacks[2]:
        raise ValidationError({lacks[0]: lacks[1]})


def _require_readable(rule: ManualRule) -> None:
    """One that cannot be read again would be in the way of every redaction."""
    try:
        rule_from(as_json(rule))
    except ManualRuleInvalid as invalid:
        raise ValidationError({"action": invalid.problems}) from None


def _event(actor: User, row: RedactionRule, action: str) -> None:
    events.record(
        actor=actor,
        action=action,
        subject=row,
        project=row.source.case.project,
        case=row.source.case,
        object_hash=row.source.content_hash,
        after={"action": row.action, "kind": row.kind, "place": row.place, "reason": row.reason},
    )
