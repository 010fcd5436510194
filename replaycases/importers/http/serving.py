"""Which model served a call, with which settings: of one exchange, and of a run whose calls agree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from replaycases.importers.http.codec import Codec, text_or_none
from replaycases.importers.http.exchange import HttpExchange
from replaycases.importers.neutral import Note

JSON = Any
KEYS = frozenset({"model", "anthropic_version"})
_PROVIDERS = (
    (re.compile(r"(^|\.)api\.openai\.com$"), "openai"),
    (re.compile(r"(^|\.)api\.anthropic\.com$"), "anthropic"),
    (re.compile(r"\.(openai|cognitiveservices|services\.ai)\.azure\.com$"), "azure.ai.openai"),
    (re.compile(r"^bedrock[-.].*\.(amazonaws\.com|api\.aws)$"), "aws.bedrock"),
    (re.compile(r"aiplatform\.googleapis\.com$"), "gcp.vertex_ai"),
)
_MODEL_IN_PATH = re.compile(r"/(?:deployments|models?)/([^/:]+)")
_PARTS = ("provider", "requested_model", "returned_model", "api_version", "settings")


def serving_of(exchange: HttpExchange, codec: Codec, request: dict[str, JSON], returned: str | None) -> dict[str, JSON]:
    """The parts that the exchange names. Who serves behind a gateway is not known: the host stands for it."""
    in_path = _MODEL_IN_PATH.search(exchange.path)
    parts: dict[str, JSON] = {
        "provider": next(
            (name for pattern, name in _PROVIDERS if pattern.search(exchange.host)), exchange.host or None
        ),
        "requested_model": text_or_none(request.get("model")) or (unquote(in_path[1]) if in_path else None),
        "returned_model": returned,
        "api_version": codec.api_version(exchange),
        "settings": {name: value for name, value in request.items() if name in codec.settings},
    }
    return {name: value for name, value in parts.items() if value is not None}


def agreed(servings: Sequence[tuple[str, dict[str, JSON]]]) -> tuple[dict[str, JSON] | None, list[Note]]:
    """What all calls of a run have in common, and a note for each part in which they differ. A returned model is asked
    only of calls that name one."""
    common: dict[str, JSON] = {}
    notes = []
    for part in _PARTS:
        told = [(source, parts.get(part)) for source, parts in servings]
        if part == "returned_model":
            told = [(source, value) for source, value in told if value is not None]
        differs = next((source for source, value in told if value != told[0][1]), None)
        if differs is not None:
            text = f"the calls differ in {part.replace('_', ' ')}: each step has its own, the run has none"
            notes.append(Note(kind="left_out", source=differs, text=text, boundary="model"))
        elif told and told[0][1] is not None:
            common[part] = told[0][1]
    return (common if "requested_model" in common else None), notes
