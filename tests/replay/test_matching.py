"""Selection by place, approval by canonical comparison, and the name that each miss gets."""

from __future__ import annotations

from typing import Any

import pytest

from replaycases.replay.session import Answer
from replaycases.verdict.observation import Difference, Divergence, Observation
from tests.replay.factories import (
    FINISH,
    SERVING,
    alternative,
    call,
    fixture,
    human_event,
    model,
    model_event,
    random_event,
    replies,
    retrieval_event,
    run,
    tool_event,
)


def outcome_of(observation: Observation) -> tuple[str, str | None, int | None]:
    """(status, kind, seq) of a run."""
    found = observation.first_divergence
    return observation.status, found and found.kind, found and found.seq


def divergence(observation: Observation) -> Divergence:
    assert observation.first_divergence is not None
    return observation.first_divergence


# Canonical comparison


@pytest.mark.parametrize(
    ("recorded", "received"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"n": 1}, {"n": 1.0}),
        ({"n": 0}, {"n": -0.0}),
        ({"n": 1.5e-7}, {"n": 0.00000015}),
        ([], []),
        (None, None),
        ("text", "text"),
    ],
)
def test_what_is_the_same_json_is_the_same_call(recorded: Any, received: Any) -> None:
    recording = fixture([{**tool_event(1, "t"), "arguments": recorded}])
    assert run(recording, [("tool.call", {"tool": "t", "arguments": received})]).status == "completed"


@pytest.mark.parametrize(
    ("recorded", "received"),
    [
        ({"n": 1}, {"n": True}),
        ({"n": 0}, {"n": False}),
        ({"n": 1}, {"n": "1"}),
        ({"n": None}, {}),
        ({"n": []}, {"n": {}}),
        ({"n": [1, 2]}, {"n": [2, 1]}),
        ({"s": "a"}, {"s": "a "}),
        ({"s": "a"}, {"s": "A"}),
        ({"s": "\u00e9"}, {"s": "e\u0301"}),
    ],
)
def test_what_differs_in_json_differs(recorded: Any, received: Any) -> None:
    recording = fixture([tool_event(1, "t", recorded)])
    assert outcome_of(run(recording, [call("t", received)])) == ("diverged", "arguments", 1)


def test_the_call_id_is_transport_and_not_compared() -> None:
    recording = fixture([tool_event(1, "t")])
    assert run(recording, [("tool.call", {"tool": "t", "arguments": {}, "call_id": "x"})]).status == "completed"


# The name of a miss

PAIR = fixture(
    [tool_event(1, "look", {"id": 1}), tool_event(2, "ship", {"key": "a"}), tool_event(3, "ship", {"key": "b"})]
)
LOOK, SHIP_A, SHIP_B = call("look", {"id": 1}), call("ship", {"key": "a"}), call("ship", {"key": "b"})


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        ([SHIP_A], ("diverged", "order", 1)),
        ([LOOK, SHIP_B], ("diverged", "order", 2)),
        ([call("refund")], ("diverged", "unexpected_tool", 1)),
        ([call("look", {"id": 2})], ("diverged", "arguments", 1)),
        ([call("ship", {"key": "z"})], ("diverged", "unexpected_tool", 1)),
        ([LOOK, LOOK], ("diverged", "extra_call", 2)),
        ([LOOK, SHIP_A, SHIP_A], ("diverged", "arguments", 3)),
        ([LOOK, SHIP_A, SHIP_B, SHIP_B], ("diverged", "extra_call", None)),
        ([LOOK, SHIP_A, SHIP_B, call("refund")], ("diverged", "unexpected_tool", None)),
    ],
)
def test_a_tool_miss_gets_its_kind(requests: Any, told: Any) -> None:
    observation = run(PAIR, requests)
    assert outcome_of(observation) == told
    assert divergence(observation).call == len(requests) - 1
    assert observation.calls[-1].answered is False
    assert divergence(observation).remedy


@pytest.mark.parametrize(
    ("requests", "nearest"),
    [
        ([SHIP_A], (2, "recorded later")),
        ([LOOK, SHIP_A, SHIP_A], (2, "already consumed")),
        ([LOOK, LOOK], (1, "already consumed")),
        ([call("look", {"id": 2})], (1, "differs")),
        ([call("ship", {"key": "z"})], (2, "differs")),
        ([call("refund")], (None, "never recorded")),
    ],
)
def test_the_nearest_candidate_is_named_with_what_ruled_it_out(requests: Any, nearest: Any) -> None:
    found = divergence(run(PAIR, requests)).nearest
    assert found is not None
    assert (found["seq"], found["why"]) == nearest


