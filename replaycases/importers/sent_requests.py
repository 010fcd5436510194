"""What a tracing tool recorded as a model's input -> the turns of the request, and the request without its serving."""

from __future__ import annotations

from typing import Any

from replaycases.fixture.model_request import CATALOGUE_KEYS
from replaycases.importers.exchanges import Turn
from replaycases.importers.http import anthropic_messages, openai_chat, openai_responses
from replaycases.importers.turns import text_of, turns_of

JSON = Any
# What a model call is set to, in the words of the usual providers.
SETTINGS = openai_chat.SETTINGS | openai_responses.SETTINGS | anthropic_messages.SETTINGS
MODEL_NAMES = ("model", "model_name", "model_id", "deployment_name")
TRANSPORT = ("stream", "stream_options", "extra_headers", "extra_query", "extra_body", "timeout")
MESSAGES = ("messages", "input", "prompts", "prompt", "contents")
SYSTEM = ("system", "instructions")


def turns_in(inputs: dict[str, JSON], source: str, place: str = "") -> tuple[Turn, ...]:
    """The turns, in whatever dialect. `place` points to the messages where they do not stand below `source`."""
    system = next((inputs[key] for key in SYSTEM if inputs.get(key)), None)
    first = (Turn(role="system", raw={"role": "system", "content": system}, content=text_of(system)),) if system else ()
    key = next((key for key in MESSAGES if inputs.get(key)), None)
    return first if key is None else (*first, *turns_of(inputs[key], place or f"{source}/{key}"))


def request_in(inputs: dict[str, JSON], offered: dict[str, JSON]) -> dict[str, JSON]:
    """What was sent, without what `serving` says, and with the tools in `offered` that were bound to the model."""
    kept = {
        key: value for key, value in inputs.items() if key not in (*MODEL_NAMES, *TRANSPORT) and key not in SETTINGS
    }
    bound = {key: offered[key] for key in CATALOGUE_KEYS if offered.get(key) and key not in kept}
    return {**kept, **bound}


def settings_in(told: dict[str, JSON]) -> dict[str, JSON]:
    """The usual settings, of what holds other things too."""
    return {key: value for key, value in told.items() if key in SETTINGS and value is not None}


def settings_of(parameters: dict[str, JSON]) -> dict[str, JSON]:
    """What was listed as settings and nothing else: an unusual one that is left out would pass for unset."""
    own = {key: value for key, value in parameters.items() if key not in _NAMED and not key.startswith(("_", "ls_"))}
    return {key: value for key, value in own.items() if value is not None}


_NAMED = frozenset({*MODEL_NAMES, *TRANSPORT, *MESSAGES, *SYSTEM, *CATALOGUE_KEYS})
