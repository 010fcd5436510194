"""Made-up spans as an OpenTelemetry SDK hands them to its exporter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

START = 1_790_000_000_000_000_000
TRACE = "0af7651916cd43dd8448eb211c80319c"


def sdk_request(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> bytes:
    """The protobuf request of an official exporter: a root span and in it one span for each (name, attributes)."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "shop", "service.version": "7"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("shop.agent", "1.0")
    with tracer.start_as_current_span("root"):
        for name, attributes in rows:
            with tracer.start_as_current_span(name, attributes=dict(attributes)):
                pass
    provider.shutdown()
    return encode_spans(exporter.get_finished_spans()).SerializeToString()


def as_json(message: Any, **options: Any) -> bytes:
    """As protobuf's own printer writes it: ids in base64, enums by name."""
    return orjson.dumps(MessageToDict(message, **options))


def span(number: int, name: str = "step", *, at: int | None = None, **parts: Any) -> dict[str, Any]:
    """A span of OTLP JSON; `attributes` an object, `at` and `lasts` milliseconds since START, `parent` a number."""
    begin = START + (number if at is None else at) * 1_000_000
    lasts = parts.pop("lasts", 1)
    attributes = parts.pop("attributes", {})
    parent = {"parentSpanId": f"{parts.pop('parent'):016x}"} if "parent" in parts else {}
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        **parent,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + int(lasts * 1_000_000)),
        "attributes": pairs(attributes),
        "status": {},
        **parts,
    }


def record(event: str, body: Any, *, of: int, at: int = 0) -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": f"{of:016x}",
        "observedTimeUnixNano": str(START + at),
        "eventName": event,
        "body": value(body),
    }


def export(
    *spans: Mapping[str, Any], logs: Sequence[Mapping[str, Any]] = (), scope: str = "shop", resource: Any = None
) -> bytes:
    named = {"attributes": pairs(resource or {"service.version": "7"})}
    document = {
        "resourceSpans": [{"resource": named, "scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}]
    }
    if logs:
        document["resourceLogs"] = [{"resource": named, "scopeLogs": [{"logRecords": list(logs)}]}]
    return orjson.dumps(document)


def pairs(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value(item)} for key, item in attributes.items()]


def value(item: Any) -> dict[str, Any]:
    match item:
        case bool():
            return {"boolValue": item}
        case int():
            return {"intValue": str(item)}
        case float():
            return {"doubleValue": item}
        case list():
            return {"arrayValue": {"values": [value(part) for part in item]}}
        case dict():
            return {"kvlistValue": {"values": pairs(item)}}
        case None:
            return {}
    return {"stringValue": item}