def test_a_difference_is_named_by_path_with_both_sides() -> None:
    recording = fixture([tool_event(1, "pay", {"order": {"id/1": 7, "lines": [1, 2]}, "note": "x"})])
    found = divergence(run(recording, [call("pay", {"order": {"id/1": 8, "lines": [1]}, "by": "me"})]))
    assert found.pointer == "/order/id~11"
    assert found.expected == {"tool": "pay", "arguments": {"order": {"id/1": 7, "lines": [1, 2]}, "note": "x"}}
    assert found.actual == {"tool": "pay", "arguments": {"order": {"id/1": 8, "lines": [1]}, "by": "me"}}
    assert found.differences == (
        Difference(pointer="/order/id~11", expected=7, actual=8),
        Difference(pointer="/order/lines/1", expected=2, only="expected"),
        Difference(pointer="/note", expected="x", only="expected"),
        Difference(pointer="/by", actual="me", only="actual"),
    )


@pytest.mark.parametrize(
    ("event", "request_", "kind"),
    [
        (retrieval_event(1, "refunds", parameters={"k": 3}), ("retrieval.search", {"query": "refunds"}), "retrieval"),
        (retrieval_event(1, "refunds"), ("retrieval.search", {"query": "refund"}), "retrieval"),
        (human_event(1, "ok?"), ("human.ask", {"question": "really?"}), "human"),
        (human_event(1, "ok?"), ("retrieval.search", {"query": "refunds"}), "retrieval"),
    ],
)
def test_retrieval_and_human_misses_have_their_own_kind(event: Any, request_: Any, kind: str) -> None:
    observed = run(fixture([event]), [request_])
    assert outcome_of(observed) == ("diverged", kind, 1)
    assert observed.first_divergence is not None
    assert not observed.first_divergence.message.endswith(", at ")


def test_absent_and_null_retrieval_parameters_are_one() -> None:
    recording = fixture([retrieval_event(1, "refunds")])
    assert run(recording, [("retrieval.search", {"query": "refunds", "parameters": None})]).status == "completed"


def test_a_model_call_where_a_tool_event_stands_is_order() -> None:
    recording = fixture([tool_event(1, "look"), model_event(2, {"messages": []})], serving=SERVING)
    assert outcome_of(run(recording, [model({"messages": []})])) == ("diverged", "order", 1)
    assert outcome_of(run(recording, [model({"messages": ["other"]})])) == ("diverged", "order", 1)


@pytest.mark.parametrize("asked", [("human.ask", {"question": {}}), ("retrieval.search", {"query": {}}), call("", {})])
def test_an_event_answers_only_its_own_boundary(asked: Any) -> None:
    recording = fixture([model_event(1, {}), human_event(2, {"query": {}, "parameters": None})], serving=SERVING)
    assert run(recording, [asked]).status == "diverged"
    assert run(recording, [model({}), ("retrieval.search", {"query": {}})]).status == "diverged"


def test_tool_arguments_have_no_tolerance_even_if_they_look_like_a_prompt() -> None:
    words = "one two three four five six seven eight nine "
    recording = fixture([tool_event(1, "send", {"messages": [words + "ten"]})])
    assert outcome_of(run(recording, [call("send", {"messages": [words + "eleven"]})])) == ("diverged", "arguments", 1)


def test_a_model_call_where_the_recording_has_none_at_all_is_exhausted() -> None:
    assert outcome_of(run(fixture([]), [model({})], serving=None)) == ("exhausted", "model_exhausted", None)


def test_more_model_calls_than_recorded_exhaust_the_recording() -> None:
    recording = fixture([model_event(1, {"messages": []})], serving=SERVING)
    told = outcome_of(run(recording, [model({"messages": []})] * 2))
    assert told == ("exhausted", "model_exhausted", None)


def test_a_miss_is_never_answered_by_the_event_that_explains_it() -> None:
    assert replies(PAIR, [LOOK, SHIP_B])[0] == Answer({"value": {"from": 1}})
    observation = run(PAIR, [LOOK, SHIP_B])
    assert [(made.seq, made.answered) for made in observation.calls] == [(1, True), (None, False)]


# Groups

GROUP = fixture(
    [
        tool_event(1, "look", {"id": 1}, group="g"),
        tool_event(2, "look", {"id": 2}, group="g"),
        tool_event(3, "look", {"id": 1}, group="g"),
        tool_event(4, "pay"),
    ]
)


