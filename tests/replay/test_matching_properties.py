"""What holds for any recording: drawn from small pools so that events collide, twin and nearly match."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from replaycases.fixture.canonical import digest
from replaycases.fixture.pointer import leaves, replaced, resolve
from replaycases.replay.session import Halt, ReplaySession
from replaycases.replay.values import same
from replaycases.verdict.differences import each_difference
from tests.replay.factories import (
    SERVING,
    Request,
    call,
    clock_event,
    fixture,
    human_event,
    model_event,
    random_event,
    recorded_requests,
    retrieval_event,
    run,
    tool_event,
)

SCALARS = st.sampled_from([0, 1, 1.0, -0.0, 0.5, True, False, None, "", "1", "a", "a ", "A"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b", "a/b", "~"]), inner, max_size=2)
    ),
    max_leaves=5,
)
ARGUMENTS = st.fixed_dictionaries({"x": VALUES}, optional={"note": SCALARS, "key": st.sampled_from(["k1", "k2"])})
MATCHES = st.sampled_from([{}, {"ignore": ["/note"]}, {"generated": ["/key"]}])
UNTIMED = settings(deadline=None)
NOW = "2026-03-29T01:30:00+01:00"


@st.composite
def recordings(draw: st.DrawFn) -> Any:
    """A fixture with every boundary, groups, optional events, twins and near twins."""
    events: list[dict[str, Any]] = []
    match = draw(MATCHES)
    for seq in range(draw(st.integers(0, 7))):
        optional = draw(st.booleans())
        tool = tool_event(seq, draw(st.sampled_from("ab")), draw(ARGUMENTS), match=match, optional=optional)
        group = draw(st.sampled_from([None, "g", "h"]))
        others = [
            tool if group is None else {**tool, "group": group},
            model_event(seq, {"messages": [{"role": "user", "content": draw(st.sampled_from(["a", "b"]))}]}),
            retrieval_event(seq, draw(SCALARS)),
            human_event(seq, draw(SCALARS)),
            clock_event(seq, NOW),
            random_event(seq, draw(st.sampled_from("rs")), draw(SCALARS)),
        ]
        events.append(draw(st.sampled_from([others[0], others[0], others[0], *others[1:]])))
    return fixture(_unsplit(events), serving=SERVING)


def _unsplit(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each run of group members under a name of its own: a name that comes back later is another group."""
    run_number, before, named = 0, None, []
    for event in events:
        run_number += event.get("group") != before
        before = event.get("group")
        named.append({**event, "group": f"{before}{run_number}"} if before else event)
    return named


@UNTIMED
@given(recordings())
def test_a_recording_replayed_against_itself_completes_with_nothing_left_over(recording: Any) -> None:
    observation = run(recording, recorded_requests(recording))
    assert (observation.status, observation.unconsumed, observation.optional_skipped) == ("completed", (), ())


@UNTIMED
@given(recordings(), st.data())
def test_leaving_out_a_required_call_never_completes_with_nothing_left_over(
    recording: Any, data: st.DataObject
) -> None:
    """Where an optional event could be its twin, the twin's call would answer for it, and rightly."""
    replaceable = {(event.boundary, event.tool) for event in recording.events if event.optional}
    kept = {("clock", ""), ("random", ""), *replaceable}
    required = [n for n, event in enumerate(recording.events) if (event.boundary, event.tool) not in kept]
    if required:
        requests = recorded_requests(recording)
        del requests[data.draw(st.sampled_from(required))]
        observation = run(recording, requests)
        assert observation.status != "completed" or observation.unconsumed


@UNTIMED
@given(recordings(), st.data())
def test_one_changed_argument_outside_the_rules_never_completes(recording: Any, data: st.DataObject) -> None:
    tools = [n for n, event in enumerate(recording.events) if event.boundary == "tool"]
    if not tools:
        return
    number = data.draw(st.sampled_from(tools))
    event = recording.events[number]
    lenient = {*event.match.ignore, *event.match.generated}
    pointer = data.draw(st.sampled_from([p for p, _ in leaves(event.arguments) if p not in lenient]))
    value = data.draw(VALUES.filter(lambda value: not same(value, resolve(event.arguments, pointer))))
    requests = recorded_requests(recording)
    requests[number] = call(event.tool, replaced(event.arguments, pointer, value))
    assert run(recording, requests).status != "completed"


