"""OpenInference: openinference.span.kind, flattened llm.input_messages.N.message.*, input.value and output.value.

Where input.value and output.value hold the provider's own bodies, these are what was sent and answered; the flattened
messages are used where they do not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from replaycases.fixture.model_request import CATALOGUE_KEYS, MESSAGE_KEYS, SYSTEM_KEYS
from replaycases.fixture.pointer import ABSENT
from replaycases.importers.neutral import RetrievalStep, ToolStep
from replaycases.importers.otlp import values
from replaycases.importers.otlp.chunks import retrieval_step
from replaycases.importers.otlp.flat import EMPTY, Flat, lacks_entries, listed, note_lost_parts, unflatten
from replaycases.importers.otlp.genai import tool_step
from replaycases.importers.otlp.site import Kind, Notes, Site
from replaycases.importers.otlp.telling import Output, Telling, serving_of, usage_of
from replaycases.importers.turns import arguments_of

JSON = Any
_KINDS: dict[str, Kind] = {
    "LLM": "model",
    "EMBEDDING": "embedding",
    "TOOL": "tool",
    "RETRIEVER": "retrieval",
    "RERANKER": "retrieval",
}
_CONTENT = frozenset({*MESSAGE_KEYS, *SYSTEM_KEYS, *CATALOGUE_KEYS})
_HIDDEN = "__REDACTED__"
_TRANSPORT = frozenset({"model", "stream", "stream_options", "timeout", "extra_headers", "extra_query"})
_MESSAGES = ("llm.input_messages.", "llm.output_messages.")
_USAGE = {
    "input_tokens": ("llm.token_count.prompt",),
    "output_tokens": ("llm.token_count.completion",),
    "total_tokens": ("llm.token_count.total",),
    "cached_tokens": ("llm.token_count.prompt_details.cache_read",),
    "reasoning_tokens": ("llm.token_count.completion_details.reasoning",),
}


def kind(site: Site) -> Kind | None:
    """Where attributes were dropped, and the kind with them, a model call is known by its messages."""
    own = site.text("openinference.span.kind")
    if own:
        return _KINDS.get(own.upper(), "none")
    lost = site.span.dropped.attributes and any(key.startswith(_MESSAGES) for key in site.span.attributes)
    return "model" if lost else None


def model(site: Site, notes: Notes) -> Telling:
    site = _shown(site)
    sent, response = site.json("input.value", notes), site.json("output.value", notes)
    request = sent if isinstance(sent, dict) and _is_request(sent) else None
    said = _said(response, site.pointer("output.value"))
    parameters = site.json("llm.invocation_parameters", notes)
    settings = {**_settings(parameters), **_settings(request)}
    attributes, offers = site.span.attributes, request is None or not _catalogue(request)
    flat_sent = unflatten(attributes, "llm.input_messages.") if request is None else EMPTY
    flat_said = EMPTY if said else unflatten(attributes, "llm.output_messages.")
    flat_tools = unflatten(attributes, "llm.tools.") if offers else EMPTY
    messages = (entry.get("message") for flat in (flat_sent, flat_said) for _, entry in flat.entries)
    note_lost_parts(site, messages, notes)
    return Telling(
        sent=_flat_sent(site, flat_sent, sent) if request is None else _sent(request, site.pointer("input.value")),
        outputs=said or _flat_said(site, flat_said, response),
        tools=_tools(flat_tools),
        serving={**_serving(site, parameters, settings), **({} if request is None else {"settings": settings})},
        usage=usage_of(site, _USAGE, ("llm.cost.total",)),
        request=None if request is None else {key: request[key] for key in request if key in _CONTENT},
        response=response if said else ABSENT,
        partial=lacks_entries(site, (flat_sent, flat_said, flat_tools), notes, boundary="model"),
    )


def _shown(site: Site) -> Site:
    """What was hidden when it was recorded is not there, though its name is."""
    shown = {key: None if value == _HIDDEN else value for key, value in site.span.attributes.items()}
    return replace(site, span=replace(site.span, attributes=shown))


def _is_request(body: dict[str, JSON]) -> bool:
    """Whether this is a body as a provider's client sends it, not a framework's own notion of one."""
    messages = body.get("messages")
    return isinstance(messages, list) and bool(messages) and all(isinstance(m, dict) and "role" in m for m in messages)


def _settings(body: JSON) -> dict[str, JSON]:
    items = body.items() if isinstance(body, dict) else ()
    return {key: value for key, value in items if key not in _CONTENT and key not in _TRANSPORT}


def _catalogue(request: dict[str, JSON]) -> bool:
    return any(key in request for key in CATALOGUE_KEYS)


def _sent(request: dict[str, JSON], base: str) -> list[tuple[JSON, str]]:
    system = [({"role": "system", "content": request[key]}, f"{base}/{key}") for key in SYSTEM_KEYS if request.get(key)]
    return system + [(message, f"{base}/messages/{at}") for at, message in enumerate(request["messages"])]


def _said(response: JSON, base: str) -> list[Output]:
    """The answers in a provider's body: choices of a chat, or one message of blocks."""
    if not isinstance(response, dict):
        return []
    choices = response.get("choices")
    if isinstance(choices, list):
        return [
            Output(
                message=choice["message"], source=f"{base}/choices/{at}/message", finish=_text(choice, "finish_reason")
            )
            for at, choice in enumerate(choices)
            if isinstance(choice, dict) and isinstance(choice.get("message"), dict)
        ]
    if response.get("role") == "assistant" and isinstance(response.get("content"), list):
        message = {"role": "assistant", "content": response["content"]}
        return [Output(message=message, source=base, finish=_text(response, "stop_reason"))]
    return []


