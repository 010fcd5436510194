"""OTLP as protobuf: one message, or a stream of messages with their lengths before them."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from sys import intern
from typing import Any, TypeVar

from google.protobuf.message import DecodeError, Message
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord as LogMessage
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from replaycases.fixture.canonical import MAX_INTEGER
from replaycases.importers.findings import ImportRefused, refused
from replaycases.importers.otlp import values
from replaycases.importers.otlp.spans import (
    NOTHING_DROPPED,
    Dropped,
    Event,
    Export,
    Link,
    LogRecord,
    Span,
    SpanKind,
    Status,
    other_signal,
)

JSON = Any
M = TypeVar("M", bound=Message)
MAX_PARTS = 100_000  # resources of one message, messages of one stream: more of them are no export of anybody's
_FIRST_FIELD = 0x0A
_INNER_FIELDS = (0x0A, 0x12, 0x1A)  # resource, scopes, schema URL
_KINDS: tuple[SpanKind, ...] = ("unspecified", "internal", "server", "client", "producer", "consumer")
_STATUSES: tuple[Status, ...] = ("unset", "ok", "error")
_NO_MESSAGE = "Give an ExportTraceServiceRequest or ExportLogsServiceRequest of OTLP."


def spans_of_protobuf(data: bytes) -> list[Span]:
    """The spans of an ExportTraceServiceRequest or TracesData. Raises ImportRefused if the bytes are none, or are log
    records."""
    traces = _message(TracesData, data)
    if not (traces and _has_spans(traces)):
        logs = _message(LogsData, data)
        if logs and _has_records(logs):
            raise other_signal("log records")
    if traces is None:
        raise _no_message()
    return list(_spans("", traces))


def logs_of_protobuf(data: bytes) -> list[LogRecord]:
    """The records of an ExportLogsServiceRequest or LogsData. Raises as `spans_of_protobuf` does."""
    logs = _message(LogsData, data)
    if not (logs and _has_records(logs)):
        traces = _message(TracesData, data)
        if traces and _has_spans(traces):
            raise other_signal("spans")
    if logs is None:
        raise _no_message()
    return list(_records("", logs))


def _message(kind: type[M], data: bytes) -> M | None:
    try:
        return kind.FromString(data)
    except DecodeError:
        return None


def _no_message() -> ImportRefused:
    return refused("not-protobuf", "", "the bytes are no OTLP message", _NO_MESSAGE)


def export_of_protobuf(data: bytes) -> Export | None:
    """Everything in a file: one message, or a stream as a collector writes it; None if it is neither."""
    if is_message(data):
        export = Export()
        return export if _take("", data, export) else None
    for frames in (_delimited, _prefixed):
        export = Export()
        if _stream(frames(data, export), export):
            return export
    return None


def is_message(data: bytes) -> bool:
    """Whether the bytes are nothing but the repeated first field of an OTLP message. Cheap: no value is read."""
    at = parts = 0
    while at < len(data):
        parts += 1
        if data[at] != _FIRST_FIELD or parts > MAX_PARTS:
            return False
        length, at = _varint(data, at + 1)
        if length < 0 or at + length > len(data) or (length and data[at] not in _INNER_FIELDS):
            return False
        at += length
    return bool(data)


def _stream(frames: Iterator[bytes], export: Export) -> bool:
    taken = 0
    for at, message in enumerate(frames):
        if at >= MAX_PARTS or (message and not (is_message(message) and _take(f"/{at}", message, export))):
            return False
        taken += bool(message)
    return taken > 0


def _delimited(data: bytes, export: Export) -> Iterator[bytes]:
    """Each message after its length as a varint."""
    at = 0
    while at < len(data):
        length, at = _varint(data, at)
        if length < 0 or at + length > len(data):
            export.cut = True
            return
        yield data[at : at + length]
        at += length


def _prefixed(data: bytes, export: Export) -> Iterator[bytes]:
    """Each message after its length in four bytes, the largest first."""
    at = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 4])
        if at + 4 + length > len(data):
            export.cut = True
            return
        yield data[at + 4 : at + 4 + length]
        at += 4 + length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(the number, the place after it); -1 if it breaks off or is too long for a length."""
    found = 0
    for shift in range(0, 35, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        found |= (byte & 0x7F) << shift
        if byte < 0x80:
            return found, at
    return -1, at


def _take(base: str, message: bytes, export: Export) -> bool:
    """Spans and records have the same outermost fields: what has trace ids in the place of spans are spans."""
    traces = _message(TracesData, message)
    if traces and _has_spans(traces):
        _fill(export, export.spans, _spans(base, traces))
        return True
    logs = _message(LogsData, message)
    if logs is not None:
        _fill(export, export.logs, _records(base, logs))
    return logs is not None


def _fill(export: Export, rows: list[Any], found: Iterator[Any]) -> None:
    for row in found:
        if export.is_full():
            return
        rows.append(row)


def _has_spans(traces: TracesData) -> bool:
    spans = (span for group in traces.resource_spans for scope in group.scope_spans for span in scope.spans)
    first = next(spans, None)
    return first is not None and len(first.trace_id) == 16


def _has_records(logs: LogsData) -> bool:
    """The times of records stand in fields that of a span are no numbers."""
    records = (row for group in logs.resource_logs for scope in group.scope_logs for row in scope.log_records)
    first = next(records, None)
    return first is not None and bool(first.time_unix_nano or first.observed_time_unix_nano)


def _spans(base: str, traces: TracesData) -> Iterator[Span]:
    for at, group in enumerate(traces.resource_spans):
        resource, known = _resource(group.resource)
        for number, scope in enumerate(group.scope_spans):
            name, version = _scope(scope.scope)
            place = f"{base}/resourceSpans/{at}/scopeSpans/{number}/spans"
            for index, span in enumerate(scope.spans):
                yield _span(span, f"{place}/{index}", resource, name, version, known)


def _span(
    span: SpanMessage, source: str, resource: dict[str, JSON], name: str, version: str, known: tuple[str, ...]
) -> Span:
    faults = list(known)
    status = span.status
    return Span(
        trace_id=_id(span.trace_id),
        span_id=_id(span.span_id),
        parent_id=_id(span.parent_span_id),
        name=span.name,
        kind=_KINDS[span.kind] if 0 <= span.kind < len(_KINDS) else "unspecified",
        start_ns=span.start_time_unix_nano,
        end_ns=span.end_time_unix_nano,
        status=_STATUSES[status.code] if 0 <= status.code < len(_STATUSES) else "unset",
        status_message=status.message,
        attributes=_attributes(span.attributes, faults),
        events=tuple(
            Event(
                name=item.name,
                time_ns=item.time_unix_nano,
                attributes=_attributes(item.attributes, faults),
                dropped_attributes=item.dropped_attributes_count,
            )
            for item in span.events
        ),
        resource=resource,
        scope_name=name,
        scope_version=version,
        source=source,
        dropped=_dropped(span),
        links=tuple(_link(item, faults) for item in span.links),
        trace_state=span.trace_state,
        flags=span.flags,
        faults=tuple(faults),
    )


def _dropped(span: SpanMessage) -> Dropped:
    """Most spans are whole: they share one value."""
    attributes, events, links = (
        span.dropped_attributes_count,
        span.dropped_events_count,
        span.dropped_links_count,
    )
    if attributes or events or links:
        return Dropped(attributes=attributes, events=events, links=links)
    return NOTHING_DROPPED


def _link(link: SpanMessage.Link, faults: list[str]) -> Link:
    return Link(
        trace_id=_id(link.trace_id),
        span_id=_id(link.span_id),
        attributes=_attributes(link.attributes, faults),
        trace_state=link.trace_state,
        flags=link.flags,
        dropped_attributes=link.dropped_attributes_count,
    )


def _records(base: str, logs: LogsData) -> Iterator[LogRecord]:
    for at, group in enumerate(logs.resource_logs):
        resource, known = _resource(group.resource)
        for number, scope in enumerate(group.scope_logs):
            name, version = _scope(scope.scope)
            place = f"{base}/resourceLogs/{at}/scopeLogs/{number}/logRecords"
            for index, record in enumerate(scope.log_records):
                yield _record(record, f"{place}/{index}", resource, name, version, known)


def _record(
    record: LogMessage, source: str, resource: dict[str, JSON], name: str, version: str, known: tuple[str, ...]
) -> LogRecord:
    faults = list(known)
    attributes = _attributes(record.attributes, faults)
    named = record.event_name or attributes.get("event.name")
    return LogRecord(
        trace_id=_id(record.trace_id),
        span_id=_id(record.span_id),
        time_ns=record.time_unix_nano,
        observed_ns=record.observed_time_unix_nano,
        event_name=named if isinstance(named, str) else "",
        body=_plain(record.body, faults),
        attributes=attributes,
        resource=resource,
        scope_name=name,
        scope_version=version,
        source=source,
        dropped_attributes=record.dropped_attributes_count,
        severity=record.severity_number,
        severity_text=record.severity_text,
        flags=record.flags,
        faults=tuple(faults),
    )


def _resource(resource: Resource) -> tuple[dict[str, JSON], tuple[str, ...]]:
    faults: list[str] = []
    return _attributes(resource.attributes, faults), tuple(faults)


def _scope(scope: InstrumentationScope) -> tuple[str, str]:
    return intern(scope.name), intern(scope.version)


def _id(raw: bytes) -> str:
    return raw.hex() if raw.strip(b"\0") else ""


def _attributes(pairs: Any, faults: list[str]) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for pair in pairs:
        key, value = pair.key, pair.value
        if key in found:
            faults.append(values.TWICE)
        found[intern(key)] = value.string_value or _plain(value, faults)
    return found


def _plain(value: AnyValue, faults: list[str]) -> JSON:
    kind = value.WhichOneof("value")
    match kind:
        case "string_value":
            return value.string_value
        case "int_value":
            whole = value.int_value
            return whole if -MAX_INTEGER <= whole <= MAX_INTEGER else values.standing(whole, faults)
        case "double_value":
            return values.standing(value.double_value, faults)
        case "bool_value":
            return value.bool_value
        case "array_value":
            return [_plain(item, faults) for item in value.array_value.values]
        case "kvlist_value":
            return _attributes(value.kvlist_value.values, faults)
        case "bytes_value":
            return base64.b64encode(value.bytes_value).decode()
        case None:
            return None
    faults.append(values.UNREADABLE)
    return None
