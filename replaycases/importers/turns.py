"""Messages as clients and tracing tools write them down -> the turns of a conversation.

Read alike: OpenAI chat messages, items of OpenAI responses, Anthropic messages with blocks, messages with `parts`,
LangChain messages (`langchain_messages` unwraps them), [role, text] pairs, and a text by itself, which a user said.
Whatever cannot be read is named in the turn's `unread`, so that no call goes by unseen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from replaycases.fixture.findings import FixtureInvalid
from replaycases.importers.exchanges import AskedCall, GivenAnswer, Role, Turn
from replaycases.importers.langchain_messages import inside, unwrapped
from replaycases.importers.mended import read_json
from replaycases.importers.typed import text_or_none

JSON = Any
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
CUSTOM = (("call_id", "id"), ("name",), ("input",))
# The type of a block, part or item -> where its id, its tool and its payload stand. A tool that has no name is called
# what the type says.
CALLS: dict[str, tuple[tuple[str, ...], ...]] = {
    "tool_use": (("id",), ("name",), ("input",)),
    "tool_call": (("id",), ("name",), ("arguments", "args")),
    "tool-call": (("toolCallId",), ("toolName",), ("input", "args")),
    "function_call": (("call_id", "id"), ("name",), ("arguments",)),
    "custom_tool_call": CUSTOM,
    "local_shell_call": (("call_id",), (), ("action",)),
    "shell_call": (("call_id",), (), ("action",)),
    "apply_patch_call": (("call_id",), (), ("operation",)),
    "computer_call": (("call_id",), (), ("action",)),
}
ANSWERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "tool_result": (("tool_use_id",), ("name",), ("content",)),
    "tool_call_response": (("id",), ("name",), ("response", "result")),
    "tool-result": (("toolCallId",), ("toolName",), ("output", "result")),
    **{f"{kind}_output": (("call_id",), ("name",), ("output",)) for kind in CALLS if kind.endswith("_call")},
}
PROVIDER_RUN = frozenset(
    {"server_tool_use", "mcp_tool_use", "server_tool_call", "web_search_call", "file_search_call", "mcp_call",
     "mcp_list_tools", "code_interpreter_call", "image_generation_call", "tool_search_call"}
)  # fmt: skip


def turns_of(messages: JSON, source: str) -> tuple[Turn, ...]:
    """The turns of a list of messages, of one message, or of a text. Items of one response are one turn."""
    if not isinstance(messages, list):
        return () if messages is None else (turn_of(messages, source),)
    found: list[Turn] = []
    in_response = False
    for at, message in enumerate(messages):
        turn, is_item = turn_of(message, f"{source}/{at}"), _is_item(message)
        if found and found[-1].role == turn.role == "assistant" and (in_response or is_item):
            found[-1] = _joined(found[-1], turn)
            in_response = True
        else:
            found.append(turn)
            in_response = is_item
    return tuple(found)


def turn_of(message: JSON, source: str) -> Turn:
    """One message. One of an unknown kind is a turn of nobody."""
    if isinstance(message, str):
        return Turn(role="user", raw=message, content=message, source=source)
    if _is_pair(message):
        return Turn(role=ROLES.get(message[0], "tool"), raw=message, content=message[1], source=source)
    if not isinstance(message, dict):
        return Turn(role="tool", raw=message, source=source, unread=(source,))
    plain, place = unwrapped(message), inside(message, source)
    calls, unread = _calls(plain, place)
    answers = _answers(plain, place)
    role = _role(plain, calls=bool(calls), answers=bool(answers))
    content = text_of(plain["content"] if "content" in plain else plain.get("parts"))
    return Turn(
        role=role, raw=message, content=content, calls=calls, answers=answers, source=source, unread=tuple(unread)
    )


_EXCEPTION = re.compile(
    r"\s*((?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception|Timeout|Exceeded|Cancelled))\s*(?:[:(]|\Z)"
)
"""The name of a class of exceptions, before its message, its arguments or nothing."""


def arguments_of(raw: JSON) -> JSON:
    """What a call was made with: the object in a text, {} for nothing; a text that holds no object as it is."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    if not isinstance(raw, str):
        return raw
    try:
        value = read_json(raw.encode("utf-8", "surrogatepass"))
    except FixtureInvalid:
        return raw
    return value if isinstance(value, dict) else raw


