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
TIMEOUT = {"type": "error", "error": {"kind": "timeout", "message": "no answer in 5 s"}}


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

PARCEL = World(
    document=document(
        "parcel",
        [
            tool(
                1,
                "parcels.create",
                {"order": "O-1", "key": "k-1"},
                TIMEOUT,
                effect={"action": "parcel", "key": "/key", "accepted": True},
                match={"generated": ["/key"]},
            ),
            tool(
                2,
                "parcels.create",
                {"order": "O-1", "key": "k-2"},
                effect={"action": "parcel", "key": "/key", "accepted": True},
                match={"generated": ["/key"]},
                alternatives=[
                    {
                        "tool": "parcels.create",
                        "arguments": {"order": "O-1", "key": "k-1"},
                        "outcome": OK,
                        "effect": {"action": "parcel", "key": "/key", "accepted": True},
                        "origin": "authored",
                    }
                ],
            ),
        ],
        {
            "boundary": ["action_counts.parcel"],
            "action_counts": {"parcel": {"min": 1, "max": 1}},
            "status": {"id": "status", "one_of": ["sent"]},
        },
    ),
    shared="""
def send(session, *keys):
    for key in keys:
        try:
            session.tools.call("parcels.create", {"order": "O-1", "key": key})
        except session.ToolError:
            pass
    session.finish("The parcel is on its way.", status="sent")
""",
    affected="send(session, 'a', 'b')",
    fixed="send(session, 'a', 'a')",
)
"""A retry that took another idempotency key: two parcels."""

APPROVAL = World(
    document=document(
        "approval",
        [
            tool(1, "refunds.create", {"order": "O-1"}, group="g", effect={"action": "refund", "accepted": True}),
            tool(2, "approvals.check", {"order": "O-1"}, group="g", guard={"action": "refund", "decision": "allow"}),
            tool(3, "letters.send", {"order": "O-1"}, optional=True, effect={"action": "letter", "accepted": True}),
        ],
        {
            "boundary": ["approved-first"],
            "order": [{"id": "approved-first", "action": "refund", "after": "approvals.check"}],
            "authorization": [{"id": "allowed", "action": "refund", "decision": "allow"}],
            "action_counts": {"refund": {"min": 1, "max": 1}},
        },
    ),
    shared="""
def call(session, *tools):
    for tool in tools:
        session.tools.call(tool, {"order": "O-1"})

def done(session, authorization="allow"):
    session.finish("Done.", authorization=authorization)
""",
    affected="call(session, 'refunds.create', 'approvals.check', 'letters.send'); done(session)",
    fixed="call(session, 'approvals.check', 'refunds.create', 'letters.send'); done(session)",
)
"""Money went out before its approval was asked for. The two calls were made in parallel, so either order is matched."""

BOOKING = World(
    document=document(
        "booking",
        [
            tool(1, "flights.find", {"to": "VIE"}),
            tool(2, "flights.book", {"flight": "F-1"}, effect={"action": "booking", "accepted": True}),
        ],
        {
            "boundary": ["no-second"],
            "tool_sequence": {"id": "no-second", "forbid": [{"tool": "flights.book", "after_accepted": "booking"}]},
            "action_counts": {"booking": {"min": 1}},
            "order": [{"id": "found-first", "action": "booking", "after": "flights.find"}],
            "authorization": [{"id": "no-refund", "action": "refund", "decision": "deny"}],
        },
        horizon=True,
    ),
    shared="""
def book(session, flight="F-1"):
    session.tools.call("flights.find", {"to": "VIE"})
    session.tools.call("flights.book", {"flight": flight})
""",
    affected="book(session); session.tools.call('flights.book', {'flight': 'F-2'})",
    fixed="book(session); session.human.ask('One flight is booked. Another one?')",
)
"""A second booking while the first one stands. The recording is trimmed to where that is decided."""

SERVING = {
    "provider": "example",
    "requested_model": "writer-2",
    "api_version": "2025-01",
    "settings": {"temperature": 0},
}
POLICY = {"name": "refunds", "version": "3", "sha256": "fc" * 32}
SYSTEM = "You write for the support desk. Answer from the facts alone."
ASKED = "The payment service gives the state of refund R-1 as unknown. Where is the money of the customer now?"

LETTER = World(
    document=document(
        "letter",
        [
            {
                "seq": 1,
                "boundary": "model",
                "request": {
                    "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": ASKED}],
                    "tools": [{"name": "find"}, {"name": "write"}],
                },
                "response": {"text": "The refund is done."},
            },
        ],
        {
            "boundary": ["done"],
            "prohibited_claims": [claim("done", "(?i)refund is done")],
            "required_claims": [claim("open", "(?i)is not known")],
        },
        serving=SERVING,
        policies=[POLICY],
    ),
    shared=f"""
from copy import deepcopy
SERVING = {SERVING!r}
POLICY = {POLICY!r}
REQUEST = {{
    "messages": [{{"role": "system", "content": {SYSTEM!r}}}, {{"role": "user", "content": {ASKED!r}}}],
    "tools": [{{"name": "find"}}, {{"name": "write"}}],
}}
HONEST = "Where the refund stands is not known."

def done(session, message=HONEST, policies=(POLICY,)):
    session.finish(message, policies_used=list(policies))
""",
    affected="done(session, session.model.call(REQUEST)['text'])",
    fixed="session.model.call(REQUEST); done(session)",
    spec={"serving": SERVING},
)
"""The model says that a refund is done whose state is unknown, and the workflow believes it."""

DEADLINE = World(
    document=document(
        "deadline",
        [
            tool(1, "orders.get", {"order": "O-1"}),
            {"seq": 2, "boundary": "clock", "now": "2025-03-30T00:59:59+00:00"},
            tool(3, "letters.send", {"kind": "late"}, optional=True, effect={"action": "late", "accepted": True}),
        ],
        {
            "boundary": ["action_counts.late"],
            "action_counts": {"late": {"max": 0}},
            "status": {"id": "status", "one_of": ["in time"]},
        },
        time_zone="Europe/Vienna",
    ),
    shared="""
import time
from datetime import datetime, timezone

def look_up(session):
    session.tools.call("orders.get", {"order": session.input["order"]})


def judged(session, now):
    look_up(session)
    if now < datetime(2025, 3, 30, 1, tzinfo=timezone.utc):
        session.finish("You are in time.", status="in time")
    else:
        session.tools.call("letters.send", {"kind": "late"})
        session.finish("You are late.", status="late")
""",
    affected="judged(session, session.clock.now().replace(year=2026))",
    fixed="judged(session, session.clock.now())",
    spec={"clock": "injected"},
)
"""A deadline one second before a clock change, taken for missed."""
