"""What providers answer, whole and in pieces, put together in a few words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from replaycases.importers.http.sse import Stream, read_stream

JSON = Any
ARGUMENTS = st.dictionaries(st.sampled_from("ab"), st.integers(0, 9) | st.text(max_size=6), max_size=2)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=12)


def sse(*events: JSON, done: bool = False, named: bool = False) -> bytes:
    frames = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
    return "".join([*frames, "data: [DONE]\n\n" if done else ""]).encode()


def stream(*events: JSON, done: bool = False) -> Stream:
    return read_stream(sse(*events, done=done))


@st.composite
def pieces(draw: Any, text: str) -> list[str]:
    """The text in pieces, some of them empty."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@st.composite
def interleaved(draw: Any, lanes: Iterable[list[JSON]]) -> list[JSON]:
    """The items of all lanes in some order that keeps each lane's own."""
    left = [list(lane) for lane in lanes if lane]
    found = []
    while left:
        lane = draw(st.sampled_from(left))
        found.append(lane.pop(0))
        left = [lane for lane in left if lane]
    return found
