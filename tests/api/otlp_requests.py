"""OTLP requests put together in a few words."""

from __future__ import annotations

import json
from typing import Any

from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

TRACE, OTHER = "ab" * 16, "cd" * 16


def span(number: int = 1, *, trace: str = TRACE, parent: int = 0, error: bool = False, **attributes: str) -> Any:
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        **({"parentSpanId": f"{parent:016x}"} if parent else {}),
        "name": f"step {number}",
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + number),
        "endTimeUnixNano": str(1_700_000_000_000_000_900 + number),
        "status": {"code": 2} if error else {},
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }


def chat(number: int = 1, *, trace: str = TRACE, parent: int = 0) -> Any:
    """A model call of the GenAI conventions, in JSON form."""
    said = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-test",
        "gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "refund 4711"}]}]),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "It is refunded."}], "finish_reason": "stop"}]
        ),
    }
    made = span(number, trace=trace, parent=parent)
    made["attributes"] = [{"key": key, "value": {"stringValue": value}} for key, value in said.items()]
    return made


def request(*spans: Any, resource: str = "agent") -> dict[str, Any]:
    named = {"attributes": [{"key": "service.name", "value": {"stringValue": resource}}]}
    return {"resourceSpans": [{"resource": named, "scopeSpans": [{"scope": {"name": "test"}, "spans": list(spans)}]}]}


def as_json(*spans: Any) -> bytes:
    return json.dumps(request(*spans)).encode()


def as_protobuf(*spans: Any) -> bytes:
    message = TracesData()
    scope = message.resource_spans.add().scope_spans.add()
    for one in spans:
        made = scope.spans.add()
        made.trace_id, made.span_id = bytes.fromhex(one["traceId"]), bytes.fromhex(one["spanId"])
        made.parent_span_id = bytes.fromhex(one.get("parentSpanId", ""))
        made.name = one["name"]
        made.start_time_unix_nano, made.end_time_unix_nano = (
            int(one["startTimeUnixNano"]),
            int(one["endTimeUnixNano"]),
        )
        made.status.code = one["status"].get("code", 0)
        for pair in one["attributes"]:
            added = made.attributes.add()
            added.key, added.value.string_value = pair["key"], pair["value"]["stringValue"]
    return message.SerializeToString()


def records(*, trace: str = TRACE, span: int = 1, times: int = 1) -> bytes:
    row = {
        "traceId": trace,
        "spanId": f"{span:016x}",
        "timeUnixNano": "1700000000000000100",
        "eventName": "noted",
        "body": {"stringValue": "said"},
    }
    scope = {"scope": {"name": "test"}, "logRecords": [row] * times}
    return json.dumps({"resourceLogs": [{"resource": {}, "scopeLogs": [scope]}]}).encode()
