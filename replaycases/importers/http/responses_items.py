"""Items of OpenAI's Responses API: what was said, asked for, answered, decided by a person, or run by the provider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replaycases.importers.exchanges import AskedCall, GivenAnswer, Turn
from replaycases.importers.http.codec import Notes, objects, text_or_none
from replaycases.importers.turns import arguments_of, text_of

JSON = Any
# Calls that the workflow runs: where their name and their arguments stand.
_CALLS = {
    "function_call": ("name", "arguments"),
    "custom_tool_call": ("name", "input"),
    "local_shell_call": (None, "action"),
    "shell_call": (None, "action"),
    "apply_patch_call": (None, "operation"),
    "computer_call": (None, "action"),
}
_NOT_RECORDED = {
    "file_search_call": ("results", "the passages that the provider's file search found are not in the recording"),
    "web_search_call": ("results", "what the pages said that the provider's web search found is not in the recording"),
}
_SERVER_SIDE = frozenset(
    {
        "file_search_call",
        "web_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "tool_search_call",
    }
)


def is_damaged(item: dict[str, JSON]) -> bool:
    """Whether an item should be a call and is none."""
    return item.get("type") in ("function_call", "custom_tool_call") and text_or_none(item.get("name")) is None


def call_of(item: dict[str, JSON], source: str) -> AskedCall | None:
    """The call of the workflow's that an item asks for."""
    kind = str(item.get("type"))
    if kind not in _CALLS:
        return None
    naming, holding = _CALLS[kind]
    tool = text_or_none(item.get(naming)) if naming else kind.removesuffix("_call")
    if tool is None:
        return None
    given = item.get(holding)
    arguments = arguments_of(given) if kind == "function_call" else given
    return AskedCall(source=source, tool=tool, arguments=arguments, call_id=text_or_none(item.get("call_id")))


def answer_of(item: dict[str, JSON], source: str) -> GivenAnswer | None:
    kind = str(item.get("type"))
    if not kind.endswith("_call_output") or "call_id" not in item:
        return None
    return GivenAnswer(source=source, value=item.get("output"), call_id=text_or_none(item.get("call_id")))


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
    calls = tuple(call for source, item in said if (call := call_of(item, source)) is not None)
    messages = [{"type": "message", **item} for item in items]
    damaged = tuple(source for source, item in said if is_damaged(item))
    raw = items[0] if len(items) == 1 else items
    return Turn(role="assistant", raw=raw, content=said_of(messages), calls=calls, source=said[0][0], unread=damaged)


def _other(item: dict[str, JSON], source: str) -> Turn | None:
    """The turn of an item that is no part of an answer."""
    role, kind = item.get("role"), item.get("type")
    if role in ("system", "developer"):
        return Turn(role="system", raw=item, content=text_of(item.get("content")))
    if role == "user":
        return Turn(role="user", raw=item, content=text_of(item.get("content")), source=source)
    if kind == "mcp_approval_response":
        decision = {name: item[name] for name in ("approve", "reason") if item.get(name) is not None}
        return Turn(role="user", raw=item, content=decision, source=source)
    answer = answer_of(item, source)
    return None if answer is None else Turn(role="tool", raw=item, answers=(answer,))


def note_item(notes: Notes, item: dict[str, JSON], source: str) -> None:
    """What a reader must know of an item of an answer."""
    kind = str(item.get("type"))
    if kind == "mcp_approval_request":
        text = "the provider asks a person to approve a call of a tool that it runs itself"
        notes.server_side(source, text, boundary="human")
    elif kind in _SERVER_SIDE:
        field, cost = _NOT_RECORDED.get(kind, ("", ""))
        failed = ", and it failed" if item.get("error") or item.get("status") == "failed" else ""
        text = f"the provider ran a tool itself{failed}: it stands in the model's response"
        recorded = not field or isinstance(item.get(field), list)
        notes.server_side(source, text, boundary="retrieval" if field else "tool", cost="" if recorded else cost)
