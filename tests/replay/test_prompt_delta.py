"""Prompt delta: what is exact, what is measured, and what a layout makes of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from replaycases.replay.prompt_delta import MEASURED_WORDS, measure, word_delta
from tests.replay.factories import SERVING, fixture, model, model_event, run

TEN = "one two three four five six seven eight nine ten"
NINE_SAME = "one two three four five six seven eight nine TEN"
EIGHT_SAME = "one two three four five six seven eight NINE TEN"
TOOLS = [{"name": "look"}, {"name": "pay"}]
CHAT = {
    "messages": [
        {"role": "system", "content": "Be kind. " + TEN},
        {"role": "user", "content": TEN},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "pay", "arguments": TEN}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": TEN},
    ],
    "tools": TOOLS,
    "temperature": 0,
}
RESPONSES = {
    "instructions": "Be kind. " + TEN,
    "input": [
        {"role": "developer", "content": TEN},
        {"role": "user", "content": [{"type": "input_text", "text": TEN}]},
        {"type": "function_call", "call_id": "c1", "name": "pay", "arguments": TEN},
    ],
    "tools": TOOLS,
}
ANTHROPIC = {
    "system": [{"type": "text", "text": "Be kind. " + TEN}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": TEN}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "pay", "input": {"note": TEN}}]},
    ],
    "tools": TOOLS,
}


def changed(request: Any, path: list[Any], value: Any) -> Any:
    edited = copy.deepcopy(request)
    place = edited
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return edited


def told(recorded: Any, received: Any, **match: Any) -> tuple[str, str | None, str | None]:
    more = {"match": match} if match else {}
    observation = run(fixture([model_event(1, recorded, **more)], serving=SERVING), [model(received)])
    found = observation.first_divergence
    return observation.status, found and found.kind, found and found.pointer


@pytest.mark.parametrize("request_", [CHAT, RESPONSES, ANTHROPIC], ids=["chat", "responses", "anthropic"])
def test_the_recorded_request_is_answered_with_no_delta(request_: Any) -> None:
    observation = run(fixture([model_event(1, request_)], serving=SERVING), [model(copy.deepcopy(request_))])
    assert (observation.status, observation.calls[0].prompt_delta) == ("completed", 0.0)


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        (CHAT, ["messages", 0, "content"]),
        (RESPONSES, ["instructions"]),
        (RESPONSES, ["input", 0, "content"]),
        (ANTHROPIC, ["system", 0, "text"]),
    ],
)
def test_one_word_of_a_system_message_is_stale(request_: Any, path: list[Any]) -> None:
    pointer = "".join(f"/{step}" for step in path)
    assert told(request_, changed(request_, path, "Be kind! " + TEN)) == ("stale", "prompt_delta", pointer)


@pytest.mark.parametrize("request_", [CHAT, RESPONSES, ANTHROPIC])
@pytest.mark.parametrize("tools", [TOOLS[::-1], TOOLS[:1], [*TOOLS, {"name": "refund"}]])
def test_the_tool_catalogue_is_exact_with_its_order(request_: Any, tools: Any) -> None:
    assert told(request_, changed(request_, ["tools"], tools))[:2] == ("stale", "prompt_delta")


def test_a_system_message_that_is_added_or_dropped_is_stale() -> None:
    assert told(CHAT, changed(CHAT, ["messages"], CHAT["messages"][1:]))[:2] == ("stale", "prompt_delta")
    twice = [CHAT["messages"][0], *CHAT["messages"]]
    assert told(CHAT, changed(CHAT, ["messages"], twice))[:2] == ("stale", "prompt_delta")
    assert told({"messages": []}, {"messages": [], "system": "x"}) == ("stale", "prompt_delta", "/system")


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        (CHAT, ["messages", 1, "content"]),
        (CHAT, ["messages", 3, "content"]),
        (RESPONSES, ["input", 1, "content", 0, "text"]),
        (ANTHROPIC, ["messages", 0, "content", 0, "text"]),
    ],
)
def test_another_message_may_move_within_the_tolerance_and_no_further(request_: Any, path: list[Any]) -> None:
    observation = run(fixture([model_event(1, request_)], serving=SERVING), [model(changed(request_, path, NINE_SAME))])
    assert (observation.status, observation.calls[0].prompt_delta) == ("completed", pytest.approx(0.1))
    pointer = "".join(f"/{step}" for step in path)
    assert told(request_, changed(request_, path, EIGHT_SAME)) == ("diverged", "prompt_delta", pointer)


def test_the_tolerance_is_the_events_own_and_inclusive() -> None:
    moved = changed(CHAT, ["messages", 1, "content"], EIGHT_SAME)
    assert told(CHAT, moved, tolerance=0.2)[0] == "completed"
    assert told(CHAT, moved, tolerance=0.1)[0] == "diverged"
    assert told(CHAT, changed(CHAT, ["messages", 1, "content"], NINE_SAME), tolerance=0)[0] == "diverged"


def test_the_delta_is_the_largest_of_a_leaf_not_diluted_by_long_neighbours() -> None:
    recorded = {"messages": [{"role": "user", "content": "word " * 1000}, {"role": "user", "content": "pay ten"}]}
    received = changed(recorded, ["messages", 1, "content"], "pay eleven")
    assert told(recorded, received) == ("diverged", "prompt_delta", "/messages/1/content")
    assert measure(recorded, received, 0.15).largest == 0.5


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": TEN}, {"role": "user", "content": NINE_SAME}],
        [{"role": "user", "content": NINE_SAME}],
        [{"role": "user", "content": NINE_SAME}, {"role": "user", "content": TEN}, {"role": "user", "content": TEN}],
        [],
    ],
    ids=["reordered", "removed", "added", "emptied"],
)
def test_a_message_added_removed_or_reordered_is_never_within_a_tolerance(messages: Any) -> None:
    recorded = {"messages": [{"role": "user", "content": NINE_SAME}, {"role": "user", "content": TEN}]}
    assert told(recorded, {"messages": messages}, tolerance=1)[:2] == ("diverged", "prompt_delta")


def test_a_system_message_that_changes_places_with_another_is_reordered() -> None:
    first, second = CHAT["messages"][:2]
    told_ = told({"messages": [first, second]}, {"messages": [second, first]}, tolerance=1)
    assert told_[:2] == ("diverged", "prompt_delta")


def test_an_added_message_is_pointed_at_where_it_stands() -> None:
    recorded = {"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}
    received = {"messages": [recorded["messages"][0], {"role": "user", "content": "new"}, recorded["messages"][1]]}
    delta = measure(recorded, received, 0.15)
    assert [(found.pointer, found.only) for found in delta.structure] == [("/messages/1", "actual")]


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        (CHAT, ["messages", 2, "tool_calls", 0, "function", "arguments"]),
        (RESPONSES, ["input", 2, "arguments"]),
        (ANTHROPIC, ["messages", 1, "content", 0, "input", "note"]),
    ],
)
def test_a_repeated_tool_call_is_exact_since_one_word_can_be_an_amount(request_: Any, path: list[Any]) -> None:
    assert told(request_, changed(request_, path, NINE_SAME))[:2] == ("diverged", "prompt_delta")


@pytest.mark.parametrize(
    ("path", "value"), [(["messages", 1, "role"], "assistant"), (["messages", 3, "tool_call_id"], "c2")]
)
def test_a_role_or_an_id_is_one_word_and_so_exact(path: list[Any], value: str) -> None:
    assert told(CHAT, changed(CHAT, path, value))[:2] == ("diverged", "prompt_delta")


def test_the_rest_of_the_request_is_exact() -> None:
    assert told(CHAT, changed(CHAT, ["temperature"], 1)) == ("diverged", "arguments", "/temperature")
    assert told(CHAT, changed(CHAT, ["temperature"], False)) == ("diverged", "arguments", "/temperature")
    assert told(CHAT, {**CHAT, "top_p": 1}) == ("diverged", "arguments", "/top_p")


@pytest.mark.parametrize(("recorded", "received"), [("a b", "a c"), ({"q": TEN}, {"q": NINE_SAME}), ({"q": 1}, "q")])
def test_a_request_of_no_known_layout_is_exact(recorded: Any, received: Any) -> None:
    assert told(recorded, received)[:2] == ("diverged", "arguments")


def test_stale_goes_before_what_else_moved() -> None:
    received = changed(changed(CHAT, ["temperature"], 1), ["tools"], TOOLS[:1])
    assert told(CHAT, received) == ("stale", "prompt_delta", "/tools/1")


def test_ignored_and_generated_places_of_a_request_are_left_out_of_the_delta() -> None:
    received = changed(CHAT, ["temperature"], 1)
    assert told(CHAT, received, ignore=["/temperature"])[0] == "completed"
    renamed = changed(
        changed(CHAT, ["messages", 2, "tool_calls", 0, "id"], "x9"), ["messages", 3, "tool_call_id"], "x9"
    )
    pointers = ["/messages/2/tool_calls/0/id", "/messages/3/tool_call_id"]
    assert told(CHAT, renamed, generated=pointers)[0] == "completed"
    assert told(CHAT, changed(renamed, ["messages", 3, "tool_call_id"], "x8"), generated=pointers)[0] == "diverged"


@pytest.mark.parametrize(
    ("left", "right", "delta"),
    [("", "", 0.0), ("a", "b", 1.0), ("", "a b", 1.0), ("a b c d", "a x c d", 0.25), ("a b", "a b c d", 0.5)],
)
def test_word_delta(left: str, right: str, delta: float) -> None:
    assert word_delta(left, right) == delta
    assert word_delta(right, left) == delta


@pytest.mark.parametrize("other", ["a  b", " a b", "a b ", "a\tb", "a b\n", "A b", "a\u00a0b"])
def test_no_change_of_a_text_measures_nothing(other: str) -> None:
    assert word_delta("a b", other) > 0


def test_a_long_text_with_one_changed_word_is_measured_and_one_wholly_different_is_not() -> None:
    words = [f"w{n}" for n in range(3 * MEASURED_WORDS)]
    one = [*words[:-5], "x", *words[-4:]]
    assert word_delta(" ".join(words), " ".join(one)) == pytest.approx(1 / len(words))
    assert word_delta(" ".join(words), " ".join(f"v{n}" for n in range(3 * MEASURED_WORDS))) == 1.0
