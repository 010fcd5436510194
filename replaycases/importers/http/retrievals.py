"""Retrieval over HTTP that is plain JSON: Bedrock knowledge bases."""

from __future__ import annotations

from typing import Any

from replaycases.importers.http.exchange import HttpExchange
from replaycases.importers.neutral import Note, RetrievalStep
from replaycases.importers.retrieved import documents_of
from replaycases.importers.typed import objects, text_or_none

JSON = Any
_CHUNK_ID = "x-amz-bedrock-kb-chunk-id"


def recognises(exchange: HttpExchange) -> bool:
    request = exchange.request.json
    asks = exchange.method == "POST" and isinstance(request, dict) and "retrievalQuery" in request
    return asks and exchange.path.endswith("/retrieve")


def read(exchange: HttpExchange) -> tuple[RetrievalStep, list[Note]]:
    """The query with its chunks. Where not every chunk has a text, the step has no answer."""
    request, response = exchange.request.json, exchange.response.json
    base = exchange.path.rpartition("/retrieve")[0].rpartition("/")[2]
    asked = request["retrievalQuery"]
    text = asked.get("text") if isinstance(asked, dict) else None
    results = response.get("retrievalResults") if isinstance(response, dict) and exchange.succeeded else None
    chunks, notes = _chunks(results, f"{exchange.response_source}/retrievalResults")
    whole = isinstance(results, list) and len(chunks) == len(results)
    if not exchange.succeeded:
        text_ = "a retrieval failed"
        notes = [Note(kind="failed_call", source=exchange.source, text=text_, boundary="retrieval")]
    elif not whole:
        text_ = "what a retrieval found is not text, or not in the file"
        cost = "what an answer was grounded on is unknown"
        notes = [Note(kind="content_lost", source=exchange.source, text=text_, cost=cost, boundary="retrieval")]
    rest = {name: value for name, value in request.items() if name != "retrievalQuery"}
    step = RetrievalStep(
        source=exchange.source,
        ended_at=exchange.recorded_at,
        query=asked if text is None else text,
        parameters={"knowledgeBaseId": base, **rest},
        chunks=chunks if whole else [],
        answered=whole,
        documents=_documents(results),
    )
    return step, notes


def _chunks(results: JSON, source: str) -> tuple[list[dict[str, JSON]], list[Note]]:
    """{id, text, score} of each result. The id is the chunk's own, else its document with its place in the list."""
    chunks, named = [], True
    for at, result in objects(results):
        content, metadata = result.get("content"), result.get("metadata")
        text = content.get("text") if isinstance(content, dict) else None
        if not isinstance(text, str):
            continue
        own = text_or_none(metadata.get(_CHUNK_ID)) if isinstance(metadata, dict) else None
        named = named and own is not None
        score = result.get("score")
        scored = {"score": score} if isinstance(score, int | float) and not isinstance(score, bool) else {}
        chunks.append({"id": own or f"{_document(result)}#{at + 1}", "text": text, **scored})
    note = "chunks have no id of their own: they are named by their document and their place among the results"
    return chunks, [] if named else [Note(kind="content_lost", source=source, text=note, boundary="retrieval")]


def _documents(results: JSON) -> tuple[str, ...]:
    located = (_located(result) for _, result in objects(results))
    return tuple(dict.fromkeys((*documents_of(results), *(place for place in located if place is not None))))


def _document(result: dict[str, JSON]) -> str:
    return _located(result) or "chunk"


def _located(result: dict[str, JSON]) -> str | None:
    """The one text in the result's location: an address or an id."""
    location = result.get("location")
    for place in (location or {}).values() if isinstance(location, dict) else ():
        for name in ("uri", "url", "id"):
            if isinstance(place, dict) and text_or_none(place.get(name)):
                return str(place[name])
    return None
