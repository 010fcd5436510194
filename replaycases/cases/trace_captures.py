"""A buffered trace becomes a capture: because somebody asks for it, or by a rule once it is quiet."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

import orjson
from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import ApiToken, Project, User
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import behalf, captures, evidence, trace_buffer
from replaycases.cases.key_ring import RingInvalid
from replaycases.cases.locks import lock_project
from replaycases.cases.models import BufferedTrace, Capture, Origin
from replaycases.cases.policies import InvalidTransition
from replaycases.importers.findings import ImportRefused
from replaycases.importers.otlp import envelope
from replaycases.importers.otlp.spans import LogRecord, Span

logger = logging.getLogger(__name__)
AT_ONCE = 100
WHY_NOT_CAP = 300
Row = TypeVar("Row", Span, LogRecord)


def capture_trace(actor: User, *, project: Project, trace_id: str) -> Capture:
    """The capture of what came of the trace so far. Raises ValidationError where nothing of it is kept, and as
    `captures.bring`."""
    access.require(actor, project, *CAPTURES)
    trace = BufferedTrace.objects.filter(project=project, trace_id=trace_id.lower()).first()
    capture = _capture(actor, trace, of=BufferedTrace.objects.all()) if trace is not None else None
    if capture is None:
        raise ValidationError({"trace_id": "Nothing of this trace is kept: it never came, or its time is over."})
    return capture


def look() -> int:
    """Capture what a rule wants and what has been quiet for a while, in the name of who sent it. Returns how many."""
    return sum(map(_by_rule, _wanted().select_related("project", "token__user").order_by("last_at")[:AT_ONCE]))


def _wanted() -> QuerySet[BufferedTrace]:
    quiet = timezone.now() - timedelta(seconds=settings.REPLAYCASES_OTLP_QUIET_SECONDS)
    return BufferedTrace.objects.filter(rule__enabled=True, capture=None, why_not="", last_at__lt=quiet)


def assembled(trace: BufferedTrace) -> bytes:
    """Every span and record of the trace once, as OTLP JSON. Of a span that came twice the one that ended is taken, the
    later one of two."""
    spans: dict[str, Span] = {}
    records: dict[bytes, LogRecord] = {}
    for signal, protobuf, body in trace_buffer.bodies_of(trace):
        if signal == "traces":
            for span in _of(trace, envelope.read_traces(body, protobuf=protobuf)):
                _take(spans, span)
        else:
            for record in _of(trace, envelope.read_logs(body, protobuf=protobuf)):
                records.setdefault(_key(record), record)
    return envelope.dump(spans.values(), records.values())


def _of(trace: BufferedTrace, rows: Iterable[Row]) -> Iterable[Row]:
    return (row for row in rows if row.trace_id == trace.trace_id)


def _take(spans: dict[str, Span], span: Span) -> None:
    name = span.span_id or f"nameless {len(spans)}"
    before = spans.get(name)
    if before is None or span.end_ns or not before.end_ns:
        spans[name] = span


def _key(record: LogRecord) -> bytes:
    said = [record.span_id, record.time_ns, record.observed_ns, record.event_name, record.body, dict(record.attributes)]
    return orjson.dumps([*said, record.scope_name], option=orjson.OPT_SORT_KEYS)


def _capture(actor: User, trace: BufferedTrace, *, of: QuerySet[BufferedTrace]) -> Capture | None:
    """None where the trace is none `of` these any more. What comes of it waits until the transaction ends. Locks are
    taken in their order: the project's row, then the trace."""
    with transaction.atomic():
        lock_project(trace.project)
        if not of.select_for_update(of=("self",)).filter(pk=trace.pk).exists():
            return None
        capture = captures.bring(
            actor,
            project=trace.project,
            data=assembled(trace),
            origin=Origin.OTLP,
            format="otlp",
            trace_id=trace.trace_id,
        )
        BufferedTrace.objects.filter(pk=trace.pk).update(capture=capture, why_not="")
        behalf.note_senders(actor, capture, _senders(trace))
    return capture


def _senders(trace: BufferedTrace) -> set[UUID]:
    """Whose programs sent anything of it: what they sent is in the capture, whoever asks for that."""
    sent = trace.batches.filter(token__isnull=False).values_list("token__user", flat=True)
    return {trace.token.user_id, *sent}


def _by_rule(trace: BufferedTrace) -> bool:
    try:
        captured = _capture(_owner(trace.token), trace, of=_wanted())
    except (ImportRefused, PermissionDenied, ValidationError, InvalidTransition) as refused:
        why_not = " ".join(refused.messages) if isinstance(refused, ValidationError) else str(refused)
    except (evidence.EvidenceDamaged, evidence.EvidenceDestroyed, evidence.EvidenceTooLarge) as lost:
        why_not = str(lost)
    except RingInvalid as fault:
        logger.error("trace %s is not captured yet: %s", trace.pk, fault)
        return False
    else:
        return captured is not None
    logger.warning("trace %s was not captured by its rule", trace.pk)
    BufferedTrace.objects.filter(pk=trace.pk).update(why_not=why_not[:WHY_NOT_CAP])
    return False


def _owner(token: ApiToken) -> User:
    """Who sent it, by their program: what they captured is theirs."""
    user = token.user
    user.token = token
    return user
