"""Items of OpenAI's Responses API: what was said, asked for, answered, decided by a person, or run by the provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replaycases.importers.exchanges import AskedCall, Turn
from replaycases.importers.http.codec import Notes
from replaycases.importers.turns import PROVIDER_RUN, called_in, turn_of
from replaycases.importers.typed import objects

JSON = Any
_NOT_RECORDED = {
    "file_search_call": ("results", "the passages that the provider's file search found are not in the recording"),
    "web_search_call": ("results", "what the pages said that the provider's web search found is not in the recording"),
}


def said_of(output: list[dict[str, JSON]]) -> JSON:
    """What people read of an answer: its text, or the approvals that it asks for."""
    approvals = [item for item in output if item.get("type") == "mcp_approval_request"]
    if approvals:
        return {"approval_requests": approvals}
    texts = [text for item in output if item.get("type") == "message" for text in _texts(item.get("content"))]
    return "".join(texts) or None


def _texts(content: JSON) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for _, part in objects(content):
        text = part.get("text") if part.get("type") != "refusal" else part.get("refusal")
        if isinstance(text, str):
            yield text


def turns(items: list[JSON], base: str) -> Iterator[Turn]:
    """Items that an answer consists of make one turn of the assistant, and so do calls whose outputs stand together."""
    said: list[tuple[str, dict[str, JSON]]] = []
    for at, item in objects(items):
        turn = _other(item, f"{base}/{at}")
        if turn is None:
            said.append((f"{base}/{at}", item))
            continue
        if said:
            yield assistant(said)
            said = []
        yield turn
    if said:
        yield assistant(said)


def assistant(said: list[tuple[str, dict[str, JSON]]]) -> Turn:
    items = [item for _, item in said]
    held = [call for source, item in said if (call := called_in(item, source)) is not None]
    return Turn(
        role="assistant",
        raw=items[0] if len(items) == 1 else items,
        content=said_of([{"type": "message", **item} for item in items]),
        calls=tuple(call for call in held if isinstance(call, AskedCall)),
        source=said[0][0],
        unread=tuple(place for place in held if isinstance(place, str)),
    )


def _other(item: dict[str, JSON], source: str) -> Turn | None:
    """The turn of an item that is no part of an answer."""
    if item.get("type") == "mcp_approval_response":
        decision = {name: item[name] for name in ("approve", "reason") if item.get(name) is not None}
        return Turn(role="user", raw=item, content=decision, source=source)
    turn = turn_of(item, source)
    return turn if turn.answers or turn.role in ("system", "user") else None


def note_item(notes: Notes, item: dict[str, JSON], source: str) -> None:
    """What a reader must know of an item of an answer."""
    kind = str(item.get("type"))
    if kind == "mcp_approval_request":
        text = "the provider asks a person to approve a call of a tool that it runs itself"
        notes.server_side(source, text, boundary="human")
    elif kind in PROVIDER_RUN:
        field, cost = _NOT_RECORDED.get(kind, ("", ""))
        failed = ", and it failed" if item.get("error") or item.get("status") == "failed" else ""
        text = f"the provider ran a tool itself{failed}: it stands in the model's response"
        recorded = not field or isinstance(item.get(field), list)
        notes.server_side(source, text, boundary="retrieval" if field else "tool", cost="" if recorded else cost)
