"""The two ways in for OTLP, a file and a request, and the way out again.

`read_file(data)` takes a whole file in any arrangement. `read_traces` and `read_logs` take the body of one OTLP/HTTP
request, and `dump` writes spans and records that were gathered from several of them as a file that `read_file` reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from replaycases.importers.otlp.json_form import LOGS, SPANS, export_of_json, logs_of_json, spans_of_json
from replaycases.importers.otlp.protobuf_form import export_of_protobuf, is_message, logs_of_protobuf, spans_of_protobuf
from replaycases.importers.otlp.spans import Event, Export, Link, LogRecord, Span

JSON = Any
_KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
_STATUSES = ("unset", "ok", "error")
_MARKS = tuple(f'"{name}"'.encode() for name in (*SPANS, *LOGS))
_HEAD = 64 * 1024
_Groups = dict[tuple[bytes, str, str], list[JSON]]


def read_traces(body: bytes, *, protobuf: bool) -> list[Span]:
    """The spans of an ExportTraceServiceRequest. Raises ImportRefused if the body is none."""
    return spans_of_protobuf(body) if protobuf else spans_of_json(body)


def read_logs(body: bytes, *, protobuf: bool) -> list[LogRecord]:
    """The records of an ExportLogsServiceRequest. Raises ImportRefused if the body is none."""
    return logs_of_protobuf(body) if protobuf else logs_of_json(body)


def read_file(data: bytes) -> Export | None:
    """Everything that a file holds; None if it is no OTLP. Never raises."""
    head = data[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:1] in (b"{", b"[") and any(mark in head for mark in _MARKS):
        export = export_of_json(data)
        if export is not None:
            return export
    return export_of_protobuf(data)


def together(files: Sequence[bytes]) -> bytes:
    """Several files as one that `read_file` reads, each as it is: JSON one after the other, protobuf as a stream."""
    if all(data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") for data in files):
        return b"\n".join(data.removeprefix(b"\xef\xbb\xbf") for data in files)
    if all(is_message(data) for data in files):
        return b"".join(len(data).to_bytes(4) + data for data in files)
    exports = [read_file(data) or Export() for data in files]
    return dump([span for export in exports for span in export.spans], [row for one in exports for row in one.logs])


def dump(spans: Iterable[Span], logs: Iterable[LogRecord] = ()) -> bytes:
    """OTLP JSON with both signals in one object. Reading it gives equal spans and records, but for `source`."""
    spans_of: _Groups = {}
    logs_of: _Groups = {}
    for span in spans:
        spans_of.setdefault(_place(span), []).append(_span(span))
    for record in logs:
        logs_of.setdefault(_place(record), []).append(_record(record))
    document: dict[str, JSON] = {"resourceSpans": _grouped(spans_of, "scopeSpans", "spans")}
    if logs_of:
        document["resourceLogs"] = _grouped(logs_of, "scopeLogs", "logRecords")
    return orjson.dumps(document)


def _place(row: Span | LogRecord) -> tuple[bytes, str, str]:
    return orjson.dumps(row.resource, option=orjson.OPT_SORT_KEYS), row.scope_name, row.scope_version


def _grouped(groups: _Groups, scopes: str, rows: str) -> list[JSON]:
    return [
        {
            "resource": {"attributes": _pairs(orjson.loads(resource))},
            scopes: [{"scope": {"name": name, "version": version}, rows: written}],
        }
        for (resource, name, version), written in groups.items()
    ]


def _span(span: Span) -> dict[str, JSON]:
    status: dict[str, JSON] = {"code": _STATUSES.index(span.status)} if span.status != "unset" else {}
    message = {"message": span.status_message} if span.status_message else {}
    return {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        **({"parentSpanId": span.parent_id} if span.parent_id else {}),
        "name": span.name,
        "kind": _KINDS.index(span.kind),
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "status": {**status, **message},
        "attributes": _pairs(span.attributes),
        **({"events": [_event(event) for event in span.events]} if span.events else {}),
        **({"links": [_link(link) for link in span.links]} if span.links else {}),
        **_said(
            traceState=span.trace_state,
            flags=span.flags,
            droppedAttributesCount=span.dropped.attributes,
            droppedEventsCount=span.dropped.events,
            droppedLinksCount=span.dropped.links,
        ),
    }


def _said(**parts: JSON) -> dict[str, JSON]:
    """What is not OTLP's default, which its printers leave out as well."""
    return {name: value for name, value in parts.items() if value}


def _event(event: Event) -> dict[str, JSON]:
    return {
        "name": event.name,
        "timeUnixNano": str(event.time_ns),
        "attributes": _pairs(event.attributes),
        **_said(droppedAttributesCount=event.dropped_attributes),
    }


def _link(link: Link) -> dict[str, JSON]:
    return {
        "traceId": link.trace_id,
        "spanId": link.span_id,
        "attributes": _pairs(link.attributes),
        **_said(traceState=link.trace_state, flags=link.flags, droppedAttributesCount=link.dropped_attributes),
    }


def _record(record: LogRecord) -> dict[str, JSON]:
    return {
        "traceId": record.trace_id,
        "spanId": record.span_id,
        "timeUnixNano": str(record.time_ns),
        "observedTimeUnixNano": str(record.observed_ns),
        "eventName": record.event_name,
        "body": _value(record.body),
        "attributes": _pairs(record.attributes),
        **_said(
            severityNumber=record.severity,
            severityText=record.severity_text,
            flags=record.flags,
            droppedAttributesCount=record.dropped_attributes,
        ),
    }


def _pairs(attributes: Mapping[str, JSON]) -> list[JSON]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: JSON) -> dict[str, JSON]:
    match value:
        case str():
            return {"stringValue": value}
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(item) for item in value]}}
        case dict():
            return {"kvlistValue": {"values": _pairs(value)}}
    return {}
