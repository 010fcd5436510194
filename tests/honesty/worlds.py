"""The cases that the lies are told in. Each world is a fixture, an affected workflow that is red on it, and a fixed one
that is green: without that pair no other label would mean anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.replay.implementation import Implementation
from tests.honesty.court import Court, Lie

OK = {"type": "result", "value": {}}


def tool(seq: int, name: str, arguments: Any, outcome: Any = OK, **more: Any) -> dict[str, Any]:
    event = {"seq": seq, "boundary": "tool", "attempt": f"a{seq}", "tool": name, "arguments": arguments}
    return {**event, "outcome": outcome, **more}


def claim(name: str, *patterns: str) -> dict[str, Any]:
    return {"id": name, "statement": name, "detect": {"any": list(patterns)}}


def document(case_id: str, events: list[dict[str, Any]], expected: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "schema_version": "2.0",
        "case_id": case_id,
        "incident_id": "INC-1",
        "workflow_version": "1.4.0",
        "prompt_version": "7",
        "frozen_at": "2025-03-30T00:59:59+00:00",
        "input": {"order": "O-1"},
        "identity": {"subject": "customer-1"},
        "events": events,
        "expected": expected,
        **more,
    }


@dataclass(frozen=True, kw_only=True)
class World:
    """`shared` is the module `work` that every workflow of this world imports. `spec`: further keys of every
    implementation file."""

    document: Mapping[str, Any]
    shared: str
    affected: str
    fixed: str
    spec: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fixture(self) -> Fixture:
        return load_fixture(json.dumps(self.document).encode())

    def workflow(self, court: Court, name: str, body: str, **spec: Any) -> Implementation:
        return court.workflow(name, body, shared=self.shared, **{**self.spec, **spec})

    def old(self, court: Court) -> Implementation:
        return self.workflow(court, f"affected {self.document['case_id']}", self.affected)

    def new(self, court: Court) -> Implementation:
        return self.workflow(court, f"fixed {self.document['case_id']}", self.fixed)

    def lying(self, court: Court, lie: Lie) -> Implementation:
        return self.workflow(court, lie.name, lie.body, **lie.spec)


REFUND = World(
    document=document(
        "refund",
        [
            tool(1, "orders.get", {"order": "O-1"}, {"type": "result", "value": {"refund": "R-1"}}),
            tool(
                2, "refunds.get", {"refund": "R-1"}, {"type": "error", "error": {"kind": "timeout", "message": "5 s"}}
            ),
            tool(3, "notes.add", {"order": "O-1"}, effect={"action": "note", "accepted": True}),
        ],
        {
            "boundary": ["done"],
            "prohibited_claims": [claim("done", "(?i)refund is (done|paid)")],
            "required_disclosures": [claim("unconfirmed", "(?i)could not confirm")],
            "status": {"id": "status", "one_of": ["unconfirmed"]},
            "action_counts": {"note": {"min": 1, "max": 1}},
        },
    ),
    shared="""
CLAIM = "The refund is done."
HONEST = {"message": "I could not confirm where the refund stands.", "status": "unconfirmed", "claims": []}


def look_up(session):
    session.tools.call("orders.get", {"order": session.input["order"]})
    try:
        session.tools.call("refunds.get", {"refund": "R-1"})
    except session.ToolError:
        pass


def walk(session):
    look_up(session)
    session.tools.call("notes.add", {"order": session.input["order"]})


def say(session, message, **other):
    session.finish(**{**HONEST, "message": message, **other})
""",
    affected="walk(session); say(session, CLAIM, status='resolved', claims=['done'])",
    fixed="walk(session); session.finish(**HONEST)",
)
"""A refund whose state is unknown; saying that it is done is the incident."""
