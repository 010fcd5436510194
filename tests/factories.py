"""People, cases and small implementations for tests. Everything is made by the same functions that pages use."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

from replaycases.accounts.models import Membership, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import archives, intake, registry
from replaycases.cases.models import (
    Case,
    Classification,
    Control,
    FixtureRevision,
    Implementation,
    OutcomeType,
)

_serial = itertools.count(1)

OLD_CODE = """
def replay(session):
    session.tools.call("refund.lookup", {"order": "o-1"})
    session.finish(message="Your refund was completed.", status="done")
"""
NEW_CODE = """
def replay(session):
    session.tools.call("refund.lookup", {"order": "o-1"})
    session.finish(message="I could not confirm the refund yet.", status="open")
"""

MUTATION = b'[{"op": "replace", "path": "/events/0/outcome/value/state", "value": "done"}]'
STATEMENT = {
    "title": "Claimed a refund that was not known",
    "incident_id": "INC-1",
    "trigger": "The lookup gave no state.",
    "prohibited_outcome": "The reply says that the refund was completed.",
    "deciding_evidence": "The state was unknown.",
}
EXPECTED: dict[str, Any] = {
    "boundary": ["completed"],
    "prohibited_claims": [
        {"id": "completed", "statement": "The refund was completed.", "detect": {"any": ["(?i)was completed"]}}
    ],
    "required_disclosures": [{"id": "open", "statement": "It is open.", "detect": {"any": ["(?i)could not confirm"]}}],
}
# Other checks on the same content.
EXPECTED_MORE = {**EXPECTED, "boundary": ["completed", "open"]}


def fixture(**changes: Any) -> bytes:
    """A 2.0 fixture with one tool call and a prohibited claim; `changes` replace top-level keys."""
    document = {
        "schema_version": "2.0",
        "case_id": "refund-claimed",
        "incident_id": "INC-1",
        "workflow_version": "1",
        "prompt_version": "1",
        "frozen_at": "2025-03-01T10:00:00+01:00",
        "input": {"order": "o-1"},
        "identity": {"subject": "c-1"},
        "events": [
            {
                "seq": 1,
                "boundary": "tool",
                "attempt": "a-1",
                "tool": "refund.lookup",
                "arguments": {"order": "o-1"},
                "outcome": {"type": "result", "value": {"state": "unknown"}},
            }
        ],
        "expected": EXPECTED,
    }
    return json.dumps({**document, **changes}).encode()


def project(key: str = "RC") -> Project:
    return Project.objects.create(key=key, name=f"Project {key}")


def person(at: Project, *roles: Role) -> User:
    """Somebody with these roles in the project."""
    name = f"person-{next(_serial)}-{at.key.lower()}"
    user = User.objects.create_user(name, f"{name}@example.invalid")
    for role in roles:
        Membership.objects.create(project=at, user=user, role=role)
    return user


def everyone(at: Project) -> User:
    """One person with every role: for tests in which roles are not the point."""
    return person(at, *Role)


def case(
    at: Project,
    actor: User,
    data: bytes | None = None,
    *,
    classification: Classification = Classification.REDACTED,
    detect: bytes | None = None,
) -> Case:
    return intake.create_case(
        actor,
        project=at,
        **STATEMENT,
        fixture=fixture() if data is None else data,
        detect=detect,
        classification=classification,
    )


def revision(of: Case) -> FixtureRevision:
    assert of.current_revision is not None
    return of.current_revision


def control(at: FixtureRevision, actor: User, *, name: str = "confirmed") -> Control:
    """A control with the mutation under which it must turn red."""
    return intake.add_control(
        actor,
        revision=at,
        name=name,
        outcome_type=OutcomeType.SUCCESS,
        fixture=fixture(case_id="control-1"),
        mutation=MUTATION,
        classification=Classification.REDACTED,
    )


def archive(code: str, *, version: str = "1", spec: Mapping[str, Any] | None = None) -> bytes:
    """An implementation whose module `agent` is `code`."""
    document = {
        "name": "agent",
        "version": version,
        "commit": f"commit-{version}",
        "path": "src",
        "adapter": {"kind": "python", "target": "agent:replay"},
        **(spec or {}),
    }
    return archives.pack(
        {"implementation.json": (json.dumps(document).encode(), False), "src/agent.py": (code.encode(), False)}
    )


def implementation(at: Project, actor: User, code: str = NEW_CODE, *, version: str = "1") -> Implementation:
    return registry.register_archive(
        actor, project=at, archive=archive(code, version=version), spec_path="implementation.json"
    )
