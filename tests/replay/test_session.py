"""The protocol's turn-taking, the queues beside the script, and the status that a run ends with."""

from __future__ import annotations

from typing import Any

import pytest

from replaycases.replay.ending import Ended
from replaycases.replay.session import Answer, Halt, ReplaySession, ToolError
from tests.replay.factories import (
    EXIT_0,
    FINISH,
    HALTED,
    SERVING,
    call,
    clock_event,
    fixture,
    human_event,
    model,
    model_event,
    random_event,
    replies,
    retrieval_event,
    run,
    session,
    tool_event,
)

TWO = fixture([tool_event(1, "look", {"id": 1}), tool_event(2, "pay", {"id": 1})])
BOTH = [call("look", {"id": 1}), call("pay", {"id": 1})]


def fresh(recording: Any = TWO) -> ReplaySession:
    return ReplaySession(recording, serving=None, clock=None)


def test_session_start_hands_over_what_the_run_was_given_and_nothing_expected() -> None:
    recording = fixture(
        [],
        locale="de-DE",
        time_zone="Europe/Berlin",
        policies=[{"name": "p", "version": "1", "sha256": "a" * 64}],
        templates=[{"name": "t", "version": "1", "sha256": "b" * 64}],
    )
    assert fresh(recording).handle("session.start", {"protocol": 1}) == Answer(
        {
            "protocol": 1,
            "input": {"message": "help"},
            "identity": {"subject": "s1"},
            "locale": "de-DE",
            "time_zone": "Europe/Berlin",
            "workflow_version": "w1",
            "policies": [{"name": "p", "version": "1", "sha256": "a" * 64}],
            "templates": [{"name": "t", "version": "1", "sha256": "b" * 64}],
        }
    )


def test_recorded_results_and_errors_are_answered_in_order() -> None:
    error = {"type": "error", "error": {"kind": "timeout", "message": "no answer"}}
    recording = fixture([tool_event(1, "look", value=7), tool_event(2, "pay", outcome=error)])
    assert replies(recording, [call("look"), call("pay")]) == [
        Answer({"value": 7}),
        ToolError("timeout", "no answer"),
    ]


def test_every_other_boundary_answers_in_its_own_shape() -> None:
    chunk = {"id": "c1", "text": "rule"}
    recording = fixture(
        [
            model_event(1, {"messages": []}, {"text": "hi"}),
            retrieval_event(2, "refunds", [chunk]),
            human_event(3, "ok?", {"answer": "no"}),
        ],
        serving=SERVING,
    )
    asked = [model({"messages": []}), ("retrieval.search", {"query": "refunds"}), ("human.ask", {"question": "ok?"})]
    assert replies(recording, asked) == [
        Answer({"response": {"text": "hi"}}),
        Answer({"chunks": [chunk]}),
        Answer({"decision": {"answer": "no"}}),
    ]


def test_a_run_that_follows_the_recording_and_finishes_is_completed() -> None:
    observation = run(TWO, BOTH)
    assert (observation.status, observation.unconsumed, observation.first_divergence) == ("completed", (), None)
    assert [(made.seq, made.answered) for made in observation.calls] == [(1, True), (2, True)]
    assert observation.outcome == FINISH[1]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tool.list", {}),
        (None, {}),
        (["tool.call"], {}),
        ("tool.call", None),
        ("tool.call", []),
        ("tool.call", "look"),
        ("tool.call", {"tool": "look"}),
        ("tool.call", {"arguments": {}}),
        ("tool.call", {"tool": 1, "arguments": {}}),
        ("tool.call", {"tool": "look", "arguments": {}, "call_id": 1}),
        ("tool.call", {"tool": "look", "arguments": {}, "retry": True}),
        ("tool.call", {"tool": "look", "arguments": {"n": float("nan")}}),
        ("tool.call", {"tool": "look", "arguments": {"n": 2**53}}),
        ("tool.call", {"tool": "look", "arguments": {"n": "\ud800"}}),
        ("tool.call", {"tool": "look", "arguments": {1: 2}}),
        ("tool.call", {"tool": "look", "arguments": object()}),
        ("tool.call", {"tool": "lo\ud800k", "arguments": {}}),
        ("model.call", {"serving": {}}),
        ("model.call", {"request": {}, "serving": "m-1"}),
        ("retrieval.search", {}),
        ("human.ask", {}),
        ("clock.now", {"zone": "UTC"}),
        ("clock.now", []),
        ("finish", []),
        ("random.draw", {}),
        ("random.draw", {"name": None}),
        ("session.start", {"protocol": 1}),
        ("finish", {"message": 1}),
        ("finish", {"status": True}),
        ("finish", {"claims": "refunded"}),
        ("finish", {"claims": [1]}),
        ("finish", {"authorization": {}}),
        ("finish", {"passed": True}),
        ("finish", {"policies_used": {}}),
        ("finish", {"policies_used": [{"name": "p"}]}),
        ("finish", {"policies_used": [{"name": "p", "sha256": 1}]}),
        ("finish", {"policies_used": [{"name": "p", "sha256": "a", "approved": "yes"}]}),
    ],
)
def test_an_invalid_request_halts_as_adapter_error_with_a_reason(method: Any, params: Any) -> None:
    running = session(TWO)
    assert running.handle(method, params) == Halt()
    observation = running.observe(ended=HALTED)
    assert observation.status == "adapter_error"
    assert observation.reason
    assert observation.first_divergence is not None
    assert observation.first_divergence.kind == "adapter"
    assert observation.calls == ()


