"""OTLP as JSON: one export, a list of exports, one on each line, or one after the other; hexadecimal or base64 ids."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterator
from typing import Any

import orjson

from replaycases.fixture.pointer import ABSENT
from replaycases.importers.findings import refused
from replaycases.importers.otlp import values
from replaycases.importers.otlp.spans import (
    MAX_ROWS,
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
from replaycases.importers.otlp.values import attributes_of, count_of, id_of, nanos

JSON = Any
_BATCHES = "batches"  # what Tempo calls them
_METRICS = ("resourceMetrics", "resource_metrics")
SPANS = ("resourceSpans", "resource_spans", _BATCHES)
LOGS = ("resourceLogs", "resource_logs")
_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_LOG_SCOPES = ("scopeLogs", "scope_logs")
_KINDS: tuple[SpanKind, ...] = ("unspecified", "internal", "server", "client", "producer", "consumer")
_STATUSES: tuple[Status, ...] = ("unset", "ok", "error")
_KIND_OF: dict[JSON, SpanKind] = {
    key: kind for at, kind in enumerate(_KINDS) for key in (at, str(at), f"SPAN_KIND_{kind.upper()}")
}
_STATUS_OF: dict[JSON, Status] = {
    key: status for at, status in enumerate(_STATUSES) for key in (at, str(at), f"STATUS_CODE_{status.upper()}")
}
_SEVERITY_OF = {
    f"SEVERITY_NUMBER_{name}{number or ''}": 4 * at + (number or 1)
    for at, name in enumerate(("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"))
    for number in (None, 2, 3, 4)
} | {"SEVERITY_NUMBER_UNSPECIFIED": 0}
MAX_OBJECTS = 3_000_000
_BROKEN = "a line that breaks off was dropped"
_NO_EXPORT = "Give OTLP JSON: an object with resourceSpans or resourceLogs."


def spans_of_json(data: bytes) -> list[Span]:
    """The spans of an ExportTraceServiceRequest in JSON. Raises ImportRefused if it is no JSON, no such request, or
    holds log records."""
    export = _whole_request(data)
    if export.logs:
        raise other_signal("log records")
    return export.spans


def logs_of_json(data: bytes) -> list[LogRecord]:
    """The records of an ExportLogsServiceRequest in JSON. Raises as `spans_of_json` does."""
    export = _whole_request(data)
    if export.spans:
        raise other_signal("spans")
    return export.logs


def too_many() -> Exception:
    hint = f"At most {MAX_ROWS} spans and log records are read. Export one trace at a time."
    return refused("too-many-spans", "", "there are too many spans and log records", hint)


def export_of_json(data: bytes) -> Export | None:
    """Everything in a file, in any arrangement; None if it is no OTLP JSON."""
    export, known = Export(too_many=data.count(b"{") > MAX_OBJECTS), False
    if export.too_many:
        return export
    try:
        for base, document in _documents(data.removeprefix(codecs.BOM_UTF8), export):
            known = _take(base, document, export) or known
    except RecursionError:
        return None
    return export if known else None


def _whole_request(data: bytes) -> Export:
    faults: list[str] = []
    document = None if data.count(b"{") > MAX_OBJECTS else values.loads(data, faults)
    if not isinstance(document, dict):
        raise refused("not-json", "", "the request is no JSON object, or too large a one", _NO_EXPORT)
    export = Export(faults=tuple(faults))
    _take("", document, export)
    if export.is_full():
        raise too_many()
    return export


def _documents(data: bytes, export: Export) -> Iterator[tuple[str, JSON]]:
    """(pointer, export) for each one in the file."""
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        yield from _several(data, export)
        return
    if isinstance(document, list):
        document.reverse()
        for at in range(len(document)):
            yield f"/{at}", document.pop()
    else:
        yield "", document


def _several(data: bytes, export: Export) -> Iterator[tuple[str, JSON]]:
    """One export on each line, else one after the other. A last one that breaks off is left out."""
    first_line = next((line for line in io.BytesIO(data) if line.strip()), b"")
    if isinstance(values.loads(first_line, []), dict):
        yield from _lines(data, export)
    else:
        yield from _one_after_the_other(data, export)


def _lines(data: bytes, export: Export) -> Iterator[tuple[str, JSON]]:
    at = 0
    line, rest = _line(data, 0)
    while line:
        faults: list[str] = []
        document = values.loads(line, faults)
        following, after = _line(data, rest)
        if document is not ABSENT:
            yield f"/{at}", document
        elif not following:
            export.cut = True
        elif isinstance(values.loads(following, []), dict):
            faults.append(_BROKEN)
        else:  # documents over several lines
            yield from _one_after_the_other(line + b"\n" + data[rest:], export, at)
            return
        export.faults = tuple(dict.fromkeys((*export.faults, *faults)))
        line, rest, at = following, after, at + 1


def _line(data: bytes, start: int) -> tuple[bytes, int]:
    """(the next line that is not blank, the place after it); b"" if there is none."""
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line = data[start:end]
        start = end + 1
        if line.strip():
            return line, start
    return b"", start


def _one_after_the_other(data: bytes, export: Export, at: int = 0) -> Iterator[tuple[str, JSON]]:
    decoder = json.JSONDecoder(parse_constant=str)
    text = data.decode("utf-8", "replace").strip()
    faults: list[str] = []
    place, first = 0, at
    while place < len(text):
        try:
            document, place = decoder.raw_decode(text, place)
        except ValueError:
            export.cut = True
            return
        alone = at == first == 0 and place == len(text)
        yield "" if alone else f"/{at}", values.whole_characters(document, faults)
        export.faults = tuple(dict.fromkeys((*export.faults, *faults)))
        at += 1
        while place < len(text) and text[place] in " \t\r\n":
            place += 1


def _take(base: str, document: JSON, export: Export) -> bool:
    """Whether the document is an export; what it holds goes into `export`, and is taken out of the document."""
    if isinstance(document, dict) and isinstance(document.get("trace"), dict):
        document, base = document["trace"], f"{base}/trace"
    if not isinstance(document, dict):
        return False
    known = False
    for name in (*SPANS, *LOGS):
        groups = document.get(name)
        if isinstance(groups, list) and (name != _BATCHES or _are_batches(groups)):
            known = True
            for at in range(len(groups)):
                group, groups[at] = groups[at], None
                if isinstance(group, dict):
                    _group(f"{base}/{name}/{at}", group, export, logs=name in LOGS)
    if not known and not any(name in document for name in _METRICS):
        export.faults = tuple(dict.fromkeys((*export.faults, "an entry that is no export was dropped")))
    return known


def _are_batches(groups: list[JSON]) -> bool:
    return bool(groups) and all(isinstance(group, dict) and any(key in group for key in _SCOPES) for group in groups)


def _group(base: str, group: dict[str, JSON], export: Export, *, logs: bool) -> None:
    faults: list[str] = []
    resource = group.get("resource")
    shared = attributes_of(resource.get("attributes"), faults) if isinstance(resource, dict) else {}
    for name in _LOG_SCOPES if logs else _SCOPES:
        scopes = group.get(name)
        for at, scope in enumerate(scopes if isinstance(scopes, list) else ()):
            if isinstance(scope, dict):
                _scope(f"{base}/{name}/{at}", scope, shared, tuple(faults), export, logs=logs)


def _scope(
    base: str, scope: dict[str, JSON], resource: dict[str, JSON], faults: tuple[str, ...], export: Export, *, logs: bool
) -> None:
    named = scope.get("scope") or scope.get("instrumentationLibrary")
    name, version = (_text(named.get("name")), _text(named.get("version"))) if isinstance(named, dict) else ("", "")
    key = next((key for key in (("logRecords", "log_records") if logs else ("spans",)) if key in scope), "")
    rows = scope.get(key)
    rows = rows if isinstance(rows, list) else []
    for at in range(len(rows)):
        row, rows[at] = rows[at], None
        if export.is_full():
            return
        if not isinstance(row, dict):
            export.faults += ("an entry that is no object was dropped",)
        elif logs:
            export.logs.append(_record(row, f"{base}/{key}/{at}", resource, name, version, faults))
        else:
            export.spans.append(_span(row, f"{base}/{key}/{at}", resource, name, version, faults))


def _span(
    row: dict[str, JSON], source: str, resource: dict[str, JSON], name: str, version: str, known: tuple[str, ...]
) -> Span:
    faults: list[str] = list(known)
    get = row.get
    status = get("status")
    status = status if isinstance(status, dict) else {}
    events, links = get("events"), get("links")
    return Span(
        trace_id=id_of(get("traceId") or get("trace_id"), 16),
        span_id=id_of(get("spanId") or get("span_id"), 8),
        parent_id=id_of(get("parentSpanId") or get("parent_span_id"), 8),
        name=_text(get("name")),
        kind=_known(_KIND_OF, get("kind"), "unspecified"),
        start_ns=nanos(get("startTimeUnixNano") or get("start_time_unix_nano") or 0, faults),
        end_ns=nanos(get("endTimeUnixNano") or get("end_time_unix_nano") or 0, faults),
        status=_known(_STATUS_OF, status.get("code"), "unset"),
        status_message=_text(status.get("message")),
        attributes=attributes_of(get("attributes"), faults),
        events=tuple(_event(item, faults) for item in events if isinstance(item, dict))
        if isinstance(events, list)
        else (),
        resource=resource,
        scope_name=name,
        scope_version=version,
        source=source,
        dropped=_dropped(row, faults),
        links=tuple(_link(item, faults) for item in links if isinstance(item, dict)) if isinstance(links, list) else (),
        trace_state=_text(get("traceState") or get("trace_state")),
        flags=count_of(get("flags"), faults),
        faults=tuple(faults),
    )


def _dropped(row: dict[str, JSON], faults: list[str]) -> Dropped:
    """Most spans are whole: they share one value."""
    get = row.get
    attributes = get("droppedAttributesCount") or get("dropped_attributes_count")
    events = get("droppedEventsCount") or get("dropped_events_count")
    links = get("droppedLinksCount") or get("dropped_links_count")
    if not (attributes or events or links):
        return NOTHING_DROPPED
    return Dropped(
        attributes=count_of(attributes, faults), events=count_of(events, faults), links=count_of(links, faults)
    )


def _dropped_attributes(row: dict[str, JSON], faults: list[str]) -> int:
    return count_of(row.get("droppedAttributesCount") or row.get("dropped_attributes_count"), faults)


def _link(row: dict[str, JSON], faults: list[str]) -> Link:
    return Link(
        trace_id=id_of(row.get("traceId") or row.get("trace_id"), 16),
        span_id=id_of(row.get("spanId") or row.get("span_id"), 8),
        attributes=attributes_of(row.get("attributes"), faults),
        trace_state=_text(row.get("traceState") or row.get("trace_state")),
        flags=count_of(row.get("flags"), faults),
        dropped_attributes=_dropped_attributes(row, faults),
    )


def _event(row: dict[str, JSON], faults: list[str]) -> Event:
    time = row.get("timeUnixNano") or row.get("time_unix_nano") or 0
    return Event(
        name=_text(row.get("name")),
        time_ns=nanos(time, faults),
        attributes=attributes_of(row.get("attributes"), faults),
        dropped_attributes=_dropped_attributes(row, faults),
    )


def _record(
    row: dict[str, JSON], source: str, resource: dict[str, JSON], name: str, version: str, known: tuple[str, ...]
) -> LogRecord:
    faults: list[str] = list(known)
    get = row.get
    attributes = attributes_of(get("attributes"), faults)
    return LogRecord(
        trace_id=id_of(get("traceId") or get("trace_id"), 16),
        span_id=id_of(get("spanId") or get("span_id"), 8),
        time_ns=nanos(get("timeUnixNano") or get("time_unix_nano") or 0, faults),
        observed_ns=nanos(get("observedTimeUnixNano") or get("observed_time_unix_nano") or 0, faults),
        event_name=_text(get("eventName") or get("event_name") or attributes.get("event.name")),
        body=values.plain(get("body"), faults),
        attributes=attributes,
        resource=resource,
        scope_name=name,
        scope_version=version,
        source=source,
        dropped_attributes=_dropped_attributes(row, faults),
        severity=_severity(get("severityNumber") or get("severity_number"), faults),
        severity_text=_text(get("severityText") or get("severity_text")),
        flags=count_of(get("flags"), faults),
        faults=tuple(faults),
    )


def _severity(value: JSON, faults: list[str]) -> int:
    """A number, or its name as protobuf's JSON printer writes it."""
    known = _SEVERITY_OF.get(value) if isinstance(value, str) else None
    return count_of(value, faults) if known is None else known


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""


def _known(table: dict[JSON, Any], value: JSON, otherwise: str) -> Any:
    return table.get(value, otherwise) if isinstance(value, str | int) else otherwise
