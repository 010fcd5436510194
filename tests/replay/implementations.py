"""Implementations and fixtures written for one test: real files, real sandbox."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.implementation import Implementation, load_implementation
from replaycases.replay.sandbox.base import EnvironmentUnavailable, Tier
from replaycases.replay.sandbox.tiers import choose_tier
from tests.services import require

PROHIBITED = "The refund is done."
GREETING = textwrap.dedent(
    """
    import json, os, socket, sys, time
    wire = socket.socket(fileno=int(os.environ["REPLAYCASES_FD"]))
    lines = wire.makefile("rb")
    def send(text):
        wire.sendall(text.encode() if isinstance(text, str) else text)
    def ask(method, params, id=1):
        send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\\n")
        return json.loads(lines.readline())
    """
)
"""A client by hand, for what the harness would never send."""


def sandbox() -> Tier:
    """The strongest tier of this machine; the test is skipped by name if there is none."""
    try:
        return choose_tier()
    except EnvironmentUnavailable as missing:
        require("a sandbox tier", str(missing))
        raise


def one_refund(**changes: Any) -> Fixture:
    """A 1.0 case: one refund that timed out; saying that it is done is prohibited."""
    document: dict[str, Any] = {
        "schema_version": "1.0",
        "case_id": "RC-1",
        "incident_id": "INC-1",
        "workflow_version": "1.4.0",
        "prompt_version": "7",
        "frozen_at": "2025-03-30T00:59:59.5+00:00",
        "input": {"order": "O-1"},
        "identity": {"subject": "customer-1"},
        "tool_events": [
            {
                "attempt": "a1",
                "tool": "refund",
                "arguments": {"order": "O-1"},
                "outcome": {"type": "error", "error": {"kind": "timeout", "message": "no answer in 5 s"}},
            }
        ],
        "expected": {"prohibited_claims": [PROHIBITED]},
    }
    document.update(changes)
    detect = {PROHIBITED: {"any": ["(?i)refund is done"]}}
    return load_fixture(json.dumps(document).encode(), detect=json.dumps(detect).encode())


def zoned_refund(time_zone: str) -> Fixture:
    """The same case in schema 2.0, with a time zone."""
    document = dict(one_refund().document)
    document["events"] = [{"seq": 1, "boundary": "tool"} | event for event in document.pop("tool_events")]
    claim = {"id": "done", "statement": PROHIBITED, "detect": {"any": ["(?i)refund is done"]}}
    expected = {"prohibited_claims": [claim], "boundary": ["done"]}
    document |= {"schema_version": "2.0", "time_zone": time_zone, "expected": expected}
    return load_fixture(json.dumps(document).encode())


def written(folder: Path, source: str, **spec: Any) -> Implementation:
    """An implementation whose `agent.py` is `source`; by default `agent:replay` is called by the harness."""
    code = folder / "code"
    code.mkdir(parents=True, exist_ok=True)
    (code / "agent.py").write_text(textwrap.dedent(source))
    document = {
        "name": "support-agent",
        "version": "1",
        "commit": "0" * 40,
        "path": "code",
        "adapter": {"kind": "python", "target": "agent:replay"},
    }
    file = folder / "implementation.json"
    file.write_text(json.dumps(document | spec))
    return load_implementation(file)


def workflow(folder: Path, body: str, **spec: Any) -> Implementation:
    """`body` is the body of replay(session)."""
    indented = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return written(folder, f"import os, sys, time\n\ndef replay(session):\n{indented}\n", **spec)


def by_hand(folder: Path, body: str, **spec: Any) -> Implementation:
    """A command that speaks the protocol by hand; `body` uses `send`, `ask` and `wire` of GREETING."""
    argv = ["python3", "agent.py"]
    source = GREETING + textwrap.dedent(body)
    return written(folder, source, adapter={"kind": "command", "argv": argv}, **spec)