def test_members_of_a_group_answer_in_any_order_each_once_and_twins_in_recorded_order() -> None:
    asked = [call("look", {"id": 2}), call("look", {"id": 1}), call("look", {"id": 1.0}), call("pay")]
    assert [reply.result["value"]["from"] for reply in replies(GROUP, asked) if isinstance(reply, Answer)] == [
        2,
        1,
        3,
        4,
    ]


def test_a_group_member_missing_at_the_barrier_is_order() -> None:
    observation = run(GROUP, [call("look", {"id": 1}), call("look", {"id": 2}), call("pay")])
    assert outcome_of(observation) == ("diverged", "order", 3)


def test_a_member_asked_for_before_its_group_is_order() -> None:
    recording = fixture([tool_event(1, "pay"), tool_event(2, "a", group="g"), tool_event(3, "b", group="g")])
    assert outcome_of(run(recording, [call("b")])) == ("diverged", "order", 1)


def test_neighbouring_groups_do_not_mix() -> None:
    recording = fixture([tool_event(1, "a", group="g"), tool_event(2, "b", group="g"), tool_event(3, "c", group="h")])
    assert outcome_of(run(recording, [call("a"), call("c")])) == ("diverged", "order", 2)


def test_a_call_beyond_the_multiset_diverges() -> None:
    observation = run(GROUP, [call("look", {"id": 2})] * 2)
    assert outcome_of(observation)[:2] == ("diverged", "arguments")
    assert divergence(observation).nearest == {"seq": 2, "tool": "look", "why": "already consumed", "differences": []}


def test_an_unmatched_group_call_is_explained_by_the_closest_member_left() -> None:
    recording = fixture(
        [tool_event(1, "ship", {"a": 1, "b": 1}, group="g"), tool_event(2, "ship", {"a": 2, "b": 2}, group="g")]
    )
    found = divergence(run(recording, [call("ship", {"a": 2, "b": 3})]))
    assert (found.kind, found.seq, found.pointer) == ("arguments", 2, "/b")


def test_a_call_that_fits_a_member_exactly_does_not_use_up_a_lenient_one() -> None:
    lenient = {"match": {"ignore": ["/note"]}}
    recording = fixture(
        [
            tool_event(1, "t", {"x": 1, "note": "a"}, group="g", **lenient),
            tool_event(2, "t", {"x": 1, "note": "b"}, group="g"),
        ]
    )
    asked = [call("t", {"x": 1, "note": "b"}), call("t", {"x": 1, "note": "other"})]
    assert run(recording, asked).status == "completed"


def test_of_two_equal_members_the_strict_one_goes_first() -> None:
    lenient = {"match": {"ignore": ["/note"]}}
    recording = fixture(
        [
            tool_event(1, "t", {"x": 1, "note": "b"}, group="g", **lenient),
            tool_event(2, "t", {"x": 1, "note": "b"}, group="g"),
        ]
    )
    asked = [call("t", {"x": 1, "note": "b"}), call("t", {"x": 1, "note": "other"})]
    assert [made.seq for made in run(recording, asked).calls] == [2, 1]


def test_random_values_between_members_do_not_split_a_group() -> None:
    recording = fixture([tool_event(1, "a", group="g"), random_event(2, "r", 1), tool_event(3, "b", group="g")])
    assert run(recording, [call("b"), call("a")]).status == "completed"


def test_an_optional_member_may_be_missing_at_the_barrier() -> None:
    recording = fixture(
        [tool_event(1, "a", group="g"), tool_event(2, "b", group="g", optional=True), tool_event(3, "c")]
    )
    observation = run(recording, [call("a"), call("c")])
    assert (observation.status, observation.optional_skipped) == ("completed", (2,))


# Optional events

OPTIONAL = fixture([tool_event(1, "a"), tool_event(2, "log", optional=True), tool_event(3, "b")])


def test_an_optional_event_answers_when_it_is_asked_for() -> None:
    observation = run(OPTIONAL, [call("a"), call("log"), call("b")])
    assert (observation.status, observation.optional_skipped) == ("completed", ())


def test_an_optional_event_is_passed_over_and_recorded() -> None:
    observation = run(OPTIONAL, [call("a"), call("b")])
    assert (observation.status, observation.optional_skipped, observation.unconsumed) == ("completed", (2,), ())


