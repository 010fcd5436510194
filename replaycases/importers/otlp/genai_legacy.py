"""The GenAI conventions before 1.37, which many instrumentations still write: content in one event a message.

gen_ai.system.message, gen_ai.user.message, gen_ai.assistant.message, gen_ai.tool.message and gen_ai.choice are log
records joined by trace and span, or events of the span; their order is that of their times. A few tools write the same
events as a list of objects into the attribute `events`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from replaycases.importers.otlp import genai
from replaycases.importers.otlp.site import Happening, Kind, Notes, Site
from replaycases.importers.otlp.telling import Output, Telling

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
    """Only a model call whose content is in such events."""
    known = genai.kind(site)
    if known != "model" or site.first(genai.INPUT, genai.OUTPUT) is not None:
        return None
    return "model" if any(item.name in _ROLES or item.name == CHOICE for item in site.happenings) else None


def model(site: Site, notes: Notes) -> Telling:
    return replace(of_events(site.happenings), **genai.facts(site))


def of_events(happenings: Sequence[Happening]) -> Telling:
    sent = [(_message(item), item.source) for item in happenings if item.name in _ROLES]
    said = [item for item in happenings if item.name == CHOICE]
    return Telling(sent=sent or None, outputs=list(_outputs(said)) or None)


def _message(item: Happening) -> JSON:
    """The body as a chat message: its role is in the event's name, a tool's answer names its call by `id`."""
    body = {key: value for key, value in item.fields.items() if key not in _BESIDE}
    role = _ROLES[item.name]
    if role == "tool":
        call = body.pop("id", None)
        return {"role": "tool", **({} if call is None else {"tool_call_id": call}), **body}
    return {"role": role, **body}


def _outputs(said: Iterable[Happening]) -> Iterable[Output]:
    for item in said:
        message = item.fields.get("message")
        if not isinstance(message, dict):
            message = {key: value for key, value in item.fields.items() if key not in (*_BESIDE, "finish_reason")}
        finish = item.fields.get("finish_reason")
        yield Output(
            message={"role": "assistant", **message},
            source=item.source,
            finish=finish if isinstance(finish, str) else None,
        )
