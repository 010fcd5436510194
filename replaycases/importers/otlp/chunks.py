"""Documents of a retrieval, as several conventions record them -> the step."""

from __future__ import annotations

from typing import Any

from replaycases.importers.neutral import RetrievalStep
from replaycases.importers.otlp.instants import ended_at, started_at
from replaycases.importers.otlp.site import Notes, Site
from replaycases.importers.retrieved import chunks_of, documents_of

JSON = Any


def retrieval_step(
    site: Site, query: JSON, documents: list[JSON] | None, parameters: dict[str, JSON], notes: Notes
) -> RetrievalStep:
    """`documents` is None where the span has none. Only chunks that all have a text are an answer."""
    chunks, odd = chunks_of(documents, site.span.source)
    for note in odd:
        notes.add(note.kind, note.source, note.text, cost=note.cost, boundary=note.boundary)
    return RetrievalStep(
        source=site.span.source,
        started_at=started_at(site.span),
        ended_at=ended_at(site.span),
        query=query,
        parameters=parameters or None,
        chunks=chunks or [],
        answered=chunks is not None,
        documents=documents_of(documents),
    )
