"""Which convention a span follows: asked span by span, since one trace holds several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from replaycases.importers.neutral import RetrievalStep, ToolStep
from replaycases.importers.otlp import genai, genai_legacy, openinference, pydantic_ai, traceloop, vercel_ai
from replaycases.importers.otlp.site import Kind, Notes, Site
from replaycases.importers.otlp.telling import Telling


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """`kind` says what the span is, None for one of another dialect, "none" for one that is no boundary."""

    name: str
    kind: Callable[[Site], Kind | None]
    model: Callable[[Site, Notes], Telling]
    tool: Callable[[Site, Notes], ToolStep] = genai.tool
    retrieval: Callable[[Site, Notes], RetrievalStep] = genai.retrieval


# The first that knows the span reads it: from the most particular names to the most general.
DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        name="openinference",
        kind=openinference.kind,
        model=openinference.model,
        tool=openinference.tool,
        retrieval=openinference.retrieval,
    ),
    Dialect(name="pydantic-ai", kind=pydantic_ai.kind, model=pydantic_ai.model, tool=pydantic_ai.tool),
    Dialect(name="vercel-ai", kind=vercel_ai.kind, model=vercel_ai.model, tool=vercel_ai.tool),
    Dialect(name="traceloop", kind=traceloop.kind, model=traceloop.model, tool=traceloop.tool),
    Dialect(name="genai-legacy", kind=genai_legacy.kind, model=genai_legacy.model, tool=genai_legacy.tool),
    Dialect(name="genai", kind=genai.kind, model=genai.model),
)


def is_known(site: Site) -> bool:
    """Whether a dialect says what the span is, be it no boundary."""
    return any(dialect.kind(site) is not None for dialect in DIALECTS)


def dialect_of(site: Site) -> tuple[Dialect, Kind]:
    """The span's dialect and kind, "none" for a span that is no boundary."""
    for dialect in DIALECTS:
        kind = dialect.kind(site)
        if kind is not None:
            return dialect, kind
    return DIALECTS[-1], "none"
