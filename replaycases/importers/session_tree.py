"""Lines of a coding agent's session, linked by parentUuid -> its conversations, each in order.

Lines of one conversation do not form a simple chain: calls that run at the same time and their answers hang side by
side. The newest line decides which branch is followed; what belongs to a message on that branch comes with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from replaycases.importers.neutral import Note

JSON = Any


@dataclass(frozen=True, kw_only=True)
class Line:
    """`at` is its place in the file; `lane` tells the main conversation from those of subagents. `parent` is the line
    before it; `gap`: it says that there is one, and there is none in the file."""

    at: int
    row: dict[str, JSON]
    lane: tuple[str, ...]
    parent: int | None = None
    gap: bool = False

    @property
    def source(self) -> str:
        return f"/{self.at}"

    @property
    def message(self) -> dict[str, JSON] | None:
        """The message, where the line holds what a person, a tool or the model said."""
        message = self.row.get("message")
        return message if self.row.get("type") in ("user", "assistant") and isinstance(message, dict) else None


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """`lines` are those with messages that are part of it, in the order of the file."""

    lane: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[Note, ...]


def conversations(rows: list[tuple[int, dict[str, JSON]]]) -> list[Conversation]:
    """The main ones first, each kind in the order of the file. Conversations without a message are none."""
    lines = _linked(rows)
    grouped: dict[int, list[Line]] = defaultdict(list)
    roots: dict[int, int] = {}
    by_place = {line.at: line for line in lines}
    for line in lines:
        grouped[_root(line, by_place, roots)].append(line)
    found = [_followed(group) for group in grouped.values() if any(line.message for line in group)]
    return sorted(found, key=lambda one: (bool(one.lane[1:] and any(one.lane[1:])), one.lines[0].at))


def _linked(rows: list[tuple[int, dict[str, JSON]]]) -> list[Line]:
    tree = any("parentUuid" in row for _, row in rows)
    places: dict[str, int] = {}
    for at, row in rows:
        if isinstance(row.get("uuid"), str):
            places.setdefault(row["uuid"], at)
    lanes = {at: _lane(row) for at, row in rows}
    latest: dict[tuple[str, ...], int] = {}
    lines = []
    for at, row in rows:
        if tree and places.get(str(row.get("uuid"))) != at:
            continue
        lane = lanes[at]
        parent, gap = _parent(row, places, lanes, lane) if tree else (latest.get(lane), False)
        if gap or (parent is not None and parent >= at):
            parent, gap = latest.get(lane), True
        lines.append(Line(at=at, row=row, lane=lane, parent=parent, gap=gap))
        latest[lane] = at
    return lines


def _lane(row: dict[str, JSON]) -> tuple[str, ...]:
    """(session, "side", agent) of a subagent, (session,) of the main conversation."""
    session = str(row.get("sessionId") or row.get("session_id") or "")
    tool = row.get("parent_tool_use_id")
    if row.get("isSidechain") is True or isinstance(tool, str):
        return session, "side", str(row.get("agentId") or tool or "")
    return (session,) if "parentUuid" in row else ("",)


def _parent(
    row: dict[str, JSON], places: dict[str, int], lanes: dict[int, tuple[str, ...]], lane: tuple[str, ...]
) -> tuple[int | None, bool]:
    """The place of the line before, and whether it is missing. A subagent that hangs on its caller starts anew."""
    named = row.get("parentUuid") or row.get("logicalParentUuid")
    if not isinstance(named, str):
        return None, False
    place = places.get(named)
    if place is None:
        return None, True
    return (None, False) if lanes[place][1:] != lane[1:] else (place, False)


def _root(line: Line, by_place: dict[int, Line], roots: dict[int, int]) -> int:
    """The place of the first line of its conversation; parents stand before their children."""
    parent = None if line.parent is None else by_place.get(line.parent)
    roots[line.at] = line.at if parent is None else roots.get(parent.at, parent.at)
    return roots[line.at]


def _followed(group: list[Line]) -> Conversation:
    lines = {line.at: line for line in group}
    spoken = [line for line in group if line.message]
    path = set(_path(spoken[-1], lines))
    messages = {str(line.message["id"]) for line in spoken if line.at in path and line.message and "id" in line.message}
    kept = {line.at for line in spoken if line.at in path or (line.message and str(line.message.get("id")) in messages)}
    called = {name for line in spoken if line.at in kept for name in _named(line, "tool_use", "id")}
    for line in spoken:
        if any(name in called for name in _named(line, "tool_result", "tool_use_id")):
            kept.add(line.at)
    return Conversation(
        lane=group[0].lane,
        lines=tuple(line for line in spoken if line.at in kept),
        notes=(*_branches(spoken, kept, lines), *_gaps(spoken, kept)),
    )


def _path(leaf: Line, lines: dict[int, Line]) -> Iterator[int]:
    at: Line | None = leaf
    while at is not None:
        yield at.at
        at = None if at.parent is None else lines.get(at.parent)


def _named(line: Line, kind: str, key: str) -> Iterator[str]:
    content = (line.message or {}).get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == kind and isinstance(block.get(key), str):
            yield block[key]


def _branches(spoken: list[Line], kept: set[int], lines: dict[int, Line]) -> Iterator[Note]:
    """One note for each branch that was left: at its first message."""
    text = "the conversation went on elsewhere: this branch was left and is not followed"
    left: set[int] = set()
    for line in spoken:
        if line.at in kept:
            continue
        above = line.parent
        while above is not None and above in lines and not lines[above].message:
            above = lines[above].parent
        if above not in left:
            yield Note(kind="branch", source=line.source, text=text)
        left.add(line.at)


def _gaps(spoken: list[Line], kept: set[int]) -> Iterator[Note]:
    for line in spoken:
        if line.gap and line.at in kept:
            text, cost = (
                "the line before this one is not in the file",
                "what the model was sent from here on is unknown",
            )
            yield Note(kind="unresolved_reference", source=line.source, text=text, cost=cost, boundary="model")


@dataclass
class Merged:
    """The lines of one message of the model, which may stand apart."""

    lines: list[Line] = field(default_factory=list)

    @property
    def message(self) -> dict[str, JSON]:
        """The last of them, with the content of all."""
        parts = [line.message or {} for line in self.lines]
        contents = [part.get("content") for part in parts]
        if len(parts) == 1 or not all(isinstance(content, list) for content in contents):
            return parts[-1] if len(parts) == 1 else {**parts[-1], "content": _as_blocks(contents)}
        return {**parts[-1], "content": [block for content in contents for block in content or ()]}


def _as_blocks(contents: list[JSON]) -> list[JSON]:
    return [
        block
        for content in contents
        for block in (content if isinstance(content, list) else [{"type": "text", "text": content}])
    ]