def test_a_passed_over_event_is_gone_and_asking_late_is_order() -> None:
    observation = run(OPTIONAL, [call("a"), call("b"), call("log")])
    assert outcome_of(observation) == ("diverged", "order", None)
    assert divergence(observation).nearest == {"seq": 2, "tool": "log", "why": "passed over", "differences": []}


def test_a_required_event_is_never_passed_over() -> None:
    assert outcome_of(run(OPTIONAL, [call("log")])) == ("diverged", "order", 1)


def test_trailing_optional_events_are_skipped_not_left_over() -> None:
    observation = run(fixture([tool_event(1, "a"), tool_event(2, "log", optional=True)]), [call("a")])
    assert (observation.status, observation.optional_skipped, observation.unconsumed) == ("completed", (2,), ())


# Horizon

TRIMMED = fixture([tool_event(1, "a"), tool_event(2, "log", optional=True)], horizon=True)


def test_past_the_horizon_the_next_tool_call_decides_the_run_and_crosses() -> None:
    observation = run(TRIMMED, [call("a"), call("refund", {"id": 1})])
    assert (observation.status, observation.first_divergence) == ("decided", None)
    last = observation.calls[-1]
    assert (last.crossing, last.answered, last.seq, last.params["tool"]) == (True, False, None, "refund")


@pytest.mark.parametrize(
    "past",
    [model({}), ("retrieval.search", {"query": "q"}), ("human.ask", {"question": "q"})],
    ids=lambda past: past[0],
)
def test_past_the_horizon_another_boundary_decides_without_crossing(past: Any) -> None:
    observation = run(TRIMMED, [call("a"), past])
    assert observation.status == "decided"
    assert [made.crossing for made in observation.calls] == [False, False]


def test_before_the_horizon_a_wrong_call_diverges() -> None:
    assert outcome_of(run(TRIMMED, [call("refund")])) == ("diverged", "unexpected_tool", 1)


def test_clock_and_random_never_cross_the_horizon() -> None:
    observation = run(TRIMMED, [call("a"), ("clock.now", {}), ("clock.now", {}), FINISH], finish=False)
    assert observation.status == "completed"
    assert outcome_of(run(TRIMMED, [call("a"), ("random.draw", {"name": "r"})])) == ("diverged", "extra_call", None)


# Ignore rules and declared gaps


def test_an_ignored_place_is_not_compared_and_counted() -> None:
    recording = fixture([tool_event(1, "t", {"id": 1, "trace": {"a": 1, "b": 2}}, match={"ignore": ["/trace"]})])
    made = run(recording, [call("t", {"id": 1, "trace": {"a": 9}})]).calls[0]
    assert (made.seq, made.ignored, made.compared, made.ignored_leaves) == (1, ("/trace",), 1, 2)


@pytest.mark.parametrize("received", [{"id": 1}, {"id": 1, "trace": [1, 2, 3]}])
def test_an_ignored_place_may_be_absent_or_larger(received: Any) -> None:
    recording = fixture([tool_event(1, "t", {"id": 1, "trace": 5}, match={"ignore": ["/trace"]})])
    assert run(recording, [call("t", received)]).status == "completed"


def test_a_rule_inside_another_counts_its_leaves_once() -> None:
    recording = fixture([tool_event(1, "t", {"id": 1, "a": {"b": 1, "c": 2}}, match={"ignore": ["/a/b", "/a"]})])
    made = run(recording, [call("t", {"id": 1, "a": {"b": 3, "c": 4}})]).calls[0]
    assert (made.ignored, made.compared, made.ignored_leaves) == (("/a",), 1, 2)


def test_an_ignore_rule_hides_nothing_beside_its_pointer() -> None:
    recording = fixture([tool_event(1, "t", {"id": 1, "a": {"trace": 5}}, match={"ignore": ["/trace"]})])
    found = divergence(run(recording, [call("t", {"id": 1, "a": {"trace": 6}})]))
    assert (found.kind, found.pointer) == ("arguments", "/a/trace")


def test_leaves_compared_are_counted_where_nothing_is_ignored() -> None:
    made = run(fixture([tool_event(1, "t", {"a": [1, 2], "b": {}})]), [call("t", {"a": [1, 2], "b": {}})]).calls[0]
    assert (made.compared, made.ignored, made.ignored_leaves) == (3, (), 0)


def test_a_declared_gap_is_not_compared_and_counted() -> None:
    gap = [{"pointer": "/events/0/arguments/body", "cost": "the body is unknown"}]
    recording = fixture([tool_event(1, "t", {"id": 1, "body": None})], missing=gap)
    made = run(recording, [call("t", {"id": 1, "body": "text"})]).calls[0]
    assert (made.seq, made.compared, made.ignored, made.ignored_leaves) == (1, 1, ("/body",), 1)


