"""What a collector sends, kept by trace for a short time: sealed, bounded, the oldest ended traces dropped first.

The body of each request is kept once and whole, whichever traces are in it; each trace knows its bodies. Nothing of it
is decoded again before somebody wants a trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts.models import ApiToken, Project, User
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import beats, evidence
from replaycases.cases.models import BufferedTrace, CaptureRule, Payload, RuleKind, TraceBatch, TraceInbox
from replaycases.cases.texts import NAME_CAP
from replaycases.importers.otlp import envelope
from replaycases.importers.otlp.spans import LogRecord, Span
from replaycases.importers.otlp.values import is_hex

Signal = Literal["traces", "logs"]
Key = TypeVar("Key", UUID, str)
BATCH_TYPE = "application/vnd.replaycases.otlp-batch"
ID_LENGTH = 32
SLACK = timedelta(hours=1)
"""How much longer the bytes may be opened than they are kept: a batch goes with its traces and not by itself."""
AT_ONCE = 1000
FEW = 50
_LINK = BufferedTrace.batches.through
_OF_LINK = ("bufferedtrace", "tracebatch", "tracebatch__payload__size")
_BY_RULE = ("token", "rule", "capture", "why_not")


class BufferFull(Exception):
    """No room, and nothing may be dropped: every trace that is kept is still being written."""


@dataclass(frozen=True, kw_only=True)
class Received:
    """How many spans or records were not taken, and why; what was taken is kept, or was before."""

    rejected: int = 0
    why: str = ""


@dataclass(kw_only=True)
class _Part:
    """What one request holds of one trace."""

    rows: int = 0
    errors: int = 0
    ended: bool = False
    service: str = ""
    rule: UUID | None = None


@dataclass(kw_only=True)
class _Sorted:
    parts: dict[str, _Part] = field(default_factory=dict)
    nameless: int = 0


def receive(sender: User, *, project: Project, signal: Signal, body: bytes, protobuf: bool) -> Received:
    """Keep what a request holds. The same request again changes nothing. Raises PermissionDenied, ImportRefused for a
    body that is no request, EvidenceTooLarge, BufferFull."""
    access.require(sender, project, *CAPTURES)
    rows: Sequence[Span | LogRecord]
    if signal == "traces":
        rows = envelope.read_traces(body, protobuf=protobuf)
    else:
        rows = envelope.read_logs(body, protobuf=protobuf)
    found = _sorted(rows, list(CaptureRule.objects.filter(project=project, enabled=True).order_by("created_at")))
    try:
        with transaction.atomic():
            too_many = _keep(sender, project, signal, found, _head(signal, protobuf) + body)
    except evidence.EvidenceDestroyed:
        rejected = sum(part.rows for part in found.parts.values())
        return Received(rejected=found.nameless + rejected, why="This request came before, and its time is over.")
    return _received(found.nameless, too_many)


def look() -> int:
    """Drop what was kept for as long as anything is. Returns how many traces went."""
    return beats.each(Project.objects.filter(pk__in=_old().values("project")), _drop_old)


def wanted() -> QuerySet[BufferedTrace]:
    """Of which a rule wants a capture that was not made yet and may still be."""
    return BufferedTrace.objects.filter(rule__enabled=True, capture=None, why_not="")


def _old() -> QuerySet[BufferedTrace]:
    """Those that are wanted stay a little longer: their time being over is when some of them are captured."""
    over = timezone.now() - timedelta(seconds=settings.REPLAYCASES_OTLP_KEEP_SECONDS)
    asked = Q(pk__in=wanted().values("pk"), first_at__gte=over - SLACK / 2)
    return BufferedTrace.objects.filter(~asked, first_at__lt=over)


def _drop_old(project: Project) -> int:
    gone, old = 0, _old().filter(project=project).order_by("first_at")
    while first := list(old.values_list("pk", flat=True)[:AT_ONCE]):
        with transaction.atomic():
            inbox = locked_inbox(project)
            gone += len(_drop(inbox, first))
            inbox.save()
    return gone


def bodies_of(trace: BufferedTrace) -> Iterable[tuple[Signal, bool, bytes]]:
    """(signal, whether it is protobuf, body) of each request that held something of the trace, in their order."""
    for batch in trace.batches.select_related("payload").order_by("received_at", "pk").iterator(chunk_size=1):
        head, _, body = evidence.read(batch.payload).partition(b"\n")
        signal, form = head.decode().split()
        yield ("logs" if signal == "logs" else "traces"), form == "protobuf", body


# --- sorting --------------------------------------------------------------------------------------------------------


def _head(signal: Signal, protobuf: bool) -> bytes:
    """Before each body: with it these bytes are never those of somebody's file, whose end they would bring nearer."""
    return f"{signal} {'protobuf' if protobuf else 'json'}\n".encode()


