"""Chat transcripts with tool calls: {"messages" | "traj": [{role, content, tool_calls?, tool_call_id?, name?}, …]}, a
bare list of messages, a list of such runs, JSON lines of either, or {"simulations": [such runs]} as tau2 writes them.

`tool_calls` hold {id?, function: {name, arguments: JSON string}} or {id?, name, arguments: object}. Such a file holds
what the model said and what was answered, never what was sent to it: requests are put together from the messages
before each answer and marked as reconstructed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from replaycases.fixture.pointer import ABSENT
from replaycases.importers.exchanges import AskedCall, Turn
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.http.openai_chat import SETTINGS
from replaycases.importers.neutral import NeutralRun, Note, Part, RunHead
from replaycases.importers.reconstructed import Said, reconstruct
from replaycases.importers.turns import ROLES, turn_of

JSON = Any
NAME = "chat-transcript"
KEYS = ("messages", "traj")

_BROKEN_OFF = Note(kind="sequence_gap", source="", text="the last line of the file breaks off")


def sniff(file: ForeignFile) -> bool:
    """True for one run, a bare list of messages, or a list of runs."""
    runs, _ = _runs(file)
    return bool(runs) and all(_messages(run) is not None for run in runs)


def heads(file: ForeignFile) -> tuple[RunHead, ...]:
    runs, base = _runs(file)
    return tuple(
        RunHead(index=index, label=_label(run, index), source=base.format(index)) for index, run in enumerate(runs)
    )


def read(file: ForeignFile, run: int) -> NeutralRun:
    """The run as a neutral one. Raises ImportRefused with a pointer into the file."""
    runs, base = _runs(file)
    source = base.format(run)
    key, messages = _messages(runs[run]) or ("", [])
    place = f"{source}/{key}" if key else source
    rows = [(f"{place}/{at}", message) for at, message in enumerate(messages)]
    ours = [row for row in rows if not _of_the_user(row[1])]
    assembled = reconstruct(_conversation(ours))
    head = runs[run] if isinstance(runs[run], dict) else {}
    serving, tools = _serving(head, file.json), head.get("tools")
    return NeutralRun(
        format=NAME,
        input=assembled.input,
        steps=assembled.steps,
        system=assembled.system,
        serving=serving,
        tools=tools if isinstance(tools, list) else None,
        absent=_absent(serving, tools, assembled.system),
        notes=(*assembled.notes, *_notes(rows), *([_BROKEN_OFF] if file.cut_line else [])),
        cut=_BROKEN_OFF.text if file.cut_line and not key else "",
        ends_on_answer=assembled.ends_on_answer,
        left_out=tuple(f"{source}/{name}" for name in sorted(head) if name not in (key, "model", "tools", *SETTINGS)),
    )


def _document(file: ForeignFile) -> JSON:
    """The file as one value: JSON lines, of messages or of runs, are a list."""
    return list(file.json_lines) if file.json is ABSENT else file.json


def _runs(file: ForeignFile) -> tuple[list[JSON], str]:
    """The runs of a file, and the pointer to each, for its index."""
    document = _document(file)
    if not document:
        return [], ""
    if isinstance(document, dict) and isinstance(document.get("simulations"), list):
        return document["simulations"], "/simulations/{}"
    if isinstance(document, list) and not _is_messages(document):
        return document, "/{}"
    return [document], ""


def _label(run: JSON, index: int) -> str:
    """By what benchmarks call their runs; else by its place."""
    head = run if isinstance(run, dict) else {}
    named = [f"{key} {head[key]}" for key in ("task_id", "trial", "id") if _is_id(head.get(key))]
    return ", ".join(named) or f"run {index}"


def _is_id(value: JSON) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and 0 < len(value) <= 100)


def _absent(serving: JSON, tools: JSON, system: str | None) -> tuple[Part, ...]:
    lacking: list[Part] = ["usage", "identity", "clock", "random", "retrieval"]
    if serving is None:
        lacking.append("serving")
    if not isinstance(tools, list):
        lacking.append("tools")
    if system is None:
        lacking.append("system")
    return tuple(lacking)


def _serving(head: dict[str, JSON], document: JSON) -> dict[str, JSON] | None:
    """From the top of the run, or from what a tau2 file says of its agent."""
    model = head.get("model")
    settings = {name: head[name] for name in SETTINGS if name in head}
    if isinstance(document, dict) and "simulations" in document:
        info = document.get("info")
        agent = info.get("agent_info") if isinstance(info, dict) else None
        agent = agent if isinstance(agent, dict) else {}
        arguments = agent.get("llm_args")
        model, settings = agent.get("llm"), arguments if isinstance(arguments, dict) else {}
    if not isinstance(model, str):
        return None
    return {"requested_model": model, **({"settings": settings} if settings else {})}


def _is_messages(value: JSON) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(m, dict) and "role" in m for m in value)


def _messages(run: JSON) -> tuple[str, list[dict[str, JSON]]] | None:
    """(key, messages) of one run; the key is "" for a bare list. None if this is no transcript."""
    if _is_messages(run):
        return "", run
    if isinstance(run, dict):
        return next(((key, run[key]) for key in KEYS if _is_messages(run.get(key))), None)
    return None


def _conversation(rows: list[tuple[str, dict[str, JSON]]]) -> Iterator[Said]:
    """Each message with what a client sends of it: the words of people and of the system, an assistant's message
    whole, an answer with the id of the call at its place."""
    calls: tuple[AskedCall, ...] = ()
    answers: list[tuple[str, dict[str, JSON]]] = []
    for source, message in rows:
        turn = turn_of(message, source)
        if turn.role == "tool" and turn.answers:
            answers.append((source, message))
            continue
        yield from _sent_back(calls, answers)
        calls, answers = turn.calls, []
        yield Said(turn=replace(turn, raw=_as_sent(turn, message)), response={"message": message})
    yield from _sent_back(calls, answers)


def _as_sent(turn: Turn, message: dict[str, JSON]) -> JSON:
    words = turn.role in ("system", "user") and not turn.answers and not turn.calls
    return {"role": turn.role, "content": message.get("content")} if words else message


def _sent_back(calls: tuple[AskedCall, ...], answers: list[tuple[str, dict[str, JSON]]]) -> list[Said]:
    """Answers as a loop sends them: with the call's own id, not the message's, which an SDK may have rewritten; with
    the tool's name only if the recorded message has one, since most clients send none."""
    wanted = [call.call_id for call in calls]
    turns = [turn_of(message, source) for source, message in answers]
    given = [turn.answers[0].call_id for turn in turns]
    clear = None not in wanted and len(set(wanted)) == len(given) == len(calls) and set(wanted) == set(given)
    said = []
    for at, turn in enumerate(turns):
        message = answers[at][1]
        own = given[at] if clear or at >= len(calls) else wanted[at]
        named = {"name": message["name"]} if message.get("name") is not None else {}
        known = {} if own is None else {"tool_call_id": own}
        raw = {"role": "tool", **named, "content": message.get("content"), **known}
        said.append(Said(turn=replace(turn, raw=raw)))
    return said


def _of_the_user(message: dict[str, JSON]) -> bool:
    """Whether this is a call of the person's own device, which the agent never sees."""
    return message.get("requestor") == "user" or (message["role"] == "user" and bool(message.get("tool_calls")))


def _notes(rows: list[tuple[str, dict[str, JSON]]]) -> Iterator[Note]:
    for source, message in rows:
        if _of_the_user(message):
            yield Note(kind="left_out", source=source, text="a person's own tool was used here, not the agent's")
        elif str(message["role"]) not in ROLES:
            text = f"a message whose role is none of {', '.join(ROLES)}: it stands in requests and is no step"
            yield Note(kind="left_out", source=source, text=text)


FORMAT = Format(name=NAME, title="chat transcript with tool calls", sniff=sniff, heads=heads, read=read)