def failure(value: JSON) -> dict[str, str]:
    """What a tool said when it failed, where the format marks it as failed."""
    said = text_of(value)
    message = said if isinstance(said, str) else "" if said is None else json.dumps(said, ensure_ascii=False)
    return error_of(message or "no message was recorded", otherwise="error")


def error_of(message: str, *, otherwise: str) -> dict[str, str]:
    """The fixture's error of a message. Its kind is the class of the exception that the message begins with, or that
    the last line of a traceback names: a timeout is known by it. `otherwise` is the kind where there is none."""
    lines = message.rstrip().splitlines()
    last = lines[-1] if lines and lines[0].startswith("Traceback (most recent call last)") else message
    named = _EXCEPTION.match(last)
    return {"kind": named[1].rpartition(".")[2] if named else otherwise, "message": message}


def text_of(content: JSON) -> JSON:
    """What was said: the text, that of several text parts together, else the content as it is."""
    parts = content if isinstance(content, list) else ()
    said = (part.get("text", part.get("content")) for part in parts if isinstance(part, dict) and _is_text(part))
    texts = [text for text in said if isinstance(text, str)]
    return "\n\n".join(texts) if texts and len(texts) == len(parts) else content


def provider_run(message: JSON, source: str) -> list[str]:
    """Pointers to the calls that the provider ran itself, inside an answer of the model."""
    if isinstance(message, list):
        return [place for at, item in enumerate(message) for place in provider_run(item, f"{source}/{at}")]
    if not isinstance(message, dict):
        return []
    plain = unwrapped(message)
    own = [source] if _kind(plain) in PROVIDER_RUN else []
    return own + [place for _, place, block in _blocks(plain, source) if _kind(block) in PROVIDER_RUN]


def called_in(block: dict[str, JSON], source: str) -> AskedCall | str | None:
    """The call that a block, part or item is; the pointer to one that should be a call and is none."""
    kind = _kind(block)
    return _named(block, CALLS[kind], source) if kind in CALLS else None


def _is_pair(message: JSON) -> bool:
    return isinstance(message, list) and len(message) == 2 and isinstance(message[0], str) and message[0] in ROLES


def _role(plain: dict[str, JSON], *, calls: bool, answers: bool) -> Role:
    named = plain.get("role")
    if isinstance(named, str) and named in ROLES:
        return ROLES[named]
    if calls or plain.get("type") in ("reasoning", *PROVIDER_RUN):
        return "assistant"
    if not answers and named is None and isinstance(plain.get("content"), str) and "type" not in plain:
        return "user"
    return "tool"


def _blocks(plain: dict[str, JSON], source: str) -> Iterator[tuple[str, str, dict[str, JSON]]]:
    for key in ("content", "parts"):
        blocks = plain.get(key)
        for at, block in enumerate(blocks if isinstance(blocks, list) else ()):
            if isinstance(block, dict):
                yield key, f"{source}/{key}/{at}", block


def _calls(plain: dict[str, JSON], source: str) -> tuple[tuple[AskedCall, ...], list[str]]:
    """The calls of a message, from the fullest of the places where it holds them, and pointers to what is none."""
    extra = plain.get("additional_kwargs")
    extra = extra if isinstance(extra, dict) else {}
    listed = [*_listed(plain, "tool_calls", source), *_listed(plain, "invalid_tool_calls", source)]
    in_blocks = [call for _, place, block in _blocks(plain, source) if (call := called_in(block, place))]
    old = [
        _function(holder["function_call"], holder["function_call"], f"{place}/function_call")
        for holder, place in ((plain, source), (extra, f"{source}/additional_kwargs"))
        if holder.get("function_call")
    ]
    itself = [call for call in [called_in(plain, source)] if call]
    places = (listed, [*_listed(extra, "tool_calls", f"{source}/additional_kwargs")], in_blocks, old, itself)
    found = max(places, key=len)
    return tuple(call for call in found if isinstance(call, AskedCall)), [c for c in found if isinstance(c, str)]


