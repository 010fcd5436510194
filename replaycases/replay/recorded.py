"""The recorded run itself, judged as a replay would be: would the incident be seen as one?

The fixture's own events are asked of a session in their order, so that checks read what they read of any run. What no
trace holds (what the workflow reported besides its message, how its process ended) stays unknown: what depends on it is
undetermined.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from replaycases.fixture.model import Check, Event, Fixture
from replaycases.replay.ending import Ended
from replaycases.replay.session import ReplaySession
from replaycases.verdict.checks import evaluate
from replaycases.verdict.observation import GOT_THROUGH, Observation
from replaycases.verdict.rulings import CheckResult

Asked = tuple[str, Mapping[str, Any]]
BREAKS_OFF = "the recording breaks off before this is decided"
NOT_REPORTED = "a trace does not hold what the workflow reported besides its message"
NO_PROCESS = "a trace does not say how the process ended"


def judge_recording(
    fixture: Fixture, *, message: str | None, past: Asked | None = None, whole: bool
) -> tuple[CheckResult, ...]:
    """One result for each check. `message` is the run's last one, None where the recording holds none. `whole`: the run
    ended where the recording does. `past` is the first request after a horizon, as (method, params)."""
    observation = observe_recording(fixture, message=message, past=past, whole=whole)
    return tuple(
        _as_known(check, result, observation, message)
        for check, result in zip(fixture.checks, evaluate(fixture, observation), strict=True)
    )


def observe_recording(fixture: Fixture, *, message: str | None, past: Asked | None, whole: bool) -> Observation:
    """The clock counts as frozen: whatever it said, this is what happened."""
    session = ReplaySession(fixture, serving=fixture.serving or {}, clock="frozen")
    session.handle("session.start", {"protocol": 1})
    for event in fixture.events:
        session.handle(*_asked(event))
    if fixture.horizon:
        if past is not None:
            session.handle(*past)
        return session.observe(ended=Ended(cause="cancelled", reason=BREAKS_OFF))
    if not whole:
        return session.observe(ended=Ended(cause="cancelled", reason=BREAKS_OFF))
    used = [{k: policy[k] for k in ("name", "version", "sha256")} for policy in fixture.policies]
    session.handle("finish", {"message": message, "policies_used": used or None})
    return session.observe(ended=Ended(cause="exit", exit_status=0))


def _asked(event: Event) -> Asked:
    match event.boundary:
        case "tool":
            return "tool.call", {"tool": event.tool, "arguments": event.arguments}
        case "model":
            return "model.call", {"request": event.request}
        case "retrieval":
            parameters = {} if event.parameters is None else {"parameters": event.parameters}
            return "retrieval.search", {"query": event.query, **parameters}
        case "human":
            return "human.ask", {"question": event.question}
        case "clock":
            return "clock.now", {}
        case "random":
            return "random.draw", {"name": event.name}


def _as_known(check: Check, result: CheckResult, observation: Observation, message: str | None) -> CheckResult:
    """The result, or undetermined where it rests on what no trace holds."""
    why = next(_doubts(check, message), None)
    if why is not None:
        return replace(result, result="undetermined", observed=why, pointers=())
    if result.result == "undetermined" and observation.status not in GOT_THROUGH:
        return replace(result, observed=observation.reason or BREAKS_OFF)
    return result


def _doubts(check: Check, message: str | None) -> Iterator[str]:
    if check.kind == "run_status":
        yield NO_PROCESS
    if check.kind in ("status", "action"):
        yield NOT_REPORTED
    if check.kind == "relations" and any(_is_unknown(pointer) for pointer in check.spec["pointers"]):
        yield NOT_REPORTED
    if check.kind == "schema" and "outcome" in json.dumps(check.spec["schema"]):
        yield NOT_REPORTED
    if check.kind == "citations" and str(check.spec["chunk"]) not in (message or ""):
        yield NOT_REPORTED


def _is_unknown(pointer: str) -> bool:
    return pointer in ("", "/outcome") or (pointer.startswith("/outcome/") and pointer != "/outcome/message")
