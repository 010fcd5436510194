"""Documents as tracing tools record what was retrieved -> chunks {id, text, score?}."""

from __future__ import annotations

from typing import Any

from replaycases.importers.neutral import Note
from replaycases.importers.turns import arguments_of
from replaycases.importers.typed import object_or_empty

JSON = Any
_CHUNK_IDS = ("id", "_id", "chunk_id", "chunkId", "x-amz-bedrock-kb-chunk-id")
# Where retrievers name the document that a chunk is a part of: by an id, a path or an address.
_DOCUMENT_IDS = (
    *("document_id", "documentId", "doc_id", "docId", "ref_doc_id", "parent_id", "source_id", "file_id"),
    *("source", "uri", "url"),
)


def chunks_of(output: JSON, source: str) -> tuple[list[dict[str, JSON]] | None, list[Note]]:
    """The chunks, None where the file does not hold them. A chunk without an id is named by its place."""
    documents = _listed(output)
    chunks, named = [], True
    for at, document in enumerate(documents if isinstance(documents, list) else ()):
        plain = _plain(document)
        text = next(
            (plain[key] for key in ("page_content", "content", "text") if isinstance(plain.get(key), str)), None
        )
        if text is None:
            continue
        own, score = _id(plain), _score(plain)
        named = named and own is not None
        chunks.append({"id": own or f"chunk#{at + 1}", "text": text, **({} if score is None else {"score": score})})
    if not isinstance(documents, list) or len(chunks) != len(documents):
        text, cost = "what was retrieved is not in the file as texts", "what an answer was grounded on is unknown"
        return None, [Note(kind="content_lost", source=source, text=text, cost=cost, boundary="retrieval")]
    if named:
        return chunks, []
    text = "chunks have no id of their own: they are named by their place among the results"
    return chunks, [Note(kind="content_lost", source=source, text=text, boundary="retrieval")]


def documents_of(output: JSON) -> tuple[str, ...]:
    """Every id by which the results name a chunk or its document, at the top or in their metadata, each once: also of
    results whose text the file does not hold."""
    documents = _listed(output)
    found = (
        _text(told[name])
        for document in (documents if isinstance(documents, list) else ())
        for told in (_plain(document), _told(_plain(document)))
        for name in (*_CHUNK_IDS, *_DOCUMENT_IDS)
        if name in told
    )
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _listed(output: JSON) -> JSON:
    if not isinstance(output, dict):
        return output
    return next((output[key] for key in ("documents", "output", "results", "chunks") if key in output), None)


def query_of(asked: JSON) -> JSON:
    """What was looked for, out of the inputs that a tracing tool recorded."""
    fields = asked if isinstance(asked, dict) else {}
    return next((fields[key] for key in ("query", "input", "question") if key in fields), asked)


def _plain(document: JSON) -> dict[str, JSON]:
    if isinstance(document, str):
        return {"text": document}
    fields = document if isinstance(document, dict) else {}
    kwargs = fields.get("kwargs")
    return kwargs if isinstance(kwargs, dict) else fields


def _told(plain: dict[str, JSON]) -> dict[str, JSON]:
    """The metadata, also where they were written down as JSON text."""
    return object_or_empty(arguments_of(plain.get("metadata")))


def _id(plain: dict[str, JSON]) -> str | None:
    told = _told(plain)
    own = (plain.get("id"), *(told.get(name) for name in _CHUNK_IDS))
    return next((name for name in map(_text, own) if name is not None), None)


def _text(value: JSON) -> str | None:
    is_id = (isinstance(value, str) and value) or (isinstance(value, int) and not isinstance(value, bool))
    return str(value) if is_id else None


def _score(plain: dict[str, JSON]) -> float | None:
    told = _told(plain)
    for value in (plain.get("score"), told.get("score"), told.get("relevance_score")):
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
    return None
