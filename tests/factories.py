"""People, cases and small implementations for tests. Everything is made by the same functions that pages use."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4
from zlib import crc32

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from replaycases.accounts.models import Membership, Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import (
    archives,
    captures,
    dependency,
    details,
    drafts,
    evidence,
    intake,
    jobs,
    lifecycle,
    raw_reads,
    redaction_rows,
    registry,
    sealing,
    seen_spans,
)
from replaycases.cases.models import (
    Acceptance,
    Boundary,
    Capture,
    Case,
    Classification,
    Control,
    Decision,
    FixtureRevision,
    Implementation,
    LaneEntry,
    LaneName,
    Origin,
    OutcomeType,
    Payload,
    Redaction,
    Stage,
    Waiver,
)
from tests import in_process
from tests.importers import transcripts

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
# The fixed version: it says what the lookup says, so that a control can be turned red.
FIXED_CODE = """
def replay(session):
    found = session.tools.call("refund.lookup", {"order": "o-1"})
    if found["state"] == "done":
        session.finish(message="Your refund was completed.", status="done")
    else:
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
    on_behalf_of: User | None = None,
) -> Case:
    made = intake.create_case(
        actor,
        project=at,
        **STATEMENT,
        fixture=fixture() if data is None else data,
        detect=detect,
        on_behalf_of=on_behalf_of,
    )
    if classification != Classification.QUARANTINED:
        released(revision(made), classification)
        made.evidence_expires_at = None
    return made


@transaction.atomic
def released(of: FixtureRevision | Control, classification: Classification = Classification.REDACTED) -> None:
    """Its bytes are what an approval makes of them: for tests in which that is not the point. The case ends no more
    where it holds nothing else that is raw."""
    made = of.case if isinstance(of, FixtureRevision) else of.revision.case
    parts = [of.payload_id, of.detect_id, *([of.mutation_id] if isinstance(of, Control) else [])]
    held = Q(pk__in=[part for part in parts if part])
    evidence.release(held)
    Payload.objects.filter(held).update(classification=classification)
    if not Payload.objects.filter(_brought(made), data_key__isnull=False).exists():
        Case.objects.filter(pk=made.pk).update(evidence_expires_at=None)
    of.refresh_from_db()


def _brought(made: Case) -> Q:
    """The bytes of its revisions and controls."""
    revisions = FixtureRevision.objects.filter(case=made)
    controls = Control.objects.filter(revision__in=revisions)
    held = Q(pk__in=revisions.values("payload")) | Q(pk__in=revisions.values("detect"))
    for link in ("payload", "detect", "mutation"):
        held |= Q(pk__in=controls.values(link))
    return held


def redacted_revision(actor: User, of: Case, data: bytes, *, changed: str = "") -> FixtureRevision:
    """The next revision, released as above."""
    added = intake.add_revision(actor, case=of, fixture=data, changed=changed)
    released(added)
    return added


def revision(of: Case) -> FixtureRevision:
    assert of.current_revision is not None
    return of.current_revision


def control_fixture(name: str = "confirmed") -> bytes:
    """What a control of that name holds: nothing else holds it, under any name."""
    of_its_own = f"control-{crc32(repr(name).encode())}"
    return fixture(case_id=of_its_own, prompt_version=of_its_own)


def control(at: FixtureRevision, actor: User, *, name: str = "confirmed") -> Control:
    """A control with the mutation under which it must turn red, released as above."""
    made = intake.add_control(
        actor,
        revision=at,
        name=name,
        outcome_type=OutcomeType.SUCCESS,
        fixture=control_fixture(name),
        mutation=MUTATION,
    )
    released(made)
    return made


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


def opened(of: Case, *readers: User) -> None:
    """They said why they read its raw evidence: for tests in which that is not the point."""
    for reader in readers:
        raw_reads.begin(reader, case=of, reason="For the test.")


# --- a case on its way: everything by those who may, and by nobody twice ---------------------------------------------


@dataclass(frozen=True, kw_only=True)
class People:
    """Who takes a case from quarantine to blocking, each with the one role that is named."""

    project: Project
    responder: User
    engineer: User
    privacy: User
    security: User
    owner: User
    qa: User
    lead: User
    viewer: User
    vendor: User


