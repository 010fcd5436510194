"""Sessions of Claude Code and its SDK: JSON lines {type, uuid, parentUuid, message, …}, or the SDK's stream as JSON
lines or as a list [{type: system}, {type: assistant, message}, {type: user, message}, {type: result}].

A session holds what the model said and what tools answered. It holds no system prompt, no schemas of tools and no
sampling, and requests are put together from what stands before each answer. Each subagent is a run of its own; the call
that started it is a tool call of its caller.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from replaycases.importers.agreement import serving_of
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.model_answers import tokens
from replaycases.importers.neutral import ModelStep, NeutralRun, Note, Part, RunHead
from replaycases.importers.reconstructed import Said, reconstruct
from replaycases.importers.run_record import of_trace
from replaycases.importers.session_tree import Conversation, Line, Merged, conversations
from replaycases.importers.times import moment
from replaycases.importers.turns import provider_run, turn_of

JSON = Any
NAME = "claude-code"
ABSENT: tuple[Part, ...] = ("system", "tools", "identity", "clock", "random", "retrieval")
SYNTHETIC = "<synthetic>"
_NOT_SAID = ("<command-", "<local-command-", "<system-reminder>", "Caveat: The messages below were generated")


def sniff(file: ForeignFile) -> bool:
    """True where lines of the kinds of a session hold messages."""
    return b'"message"' in file.data and any(_is_line(row) for _, row in _rows(file))


def heads(file: ForeignFile) -> tuple[RunHead, ...]:
    found = []
    for index, one in enumerate(file.read_once(_conversations)):
        label = " ".join([_session(one) or "session", *(part for part in one.lane[1:] if part)])
        source, started = one.lines[0].source, _started(one)
        found.append(RunHead(index=index, label=label[:100], source=source, started_at=started))
    return tuple(found)


def read(file: ForeignFile, index: int) -> NeutralRun:
    every = file.read_once(_conversations)
    one = every[index]
    said, notes = _said(one)
    assembled = reconstruct(said)
    models = [step for step in assembled.steps if isinstance(step, ModelStep)]
    serving, differing = serving_of(models)
    started = _started(one)
    if not one.lane[1:] and len(every) > 1:
        text = f"the file holds {len(every)} conversations: the others are runs of their own"
        notes.append(Note(kind="left_out", source="", text=text))
    if models:
        text, cost = "sessions do not keep the system prompt", "what the model was told before the session is unknown"
        notes.append(Note(kind="content_lost", source="", text=text, cost=cost, boundary="model"))
    if file.cut_line:
        notes.append(Note(kind="sequence_gap", source="", text="the last line of the file breaks off"))
    return NeutralRun(
        format=NAME,
        input=assembled.input,
        steps=assembled.steps,
        system=None,
        serving=serving,
        absent=(*ABSENT, *(() if serving else ("serving",)), *(() if any(s.usage for s in models) else ("usage",))),
        notes=(*one.notes, *notes, *differing, *assembled.notes),
        cut="the last line of the file breaks off" if file.cut_line and not one.lane[1:] else "",
        ends_on_answer=assembled.ends_on_answer,
        left_out=file.read_once(_left_out),
        started_at=started,
        trace_id=_session(one),
        record=_record_of(one),
    )


def _record_of(one: Conversation) -> dict[str, str]:
    """A subagent is a part of its session; the harness is the client, which puts the agent together."""
    session, rows = _session(one), [line.row for line in one.lines]
    agent = next((row["agentId"] for row in rows if isinstance(row.get("agentId"), str)), None)
    versions = [f"claude-code {row['version']}" for row in rows if isinstance(row.get("version"), str)]
    return of_trace(
        run_id=agent or session,
        parent_run_id=session if agent else None,
        harness=versions,
        request_ids=[row.get("requestId") for row in rows],
    )


def _session(one: Conversation) -> str | None:
    named = (line.row.get(key) for line in one.lines for key in ("sessionId", "session_id"))
    return next((name for name in named if isinstance(name, str) and name), None)


def _rows(file: ForeignFile) -> list[tuple[int, dict[str, JSON]]]:
    listed = file.json if isinstance(file.json, list) else file.json_lines
    return [(at, row) for at, row in enumerate(listed) if isinstance(row, dict)]


def _conversations(file: ForeignFile) -> list[Conversation]:
    return conversations(_rows(file))


def _left_out(file: ForeignFile) -> tuple[str, ...]:
    return tuple(f"/{at}" for at, row in _rows(file) if not _is_line(row))


def _is_line(row: dict[str, JSON]) -> bool:
    message = row.get("message")
    return row.get("type") in ("user", "assistant") and isinstance(message, dict) and "content" in message


def _started(one: Conversation) -> str | None:
    times = [moment(line.row.get("timestamp")) for line in one.lines]
    begun = [found for found in times if found is not None]
    return min(begun, key=lambda found: found.at).text if begun and all(found.text for found in begun) else None


def _said(one: Conversation) -> tuple[list[Said], list[Note]]:
    """The messages in order, those of the model put together, and notes on what is odd."""
    notes: list[Note] = []
    merged = _messages(one.lines)
    said = [
        _answer(message, notes) if _is_model(message.lines[0]) else _word(message.lines[0], notes) for message in merged
    ]
    if said and said[0].turn.role == "assistant" and not said[0].gap:
        text, cost = "the session starts with an answer", "what the model was asked is unknown"
        notes.append(Note(kind="sequence_gap", source=said[0].turn.source, text=text, cost=cost, boundary="model"))
        said[0] = replace(said[0], gap=True)
    return said, [*notes, *_backwards(one.lines)]


def _messages(lines: tuple[Line, ...]) -> list[Merged]:
    """Lines of the model with the same message id are one message, at the place of the first."""
    found: list[Merged] = []
    by_id: dict[str, Merged] = {}
    for line in lines:
        name = (line.message or {}).get("id")
        known = by_id.get(name) if isinstance(name, str) and _is_model(line) else None
        if known is None:
            known = Merged()
            found.append(known)
            if isinstance(name, str) and _is_model(line):
                by_id[name] = known
        known.lines.append(line)
    return found


def _is_model(line: Line) -> bool:
    return line.row.get("type") == "assistant"


def _answer(merged: Merged, notes: list[Note]) -> Said:
    first, last, message = merged.lines[0], merged.lines[-1], merged.message
    parts = [turn_of({**(line.message or {}), "role": "assistant"}, f"{line.source}/message") for line in merged.lines]
    ended = moment(last.row.get("timestamp"))
    model = message.get("model")
    if model == SYNTHETIC or first.row.get("isApiErrorMessage") is True:
        text = "the model call ended with an error"
        notes.append(Note(kind="failed_call", source=first.source, text=text, boundary="model"))
    for line in merged.lines:
        for place in provider_run(line.message, f"{line.source}/message"):
            text = "the provider ran a tool itself: it stands in the model's response"
            notes.append(Note(kind="server_side", source=place, text=text, boundary="tool"))
    named = isinstance(model, str) and model and model != SYNTHETIC
    return Said(
        turn=replace(
            parts[0],
            raw={"role": "assistant", "content": message.get("content")},
            content=message.get("content"),
            calls=tuple(call for part in parts for call in part.calls),
            unread=tuple(place for part in parts for place in part.unread),
        ),
        response=message,
        gap=any(line.gap for line in merged.lines),
        usage=tokens(message.get("usage")),
        serving={"returned_model": model} if named else None,
        ended_at=ended.text if ended else None,
    )


def _word(line: Line, notes: list[Note]) -> Said:
    """What a person or a tool said; what the client itself put in between is said by nobody."""
    message = line.message or {}
    raw = {"role": "user", "content": message.get("content")}
    turn = turn_of(raw, f"{line.source}/message")
    fresh = line.row.get("isCompactSummary") is True
    if fresh:
        text = "the conversation was summed up here: what stood before was sent no more"
        notes.append(Note(kind="sequence_gap", source=line.source, text=text))
    if not turn.answers and (fresh or line.row.get("isMeta") is True or _is_not_said(message.get("content"))):
        turn = replace(turn, role="tool")
    return Said(turn=turn, gap=line.gap, fresh=fresh)


def _is_not_said(content: JSON) -> bool:
    blocks = content if isinstance(content, list) else [{"text": content}]
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return bool(texts) and all(isinstance(text, str) and text.startswith(_NOT_SAID) for text in texts)


def _backwards(lines: tuple[Line, ...]) -> list[Note]:
    before = None
    for line in lines:
        now = moment(line.row.get("timestamp"))
        if before and now and now.at < before.at:
            text = "this line is older than the one before it"
            return [Note(kind="clock_contradiction", source=line.source, text=text)]
        before = now or before
    return []


FORMAT = Format(name=NAME, title="session of Claude Code or its SDK", sniff=sniff, heads=heads, read=read)