def _sorted(rows: Iterable[Span | LogRecord], rules: Sequence[CaptureRule]) -> _Sorted:
    found = _Sorted()
    parts = found.parts
    for row in rows:
        part = parts.get(row.trace_id)
        if part is None:
            if len(row.trace_id) != ID_LENGTH or not is_hex(row.trace_id):
                found.nameless += 1
                continue
            part = parts[row.trace_id] = _Part()
        part.rows += 1
        part.service = part.service or _name(row.resource.get("service.name"))
        if isinstance(row, Span):
            part.errors += row.status == "error"
            part.ended = part.ended or bool(not row.parent_id and row.end_ns)
        if rules and part.rule is None:
            part.rule = next((rule.pk for rule in rules if _matches(rule, row)), None)
    return found


def _matches(rule: CaptureRule, row: Span | LogRecord) -> bool:
    match rule.kind:
        case RuleKind.ERROR:
            return isinstance(row, Span) and row.status == "error"
        case RuleKind.TRACE:
            return row.trace_id == rule.value
    return any(_is(held.get(rule.key), rule.value) for held in (row.attributes, row.resource))


def _is(value: object, wanted: str) -> bool:
    """Whether an attribute has the value that a rule names: a text exactly, a number as a number, since one sender
    writes 5 where another one writes 5.0. What is nested, and what is nothing, has no value that a rule could name."""
    if isinstance(value, bool):
        return wanted == str(value).lower()
    if isinstance(value, int | float):
        return _number(wanted) == value
    return isinstance(value, str) and value == wanted


def _number(text: str) -> float | None:
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def _name(value: object) -> str:
    """The name of a service, as a column can hold it."""
    return evidence.printable(value)[:NAME_CAP] if isinstance(value, str) else ""


def _received(nameless: int, too_many: int) -> Received:
    whys = []
    if nameless:
        whys.append(f"{nameless} without the id of a trace are not kept.")
    if too_many:
        whys.append(f"{too_many} are of traces that are at their limit of {settings.REPLAYCASES_OTLP_TRACE_SPANS}.")
    return Received(rejected=nameless + too_many, why=" ".join(whys))


# --- writing --------------------------------------------------------------------------------------------------------


def _keep(sender: User, project: Project, signal: Signal, found: _Sorted, kept: bytes) -> int:
    """Write what was sent, unless it was before. How many spans or records were too many for their traces."""
    assert sender.token is not None
    inbox, now = locked_inbox(project), timezone.now()
    if TraceBatch.objects.filter(project=project, payload__digest=evidence.digest_of(kept)).exists():
        return 0
    there = _there(project, list(found.parts))
    full = _full(found, there)
    taken = {name: part for name, part in found.parts.items() if name not in full}
    too_many = sum(found.parts[name].rows for name in full)
    inbox.rejected += found.nameless + too_many
    if not taken:
        inbox.save()
        return too_many
    dropped = _make_room(inbox, bytes_=len(kept), traces=sum(name not in there for name in taken), now=now)
    there = {name: one for name, one in there.items() if one.pk not in dropped}
    ends = now + timedelta(seconds=settings.REPLAYCASES_OTLP_KEEP_SECONDS) + SLACK
    payload = evidence.store(project, kept, media_type=BATCH_TYPE, expires_at=ends)
    batch = TraceBatch.objects.create(project=project, payload=payload, received_at=now, token=sender.token)
    _count_matched(taken, there, now)
    _write([_with(there.get(name), name, part, sender.token, signal, now) for name, part in taken.items()], batch)
    inbox.bytes += len(kept)
    inbox.traces += sum(name not in there for name in taken)
    inbox.save()
    return too_many


