"""Small fixtures, observations and facts for the verdict's tests."""

from __future__ import annotations

import json
from typing import Any

from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.verdict.checks import evaluate
from replaycases.verdict.manifest import SURFACES, RunFacts, RunSet
from replaycases.verdict.observation import Call, Observation

OLD = "sha256:" + "0" * 64
NEW = "sha256:" + "1" * 64


def tool_event(seq: int, tool: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "seq": seq,
        "boundary": "tool",
        "attempt": f"a{seq}",
        "tool": tool,
        "arguments": {} if arguments is None else arguments,
        "outcome": {"type": "result", "value": {"ok": seq}},
        **more,
    }


def effect(action: str, *, key: str | None = None, accepted: Any = True) -> dict[str, Any]:
    return {"action": action, "accepted": accepted} | ({"key": key} if key is not None else {})


def fixture_2(events: list[dict[str, Any]], expected: dict[str, Any], **more: Any) -> Fixture:
    document = {
        "schema_version": "2.0",
        "case_id": "case-1",
        "incident_id": "inc-1",
        "workflow_version": "w1",
        "prompt_version": "p1",
        "frozen_at": "2026-03-29T01:30:00+01:00",
        "input": {"message": "help"},
        "identity": {"subject": "s1"},
        "events": events,
        "expected": expected,
        **more,
    }
    return load_fixture(json.dumps(document).encode())


def fixture_1(prohibited: list[str], *, detect: dict[str, Any] | None = None, **expected: Any) -> Fixture:
    document = {
        "schema_version": "1.0",
        "case_id": "case-1",
        "incident_id": "inc-1",
        "workflow_version": "w1",
        "prompt_version": "p1",
        "frozen_at": "2026-03-29T01:30:00+01:00",
        "input": {"message": "help"},
        "identity": {"subject": "s1"},
        "tool_events": [{"attempt": "a1", "tool": "look", "arguments": {}, "outcome": {"type": "result", "value": 1}}],
        "expected": {"prohibited_claims": prohibited, **expected},
    }
    return load_fixture(json.dumps(document).encode(), detect=None if detect is None else json.dumps(detect).encode())


def call(tool: str, arguments: Any = None, *, seq: int | None = None, **more: Any) -> Call:
    params = {"tool": tool, "arguments": {} if arguments is None else arguments}
    return Call(boundary="tool", params=params, seq=seq, **more)


def crossing(tool: str, arguments: Any = None) -> Call:
    return call(tool, arguments, answered=False, crossing=True)


def model_call(seq: int | None = None, **more: Any) -> Call:
    return Call(boundary="model", params={"request": {}, "serving": {}}, seq=seq, **more)


def observed(*calls: Call, **more: Any) -> Observation:
    return Observation(**{"status": "completed", "calls": calls, "outcome": {}, "clock": "injected", **more})


def facts(*, digest: str = NEW, run_id: str = "run-1", index: int = 0, size: int = 2, **more: Any) -> RunFacts:
    values: dict[str, Any] = {
        "implementation": {"name": "agent", "version": "2", "commit": "c0ffee", "digest": digest},
        "isolation": {"tier": "bubblewrap"},
        "surfaces": {**dict.fromkeys(SURFACES, "controlled"), "network": "denied"},
        "run_id": run_id,
        "run_set": RunSet(id=f"set-{digest[-1]}", index=index, size=size),
        "started_at": "2026-03-29T00:30:00Z",
        "ended_at": "2026-03-29T00:30:01Z",
    }
    return RunFacts(**{**values, **more})


def result(fixture: Fixture, observation: Observation, check: str | None = None) -> str:
    """The result of one check, of the only one if none is named."""
    results = {item.id: item.result for item in evaluate(fixture, observation)}
    if check is None:
        (only,) = results.values()
        return only
    return results[check]
