"""A buffered trace becomes a capture: because somebody asks for it, or by a rule once it is whole."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

import orjson
from django.conf import settings
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import OperationalError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from replaycases.accounts import access, tokens
from replaycases.accounts.models import ApiToken, Project, User
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import beats, behalf, captures, evidence, trace_buffer
from replaycases.cases.key_ring import RingInvalid
from replaycases.cases.locks import lock_project
from replaycases.cases.models import BufferedTrace, Capture, Origin
from replaycases.cases.policies import InvalidTransition
from replaycases.importers.findings import ImportRefused
from replaycases.importers.otlp import envelope
from replaycases.importers.otlp.spans import LogRecord, Span

logger = logging.getLogger(__name__)
AT_ONCE = 100
TRIES = 3
MOST_BY_RULE = 3
"""Of one trace: what comes of it later makes the whole of it anew."""
WHY_NOT_CAP = 300
Row = TypeVar("Row", Span, LogRecord)


def capture_trace(actor: User, *, project: Project, trace_id: str) -> Capture:
    """The capture of what came of the trace so far. Raises ValidationError where nothing of it is kept,
    InvalidTransition while more of it comes all the time, and as `captures.bring`."""
    access.require(actor, project, *CAPTURES)
    for _ in range(TRIES):
        trace = BufferedTrace.objects.filter(project=project, trace_id=trace_id.lower()).first()
        if trace is None:
            break
        capture = _capture(actor, trace, of=BufferedTrace.objects.all())
        if capture is not None:
            return capture
    else:
        raise InvalidTransition("More of this trace comes in at this moment. Try it again.")
    raise ValidationError({"trace_id": "Nothing of this trace is kept: it never came, or its time is over."})


def look() -> int:
    """Capture what a rule wants and what is whole, in the name of who sent it. Returns how many."""
    first = _wanted().select_related("project", "token__user").order_by("last_at")[:AT_ONCE]
    return beats.each(first, _by_rule)


def _wanted() -> QuerySet[BufferedTrace]:
    """Whose root ended and of which nothing came for a while, or which is kept no longer."""
    now = timezone.now()
    quiet = now - timedelta(seconds=settings.REPLAYCASES_OTLP_QUIET_SECONDS)
    over = now - timedelta(seconds=settings.REPLAYCASES_OTLP_KEEP_SECONDS)
    return trace_buffer.wanted().filter(Q(ended=True, last_at__lt=quiet) | Q(first_at__lt=over))


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
    """None where the trace is none `of` these any more, or more of it came since it was read. It is put together and
    looked into before any lock. Locks are taken in their order: the project's row, then the trace."""
    project, data = trace.project, assembled(trace)
    found = captures.find(project, data, "otlp")
    with transaction.atomic():
        lock_project(project)
        if not of.select_for_update(of=("self",)).filter(pk=trace.pk, last_at=trace.last_at).exists():
            return None
        capture = captures.bring(
            actor, project=project, data=data, origin=Origin.OTLP, trace_id=trace.trace_id, found=found
        )
        BufferedTrace.objects.filter(pk=trace.pk).update(capture=capture, why_not="")
        behalf.note_senders(actor, capture, _senders(trace))
    return capture


def _senders(trace: BufferedTrace) -> set[UUID]:
    """Whose programs sent anything of it: what they sent is in the capture, whoever asks for that."""
    sent = trace.batches.filter(token__isnull=False).values_list("token__user", flat=True)
    return {trace.token.user_id, *sent}


def _by_rule(trace: BufferedTrace) -> bool:
    """Whether it was captured. What cannot be is not tried again before more of it comes."""
    try:
        why_not = _why_not(trace)
        if not why_not:
            return _capture(_owner(trace.token), trace, of=_wanted()) is not None
    except (ImportRefused, PermissionDenied, ValidationError, InvalidTransition) as refused:
        why_not = " ".join(refused.messages) if isinstance(refused, ValidationError) else str(refused)
    except (evidence.EvidenceDamaged, evidence.EvidenceDestroyed, evidence.EvidenceTooLarge) as lost:
        why_not = str(lost)
    except RingInvalid as fault:
        logger.error("trace %s is not captured yet: %s", trace.pk, fault)
        return False
    except OperationalError:
        logger.exception("trace %s is not captured yet", trace.pk)
        return False
    except Exception as fault:
        logger.exception("trace %s cannot be captured", trace.pk)
        why_not = f"It failed on our side ({type(fault).__name__})."
    logger.warning("trace %s was not captured by its rule", trace.pk)
    unchanged = BufferedTrace.objects.filter(pk=trace.pk, last_at=trace.last_at)
    unchanged.update(why_not=why_not[:WHY_NOT_CAP], capture=_made_of(trace).first())
    return False


def _why_not(trace: BufferedTrace) -> str:
    if not tokens.live().filter(pk=trace.token_id).exists():
        return f"The token {trace.token.prefix}… that sent it is revoked or expired: nothing is captured in its name."
    if _made_of(trace).count() >= MOST_BY_RULE:
        return f"It was captured {MOST_BY_RULE} times: a rule does no more. Capture it by hand for what came since."
    return ""


def _made_of(trace: BufferedTrace) -> QuerySet[Capture]:
    """The newest first."""
    made = Capture.objects.filter(project=trace.project_id, trace_id=trace.trace_id, origin=Origin.OTLP)
    return made.order_by("-number")


def _owner(token: ApiToken) -> User:
    """Who sent it, by their program: what they captured is theirs."""
    user = token.user
    user.token = token
    return user