@pytest.mark.parametrize("protocol", [2, 0, "1", True, None, [1]])
def test_any_other_protocol_than_1_is_an_adapter_error(protocol: Any) -> None:
    running = fresh()
    assert running.handle("session.start", {"protocol": protocol}) == Halt()
    assert running.observe(ended=HALTED).status == "adapter_error"


def test_arguments_nested_beyond_any_reader_are_an_adapter_error_not_a_crash() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    running = session(TWO)
    assert running.handle("tool.call", {"tool": "look", "arguments": deep}) == Halt()
    assert running.observe(ended=HALTED).status == "adapter_error"


def test_a_request_before_session_start_is_an_adapter_error() -> None:
    running = fresh()
    assert running.handle(*call("look", {"id": 1})) == Halt()
    assert running.observe(ended=HALTED).status == "adapter_error"


@pytest.mark.parametrize("late", [FINISH, call("look", {"id": 1}), ("clock.now", {}), ("random.draw", {"name": "n"})])
def test_whatever_follows_finish_is_an_adapter_error(late: Any) -> None:
    running = session(TWO)
    for request in [*BOTH, FINISH]:
        running.handle(*request)
    assert running.handle(*late) == Halt()
    assert running.observe(ended=EXIT_0).status == "adapter_error"


def test_no_reason_or_message_repeats_a_value_of_the_request() -> None:
    for request in [
        ("finish", {"message": 4711}),
        ("tool.call", {"tool": "look", "arguments": {"n": float("inf")}, "x": "4711"}),
        call("look", {"id": 4711}),
    ]:
        observation = run(TWO, [request], finish=False)
        assert observation.first_divergence is not None
        assert "4711" not in observation.reason + observation.first_divergence.message


def test_after_a_halt_everything_halts_and_nothing_of_it_is_kept() -> None:
    running = session(TWO)
    assert running.handle(*call("pay", {"id": 9})) == Halt()
    before = running.observe(ended=HALTED)
    assert [running.handle(*request) for request in [*BOTH, FINISH, ("clock.now", {}), ("nonsense", 1)]] == [Halt()] * 5
    assert running.observe(ended=HALTED) == before


def test_observing_changes_nothing() -> None:
    running = session(TWO)
    running.handle(*BOTH[0])
    assert running.observe(ended=EXIT_0) == running.observe(ended=EXIT_0)
    running.handle(*BOTH[1])
    running.handle(*FINISH)
    assert running.observe(ended=EXIT_0).status == "completed"


def test_clock_reads_give_the_recorded_instants_and_then_the_last_one_again() -> None:
    recording = fixture([clock_event(1, "2026-03-29T01:59:00+01:00"), clock_event(2, "2026-03-29T03:00:00+02:00")])
    now = ["2026-03-29T01:59:00+01:00", "2026-03-29T03:00:00+02:00", "2026-03-29T03:00:00+02:00"]
    assert replies(recording, [("clock.now", {})] * 3) == [Answer({"now": instant}) for instant in now]