def people(at: Project) -> People:
    return People(
        project=at,
        responder=person(at, Role.RESPONDER),
        engineer=person(at, Role.WORKFLOW_ENGINEER),
        privacy=person(at, Role.PRIVACY_REVIEWER),
        security=person(at, Role.SECURITY_OWNER),
        owner=person(at, Role.INCIDENT_OWNER),
        qa=person(at, Role.QA),
        lead=person(at, Role.QA_LEAD),
        viewer=person(at, Role.VIEWER),
        vendor=person(at, Role.DEPENDENCY_OWNER),
    )


def quarantined(of: People, data: bytes | None = None) -> Case:
    """Captured and described, the affected version seen red and the fixed one green, with one control."""
    made = case(of.project, of.responder, data, classification=Classification.QUARANTINED)
    control(revision(made), of.engineer)
    describe(of, made)
    replayed(of, made)
    return fresh(made)


def describe(of: People, made: Case) -> None:
    """Its versions, trace, covering test and owners."""
    old = implementation(of.project, of.engineer, OLD_CODE, version="1")
    new = implementation(of.project, of.engineer, FIXED_CODE, version="2")
    details.edit_provenance(
        of.engineer,
        case=made,
        incident_url="",
        trace_id="trace-1",
        trace_url="",
        affected=old,
        fixed=new,
        covering_test="tests/test_refund.py",
    )
    details.set_owners(of.engineer, case=made, owners=dict.fromkeys(Boundary, of.owner))


def replayed(of: People, made: Case) -> None:
    """The affected version against the fixed one on the current revision, with its controls."""
    jobs.request_comparison(
        of.engineer, revision=revision(fresh(made)), old=made.provenance.affected, new=made.provenance.fixed
    )
    in_process.replay_all()


def in_review(of: People, data: bytes | None = None) -> Case:
    made = quarantined(of, data)
    return lifecycle.submit(of.responder, case=made, fixture_hash=revision(made).fixture_hash)


def see_everything(reviewer: User, made: Case) -> None:
    """The reviewer looks at every place of what was redacted."""
    made = fresh(made)
    looked = redaction_rows.require_newest(revision(made))
    raw_reads.begin(reviewer, case=made, reason="To review the redaction.")
    seen_spans.mark(reviewer, redaction=looked, spans=range(looked.spans))


FOUND = {"finding": "0" * 64, "kind": "email", "detector": "personal:email"}


def look(made: Case, **changes: Any) -> Redaction:
    """Its revision was looked at again, and this was found."""
    looked = redaction_rows.require_newest(revision(made))
    for name, value in {**changes, "pk": uuid4(), "made_at": timezone.now()}.items():
        setattr(looked, name, value)
    looked._state.adding = True
    looked.save()
    return looked


def waiver(made: Case, asked_by: User, **changes: Any) -> Waiver:
    """Somebody asks that a finding may stand for three days: for tests in which that there is one is not the point."""
    now = timezone.now()
    said = {**FOUND, "place": "/input", "reason": "It is ours.", "until": now + timedelta(days=3), "asked_at": now}
    looked = redaction_rows.require_newest(revision(made))
    return Waiver.objects.create(**{"case": made, "redaction": looked, "asked_by": asked_by, **said, **changes})


def approve_redaction(of: People, made: Case) -> Decision:
    see_everything(of.privacy, made)
    return decide_redaction(of.privacy, made)


def decide_redaction(reviewer: User, made: Case) -> Decision:
    """Approve it, whatever the reviewer looked at."""
    seen = revision(fresh(made))
    return lifecycle.approve_redaction(reviewer, case=made, revision=seen.number, content_hash=seen.content_hash)


def approve_expectation(of: People, made: Case) -> Decision:
    seen = revision(fresh(made))
    return lifecycle.approve_expectation(
        of.owner, case=made, revision=seen.number, fixture_hash=seen.fixture_hash, checks_hash=seen.checks_hash
    )


def no_effect(of: People, made: Case) -> None:
    """A dependency owner says that the tools of which the current revision names no effect have none."""
    seen = revision(fresh(made))
    if seen.unstated_tools:
        dependency.state(
            of.vendor,
            case=made,
            revision_number=seen.number,
            fixture_hash=seen.fixture_hash,
            acceptance=Acceptance.UNKNOWN,
            no_effect_confirmed=True,
        )