def test_a_part_that_a_person_declared_is_compared() -> None:
    gap = [{"pointer": "/events/0/arguments/body", "cost": "supplied", "declared": True}]
    recording = fixture([tool_event(1, "t", {"id": 1, "body": "text"})], missing=gap)
    assert outcome_of(run(recording, [call("t", {"id": 1, "body": "other"})])) == ("diverged", "arguments", 1)


# Generated ids

KEY = {"match": {"generated": ["/key"]}}


def keyed(*keys: Any, **more: Any) -> Any:
    return fixture([tool_event(n, "ship", {"key": key}, **KEY, **more) for n, key in enumerate(keys, 1)])


def ship(*keys: Any) -> list[Any]:
    return [call("ship", {"key": key}) for key in keys]


@pytest.mark.parametrize("keys", [("n1", "n1", "n2"), ("k1", "k1", "k2"), ("k2", "k2", "k1")])
def test_generated_ids_are_compared_by_first_appearance(keys: Any) -> None:
    assert run(keyed("k1", "k1", "k2"), ship(*keys)).status == "completed"


@pytest.mark.parametrize(("keys", "seq"), [(("n1", "n2", "n3"), 2), (("n1", "n1", "n1"), 3)])
def test_the_same_id_and_another_id_stay_true(keys: Any, seq: int) -> None:
    assert outcome_of(run(keyed("k1", "k1", "k2"), ship(*keys))) == ("diverged", "arguments", seq)


def test_an_early_call_with_an_id_of_its_own_is_order() -> None:
    recording = fixture([tool_event(1, "look"), tool_event(2, "ship", {"key": "k1"}, **KEY)])
    assert outcome_of(run(recording, ship("n1"))) == ("diverged", "order", 1)


def test_undeclared_ids_compare_exactly() -> None:
    recording = fixture([tool_event(1, "ship", {"key": "k1", "id": "i1"}, **KEY)])
    assert outcome_of(run(recording, [call("ship", {"key": "n1", "id": "i2"})])) == ("diverged", "arguments", 1)


@pytest.mark.parametrize(
    "given", [{"input": {"key": "k1"}}, {"identity": {"subject": "k1"}}, {"input": "order k1, please"}]
)
def test_an_id_of_input_or_identity_is_not_generated(given: Any) -> None:
    recording = fixture([tool_event(1, "ship", {"key": "k1"}, **KEY)], **given)
    assert outcome_of(run(recording, ship("n1"))) == ("diverged", "arguments", 1)
    assert run(recording, ship("k1")).status == "completed"


def test_an_id_seen_in_an_earlier_answer_is_not_generated() -> None:
    recording = fixture([tool_event(1, "make", value={"id": "k1"}), tool_event(2, "ship", {"key": "k1"}, **KEY)])
    assert outcome_of(run(recording, [call("make"), *ship("n1")])) == ("diverged", "arguments", 2)
    assert run(recording, [call("make"), *ship("k1")]).status == "completed"


def test_an_id_from_an_answer_cannot_stand_for_a_generated_one() -> None:
    recording = fixture([tool_event(1, "make", value={"id": "seen"}), tool_event(2, "ship", {"key": "k1"}, **KEY)])
    assert outcome_of(run(recording, [call("make"), *ship("seen")])) == ("diverged", "arguments", 2)


def test_an_id_that_was_generated_before_an_answer_repeats_it_stays_generated() -> None:
    recording = fixture(
        [tool_event(1, "ship", {"key": "k1"}, value={"key": "k1"}, **KEY), tool_event(2, "ship", {"key": "k1"}, **KEY)]
    )
    assert run(recording, ship("n1", "n1")).status == "completed"
    assert outcome_of(run(recording, ship("n1", "n2"))) == ("diverged", "arguments", 2)


def test_a_recorded_random_value_is_not_a_generated_id_whenever_it_is_drawn() -> None:
    recording = fixture([tool_event(1, "ship", {"key": "r1"}, **KEY), random_event(2, "r", "r1")])
    assert outcome_of(run(recording, ship("n1"))) == ("diverged", "arguments", 1)


@pytest.mark.parametrize(
    ("recorded", "received"),
    [("k1", 5), ("k1", True), ("k1", None), ("k1", ["n1"]), (7, True), (True, False), (7, "7")],
)
def test_a_generated_id_keeps_its_type(recorded: Any, received: Any) -> None:
    assert outcome_of(run(keyed(recorded), ship(received))) == ("diverged", "arguments", 1)


