"""Formats that are recognised only to be refused by their name, with what to export in their place.

Some of them look like a more general format that would lose their calls, so these are asked first. Each goes by a mark
in the first bytes before anything is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import UnsupportedFormat

JSON = Any
_TAIL = 64 * 1024
_LOOKED_AT = 20
_INSPECT = re.compile(rb'\A\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:')
_UI_EVENT = re.compile(
    rb'\A(?:event:[^\n]*\n)?data:\s*\{"type"\s*:\s*"(?:start|start-step|text-start|tool-input-start)"'
)
_OTLP = "Export the same trace as OTLP, JSON or protobuf"
_TRANSCRIPT = 'save its messages as a chat transcript, {"messages": […]}'
_CASSETTE = "record the calls of the model in a VCR cassette"


def _rows(file: ForeignFile) -> list[dict[str, JSON]]:
    """The first objects of a list, of {"data": list}, or of JSON lines; the document itself if it is one object."""
    document = file.json
    if isinstance(document, dict):
        document = document["data"] if isinstance(document.get("data"), list) else [document]
    if not isinstance(document, list):
        document = file.json_lines
    return [row for row in islice(document, _LOOKED_AT) if isinstance(row, dict)]


def _marked(file: ForeignFile, *marks: bytes) -> bool:
    return all(mark in file.head for mark in marks)


def _all_have(rows: JSON, *keys: str) -> bool:
    """Whether these are objects with these keys, at least one."""
    first = list(islice(rows, _LOOKED_AT)) if isinstance(rows, list | tuple) else []
    return bool(first) and all(isinstance(row, dict) and all(key in row for key in keys) for row in first)


def _at(document: JSON, *path: str) -> JSON:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def is_har(file: ForeignFile) -> bool:
    return _marked(file, b'"log"') and isinstance(_at(file.json, "log", "entries"), list)


def is_inspect(file: ForeignFile) -> bool:
    """Its archive, or its log as JSON, which may hold NaN and is then no JSON."""
    if file.data[:4] == b"PK\x03\x04":
        directory = file.data[-_TAIL:]
        return b"_journal/start.json" in file.head or (b"header.json" in directory and b"samples/" in directory)
    if not _marked(file, b'"eval"', b'"status"'):
        return False
    return _INSPECT.match(file.head) is not None or _all_have([file.json], "eval", "status", "plan")


def is_swe_agent(file: ForeignFile) -> bool:
    if _marked(file, b'"trajectory"') and _all_have(_at(file.json, "trajectory"), "action", "observation"):
        return True
    return _marked(file, b'"history"') and _all_have(_at(file.json, "history"), "role", "agent")


def is_openhands(file: ForeignFile) -> bool:
    if not (_marked(file, b'"source"', b'"timestamp"') and (b'"observation"' in file.head or b'"action"' in file.head)):
        return False
    rows = _rows(file)
    return _all_have(rows, "source", "timestamp") and all("action" in row or "observation" in row for row in rows)


def is_temporal(file: ForeignFile) -> bool:
    return _marked(file, b'"eventType"') and _all_have(_at(file.json, "events"), "eventId", "eventType")


def is_mcp(file: ForeignFile) -> bool:
    if not _marked(file, b'"jsonrpc"'):
        return False
    return file.head.startswith((b"event: message", b"data: {")) or _all_have(_rows(file), "jsonrpc")


def is_openai_agents(file: ForeignFile) -> bool:
    if not _marked(file, b'"object"') or (b'"trace.span"' not in file.head and b'"trace"' not in file.head):
        return False
    rows = _rows(file)
    return bool(rows) and all(row.get("object") in ("trace", "trace.span") for row in rows)


def is_phoenix(file: ForeignFile) -> bool:
    rows = _rows(file) if _marked(file, b'"span_kind"', b'"context"') else []
    return _all_have(rows, "span_kind", "context") and all(
        isinstance(_at(row, "context", "trace_id"), str) for row in rows
    )


def is_weave(file: ForeignFile) -> bool:
    return _marked(file, b'"op_name"') and _all_have(_rows(file), "op_name", "trace_id")


def is_mlflow(file: ForeignFile) -> bool:
    if not _marked(file, b'"info"'):
        return False
    spans, info = _at(file.json, "data", "spans"), _at(file.json, "info")
    return isinstance(spans, list) and isinstance(info, dict) and bool({"trace_id", "request_id"} & set(info))


def is_vercel_ui(file: ForeignFile) -> bool:
    """Its stream of events, or the messages that a page keeps of them."""
    if _UI_EVENT.match(file.head):
        return True
    if not _marked(file, b'"parts"'):
        return False
    document = file.json
    messages = document if isinstance(document, list) else _at(document, "messages")
    return any(
        isinstance(part, dict) and _is_ui_part(part)
        for message in (messages if isinstance(messages, list) else ())
        for part in (_at(message, "parts") if isinstance(_at(message, "parts"), list) else ())
    )


def _is_ui_part(part: dict[str, JSON]) -> bool:
    kind = str(part.get("type"))
    return kind == "step-start" or ("toolCallId" in part and (kind.startswith("tool-") or kind == "dynamic-tool"))


def is_agentdojo(file: ForeignFile) -> bool:
    return _marked(file, b'"suite_name"', b'"pipeline_name"') and _all_have([file.json], "suite_name", "messages")


def _row(name: str, title: str, sniff: Callable[[ForeignFile], bool], instead: str) -> UnsupportedFormat:
    return UnsupportedFormat(name=name, title=title, sniff=sniff, instead=instead)


UNSUPPORTED: tuple[UnsupportedFormat, ...] = (
    _row("har", "HAR recording of a browser or proxy", is_har, f"{_OTLP}, or {_CASSETTE}."),
    _row("inspect", "log of Inspect AI", is_inspect, f"Take one sample out of it and {_TRANSCRIPT}."),
    _row("swe-agent", "trajectory of SWE-agent", is_swe_agent, f"For a run with tool calls, {_TRANSCRIPT}."),
    _row("openhands", "list of OpenHands events", is_openhands, f"{_OTLP}, or {_CASSETTE}."),
    _row("temporal", "history of a Temporal workflow", is_temporal, f"{_OTLP}, or {_CASSETTE}."),
    _row("mcp", "log of MCP messages", is_mcp, f"{_OTLP} of the client: MCP messages hold no model calls."),
    _row("openai-agents", "trace of the OpenAI Agents SDK", is_openai_agents, f"{_OTLP}, or {_CASSETTE}."),
    _row("phoenix", "list of Phoenix spans", is_phoenix, f"{_OTLP}: the same spans are sent to Phoenix in that form."),
    _row("weave", "list of W&B Weave calls", is_weave, f"{_OTLP}, or {_CASSETTE}."),
    _row("mlflow", "trace of MLflow", is_mlflow, f"{_OTLP}: MLflow can export its traces in that form."),
    _row(
        "vercel-ui", "conversation of the Vercel AI SDK", is_vercel_ui, f"{_OTLP}: the SDK records spans when asked to."
    ),
    _row("agentdojo", "run of AgentDojo", is_agentdojo, f"Take its messages out and {_TRANSCRIPT}."),
)
