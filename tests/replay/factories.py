"""Small recordings and runs: events as the fixture format writes them, and a session driven to its observation."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.ending import Ended
from replaycases.replay.session import Halt, ReplaySession, Reply
from replaycases.verdict.observation import Observation

SERVING = {
    "provider": "acme",
    "requested_model": "m-1",
    "returned_model": "m-1-0101",
    "api_version": "v1",
    "settings": {"temperature": 0},
}
EXIT_0 = Ended(cause="exit", exit_status=0)
HALTED = Ended(cause="halted")

Request = tuple[str, dict[str, Any]]


def tool_event(seq: int, tool: str, arguments: Any = None, value: Any = None, **more: Any) -> dict[str, Any]:
    """A tool event that answers `value`; `outcome`, `match`, `group`, `alternatives` … go into `more`."""
    return {
        "seq": seq,
        "boundary": "tool",
        "attempt": f"a{seq}",
        "tool": tool,
        "arguments": {} if arguments is None else arguments,
        "outcome": {"type": "result", "value": {"from": seq} if value is None else value},
        **more,
    }


def model_event(seq: int, request: Any, response: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"seq": seq, "boundary": "model", "request": request, "response": response, **more}


def retrieval_event(seq: int, query: Any, chunks: Any = (), **more: Any) -> dict[str, Any]:
    return {"seq": seq, "boundary": "retrieval", "query": query, "chunks": list(chunks), **more}


def human_event(seq: int, question: Any, decision: Any = "yes", **more: Any) -> dict[str, Any]:
    return {"seq": seq, "boundary": "human", "question": question, "decision": decision, **more}


def clock_event(seq: int, now: str) -> dict[str, Any]:
    return {"seq": seq, "boundary": "clock", "now": now}


def random_event(seq: int, name: str, value: Any) -> dict[str, Any]:
    return {"seq": seq, "boundary": "random", "name": name, "value": value}


def alternative(tool: str, arguments: Any, value: Any = "alternative", **more: Any) -> dict[str, Any]:
    outcome = {"type": "result", "value": value}
    return {"tool": tool, "arguments": arguments, "outcome": outcome, "origin": "authored", **more}


def fixture(events: Iterable[dict[str, Any]], **more: Any) -> Fixture:
    """A valid 2.0 fixture with these events; its one check forbids a crash."""
    document = {
        "schema_version": "2.0",
        "case_id": "case-1",
        "incident_id": "inc-1",
        "workflow_version": "w1",
        "prompt_version": "p1",
        "frozen_at": "2026-03-29T01:30:00+01:00",
        "input": {"message": "help"},
        "identity": {"subject": "s1"},
        "events": list(events),
        "expected": {"run_status": {"id": "run", "forbid": ["crashed"]}, "boundary": ["run"]},
        **more,
    }
    return load_fixture(json.dumps(document).encode())


def call(tool: str, arguments: Any = None) -> Request:
    return "tool.call", {"tool": tool, "arguments": {} if arguments is None else arguments}


def model(request: Any, serving: Any = None) -> Request:
    return "model.call", {"request": request, "serving": serving}


FINISH: Request = ("finish", {"message": "done", "status": "done", "action": None, "authorization": None})


def recorded_requests(recording: Fixture) -> list[Request]:
    """The requests that the recorded run made, in order, without start and finish."""
    return [_request(event) for event in recording.events]


def _request(event: Any) -> Request:
    if event.boundary == "tool":
        return call(event.tool, event.arguments)
    if event.boundary == "model":
        return model(event.request)
    if event.boundary == "retrieval":
        return "retrieval.search", {"query": event.query, "parameters": event.parameters}
    if event.boundary == "human":
        return "human.ask", {"question": event.question}
    return ("clock.now", {}) if event.boundary == "clock" else ("random.draw", {"name": event.name})


def session(recording: Fixture, *, serving: Any = SERVING, clock: Any = "injected") -> ReplaySession:
    """A session whose `session.start` was answered."""
    started = ReplaySession(recording, serving=serving, clock=clock)
    started.handle("session.start", {"protocol": 1})
    return started


def replies(recording: Fixture, requests: Iterable[Request], **options: Any) -> list[Reply]:
    running = session(recording, **options)
    return [running.handle(method, params) for method, params in requests]


def run(recording: Fixture, requests: Iterable[Request], *, finish: bool = True, **options: Any) -> Observation:
    """The observation of a run that makes these requests, sends finish, and exits with 0 unless it was halted."""
    running = session(recording, **options)
    for method, params in [*requests, *([FINISH] if finish else [])]:
        if isinstance(running.handle(method, params), Halt):
            return running.observe(ended=HALTED)
    return running.observe(ended=EXIT_0)
