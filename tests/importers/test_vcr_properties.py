"""Whatever is done to a cassette: it is imported or refused and nothing else, and no call goes by unseen."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.fixture.findings import FixtureInvalid
from replaycases.importers import vcr
from replaycases.importers.findings import ImportRefused
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.registry import to_case
from tests.importers.cassettes import (
    MESSAGES,
    RESPONSES,
    answer,
    asks,
    call,
    cassette,
    chat,
    function_call,
    interaction,
    kinds,
    looked_up,
    output,
    read,
    response,
    says,
    streamed,
    tools,
    user,
)
from tests.importers.transcripts import supplied

JSON = Any
USE = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
TOLD = {"type": "message", "role": "assistant", "content": [USE], "stop_reason": "tool_use"}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "one"}]}
TWO = response("r1", function_call("look", {}), function_call("look", {}, "b"))
ANSWERED = {"input": [output("a", "1"), output("b", "2")], "previous_response_id": "r1"}
# Each with the number of calls that its answer asks for.
EXCHANGES: list[tuple[JSON, int]] = [
    *zip(looked_up(), (1, 0), strict=True),
    (interaction(chat(user("hi")), streamed({"tool_calls": [{"index": 0, **call("look", {"n": 1})}]})), 1),
    (interaction(chat(user("hi")), streamed({"tool_calls": [{"index": 0, **call("look", {})}]}, end=None)), 1),
    (interaction(chat(user("hi")), answer(asks(call("look", {}, "x"), call("book", {}, "x")))), 2),
    (interaction(chat(user("hi")), {"error": {}}, status=500), 0),
    (interaction({"input": "hi"}, TWO, url=RESPONSES), 2),
    (interaction(ANSWERED, response("r2", says("x")), url=RESPONSES), 0),
    (interaction({"messages": [user("hi")]}, TOLD, url=MESSAGES), 1),
    (interaction({"messages": [user("hi"), {"role": "assistant", "content": [USE]}, RESULT]}, TOLD, url=MESSAGES), 1),
    (interaction(None, "", url="https://example.com", method="GET"), 0),
]  # fmt: skip
ODD = st.sampled_from([None, True, -1, 1.5, "x", "", [], {}, [None], {"a": None}, "user", "[DONE]", "{"])


@given(st.lists(st.sampled_from(EXCHANGES), min_size=1, max_size=8))
def test_every_call_that_an_answer_asks_for_is_a_step_in_any_order_of_any_exchanges(
    drawn: list[tuple[JSON, int]],
) -> None:
    run = read(looked_up()[1], *(exchange for exchange, _ in drawn))
    assert len(tools(run)) == sum(count for _, count in drawn)
    assert kinds(run).count("call_without_result") == sum(not step.answered for step in tools(run))


def places(value: JSON, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in places(item, (*path, key)))]


def changed(value: JSON, path: tuple[Any, ...], odd: JSON) -> JSON:
    if not path:
        return odd
    result = copy.copy(value)
    result[path[0]] = changed(value[path[0]], path[1:], odd)
    return result


@st.composite
def spoilt(draw: Any) -> JSON:
    """An exchange with one part of it, or of one of its bodies, made into something else."""
    exchange = draw(st.sampled_from([exchange for exchange, _ in EXCHANGES]))
    held = exchange["response"]["body"]["string"]
    side = draw(st.sampled_from(["exchange", "request", "response"]))
    text = exchange["request"]["body"] if side == "request" else held
    try:
        body = json.loads(text)
    except (TypeError, ValueError):
        side = "exchange"
    if side == "exchange":
        return changed(exchange, draw(st.sampled_from(places(exchange)[1:])), draw(ODD))
    told = json.dumps(changed(body, draw(st.sampled_from(places(body))), draw(ODD)))
    path = ("request", "body") if side == "request" else ("response", "body", "string")
    return changed(exchange, path, told)


@settings(max_examples=300)
@given(st.lists(spoilt(), min_size=1, max_size=4))
def test_whatever_its_parts_hold_a_cassette_is_imported_or_refused_and_nothing_else(exchanges: list[JSON]) -> None:
    expected = {"boundary": ["ends"], "run_status": {"id": "ends", "forbid": ["crashed"]}}
    try:
        made = to_case(read(*exchanges, *looked_up()), supplied(expected=expected))
    except (ImportRefused, FixtureInvalid):
        return
    assert made.fixture is not None


WHOLE = cassette(*(exchange for exchange, _ in EXCHANGES))


@given(st.integers(0, len(WHOLE)), st.integers(0, 40), st.binary(max_size=3))
def test_a_cassette_with_bytes_cut_out_or_put_in_is_imported_or_refused(at: int, size: int, put: bytes) -> None:
    file = ForeignFile(WHOLE[:at] + put + WHOLE[at + size :])
    if vcr.sniff(file):
        try:
            heads, run = vcr.heads(file), vcr.read(file, 0)
        except ImportRefused:
            return
        assert (len(heads), run.format) == (1, "vcr")
