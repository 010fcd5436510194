"""The GenAI conventions before 1.37, which many instrumentations still write: content in one event a message.

gen_ai.system.message, gen_ai.user.message, gen_ai.assistant.message, gen_ai.tool.message and gen_ai.choice are log
records joined by trace and span, or events of the span; their order is that of their times. A few tools write the same
events as a list of objects into the attribute `events`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from replaycases.importers.neutral import ToolStep
from replaycases.importers.otlp import genai
from replaycases.importers.otlp.chat_messages import blocks_in
from replaycases.importers.otlp.site import Happening, Kind, Notes, Site
from replaycases.importers.otlp.telling import Output, Telling
from replaycases.importers.turns import arguments_of

JSON = Any
_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
CHOICE = "gen_ai.choice"
_BESIDE = (
    "gen_ai.system",
    "gen_ai.provider.name",
    "event.name",
    "gen_ai.event.content",
    "gen_ai.message.index",
    "index",
)


def kind(site: Site) -> Kind | None:
    """Only a model call or a tool's run whose content is in such events."""
    known = genai.kind(site)
    own = {"model": (genai.INPUT, genai.OUTPUT), "tool": ("gen_ai.tool.call.arguments", "gen_ai.tool.call.result")}
    if known not in own or site.first(*own[known]) is not None:
        return None
    return known if any(item.name in _ROLES or item.name == CHOICE for item in site.happenings) else None


def model(site: Site, notes: Notes) -> Telling:
    partial = site.span.dropped.events > 0 or any(item.partial for item in site.happenings)
    return replace(of_events(site.happenings), **genai.facts(site), partial=partial)


def of_events(happenings: Sequence[Happening]) -> Telling:
    sent = [(_message(item), item.source) for item in happenings if item.name in _ROLES]
    said = [item for item in happenings if item.name == CHOICE]
    return Telling(sent=sent or None, outputs=list(_outputs(said)) or None)


def tool(site: Site, notes: Notes) -> ToolStep:
    """A tool's run that holds its call as a tool's message and its answer as a choice."""
    asked = next((item.fields.get("content") for item in site.happenings if item.name == "gen_ai.tool.message"), None)
    told = next((item.fields.get("message") for item in site.happenings if item.name == CHOICE), None)
    name = site.text("gen_ai.tool.name") or "unknown"
    arguments = None if asked is None else arguments_of(asked)
    return genai.tool_step(site, name, arguments, blocks_in(told), site.text("gen_ai.tool.call.id"))


def _message(item: Happening) -> JSON:
    """The body as a chat message: its role is in the event's name, a tool's answer names its call by `id`."""
    body = {key: value for key, value in item.fields.items() if key not in _BESIDE}
    if "content" in body:
        body["content"] = blocks_in(body["content"])
    role = _ROLES[item.name]
    if role == "tool":
        call = body.pop("id", None)
        return {**body, "role": "tool", **({} if call is None else {"tool_call_id": call})}
    return {**body, "role": role}


def _outputs(said: Iterable[Happening]) -> Iterable[Output]:
    for item in said:
        message = item.fields.get("message")
        if isinstance(message, str | list):
            message = {"content": blocks_in(message)}
        elif not isinstance(message, dict):
            message = {key: value for key, value in item.fields.items() if key not in (*_BESIDE, "finish_reason")}
        finish = item.fields.get("finish_reason")
        yield Output(
            message={"role": "assistant", **message},
            source=item.source,
            finish=finish if isinstance(finish, str) else None,
        )
