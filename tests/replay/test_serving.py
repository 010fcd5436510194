"""Serving: compared once and exactly, undeclared is stale, unknown leaves a trace."""

from __future__ import annotations

from typing import Any

import pytest

from replaycases.replay.session import Answer, Halt
from tests.replay.factories import SERVING, call, fixture, model, model_event, run, session, tool_event

REQUEST = {"messages": [{"role": "user", "content": "hi"}]}
RECORDED = fixture([model_event(1, REQUEST), model_event(2, REQUEST)], serving=SERVING)
UNKNOWN = fixture([model_event(1, REQUEST), model_event(2, REQUEST)])


def told(serving: Any, recording: Any = RECORDED, stated: Any = None) -> tuple[str, str | None, str | None]:
    observation = run(recording, [model(REQUEST, stated), model(REQUEST)], serving=serving)
    found = observation.first_divergence
    return observation.status, found and found.kind, found and found.pointer


def test_the_recorded_serving_is_answered_and_leaves_a_trace() -> None:
    observation = run(RECORDED, [model(REQUEST, SERVING), model(REQUEST)])
    assert observation.status == "completed"
    assert observation.serving == {"declared": SERVING, "recorded": SERVING, "compared": True}


def test_an_undeclared_serving_with_model_events_is_stale() -> None:
    assert told(None) == ("stale", "serving", "")
    assert told(None, stated=SERVING) == ("stale", "serving", "")
    assert told(None, UNKNOWN) == ("stale", "serving", "")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"provider": "other"}, "/provider"),
        ({"requested_model": "m-2"}, "/requested_model"),
        ({"api_version": None}, "/api_version"),
        ({"settings": {"temperature": False}}, "/settings/temperature"),
        ({"settings": {}}, "/settings/temperature"),
        ({"returned_model": "m-1-0202"}, "/returned_model"),
    ],
)
def test_a_changed_serving_is_stale_wherever_it_is_stated(change: Any, pointer: str) -> None:
    assert told({**SERVING, **change}) == ("stale", "serving", pointer)
    assert told(SERVING, stated={**SERVING, **change}) == ("stale", "serving", pointer)


def test_the_returned_model_counts_only_where_both_state_it() -> None:
    assert told({name: value for name, value in SERVING.items() if name != "returned_model"})[0] == "completed"


def test_settings_compare_canonically() -> None:
    assert told({**SERVING, "settings": {"temperature": 0.0}})[0] == "completed"


def test_a_later_call_on_another_model_is_stale_too() -> None:
    running = session(RECORDED)
    assert isinstance(running.handle(*model(REQUEST)), Answer)
    assert running.handle(*model(REQUEST, {**SERVING, "requested_model": "cheap"})) == Halt()


def test_an_unknown_recorded_serving_is_allowed_and_the_trace_says_so() -> None:
    observation = run(UNKNOWN, [model(REQUEST), model(REQUEST)])
    assert observation.status == "completed"
    assert observation.serving == {"declared": SERVING, "recorded": None, "compared": False}


def test_with_an_unknown_recorded_serving_a_call_still_keeps_to_the_declared_one() -> None:
    assert told(SERVING, UNKNOWN, stated={**SERVING, "requested_model": "m-2"}) == (
        "stale",
        "serving",
        "/requested_model",
    )


def test_a_part_declared_missing_is_not_compared_and_the_rest_is() -> None:
    gap = [{"pointer": "/serving/settings", "cost": "settings unknown"}]
    recording = fixture([model_event(1, REQUEST), model_event(2, REQUEST)], serving=SERVING, missing=gap)
    assert told({**SERVING, "settings": {"temperature": 1}}, recording)[0] == "completed"
    assert told({**SERVING, "requested_model": "m-2"}, recording)[0] == "stale"


def test_a_serving_declared_missing_as_a_whole_is_unknown() -> None:
    gap = [{"pointer": "/serving", "cost": "guessed from a log"}]
    recording = fixture([model_event(1, REQUEST)], serving=SERVING, missing=gap)
    observation = run(recording, [model(REQUEST)], serving={"requested_model": "m-2"})
    assert observation.status == "completed"
    assert observation.serving == {"declared": {"requested_model": "m-2"}, "recorded": None, "compared": False}


def test_a_stale_call_after_a_group_names_the_event_that_stands_there() -> None:
    recording = fixture([tool_event(1, "a", group="g"), tool_event(2, "b", group="g"), model_event(3, REQUEST)])
    observation = run(recording, [call("b"), call("a"), model(REQUEST)], serving=None)
    assert observation.first_divergence is not None
    assert observation.first_divergence.seq == 3


def test_a_serving_that_a_person_declared_is_compared() -> None:
    supplied = [{"pointer": "/serving", "cost": "supplied", "declared": True}]
    recording = fixture([model_event(1, REQUEST), model_event(2, REQUEST)], serving=SERVING, missing=supplied)
    assert told({**SERVING, "requested_model": "m-2"}, recording)[0] == "stale"


def test_a_stale_call_is_observed_unanswered_at_its_place() -> None:
    observation = run(RECORDED, [model(REQUEST)], serving=None)
    assert [(made.answered, made.seq) for made in observation.calls] == [(False, None)]
    assert observation.first_divergence is not None
    assert (observation.first_divergence.seq, observation.first_divergence.call) == (1, 0)


def test_without_model_events_serving_is_nobodys_business() -> None:
    observation = run(fixture([tool_event(1, "a")]), [("tool.call", {"tool": "a", "arguments": {}})], serving=None)
    assert (observation.status, observation.serving) == ("completed", None)


def test_a_model_call_past_the_horizon_decides_whatever_serves_it() -> None:
    request = {"messages": []}
    recording = fixture([model_event(1, request)], serving=SERVING, horizon=True)
    other = {**SERVING, "provider": "another"}
    assert run(recording, [model(request), model(request, serving=other)]).status == "decided"
    assert run(recording, [model(request, serving=other)]).status == "stale"