def locked_inbox(project: Project) -> TraceInbox:
    TraceInbox.objects.bulk_create([TraceInbox(project=project)], ignore_conflicts=True)
    return TraceInbox.objects.select_for_update().get(project=project)


def _there(project: Project, names: Sequence[str]) -> dict[str, BufferedTrace]:
    """Those of the traces that are kept, by their ids, with their rules."""
    found: dict[str, BufferedTrace] = {}
    for some in _in_parts(names):
        kept = BufferedTrace.objects.select_for_update(of=("self",)).select_related("rule")
        found |= {one.trace_id: one for one in kept.filter(project=project, trace_id__in=some)}
    return found


def _full(found: _Sorted, there: dict[str, BufferedTrace]) -> set[str]:
    """The traces that have, or would have, more spans and records than one may."""
    most = settings.REPLAYCASES_OTLP_TRACE_SPANS
    held = {name: one.spans + one.records for name, one in there.items()}
    return {name for name, part in found.parts.items() if held.get(name, 0) + part.rows > most}


def _count_matched(taken: Mapping[str, _Part], there: Mapping[str, BufferedTrace], now: datetime) -> None:
    """How often each rule was the first that a trace matched. The rows are written in one order, whoever sends."""
    first = [part.rule for name, part in taken.items() if name not in there or not _is_wanted(there[name])]
    for rule, traces in sorted(Counter(filter(None, first)).items()):
        CaptureRule.objects.filter(pk=rule).update(matched=F("matched") + traces, matched_at=now)


def _is_wanted(trace: BufferedTrace) -> bool:
    """By a rule that is on: one that was switched off counts as none."""
    return trace.rule is not None and trace.rule.enabled


def _with(
    kept: BufferedTrace | None,
    name: str,
    part: _Part,
    token: ApiToken,
    signal: Signal,
    now: datetime,
) -> BufferedTrace:
    trace = kept or BufferedTrace(project=token.project, trace_id=name, first_at=now)
    if signal == "traces":
        trace.spans += part.rows
    else:
        trace.records += part.rows
    trace.last_at = now
    trace.ended = trace.ended or part.ended
    trace.errors += part.errors
    trace.service = trace.service or part.service
    trace.token = token
    # What a rule wants is wanted with what comes later too, also where nothing could be made of what came before.
    trace.why_not = ""
    if part.rule or _is_wanted(trace):
        trace.capture = None
    if part.rule and not _is_wanted(trace):
        trace.rule_id = part.rule
    return trace


def _write(traces: Sequence[BufferedTrace], batch: TraceBatch) -> None:
    BufferedTrace.objects.bulk_create(
        traces,
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["spans", "records", "errors", "service", "last_at", "ended", *_BY_RULE],
    )
    _LINK._default_manager.bulk_create([_LINK(bufferedtrace_id=trace.pk, tracebatch_id=batch.pk) for trace in traces])


# --- dropping -------------------------------------------------------------------------------------------------------


