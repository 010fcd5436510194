"""Traceloop's OpenLLMetry: flattened gen_ai.prompt.N.* and gen_ai.completion.N.*, own spans for tools and workflows.

Its newer versions write the GenAI conventions; what a span holds decides, not its version.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from replaycases.fixture.pointer import ABSENT
from replaycases.importers.neutral import ToolStep
from replaycases.importers.otlp import genai, values
from replaycases.importers.otlp.chat_messages import blocks_in
from replaycases.importers.otlp.flat import Flat, lacks_entries, listed, note_lost_parts, unflatten
from replaycases.importers.otlp.site import Kind, Notes, Site
from replaycases.importers.otlp.telling import Output, Telling
from replaycases.importers.turns import arguments_of

JSON = Any
PROMPT, COMPLETION, FUNCTIONS = "gen_ai.prompt.", "gen_ai.completion.", "llm.request.functions."
_REQUESTS: dict[str, Kind] = {"chat": "model", "completion": "model", "embedding": "embedding", "rerank": "none"}
_FLAT = tuple(
    f"{prefix}0.{part}"
    for prefix in (PROMPT, COMPLETION)
    for part in ("role", "content", "finish_reason", "tool_calls.0.name")
)
_SETTINGS = {
    "llm.top_k": "top_k",
    "llm.frequency_penalty": "frequency_penalty",
    "llm.presence_penalty": "presence_penalty",
    "llm.chat.stop_sequences": "stop_sequences",
    "llm.request.reasoning_effort": "reasoning_effort",
    "llm.request.structured_output_schema": "structured_output_schema",
}


def kind(site: Site) -> Kind | None:
    own = site.text("traceloop.span.kind")
    if own:
        return "tool" if own == "tool" else genai.kind(site) or "none"
    flat = site.first(*_FLAT) is not None
    request = site.text("llm.request.type")
    if not flat and not request:
        return None
    return _REQUESTS.get(request) or genai.kind(site) or "model"


def model(site: Site, notes: Notes) -> Telling:
    told = genai.model(site, notes)
    attributes = site.span.attributes
    if told.is_bare:
        prompt, completion = unflatten(attributes, PROMPT), unflatten(attributes, COMPLETION)
        sent = [(_message(entry), site.place(at)) for at, entry in prompt.entries]
        said = [_output(entry, site.place(at)) for at, entry in completion.entries]
        note_lost_parts(site, (entry for flat in (prompt, completion) for _, entry in flat.entries), notes)
        partial = lacks_entries(site, (prompt, completion), notes, boundary="model")
        told = replace(told, sent=sent or None, outputs=said or None, partial=partial)
    more = {name: attributes[key] for key, name in _SETTINGS.items() if attributes.get(key) is not None}
    if more:
        told = replace(told, serving={**told.serving, "settings": {**more, **told.serving.get("settings", {})}})
    if told.tools is not None:
        return told
    functions = unflatten(attributes, FUNCTIONS)
    lacking = lacks_entries(site, (functions,), notes, boundary="model")
    return replace(told, tools=_functions(functions), partial=told.partial or lacking)


def _message(entry: dict[str, JSON]) -> JSON:
    calls = [_call(call) for call in listed(entry.get("tool_calls"))]
    said = {"content": blocks_in(entry.get("content"))} if calls or "content" in entry else {}
    known = {"tool_call_id": entry["tool_call_id"]} if entry.get("tool_call_id") is not None else {}
    asked = {"tool_calls": calls} if calls else {}
    return {"role": entry.get("role", "user"), **known, **said, **asked}


def _call(entry: JSON) -> JSON:
    if not isinstance(entry, dict):
        return entry
    known = {"id": entry["id"]} if entry.get("id") is not None else {}
    function = {"name": entry.get("name"), "arguments": entry.get("arguments", "")}
    return {**known, "type": "function", "function": function}


def _output(entry: dict[str, JSON], source: str) -> Output:
    finish = entry.get("finish_reason")
    message = _message({"role": "assistant", **entry})
    return Output(message=message, source=source, finish=finish if isinstance(finish, str) else None)


def _functions(flat: Flat) -> list[JSON] | None:
    found = []
    for _, entry in flat.entries:
        schema = values.json_in(entry.get("parameters"), [])
        found.append({**entry, **({} if schema is ABSENT or schema is None else {"parameters": schema})})
    return found or None


def tool(site: Site, notes: Notes) -> ToolStep:
    if not site.text("traceloop.span.kind"):
        return genai.tool(site, notes)
    name = site.text("gen_ai.tool.name", "traceloop.entity.name") or site.span.name or "unknown"
    result = site.first("gen_ai.tool.call.result")
    if result is None:
        result = _returned(site.first("traceloop.entity.output"))
    raw = site.first("gen_ai.tool.call.arguments")
    arguments = _called_with(site.first("traceloop.entity.input")) if raw is None else arguments_of(raw)
    return genai.tool_step(site, name, arguments, result, site.text("gen_ai.tool.call.id"))


def _called_with(recorded: JSON) -> JSON:
    """The tool's arguments out of what a decorator ({args, kwargs}) or a callback ({inputs | input_str}) wrote."""
    value = values.json_in(recorded, [])
    if not isinstance(value, dict):
        return recorded if value is ABSENT else value
    if set(value) == {"args", "kwargs"}:
        return value if value["args"] else value["kwargs"]
    if isinstance(value.get("inputs"), dict) and value["inputs"]:
        return value["inputs"]
    return arguments_of(value["input_str"]) if isinstance(value.get("input_str"), str) else value


def _returned(recorded: JSON) -> JSON:
    """The tool's result, out of what a callback wrote around it."""
    value = values.decoded(recorded)
    return value["output"] if isinstance(value, dict) and set(value) == {"output", "kwargs"} else value
