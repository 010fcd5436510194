"""Which model served a call over HTTP, and with which settings."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from replaycases.importers.http.codec import Codec
from replaycases.importers.http.exchange import HttpExchange
from replaycases.importers.typed import text_or_none

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
        "settings": {name: value for name, value in request.items() if name in codec.settings} if request else None,
    }
    return {name: value for name, value in parts.items() if value is not None}