def _make_room(inbox: TraceInbox, *, bytes_: int, traces: int, now: datetime) -> set[UUID]:
    """Drop traces until this much more has room: those that ended, then those that are quiet, the oldest first, and
    what a rule wants after all others. Raises EvidenceTooLarge for what never has room, BufferFull for what has none
    now."""
    if bytes_ > settings.REPLAYCASES_OTLP_BUFFER_BYTES or traces > settings.REPLAYCASES_OTLP_BUFFER_TRACES:
        raise evidence.EvidenceTooLarge("one request is larger than the whole buffer")
    traces_over = inbox.traces + traces - settings.REPLAYCASES_OTLP_BUFFER_TRACES
    bytes_over = inbox.bytes + bytes_ - settings.REPLAYCASES_OTLP_BUFFER_BYTES
    if max(traces_over, bytes_over) <= 0:
        return set()
    first = _first_to_go(_may_go(inbox, now), bytes_=bytes_over, traces=traces_over)
    for some in _in_parts(first):
        _drop(inbox, some)
    return set(first)


def _may_go(inbox: TraceInbox, now: datetime) -> Iterator[Sequence[UUID]]:
    """The traces that may be dropped, in the order in which they go. A full buffer mostly needs few of them."""
    quiet = now - timedelta(seconds=settings.REPLAYCASES_OTLP_QUIET_SECONDS)
    may_go = BufferedTrace.objects.filter(Q(ended=True) | Q(last_at__lt=quiet), project=inbox.project_id)
    asked = Q(pk__in=wanted().filter(project=inbox.project_id).values("pk"))
    for kind in (~asked, asked):
        in_order = may_go.filter(kind).order_by("-ended", "last_at").values_list("pk", flat=True)
        start, size = 0, FEW
        while some := list(in_order[start : start + size]):
            yield some
            start, size = start + size, AT_ONCE


def _first_to_go(parts: Iterable[Sequence[UUID]], *, bytes_: int, traces: int) -> list[UUID]:
    """As many as free so much: the bytes of a request are free once the last trace in it goes. Raises BufferFull."""
    going: list[UUID] = []
    left: dict[UUID, int] = {}
    for some in parts:
        batches: dict[UUID, list[tuple[UUID, int]]] = {}
        for trace, batch, size in _LINK._default_manager.filter(bufferedtrace__in=some).values_list(*_OF_LINK):
            batches.setdefault(trace, []).append((batch, size))
        left |= _counts({batch for held in batches.values() for batch, _ in held} - left.keys())
        for trace in some:
            if bytes_ <= 0 and traces <= 0:
                return going
            going.append(trace)
            traces -= 1
            for batch, size in batches.get(trace, ()):
                left[batch] -= 1
                bytes_ -= 0 if left[batch] else size
    if bytes_ > 0 or traces > 0:
        raise BufferFull
    return going


def _counts(batches: Iterable[UUID]) -> dict[UUID, int]:
    """How many traces are in each."""
    found: dict[UUID, int] = {}
    for some in _in_parts(list(batches)):
        counted = TraceBatch.objects.filter(pk__in=some).order_by().annotate(held=Count("traces"))
        found |= dict(counted.values_list("pk", "held"))
    return found


def _in_parts(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """As many as one query takes on every database."""
    return (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE))


def _drop(inbox: TraceInbox, traces: Sequence[UUID]) -> set[UUID]:
    """These traces, and the requests of which no other trace is kept. The caller saves the inbox."""
    dropped = BufferedTrace.objects.filter(pk__in=traces, project=inbox.project_id)
    counted = dropped.aggregate(all=Count("pk"), unused=Count("pk", filter=Q(capture=None)))
    touched = list(TraceBatch.objects.filter(traces__in=traces).values_list("pk", flat=True).distinct())
    _LINK._default_manager.filter(bufferedtrace_id__in=traces).delete()
    dropped.delete()
    alone = TraceBatch.objects.filter(pk__in=touched).filter(
        ~Exists(_LINK._default_manager.filter(tracebatch=OuterRef("pk")))
    )
    payloads = list(alone.values_list("payload", flat=True))
    freed = Payload.objects.filter(pk__in=payloads).aggregate(bytes=Sum("size"))["bytes"] or 0
    alone.delete()
    evidence.discard(payloads)
    inbox.bytes = max(0, inbox.bytes - freed)
    inbox.traces = max(0, inbox.traces - counted["all"])
    inbox.dropped += counted["unused"]
    return set(traces)
