"""Documents of a retrieval, as several conventions record them -> the chunks of a step."""

from __future__ import annotations

from typing import Any

from replaycases.importers.neutral import RetrievalStep
from replaycases.importers.otlp.instants import ended_at, started_at
from replaycases.importers.otlp.site import Notes, Site

JSON = Any
_TEXTS = ("content", "text", "page_content")
_NO_TEXT = "retrieved chunks were recorded without their text, or not at all"
_NO_ID = "retrieved chunks have no ids: they are named by their place"


def retrieval_step(
    site: Site, query: JSON, documents: list[JSON] | None, parameters: dict[str, JSON], notes: Notes
) -> RetrievalStep:
    """`documents` is None where the span has none. Only chunks that all have a text are an answer."""
    chunks = [chunk for at, item in enumerate(documents or ()) if (chunk := _chunk(at, item)) is not None]
    whole = documents is not None and len(chunks) == len(documents) and all("text" in chunk for chunk in chunks)
    source = site.span.source
    if not whole:
        notes.add("content_lost", source, _NO_TEXT, cost="what was found is unknown", boundary="retrieval")
    elif any(not _id(item) for item in documents or ()):
        notes.add("content_lost", source, _NO_ID, boundary="retrieval")
    return RetrievalStep(
        source=source,
        started_at=started_at(site.span),
        ended_at=ended_at(site.span),
        query=query,
        parameters=parameters or None,
        chunks=chunks,
        answered=whole,
    )


def _chunk(at: int, item: JSON) -> dict[str, JSON] | None:
    if not isinstance(item, dict):
        return None
    text = next((item[key] for key in _TEXTS if isinstance(item.get(key), str)), None)
    score = item.get("score")
    known = {} if text is None else {"text": text}
    scored = {"score": score} if isinstance(score, int | float) and not isinstance(score, bool) else {}
    return {"id": _id(item) or f"#{at + 1}", **known, **scored}


def _id(item: JSON) -> str:
    found = item.get("id") if isinstance(item, dict) else None
    return str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""
