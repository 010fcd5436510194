"""The client: a workflow that crosses every boundary, and what it may hold on to when the supervisor falls silent."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.harness import wire
from replaycases.harness.session import Session
from replaycases.harness.wire import HALTED_EXIT, ToolError, Wire
from replaycases.replay.sandbox.base import Limits, Tier
from replaycases.replay.supervisor import replay_once
from tests.harness.loops import finished
from tests.replay.implementations import sandbox, workflow

SERVING = {"provider": "p", "requested_model": "m", "api_version": "1", "settings": {"temperature": 0}}
EVENTS: list[dict[str, Any]] = [
    {"boundary": "clock", "now": "2025-03-30T01:00:00+00:00"},
    {"boundary": "retrieval", "query": "refund rules", "parameters": {"k": 1}, "chunks": [{"id": "c1", "text": "No."}]},
    {"boundary": "model", "request": {"messages": [{"role": "user", "content": "Hi"}]}, "response": {"text": "pay"}},
    {"boundary": "random", "name": "key", "value": "k-1"},
    {
        "boundary": "tool",
        "attempt": "a1",
        "tool": "pay",
        "arguments": {"key": "k-1"},
        "outcome": {"type": "result", "value": [1, 2.5, "ü"]},
    },
    {"boundary": "human", "question": {"ask": "close?"}, "decision": {"close": True}},
]
CROSSES_EVERYTHING = """
seen = [session.input, session.identity, session.locale, session.time_zone, session.workflow_version]
seen.append(session.clock.now().isoformat())
seen.append(session.retrieval.search("refund rules", {"k": 1}))
seen.append(session.model.call({"messages": [{"role": "user", "content": "Hi"}]}, SERVING))
key = session.random.draw("key")
seen.append(session.tools.call("pay", {"key": key}, call_id="call-7"))
seen.append(session.human.ask({"ask": "close?"}))
import json
sys.stderr.write(json.dumps(seen))
session.finish("Paid.", status="closed", action="pay", claims=["paid"], authorization="allow", structured={"n": 1})
"""


def every_boundary() -> Fixture:
    claim = {"id": "lost", "statement": "It is lost.", "detect": {"any": ["lost"]}}
    document = {
        "schema_version": "2.0",
        "case_id": "RC-2",
        "incident_id": "INC-2",
        "workflow_version": "1.4.0",
        "prompt_version": "7",
        "frozen_at": "2025-03-30T00:59:59+00:00",
        "locale": "de-DE",
        "time_zone": "Europe/Berlin",
        "serving": SERVING,
        "input": {"order": "O-1"},
        "identity": {"subject": "customer-1"},
        "events": [{"seq": seq} | event for seq, event in enumerate(EVENTS, 1)],
        "expected": {
            "prohibited_claims": [claim],
            "status": {"id": "status", "one_of": ["closed"]},
            "boundary": ["lost"],
        },
    }
    return load_fixture(json.dumps(document).encode())


@pytest.fixture(scope="module")
def tier() -> Tier:
    return sandbox()


@pytest.mark.parametrize("clock", ["injected", "frozen"])
def test_a_workflow_crosses_every_boundary(tier: Tier, tmp_path: Path, clock: str) -> None:
    agent = workflow(tmp_path, f"SERVING = {SERVING!r}\n{CROSSES_EVERYTHING}", serving=SERVING, clock=clock)
    manifest = replay_once(every_boundary(), agent, tier=tier, limits=Limits(wall_seconds=10))
    assert (manifest.status, manifest["reason"], manifest.boundary_passed) == ("completed", "", True)
    assert json.loads(manifest["stderr"]) == [
        {"order": "O-1"},
        {"subject": "customer-1"},
        "de-DE",
        "Europe/Berlin",
        "1.4.0",
        "2025-03-30T01:00:00+00:00",
        [{"id": "c1", "text": "No."}],
        {"text": "pay"},
        [1, 2.5, "ü"],
        {"close": True},
    ]
    assert manifest["raw_outcome"] == {
        "message": "Paid.",
        "status": "closed",
        "action": "pay",
        "claims": ["paid"],
        "authorization": "allow",
        "structured": {"n": 1},
    }


def answering(channel: socket.socket, answers: list[dict[str, Any]]) -> threading.Thread:
    """A peer that answers each line in turn, with the id that was asked."""

    def serve() -> None:
        with channel, channel.makefile("rwb") as stream:
            for answer in answers:
                asked = json.loads(stream.readline())
                stream.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}).encode() + b"\n")
                stream.flush()

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def test_a_recorded_error_keeps_kind_and_message() -> None:
    ours, theirs = socket.socketpair()
    error = {"code": 1, "message": "no answer", "data": {"kind": "timeout", "message": "no answer"}}
    peer = answering(theirs, [{"error": error}, {"result": {"value": 1}}])
    with ours:
        client = Wire(ours.fileno())
        with pytest.raises(ToolError) as raised:
            client.request("tool.call", {})
        assert (raised.value.kind, raised.value.message, str(raised.value)) == ("timeout", "no answer", "no answer")
        assert client.request("tool.call", {}) == {"value": 1}
    peer.join()


def test_tasks_that_wait_at_once_send_their_calls_in_turns_and_get_their_own_answers() -> None:
    start = dict.fromkeys(("input", "identity", "locale", "time_zone", "workflow_version", "policies", "templates"))
    error = {"code": 1, "message": "no", "data": {"kind": "declined", "message": "no"}}
    told = [{"value": 0}, {"response": 1}, {"chunks": [2]}, {"decision": 3}]
    ours, theirs = socket.socketpair()
    peer = answering(theirs, [{"result": one} for one in (start, *told)] + [{"error": error}])

    async def first(session: Session) -> list[Any]:
        return [await session.tools.acall("pay", {}), await session.retrieval.asearch("q")]

    async def second(session: Session) -> list[Any]:
        return [await session.model.acall({}), await session.human.aask("?")]

    async def both(session: Session) -> None:
        assert await asyncio.gather(first(session), second(session)) == [[0, [2]], [1, 3]]
        with pytest.raises(session.ToolError, match="no"):
            await session.tools.acall("pay", {})

    with ours:
        finished(both(Session(Wire(ours.fileno()))))
    peer.join()


def test_threads_take_turns_on_the_wire() -> None:
    ours, theirs = socket.socketpair()
    peer = answering(theirs, [{"result": {"value": "x" * 100_000}}] * 40)
    with ours:
        client = Wire(ours.fileno())
        found: list[int] = []
        ask = lambda: found.extend(len(client.request("clock.now", {})["value"]) for _ in range(10))  # noqa: E731
        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    peer.join()
    assert found == [100_000] * 40


def test_silence_ends_the_process_whatever_the_workflow_catches() -> None:
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from harness.wire import Wire
try:
    Wire(int(sys.argv[2])).request("tool.call", {})
finally:
    print("went on")
"""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-c", code, str(Path(wire.__file__).parents[1]), str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, text=True)
        theirs.close()
        ours.recv(1)
        ours.close()
        assert process.communicate()[0] == ""
    assert process.returncode == HALTED_EXIT


def test_what_is_no_json_is_the_workflows_own_mistake() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        client = Wire(ours.fileno())
        with pytest.raises(ValueError, match="JSON compliant"):
            client.request("tool.call", {"arguments": {"amount": float("nan")}})
        with pytest.raises(TypeError):
            client.request("tool.call", {"arguments": {"when": object()}})
        os.set_blocking(theirs.fileno(), False)
        with pytest.raises(BlockingIOError):
            theirs.recv(1)