def _text(holder: dict[str, JSON], key: str) -> str | None:
    value = holder.get(key)
    return value if isinstance(value, str) else None


def _flat_sent(site: Site, flat: Flat, value: JSON) -> list[tuple[JSON, str]] | None:
    """The flattened messages, else the one text that was sent."""
    text = [(site.first("input.value"), site.pointer("input.value"))] if value is ABSENT else None
    return _messages(site, flat) or text


def _flat_said(site: Site, flat: Flat, value: JSON) -> list[Output] | None:
    said = _messages(site, flat)
    if said is None and value is ABSENT:
        said = [({"role": "assistant", "content": site.first("output.value")}, site.pointer("output.value"))]
    finish = site.text("llm.finish_reason") or None
    return [Output(message=message, source=source, finish=finish) for message, source in said] if said else None


def _messages(site: Site, flat: Flat) -> list[tuple[JSON, str]] | None:
    found = [
        (_message(entry["message"]), site.place(at))
        for at, entry in flat.entries
        if isinstance(entry.get("message"), dict)
    ]
    return found or None


def _message(entry: dict[str, JSON]) -> JSON:
    calls = [_call(call["tool_call"]) for call in listed(entry.get("tool_calls")) if _holds(call, "tool_call")]
    held = listed(entry.get("contents"))
    parts = [_part(part["message_content"]) for part in held if _holds(part, "message_content")]
    known = {key: entry[key] for key in ("tool_call_id", "name") if entry.get(key) is not None}
    content = parts if entry.get("content") is None and parts else entry.get("content")
    said = {} if content is None and not calls else {"content": content}
    return {"role": entry.get("role"), **known, **said, **({"tool_calls": calls} if calls else {})}


def _holds(entry: JSON, key: str) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get(key), dict)


def _call(entry: dict[str, JSON]) -> JSON:
    function = entry.get("function")
    function = function if isinstance(function, dict) else {}
    known = {"id": entry["id"]} if entry.get("id") is not None else {}
    return {
        **known,
        "type": "function",
        "function": {"name": function.get("name"), "arguments": function.get("arguments", "")},
    }


def _part(entry: dict[str, JSON]) -> JSON:
    return {"type": entry.get("type", "text"), **{key: value for key, value in entry.items() if key != "type"}}


def _tools(flat: Flat) -> list[JSON] | None:
    found = []
    for _, entry in flat.entries:
        schema = entry.get("tool", {}).get("json_schema") if isinstance(entry.get("tool"), dict) else None
        tool = values.json_in(schema, [])
        if tool is not None:
            found.append(schema if tool is ABSENT else tool)
    return found or None


def _serving(site: Site, parameters: JSON, settings: dict[str, JSON]) -> dict[str, JSON]:
    asked = parameters.get("model") if isinstance(parameters, dict) else None
    requested = site.first("llm.request.model_name") or asked
    returned = site.first("llm.response.model_name", "llm.model_name")
    found: dict[str, JSON] = serving_of(site.first("llm.provider", "llm.system"), requested, returned, settings)
    return found


def tool(site: Site, notes: Notes) -> ToolStep:
    site = _shown(site)
    name = site.text("tool.name", "tool_call.function.name") or site.span.name or "unknown"
    raw = site.first("input.value", "tool.parameters", "tool_call.function.arguments")
    return tool_step(
        site,
        name,
        None if raw is None else arguments_of(raw),
        site.first("output.value"),
        site.text("tool.id", "tool_call.id"),
    )


def retrieval(site: Site, notes: Notes) -> RetrievalStep:
    site = _shown(site)
    for prefix in ("retrieval.documents.", "reranker.output_documents."):
        flat = unflatten(site.span.attributes, prefix)
        if flat.entries:
            break
    documents = [entry["document"] for _, entry in flat.entries if isinstance(entry.get("document"), dict)]
    query = site.first("reranker.query", "input.value")
    names = ("reranker.model_name", "reranker.top_k")
    parameters = {name: site.span.attributes[name] for name in names if name in site.span.attributes}
    step = retrieval_step(site, query, documents or None, parameters, notes)
    if lacks_entries(site, (flat,), notes, boundary="retrieval"):
        return replace(step, chunks=[], answered=False)
    return step
