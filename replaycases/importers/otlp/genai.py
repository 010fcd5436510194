"""The GenAI conventions as they are now: messages in parts on the span, or in one event of the span.

Names: gen_ai.operation.name, gen_ai.input.messages, gen_ai.output.messages, gen_ai.system_instructions and
gen_ai.tool.definitions (JSON text or structured values, on the span or in gen_ai.client.inference.operation.details),
gen_ai.tool.* for a tool's run, gen_ai.retrieval.* for a retrieval. Every part with content is optional there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from replaycases.fixture.pointer import ABSENT
from replaycases.importers.neutral import RetrievalStep, ToolStep
from replaycases.importers.otlp.chunks import retrieval_step
from replaycases.importers.otlp.instants import ended_at, started_at
from replaycases.importers.otlp.site import Kind, Notes, Site
from replaycases.importers.otlp.telling import Output, Telling, error_of, serving_of, settings_of, usage_of
from replaycases.importers.turns import arguments_of, failure

JSON = Any
DETAILS = "gen_ai.client.inference.operation.details"
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_KINDS: dict[str, Kind] = {
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "completion": "model",
    "message": "model",
    "responses": "model",
    "embeddings": "embedding",
    "embedding": "embedding",
    "execute_tool": "tool",
    "retrieval": "retrieval",
}
_SETTINGS = ("gen_ai.request.", "gen_ai.openai.request.", "openai.request.")
_NO_SETTINGS = frozenset({"model", "stream", "is_streaming", "api_version"})
TRANSPORT = ("gen_ai.request.stream", "gen_ai.request.is_streaming", "gen_ai.is_streaming", "llm.is_streaming")
_USAGE = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    "total_tokens": ("gen_ai.usage.total_tokens", "llm.usage.total_tokens"),
    "cached_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
    ),
    "reasoning_tokens": (
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.details.reasoning_tokens",
    ),
}
_COST = ("operation.cost", "gen_ai.usage.cost")


def kind(site: Site) -> Kind | None:
    """None for a span that these conventions do not know."""
    operation = site.text("gen_ai.operation.name")
    if operation:
        return _KINDS.get(operation, "none")
    if site.text("gen_ai.tool.name"):
        return "tool"
    if site.first(INPUT, OUTPUT, "gen_ai.response.model", "gen_ai.response.id") is not None:
        return "model"
    return "model" if site.text("gen_ai.request.model") and site.text("gen_ai.system", "gen_ai.provider.name") else None


def model(site: Site, notes: Notes) -> Telling:
    told, details = _content(site, notes), _details(site)
    if details is not None and told.is_bare:
        told = _content(details, notes)
        return replace(told, **_facts(site, {**details.span.attributes, **site.span.attributes}))
    return replace(told, **_facts(site, site.span.attributes))


def _details(site: Site) -> Site | None:
    """What the events of the details say together; some tools write one for what was sent and one for the answer."""
    events = [item for item in site.happenings if item.name == DETAILS]
    if not events:
        return None
    fields = {key: value for event in events for key, value in event.fields.items()}
    return Site(span=replace(site.span, attributes=fields, source=events[0].source))


def facts(site: Site) -> dict[str, Any]:
    """Serving and usage, for a dialect that keeps its content elsewhere."""
    return _facts(site, site.span.attributes)


def _facts(site: Site, attributes: Mapping[str, JSON]) -> dict[str, Any]:
    whole = Site(span=replace(site.span, attributes=attributes))
    serving = serving_of(
        whole.first("gen_ai.provider.name", "gen_ai.system"),
        whole.first("gen_ai.request.model"),
        whole.first("gen_ai.response.model"),
        settings_of(attributes, _SETTINGS, _NO_SETTINGS),
        whole.first("gen_ai.request.api_version", "gen_ai.openai.api_version"),
    )
    return {"serving": serving, "usage": usage_of(whole, _USAGE, _COST)}


def _content(site: Site, notes: Notes) -> Telling:
    sent = _messages(site, INPUT, notes)
    said = _messages(site, OUTPUT, notes)
    system = _instructions(site, notes)
    tools = site.json_once("gen_ai.tool.definitions", notes)
    return Telling(
        sent=[*system, *sent] if sent is not None else system or None,
        outputs=None if said is None else [output_of(message, source) for message, source in said],
        tools=tools if isinstance(tools, list) else None,
    )


def output_of(message: JSON, source: str) -> Output:
    finish = message.get("finish_reason") if isinstance(message, dict) else None
    return Output(message=message, source=source, finish=finish if isinstance(finish, str) else None)


def _messages(site: Site, name: str, notes: Notes) -> list[tuple[JSON, str]] | None:
    """(message, pointer) of each; None where the attribute is missing or holds something else."""
    found = site.messages(name, notes)
    if found is None:
        return None
    if not isinstance(found, list):
        text = "messages are no list that can be read: they were cut or masked"
        notes.add("content_lost", site.pointer(name), text, cost="this model call is unknown", boundary="model")
        return None
    base = site.pointer(name)
    return [(message, f"{base}/{at}") for at, message in enumerate(found)]


def _instructions(site: Site, notes: Notes) -> list[tuple[JSON, str]]:
    """The system text that is kept apart from the messages: parts, or one text."""
    name = "gen_ai.system_instructions"
    found = site.json(name, notes)
    if found is ABSENT:
        found = [{"type": "text", "content": site.first(name)}]
    if not isinstance(found, list) or not found:
        return []
    parts = [{"type": "text", "content": part} if isinstance(part, str) else part for part in found]
    said = [part.get("content") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    texts = [text for text in said if isinstance(text, str)]
    if len(texts) == len(parts):
        return [({"role": "system", "content": "\n\n".join(texts)}, site.pointer(name))]
    return [({"role": "system", "parts": parts}, site.pointer(name))]


def tool(site: Site, notes: Notes) -> ToolStep:
    name = site.text("gen_ai.tool.name") or site.span.name.removeprefix("execute_tool ") or "unknown"
    raw = site.first("gen_ai.tool.call.arguments", "gen_ai.tool.arguments")
    result = site.first("gen_ai.tool.call.result", "gen_ai.tool.message", "gen_ai.tool.output")
    details = _details(site)
    if details is not None:
        raw = _part(details, INPUT, ("arguments",), notes) if raw is None else raw
        result = _part(details, OUTPUT, ("response", "result"), notes) if result is None else result
    return tool_step(site, name, None if raw is None else arguments_of(raw), result, site.text("gen_ai.tool.call.id"))


def _part(details: Site, name: str, keys: tuple[str, ...], notes: Notes) -> JSON:
    """The call or the answer of a tool's run whose details hold them as messages."""
    messages = details.json(name, notes)
    for message in messages if isinstance(messages, list) else ():
        parts = message.get("parts") if isinstance(message, dict) else None
        for part in parts if isinstance(parts, list) else ():
            found = [part[key] for key in keys if isinstance(part, dict) and part.get(key) is not None]
            if found:
                return found[0]
    return None


def tool_step(site: Site, name: str, arguments: JSON, result: JSON, call_id: str) -> ToolStep:
    """A tool's run; `arguments` and `result` are None where the span has none."""
    error = error_of(site)
    if error is None and site.first("gen_ai.tool.status", "gen_ai.tool.call.status") == "error":
        error = failure(result)
    return ToolStep(
        source=site.span.source,
        started_at=started_at(site.span),
        ended_at=ended_at(site.span),
        tool=name,
        arguments=arguments,
        value=result,
        error=error,
        answered=result is not None or error is not None,
        call_id=call_id or None,
    )


def retrieval(site: Site, notes: Notes) -> RetrievalStep:
    documents = site.json("gen_ai.retrieval.documents", notes)
    query = site.first("gen_ai.retrieval.query.text")
    named = {
        key: site.span.attributes[key]
        for key in ("gen_ai.data_source.id", "gen_ai.request.model", "gen_ai.request.top_k", "gen_ai.retrieval.top_k")
        if key in site.span.attributes
    }
    return retrieval_step(site, query, documents if isinstance(documents, list) else None, named, notes)
