"""Embedding calls: model calls without a conversation, whose vectors are seldom recorded."""

from __future__ import annotations

from typing import Any

from replaycases.importers.conversation import ModelExchange
from replaycases.importers.neutral import ModelStep
from replaycases.importers.otlp import genai
from replaycases.importers.otlp.flat import unflatten
from replaycases.importers.otlp.instants import ended_at, started_at
from replaycases.importers.otlp.site import Notes, Site
from replaycases.importers.otlp.telling import error_of

JSON = Any
_NO_VECTORS = "an embedding call was recorded without its vectors"


def embedding_of(site: Site, notes: Notes) -> ModelExchange:
    held = [entry.get("embedding") for _, entry in unflatten(site.span.attributes, "embedding.embeddings.")]
    entries = [entry for entry in held if isinstance(entry, dict)]
    texts = [entry["text"] for entry in entries if "text" in entry] or _input(site)
    vectors = [entry["vector"] for entry in entries if "vector" in entry]
    error = None if vectors else error_of(site)
    source = site.span.source
    if error is not None:
        notes.each("failed_call", source, "a model call ended with an error", boundary="model")
    elif not vectors or len(vectors) < len(texts):
        cost = "only what comes before can be replayed"
        notes.add("content_lost", source, _NO_VECTORS, cost=cost, boundary="model")
    response: JSON = {"embeddings": vectors} if vectors else None
    step = ModelStep(
        source=source,
        started_at=started_at(site.span),
        ended_at=ended_at(site.span),
        request={"input": texts} if texts else {},
        response={"error": {"type": error["kind"], "message": error["message"]}} if error else response,
        answered=error is not None or (bool(vectors) and len(vectors) >= len(texts)),
        serving=genai.facts(site)["serving"] or None,
        usage=genai.facts(site)["usage"],
        reconstructed=True,
    )
    return ModelExchange(step=step, sent=())


def _input(site: Site) -> list[JSON]:
    text = site.first("input.value", "gen_ai.prompt.0.content")
    return [] if text is None else [text]