def test_numbers_may_be_generated_ids() -> None:
    assert run(keyed(7, 7, 8), ship(70, 70, 80)).status == "completed"


def test_a_generated_id_that_is_absent_differs() -> None:
    assert outcome_of(run(keyed("k1"), [call("ship", {})])) == ("diverged", "arguments", 1)


def test_two_generated_ids_in_one_call_keep_their_relation() -> None:
    both = {"match": {"generated": ["/a", "/b"]}}
    recording = fixture([tool_event(1, "t", {"a": "k", "b": "k"}, **both)])
    assert run(recording, [call("t", {"a": "n", "b": "n"})]).status == "completed"
    assert outcome_of(run(recording, [call("t", {"a": "n", "b": "m"})])) == ("diverged", "arguments", 1)
    recording = fixture([tool_event(1, "t", {"a": "k", "b": "j"}, **both)])
    assert run(recording, [call("t", {"a": "n", "b": "m"})]).status == "completed"
    assert outcome_of(run(recording, [call("t", {"a": "n", "b": "n"})])) == ("diverged", "arguments", 1)


def test_in_a_group_an_id_that_is_bound_selects_its_own_member() -> None:
    recording = fixture(
        [
            *(tool_event(n, "open", {"key": key}, **KEY) for n, key in ((1, "k1"), (2, "k2"))),
            *(tool_event(n, "ship", {"key": key}, group="g", **KEY) for n, key in ((3, "k1"), (4, "k2"))),
        ]
    )
    asked = [call("open", {"key": "n1"}), call("open", {"key": "n2"}), *ship("n2", "n1")]
    assert [made.seq for made in run(recording, asked).calls] == [1, 2, 4, 3]


# Alternatives


def retry(**more: Any) -> Any:
    """The recorded retry dropped its key; the right one keeps it."""
    return fixture(
        [
            tool_event(1, "ship", {"key": "k1"}, **KEY),
            tool_event(2, "ship", {"key": "k2"}, **KEY, alternatives=[alternative("ship", {"key": "k1"}, **more)]),
            tool_event(3, "count", value=2),
        ]
    )


def test_an_alternative_answers_its_own_outcome_and_is_recorded() -> None:
    observation = run(retry(), [*ship("n1", "n1"), call("count")])
    assert observation.status == "completed"
    assert [(made.seq, made.alternative) for made in observation.calls] == [(1, None), (2, 0), (3, None)]
    assert replies(retry(), ship("n1", "n1"))[1] == Answer({"value": "alternative"})


def test_the_recorded_call_goes_before_the_alternative() -> None:
    assert [made.alternative for made in run(retry(), [*ship("n1", "n2"), call("count")]).calls] == [None] * 3


def test_then_gives_later_events_their_outcome_once_the_alternative_was_used() -> None:
    recording = retry(then={"3": {"type": "result", "value": 1}})
    assert replies(recording, [*ship("n1", "n1"), call("count")])[-1] == Answer({"value": 1})
    assert replies(recording, [*ship("n1", "n2"), call("count")])[-1] == Answer({"value": 2})


def test_an_alternative_is_exact_even_where_the_event_ignores() -> None:
    recording = fixture(
        [
            tool_event(
                1, "a", {"x": 1, "note": 1}, match={"ignore": ["/note"]}, alternatives=[alternative("b", {"note": 1})]
            )
        ]
    )
    assert run(recording, [call("b", {"note": 1})]).status == "completed"
    assert outcome_of(run(recording, [call("b", {"note": 2})])) == ("diverged", "arguments", 1)
    assert outcome_of(run(recording, [call("c", {"note": 1})])) == ("diverged", "unexpected_tool", 1)


def test_an_alternative_stands_only_at_its_place() -> None:
    recording = fixture([tool_event(1, "a"), tool_event(2, "b", alternatives=[alternative("c", {})])])
    assert outcome_of(run(recording, [call("c")]))[:2] == ("diverged", "unexpected_tool")
    assert run(recording, [call("a"), call("c")]).status == "completed"


def test_an_alternative_inside_a_group_takes_its_members_place() -> None:
    recording = fixture(
        [tool_event(1, "a", group="g"), tool_event(2, "b", group="g", alternatives=[alternative("c", {})])]
    )
    assert [made.seq for made in run(recording, [call("c"), call("a")]).calls] == [2, 1]
