"""HTTP exchanges that are recognised to be left out by their name, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from replaycases.importers.http.exchange import HttpExchange

_EVENT_STREAM = "application/vnd.amazon.eventstream"
_LOST = "what the model was asked and said there is not in the case"


@dataclass(frozen=True, kw_only=True)
class Other:
    """A kind of exchange. `cost` is "" where nothing of the run is lost with it."""

    name: str
    recognises: Callable[[HttpExchange], bool]
    cost: str = ""


def other_of(exchange: HttpExchange) -> Other:
    return next(other for other in OTHERS if other.recognises(exchange))


def _ends(*endings: str) -> Callable[[HttpExchange], bool]:
    return lambda exchange: exchange.path.endswith(endings)


def _event_stream(exchange: HttpExchange) -> bool:
    named = exchange.path.endswith(("/converse-stream", "/invoke-with-response-stream"))
    return named or exchange.content_type == _EVENT_STREAM


def _mcp(exchange: HttpExchange) -> bool:
    request = exchange.request.json
    return isinstance(request, dict) and request.get("jsonrpc") == "2.0"


OTHERS = (
    Other(name="a Bedrock call answered as an AWS event stream", recognises=_event_stream, cost=_LOST),
    Other(name="a Bedrock Converse call", recognises=_ends("/converse"), cost=_LOST),
    Other(name="a Bedrock InvokeModel call", recognises=_ends("/invoke"), cost=_LOST),
    Other(name="a Bedrock retrieveAndGenerate call", recognises=_ends("/retrieveAndGenerate"), cost=_LOST),
    Other(name="a Gemini call", recognises=_ends(":generateContent", ":streamGenerateContent"), cost=_LOST),
    Other(name="a Cohere or Ollama chat call", recognises=_ends("/v1/chat", "/v2/chat", "/api/chat"), cost=_LOST),
    Other(name="a call of the old Completions API", recognises=_ends("/completions", "/complete"), cost=_LOST),
    Other(name="an embeddings call", recognises=_ends("/embeddings", "/embed", ":embedContent", ":batchEmbedContents")),
    Other(name="a count of tokens", recognises=_ends("/count_tokens", "/input_tokens")),
    Other(name="an MCP message", recognises=_mcp),
    Other(name="an HTTP exchange with no model API", recognises=lambda exchange: True),
)
