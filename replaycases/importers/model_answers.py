"""What a tracing tool recorded as a model's answer -> what it asked for and said, whoever wrote it down.

Whole bodies of a provider go to that provider's codec. Beside them stand LangChain's results, one message, a list with
one, and a text.
"""

from __future__ import annotations

from typing import Any

from replaycases.importers.conversation import unread_call
from replaycases.importers.exchanges import AskedCall
from replaycases.importers.http import anthropic_messages, openai_chat, openai_responses
from replaycases.importers.http.codec import Said, usage_of
from replaycases.importers.neutral import Note
from replaycases.importers.turns import provider_run, turns_of

JSON = Any
LANGCHAIN = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "total_tokens": "total_tokens",
    "cached_tokens": "input_token_details.cache_read",
    "reasoning_tokens": "output_token_details.reasoning",
}
LANGFUSE = {
    "input_tokens": "input",
    "output_tokens": "output",
    "total_tokens": "total",
    "cached_tokens": "input_cache_read",
    "reasoning_tokens": "output_reasoning",
}
USAGE = (LANGCHAIN, LANGFUSE, openai_chat.USAGE, openai_responses.USAGE, anthropic_messages.USAGE)


def answer_of(body: JSON, source: str) -> Said:
    """Never raises; what holds no answer is one that says nothing."""
    if isinstance(body, dict):
        if body.get("object") == "response" or _is_items(body.get("output")):
            return openai_responses.said(body, source)
        if isinstance(body.get("choices"), list):
            return openai_chat.said(body, source)
        if body.get("type") == "message" and isinstance(body.get("content"), list):
            return anthropic_messages.said(body, source)
        for inner, place in _inner(body, source):
            return answer_of(inner, place)
    return _message(body, source)


def asked_in(answer: Said, source: str) -> tuple[tuple[AskedCall, ...], list[Note]]:
    """The calls of the first choice, and a note where others ask for tools too: the workflow follows one."""
    first, *others = answer.choices or ((),)
    if not any(others):
        return first, []
    text = "other choices of this answer ask for tools too: the first is followed"
    return first, [Note(kind="branch", source=source, text=text, boundary="model")]


def tokens(counts: JSON) -> dict[str, int] | None:
    """Token counts under the fixture's names, in whatever names they come."""
    found = [usage for names in USAGE if (usage := usage_of(counts, names))]
    return max(found, key=len, default=None)


def _is_items(output: JSON) -> bool:
    """Whether these are the items of an OpenAI response."""
    kinds = {str(item.get("type")) for item in output if isinstance(item, dict)} if isinstance(output, list) else set()
    return bool(kinds & {"function_call", "message", "reasoning"})


def _inner(body: dict[str, JSON], source: str) -> list[tuple[JSON, str]]:
    """Where a wrapper holds its message."""
    generations = body.get("generations")
    if isinstance(generations, list) and generations:
        first, place = generations[0], f"{source}/generations/0"
        if isinstance(first, list) and first:
            first, place = first[0], f"{place}/0"
        return [(first, place)] if isinstance(first, dict) else []
    if any(key in body for key in ("role", "content", "parts", "tool_calls", "kwargs")):
        return []
    for key in ("message", "messages", "output", "response", "text", "completion"):
        if isinstance(body.get(key), dict | list) or (isinstance(body.get(key), str) and body[key]):
            return [(body[key], f"{source}/{key}")]
    return []


def _message(body: JSON, source: str) -> Said:
    if isinstance(body, str) or body is None:
        return Said(choices=((),), said=body)
    turns = [turn for turn in turns_of(body, source) if turn.role != "user" or turn.calls]
    calls: tuple[AskedCall, ...] = tuple(call for turn in turns for call in turn.calls)
    notes = [unread_call(place) for turn in turns for place in turn.unread]
    for place in provider_run(body, source):
        text = "the provider ran a tool itself: its call stands in the model's response"
        notes.append(Note(kind="server_side", source=place, text=text, boundary="tool"))
    said = next((turn.content for turn in turns if turn.role == "assistant" and turn.content), None)
    return Said(choices=(calls,), said=said, usage=_usage(body), returned_model=_model(body), notes=tuple(notes))


def _usage(body: JSON) -> dict[str, int] | None:
    fields = _fields(body)
    told = fields.get("response_metadata")
    told = told if isinstance(told, dict) else {}
    return tokens(fields.get("usage_metadata") or fields.get("usage") or told.get("token_usage") or told.get("usage"))


def _model(body: JSON) -> str | None:
    told = _fields(body).get("response_metadata")
    name = told.get("model_name") or told.get("model") if isinstance(told, dict) else _fields(body).get("model")
    return name if isinstance(name, str) and name else None


def _fields(body: JSON) -> dict[str, JSON]:
    kwargs = body.get("kwargs") if isinstance(body, dict) else None
    return kwargs if isinstance(kwargs, dict) else body if isinstance(body, dict) else {}