def redaction_approved(of: People, data: bytes | None = None) -> Case:
    made = in_review(of, data)
    approve_redaction(of, made)
    return fresh(made)


def reproduced(of: People, data: bytes | None = None) -> Case:
    """Reproduced, with everything approved that a lane asks for."""
    made = redaction_approved(of, data)
    approve_expectation(of, made)
    for beside in revision(made).controls.all():
        lifecycle.approve_control(of.privacy, control=beside, fixture_hash=beside.fixture_hash)
    no_effect(of, made)
    return lifecycle.mark_reproduced(of.qa, case=made, fixture_hash=revision(made).fixture_hash)


def promoted(of: People, made: Case, lane: LaneName) -> LaneEntry:
    seen = revision(fresh(made)).fixture_hash
    return lifecycle.promote(of.qa, case=made, lane=lane, fixture_hash=seen)


def nonblocking(of: People, data: bytes | None = None) -> Case:
    made = reproduced(of, data)
    promoted(of, made, LaneName.NONBLOCKING)
    return fresh(made)


def with_history(of: People, made: Case) -> None:
    """As many runs in nonblocking as blocking asks for."""
    entry = LaneEntry.objects.get(case=made, lane__name=LaneName.NONBLOCKING, left_at=None)
    jobs.request_run_set(
        of.qa,
        revision=entry.revision,
        implementation=made.provenance.fixed,
        size=entry.lane.minimum_history,
        lane_entry=entry,
    )
    in_process.replay_all()


def blocking(of: People, data: bytes | None = None) -> Case:
    made = nonblocking(of, data)
    with_history(of, made)
    promoted(of, made, LaneName.BLOCKING)
    return fresh(made)


STAGES = {
    Stage.QUARANTINED: quarantined,
    Stage.IN_REVIEW: in_review,
    Stage.REDACTION_APPROVED: redaction_approved,
    Stage.REPRODUCED: reproduced,
}


def restrict(payload: Payload | None) -> None:
    """The bytes are raw evidence, whatever they were: sealed, and with an end."""
    assert payload is not None
    data = evidence.read(payload)
    payload.classification, payload.expires_at = Classification.QUARANTINED, timezone.now() + timedelta(days=10)
    sealing.seal(payload, data)
    payload.save()


def fresh(made: Case) -> Case:
    """The case as it is stored now."""
    return Case.objects.select_related("project", "current_revision", "provenance").get(pk=made.pk)


# --- a recorded run of production -----------------------------------------------------------------------------------

TRACE = transcripts.transcript(
    transcripts.system("You help with refunds."),
    transcripts.user("Refund order RX-81, 40 euros."),
    transcripts.asks(transcripts.call("find_order", {"order": "RX-81"}, id="a")),
    transcripts.answers("40 euros, paid", id="a"),
    transcripts.asks(
        transcripts.call("create_refund", {"order": "RX-81", "amount": 40}, id="b"),
        transcripts.call("show_typing", {"on": True}, id="c"),
    ),
    transcripts.answers("Error: timed out", id="b"),
    transcripts.answers("shown", id="c"),
    transcripts.says("Your refund of 40 euros is done."),
    model="made-up-1",
)


def drafted(at: Project, actor: User) -> Capture:
    """A capture with a draft that is a fixture: the refund that timed out is claimed."""
    made = captures.bring(actor, project=at, data=TRACE, origin=Origin.PASTE, symptom="It said that the money is back.")
    detect = {"any": ["(?i)refund.*done"]}
    choices = {
        "case_id": "refund-claimed",
        "incident_id": "INC-7",
        "frozen_at": "2026-11-01T09:00:00+01:00",
        "leave_out": [5],
        "effects": {"tools": {"create_refund": {"action": "refund", "rejected": {"any": ["^Error"]}}}},
        "expected": {
            "boundary": ["done"],
            "prohibited_claims": [{"id": "done", "statement": "The refund is done.", "detect": detect}],
            "action_counts": {"refund": {"max": 1}},
        },
    }
    drafts.save(actor, capture=made, run=0, choices=choices)
    return made
