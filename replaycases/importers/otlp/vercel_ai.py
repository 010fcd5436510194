"""The AI SDK of Vercel: ai.operationId, ai.prompt.messages, ai.response.text, ai.response.toolCalls and ai.toolCall.*.

Spans of ai.generateText and its like wrap the calls that they make (….doGenerate, ….doStream), which are read. Newer
versions write the GenAI conventions.
"""

from __future__ import annotations

from typing import Any

from replaycases.fixture.pointer import ABSENT
from replaycases.importers.neutral import ToolStep
from replaycases.importers.otlp import genai
from replaycases.importers.otlp.site import Kind, Notes, Site
from replaycases.importers.otlp.telling import Output, Telling, serving_of, settings_of
from replaycases.importers.otlp.values import decoded, json_in
from replaycases.importers.turns import arguments_of

JSON = Any
_NO_SETTINGS = frozenset({"maxRetries", "model", "stream"})


def kind(site: Site) -> Kind | None:
    operation = site.text("ai.operationId")
    if not operation:
        return None
    if operation == "ai.toolCall":
        return "tool"
    if "embed" in operation:
        return "embedding"
    return "model" if operation.endswith((".doGenerate", ".doStream")) else "none"


def model(site: Site, notes: Notes) -> Telling:
    base = site.pointer("ai.prompt.messages")
    messages = site.messages("ai.prompt.messages", notes)
    facts = genai.facts(site)
    settings = settings_of(site.span.attributes, ("gen_ai.request.", "ai.settings."), _NO_SETTINGS)
    return Telling(
        sent=[(item, f"{base}/{at}") for at, item in enumerate(messages)] if isinstance(messages, list) else None,
        outputs=_outputs(site, notes),
        tools=_tools(site),
        serving=serving_of(
            site.first("gen_ai.provider.name", "gen_ai.system", "ai.model.provider"),
            site.first("gen_ai.request.model", "ai.model.id"),
            site.first("gen_ai.response.model", "ai.response.model"),
            settings,
        ),
        usage=facts["usage"],
    )


def _outputs(site: Site, notes: Notes) -> list[Output] | None:
    text = site.first("ai.response.text", "ai.response.object")
    calls = site.json("ai.response.toolCalls", notes)
    calls = [_call(call) for call in calls] if isinstance(calls, list) else []
    if text is None and not calls:
        return None
    message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
    source = site.pointer("ai.response.toolCalls" if calls else "ai.response.text")
    return [Output(message=message, source=source, finish=site.text("ai.response.finishReason") or None)]


def _call(call: JSON) -> JSON:
    if not isinstance(call, dict):
        return call
    arguments = call.get("input", call.get("args"))
    return {
        "id": call.get("toolCallId"),
        "type": "function",
        "function": {"name": call.get("toolName"), "arguments": arguments},
    }


def _tools(site: Site) -> list[JSON] | None:
    """Each a JSON text of its own."""
    offered = site.first("ai.prompt.tools")
    found = [json_in(tool, []) for tool in offered] if isinstance(offered, list) else []
    return [tool for tool in found if tool is not ABSENT and tool is not None] or None


def tool(site: Site, notes: Notes) -> ToolStep:
    raw = site.first("ai.toolCall.args", "ai.toolCall.input")
    arguments = None if raw is None else arguments_of(raw)
    result = decoded(site.first("ai.toolCall.result", "ai.toolCall.output"))
    name = site.text("ai.toolCall.name") or "unknown"
    return genai.tool_step(site, name, arguments, result, site.text("ai.toolCall.id"))
