"""Which traces of a collector become captures by themselves: rules of a project as data, kept by its administrators."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import ADMINISTERS
from replaycases.cases import events, policies, texts, trace_buffer
from replaycases.cases.models import BufferedTrace, CaptureRule, RuleKind
from replaycases.importers.otlp.values import is_hex

MOST = 50
"""Every span that comes is held against each."""


def add(actor: User, *, project: Project, kind: RuleKind, key: str = "", value: str = "") -> CaptureRule:
    """A new rule, or the same one as it is, enabled. It is about what comes from now on, and for a named trace also
    about what came. Raises PermissionDenied, ValidationError for one that lacks a part or has one that says nothing,
    and for one too many."""
    policies.refuse_tokens(actor)
    said = _said(kind, key, value)
    with transaction.atomic():
        policies.require_roles_locked(actor, project, *ADMINISTERS)
        trace_buffer.locked_inbox(project)  # nobody writes a trace or counts a match meanwhile
        rule = CaptureRule.objects.filter(project=project, **said).first()
        if rule is None or not rule.enabled:
            rule = rule or CaptureRule(project=project, created_by=actor, **said)
            _switch_on(rule)
            _record(actor, rule, "capture_rule.added")
    return rule


def set_enabled(actor: User, *, rule: CaptureRule, enabled: bool) -> CaptureRule:
    """Raises PermissionDenied, ValidationError for one too many."""
    policies.refuse_tokens(actor)
    with transaction.atomic():
        policies.require_roles_locked(actor, rule.project, *ADMINISTERS)
        trace_buffer.locked_inbox(rule.project)
        kept = CaptureRule.objects.select_for_update(of=("self",)).select_related("project").get(pk=rule.pk)
        if enabled and not kept.enabled:
            _switch_on(kept)
            _record(actor, kept, "capture_rule.enabled")
        elif kept.enabled and not enabled:
            kept.enabled = False
            kept.save(update_fields=["enabled"])
            _record(actor, kept, "capture_rule.disabled")
    return kept


def _switch_on(rule: CaptureRule) -> None:
    """The only place where a rule becomes one of those that are on. Raises ValidationError for one too many."""
    project = rule.project
    if CaptureRule.objects.filter(project=project, enabled=True).count() >= MOST:
        raise ValidationError(f"Project {project.key} has {MOST} rules that are on, which is the most. Disable one.")
    rule.enabled = True
    rule.save()
    if rule.kind == RuleKind.TRACE:
        _want_what_came(rule)


def _said(kind: RuleKind, key: str, value: str) -> dict[str, str]:
    key = texts.kept(key, cap=texts.NAME_CAP, field="key")
    value = texts.kept(value, cap=texts.NAME_CAP, field="value")
    if kind == RuleKind.ERROR and (key or value):
        raise ValidationError({"value": "A rule about errors has neither key nor value."})
    if kind == RuleKind.ATTRIBUTE and not key:
        raise ValidationError({"key": "Name the attribute."})
    if kind == RuleKind.TRACE:
        value = value.lower()
        if key or len(value) != 32 or not is_hex(value):
            raise ValidationError({"value": "Name a trace by its id, 32 hexadecimal digits, and no key."})
    return {"kind": kind, "key": key, "value": value}


def _want_what_came(rule: CaptureRule) -> None:
    """What came of a named trace already is wanted too; of the other kinds it is not known any more."""
    free = BufferedTrace.objects.filter(~Q(rule__enabled=True), project=rule.project, trace_id=rule.value)
    came = free.update(rule=rule, why_not="")
    if came:
        CaptureRule.objects.filter(pk=rule.pk).update(matched=F("matched") + came, matched_at=timezone.now())
        rule.refresh_from_db(fields=["matched", "matched_at"])


def _record(actor: User, rule: CaptureRule, action: str) -> None:
    after = {"kind": rule.kind, "key": rule.key, "value": rule.value}
    events.record(actor=actor, action=action, subject=rule, project=rule.project, after=after)
