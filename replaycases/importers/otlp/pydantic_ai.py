"""pydantic-ai: the GenAI conventions with a few names of its own, which changed with its instrumentation versions.

Version 1 keeps the messages as events in the attribute `events`; tools were "running tool" with tool_arguments and
tool_response. The tools offered to the model stand in model_request_parameters as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from replaycases.importers.neutral import ToolStep
from replaycases.importers.otlp import genai, genai_legacy
from replaycases.importers.otlp.site import Happening, Kind, Notes, Site
from replaycases.importers.otlp.telling import Telling
from replaycases.importers.turns import arguments_of

JSON = Any
ALL_MESSAGES = "pydantic_ai.all_messages"
_OWN = ("model_request_parameters", "tool_arguments", "tool_response")


def kind(site: Site) -> Kind | None:
    if site.span.scope_name != "pydantic-ai" and site.first(*_OWN) is None:
        return None
    return genai.kind(site) or "none"


def model(site: Site, notes: Notes) -> Telling:
    told = genai.model(site, notes)
    if told.is_bare:
        told = replace(genai_legacy.of_events(_events(site, notes) or site.happenings), **genai.facts(site))
    return told if told.tools is not None else replace(told, tools=_tools(site, notes))


def tool(site: Site, notes: Notes) -> ToolStep:
    step = genai.tool(site, notes)
    arguments, result = site.first("tool_arguments"), site.first("tool_response")
    if step.arguments is None and arguments is not None:
        step = replace(step, arguments=arguments_of(arguments))
    return replace(step, value=result, answered=True) if step.value is None and result is not None else step


def _events(site: Site, notes: Notes) -> list[Happening]:
    listed = site.json("events", notes)
    base = site.pointer("events")
    return [
        Happening(name=str(item.get("event.name")), at_ns=0, fields=item, source=f"{base}/{at}")
        for at, item in enumerate(listed if isinstance(listed, list) else ())
        if isinstance(item, dict)
    ]


def _tools(site: Site, notes: Notes) -> list[JSON] | None:
    offered = site.json_once("model_request_parameters", notes)
    if not isinstance(offered, dict):
        return None
    return [
        {
            "type": "function",
            "name": item.get("name"),
            "description": item.get("description"),
            "parameters": item.get("parameters_json_schema"),
        }
        for key in ("function_tools", "output_tools")
        for item in (offered[key] if isinstance(offered.get(key), list) else ())
        if isinstance(item, dict)
    ]