def test_without_clock_events_the_clock_stands_at_frozen_at() -> None:
    assert replies(TWO, [("clock.now", None), ("clock.now", {})]) == [Answer({"now": TWO.frozen_at})] * 2


def test_random_values_are_drawn_by_name_in_their_order() -> None:
    recording = fixture([random_event(1, "a", 1), random_event(2, "b", "x"), random_event(3, "a", 2)])
    drawn = replies(recording, [("random.draw", {"name": name}) for name in "aab"])
    assert drawn == [Answer({"value": 1}), Answer({"value": 2}), Answer({"value": "x"})]


@pytest.mark.parametrize(("draws", "why"), [(["a", "a"], "already consumed"), (["b"], "never recorded")])
def test_a_draw_that_was_not_recorded_halts_instead_of_inventing_a_value(draws: list[str], why: str) -> None:
    recording = fixture([random_event(1, "a", 1)], horizon=False)
    observation = run(recording, [("random.draw", {"name": name}) for name in draws])
    found = observation.first_divergence
    assert observation.status == "diverged"
    assert found is not None
    assert (found.kind, found.boundary, found.nearest and found.nearest["why"]) == ("extra_call", "random", why)


def test_clock_and_random_are_counted_apart_and_never_left_over() -> None:
    recording = fixture(
        [
            clock_event(1, "2026-03-29T01:59:00+01:00"),
            random_event(2, "a", 1),
            tool_event(3, "look"),
            random_event(4, "b", 1),
        ]
    )
    observation = run(recording, [("clock.now", {}), ("clock.now", {}), call("look"), ("random.draw", {"name": "b"})])
    assert observation.reads == {"clock": 2, "random": {"b": 1}}
    assert [made.boundary for made in observation.calls] == ["tool"]
    assert (observation.status, observation.unconsumed) == ("completed", ())


def test_left_over_events_keep_completed_and_are_listed() -> None:
    observation = run(TWO, BOTH[:1])
    assert (observation.status, observation.unconsumed) == ("completed", (2,))
    found = observation.first_divergence
    assert found is not None
    assert (found.kind, found.seq, found.pointer) == ("unconsumed", 2, "/events/1")


@pytest.mark.parametrize(
    ("ended", "status"),
    [
        (Ended(cause="exit", exit_status=1), "crashed"),
        (Ended(cause="exit", exit_status=None), "crashed"),
        (Ended(cause="timed_out"), "timed_out"),
        (Ended(cause="limit_exceeded"), "limit_exceeded"),
        (Ended(cause="cancelled"), "cancelled"),
        (Ended(cause="environment_unavailable"), "environment_unavailable"),
        (Ended(cause="adapter_error", reason="no JSON"), "adapter_error"),
        (Ended(cause="halted"), "adapter_error"),
        (Ended(cause="fell over"), "adapter_error"),
    ],
)
def test_after_finish_the_process_still_decides_and_hides_nothing_behind_left_overs(ended: Ended, status: str) -> None:
    running = session(TWO)
    running.handle(*FINISH)
    observation = running.observe(ended=ended)
    assert (observation.status, observation.unconsumed) == (status, ())
    assert observation.reason


def test_a_finish_within_reach_of_exit_0_is_what_completes() -> None:
    running = session(TWO)
    assert running.observe(ended=EXIT_0).status == "crashed"
    running.handle(*FINISH)
    assert running.finished
    assert running.observe(ended=EXIT_0).status == "completed"


def test_ending_before_session_start_is_an_adapter_error() -> None:
    observation = fresh().observe(ended=Ended(cause="exit", exit_status=0, stderr="ImportError"))
    assert (observation.status, observation.stderr, observation.exit_status) == ("adapter_error", "ImportError", 0)


def test_what_the_session_decided_stands_over_how_the_process_ended() -> None:
    running = session(TWO)
    running.handle(*call("pay", {"id": 2}))
    for ended in (EXIT_0, HALTED, Ended(cause="timed_out"), Ended(cause="cancelled")):
        assert running.observe(ended=ended).status == "diverged"


@pytest.mark.parametrize(
    ("clock", "observed"), [("frozen", "frozen"), ("injected", "injected"), (None, "uncontrolled")]
)
def test_the_observation_says_how_the_clock_was_controlled(clock: Any, observed: str) -> None:
    assert run(TWO, BOTH, clock=clock).clock == observed