@UNTIMED
@given(recordings(), st.data())
def test_one_changed_tool_name_never_completes(recording: Any, data: st.DataObject) -> None:
    tools = [n for n, event in enumerate(recording.events) if event.boundary == "tool"]
    if tools:
        number = data.draw(st.sampled_from(tools))
        event = recording.events[number]
        requests = recorded_requests(recording)
        requests[number] = call(data.draw(st.sampled_from(["a", "b", "c"]).filter(event.tool.__ne__)), event.arguments)
        assert run(recording, requests).status != "completed"


@UNTIMED
@given(st.lists(st.tuples(st.sampled_from("ab"), ARGUMENTS, MATCHES), min_size=1, max_size=5), st.data())
def test_members_of_a_group_complete_in_any_order(members: Any, data: st.DataObject) -> None:
    events = [tool_event(n, tool, args, match=match, group="g") for n, (tool, args, match) in enumerate(members)]
    recording = fixture([*events, tool_event(99, "end")])
    requests = data.draw(st.permutations(recorded_requests(recording)[:-1]))
    assert run(recording, [*requests, call("end")]).status == "completed"


@UNTIMED
@given(st.lists(ARGUMENTS, min_size=2, max_size=5), st.data())
def test_a_member_moved_across_the_barrier_does_not_complete(members: Any, data: st.DataObject) -> None:
    events = [tool_event(n, "a", arguments, group="g") for n, arguments in enumerate(members)]
    recording = fixture([*events, tool_event(99, "end")])
    requests = recorded_requests(recording)
    moved = requests.pop(data.draw(st.integers(0, len(members) - 1)))
    observation = run(recording, [*requests, moved])
    assert observation.status == "diverged"
    assert observation.first_divergence is not None
    assert observation.first_divergence.kind == "order"


@UNTIMED
@given(VALUES, VALUES)
def test_matching_agrees_with_the_canonical_digests(recorded: Any, received: Any) -> None:
    recording = fixture([tool_event(1, "t", {"x": recorded})])
    completed = run(recording, [call("t", {"x": received})]).status == "completed"
    assert completed is (digest(recorded) == digest(received))


@UNTIMED
@given(VALUES, VALUES)
def test_differences_are_found_exactly_where_digests_differ_and_their_pointers_resolve(left: Any, right: Any) -> None:
    found = list(each_difference(left, right))
    assert bool(found) is (digest(left) != digest(right))
    for difference in found:
        if difference.only != "actual":
            assert same(resolve(left, difference.pointer), difference.expected)
        if difference.only != "expected":
            assert same(resolve(right, difference.pointer), difference.actual)


@UNTIMED
@given(VALUES, st.data())
def test_replacing_changes_one_place_and_not_the_document(value: Any, data: st.DataObject) -> None:
    before = copy.deepcopy(value)
    pointer = data.draw(st.sampled_from([pointer for pointer, _ in leaves(value)]))
    edited = replaced(value, pointer, "new")
    assert resolve(edited, pointer) == "new"
    assert same(replaced(edited, pointer, resolve(value, pointer)), value)
    assert same(value, before)


METHODS = st.sampled_from(
    [
        "session.start",
        "tool.call",
        "model.call",
        "retrieval.search",
        "clock.now",
        "random.draw",
        "human.ask",
        "finish",
        "x",
    ]
)
WORDS = st.sampled_from(["tool", "arguments", "request", "serving", "query", "question", "name", "protocol", "message"])
PARAMS = st.none() | VALUES | st.dictionaries(WORDS, VALUES | st.floats() | st.text(max_size=2) | st.integers())


@UNTIMED
@given(recordings(), st.lists(st.tuples(METHODS, PARAMS), max_size=6))
def test_any_requests_whatever_get_a_reply_and_once_halted_only_halts(recording: Any, requests: list[Request]) -> None:
    running = ReplaySession(recording, serving=None, clock=None)
    halted = False
    for method, params in requests:
        reply = running.handle(method, params)
        halted = halted or isinstance(reply, Halt)
        assert isinstance(reply, Halt) is halted


@UNTIMED
@given(recordings(), st.data())
def test_the_same_requests_give_the_same_observation(recording: Any, data: st.DataObject) -> None:
    requests = data.draw(st.permutations(recorded_requests(recording)))
    assert run(recording, requests) == run(recording, copy.deepcopy(requests))