def _listed(holder: dict[str, JSON], key: str, source: str) -> Iterator[AskedCall | str]:
    """AskedCalls, and pointers where there should be one."""
    calls = holder.get(key)
    if calls and not isinstance(calls, list):
        yield f"{source}/{key}"
        return
    for at, call in enumerate(calls or ()):
        place = f"{source}/{key}/{at}"
        if not isinstance(call, dict):
            yield place
        elif isinstance(call.get("function"), dict):
            yield _function(call, call["function"], place)
        elif isinstance(call.get("custom"), dict):
            yield _named({**call["custom"], "type": "custom_tool_call", "call_id": call.get("id")}, CUSTOM, place)
        else:
            yield _named(call, (("id",), ("name", "function"), ("arguments", "args", "input")), place)


def _function(call: JSON, function: JSON, place: str) -> AskedCall | str:
    if not isinstance(call, dict) or not isinstance(function, dict) or not text_or_none(function.get("name")):
        return place
    arguments = arguments_of(function["arguments"]) if "arguments" in function else None
    return AskedCall(source=place, tool=function["name"], arguments=arguments, call_id=text_or_none(call.get("id")))


def _named(block: dict[str, JSON], keys: tuple[tuple[str, ...], ...], place: str) -> AskedCall | str:
    ids, names, payloads = keys
    tool = text_or_none(_first(block, names)) if names else _kind(block).removesuffix("_call")
    if tool is None:
        return place
    raw = _first(block, payloads)
    arguments = raw if keys is CUSTOM or not names else arguments_of(raw)
    return AskedCall(source=place, tool=tool, arguments=arguments, call_id=text_or_none(_first(block, ids)))


def _answers(plain: dict[str, JSON], source: str) -> tuple[GivenAnswer, ...]:
    found = [
        _answer(block, ANSWERS[block["type"]], place)
        for _, place, block in _blocks(plain, source)
        if _kind(block) in ANSWERS
    ]
    if _kind(plain) in ANSWERS:
        found.append(_answer(plain, ANSWERS[plain["type"]], source))
    if not found and ROLES.get(str(plain.get("role"))) == "tool":
        found.append(_answer(plain, (("tool_call_id", "id"), ("name",), ("content",)), source))
    return tuple(found)


def _answer(block: dict[str, JSON], keys: tuple[tuple[str, ...], ...], place: str) -> GivenAnswer:
    ids, names, payloads = keys
    value = _first(block, payloads)
    failed = any(block.get(key) is True for key in ("is_error", "isError", "error")) or block.get("status") == "error"
    return GivenAnswer(
        source=place,
        value=None if failed else value,
        error=failure(value) if failed else None,
        call_id=text_or_none(_first(block, ids)),
        tool=text_or_none(_first(block, names)),
        answered=failed or any(key in block for key in payloads),
    )


def _is_item(message: JSON) -> bool:
    """Whether this is an item of a response, which is told apart from a message by its type."""
    return isinstance(message, dict) and ("role" not in unwrapped(message) or message.get("type") == "message")


def _joined(before: Turn, turn: Turn) -> Turn:
    return Turn(
        role="assistant",
        raw=[*(before.raw if isinstance(before.raw, list) else [before.raw]), turn.raw],
        content=before.content if before.content is not None else turn.content,
        calls=before.calls + turn.calls,
        source=before.source,
        unread=before.unread + turn.unread,
    )


def _is_text(part: dict[str, JSON]) -> bool:
    return part.get("type", "text") in ("text", "input_text", "output_text")


def _kind(block: dict[str, JSON]) -> str:
    kind = block.get("type")
    return kind if isinstance(kind, str) else ""


def _first(block: dict[str, JSON], keys: tuple[str, ...]) -> JSON:
    return next((block[key] for key in keys if block.get(key) is not None), None)
