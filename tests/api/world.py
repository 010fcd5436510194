"""One object of every resource of the API, and a right body for every write."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Model
from django.utils import timezone

from replaycases.accounts.models import ApiToken, Invitation, Membership, Team
from replaycases.accounts.roles import Role
from replaycases.cases import (
    capture_rules,
    captures,
    comments,
    details,
    drafts,
    evidence,
    flags,
    incident_reports,
    invitations,
    people,
    proposals,
    raw_reads,
    redaction_policies,
)
from replaycases.cases.models import (
    AuditEvent,
    BufferedTrace,
    Capture,
    CaptureRule,
    Case,
    CiReport,
    ClosingItem,
    Comparison,
    Control,
    Decision,
    DependencyStatement,
    Draft,
    FixtureRevision,
    FlagReason,
    GraderFinding,
    Implementation,
    IncidentReport,
    Lane,
    LaneEntry,
    LaneName,
    Notification,
    Origin,
    Proposal,
    RawRead,
    Redaction,
    RedactionPolicy,
    RedactionRule,
    ReviewComment,
    ReviewFlag,
    RuleAction,
    RuleKind,
    Run,
    RunSet,
    Waiver,
)
from replaycases.redaction.manual import ManualRule, as_json
from replaycases.redaction.places import Place
from tests import factories
from tests.importers.transcripts import answers, asks, call, says, transcript, user

HASH = "sha256:" + "0" * 64
SOON = timedelta(days=3)
RULE = ManualRule(
    id="00000000-0000-4000-8000-000000000001",
    action="keep",
    place=Place(pointer="/input", start=0, end=0),
    fits="0" * 64,
)


@dataclass(frozen=True, kw_only=True)
class World:
    """`team` are people with one role each; `case` stands in blocking, so that every route has something to show."""

    team: factories.People
    case: Case
    objects: dict[str, str]
    bodies: dict[str, dict[str, Any]]


def build() -> World:
    team = factories.people(factories.project())
    administrator = factories.person(team.project, Role.ADMINISTRATOR)
    redaction_policies.save(team.privacy, project=team.project, data={"dates": "shift"}, note="Our dates.", seen=0)
    case = factories.blocking(team)
    revision = factories.revision(case)
    comments.add(team.privacy, revision=revision, pointer="", text="Look at the order.")
    raw_reads.begin(team.privacy, case=case, reason="Ticket 4710.")
    details.record_grader_finding(team.engineer, case=case, grader="judge", version="1", label="bad", result="")
    flags.raise_flag(team.qa, case=case, reason=FlagReason.DRIFTED, detail="It drifted.")
    proposals.propose_retirement(team.lead, case=case, reason="It cannot happen any more.")
    people.create_team(administrator, project=team.project, name="Refunds")
    invitations.invite(administrator, project=team.project, email="new@example.invalid", roles=[Role.VIEWER])
    people.create_token(team.engineer, project=team.project, name="CI", scopes=["read"], days=1)
    ClosingItem.objects.create(case=case, step="rollout", note="Seen.", done_by=team.qa, done_at=timezone.now())
    Notification.objects.create(
        user=team.qa, case=case, kind="flagged", key="x", text="It is flagged.", created_at=timezone.now()
    )
    lane = Lane.objects.get(name=LaneName.BLOCKING)
    CiReport.objects.create(
        lane=lane,
        lane_digest=HASH,
        implementation_name="agent",
        implementation_version="1",
        implementation_digest=HASH,
        exit_code=30,
        digest=HASH,
        pushed_by=team.engineer,
        pushed_at=timezone.now(),
    )
    capture = captures.bring(team.responder, project=team.project, data=TRACE, origin=Origin.UPLOAD)
    drafts.save(team.responder, capture=capture, run=0, choices=CHOICES)
    capture_rules.add(administrator, project=team.project, kind=RuleKind.ERROR)
    finding = {"grader": "monitor", "version": "3", "label": "claimed", "trace_id": "ab" * 16}
    incident_reports.report(team.responder, project=team.project, **finding)
    now = timezone.now()
    BufferedTrace.objects.create(
        project=team.project, trace_id="ab" * 16, first_at=now, last_at=now, token=ApiToken.objects.get()
    )
    factories.waiver(case, team.privacy)
    RedactionRule.objects.create(
        pk=RULE.id,
        source=revision,
        action=RuleAction.KEEP,
        place="/input",
        body=evidence.store(
            team.project,
            json.dumps({"rule": as_json(RULE)}).encode(),
            media_type=evidence.JSON_TYPE,
            expires_at=now + SOON,
        ),
        reason="It is ours.",
        added_by=team.responder,
        added_at=now,
    )
    return World(team=team, case=factories.fresh(case), objects=_objects(), bodies=_bodies(team, case))


OF_RUN = ("title", "trigger", "prohibited_outcome", "deciding_evidence")
CHOICES = {
    "case_id": "refund-claimed",
    "incident_id": "INC-7",
    "frozen_at": "2026-11-01T09:00:00+01:00",
    "expected": {"boundary": ["refunds"], "tool_sequence": {"id": "refunds", "tools": [], "mode": "exact"}},
}
TRACE = transcript(user("refund 4711"), asks(call("refund", {"id": 1})), answers("timed out"), says("It is refunded."))


MODELS: dict[str, type[Model]] = {
    "traces": BufferedTrace,
    "capture-rules": CaptureRule,
    "findings": IncidentReport,
    "captures": Capture,
    "cases": Case,
    "redaction-policies": RedactionPolicy,
    "redactions": Redaction,
    "redaction-rules": RedactionRule,
    "waivers": Waiver,
    "revisions": FixtureRevision,
    "controls": Control,
    "comments": ReviewComment,
    "decisions": Decision,
    "dependency-statements": DependencyStatement,
    "proposals": Proposal,
    "flags": ReviewFlag,
    "closing-steps": ClosingItem,
    "grader-findings": GraderFinding,
    "implementations": Implementation,
    "run-sets": RunSet,
    "runs": Run,
    "raw-reads": RawRead,
    "comparisons": Comparison,
    "lanes": Lane,
    "lane-entries": LaneEntry,
    "ci-reports": CiReport,
    "teams": Team,
    "memberships": Membership,
    "invitations": Invitation,
    "tokens": ApiToken,
    "notifications": Notification,
    "audit-events": AuditEvent,
}


def _objects() -> dict[str, str]:
    found = {}
    for noun, model in MODELS.items():
        rows = model._default_manager.order_by("-pk")
        if noun == "audit-events":
            rows = rows.exclude(project=None)
        if noun == "comparisons":
            rows = rows.exclude(document=None)
        if noun == "runs":
            rows = rows.exclude(manifest=None)
        row = rows.first()
        assert row is not None, noun
        found[noun] = str(row.pk)
    found["projects"] = str(Case.objects.get().project_id)
    return found


def _bodies(team: factories.People, case: Case) -> dict[str, dict[str, Any]]:
    """A body of the right shape for each write that takes one, by its path without the id."""
    revision = factories.revision(case)
    seen = {"fixture_hash": revision.fixture_hash}
    decided = {"outcome": "approved", "revision": revision.number, "note": "Looked at."}
    key, member, implementation = team.project.key, str(team.viewer.pk), str(case.provenance.fixed_id)
    document = json.loads(factories.fixture(frozen_at="2025-03-02T10:00:00+01:00"))
    of_case = {"case": str(case.pk)}
    return {
        "PATCH projects/": {"retention_days": 20, "review_after_days": 90},
        "POST captures/": json.loads(TRACE),
        "POST captures/from-trace/": {"project": key, "trace_id": "ab" * 16},
        "POST capture-rules/": {"project": key, "kind": "attribute", "key": "outcome", "value": "bad"},
        "PATCH capture-rules/": {"enabled": False},
        "POST findings/": {
            "project": key,
            "grader": "monitor",
            "version": "3",
            "label": "invented",
            "trace_id": "ab" * 16,
            "title": "A refund",
        },
        "POST findings/dismissal/": {"reason": "It is a test."},
        "POST findings/case/": {name: factories.STATEMENT[name] for name in (*OF_RUN, "incident_id")},
        "PUT captures/runs/0/draft/": {"choices": CHOICES},
        "POST captures/runs/0/case/": {
            "seen": Draft.objects.get().choices.digest,
            **{name: factories.STATEMENT[name] for name in OF_RUN},
        },
        "POST redaction-policies/": {"project": key, "policy": {"dates": "keep"}, "note": "They decide.", "seen": 1},
        "POST redactions/seen/": {"spans": [0]},
        "POST redaction-rules/": {
            "source": str(revision.pk),
            "action": "mark",
            "kind": "text",
            "place": {"pointer": "/input/message"},
            "reason": "A name.",
        },
        "POST waivers/": {
            "redaction": str(Redaction.objects.get().pk),
            "open": ["0" * 64],
            "reason": "It is ours.",
            "until": (timezone.now() + SOON).isoformat(),
        },
        "POST cases/redactions/": {"seen_revision": revision.number},
        "POST cases/looks/": {"seen_revision": revision.number},
        "POST cases/redaction-previews/": {"policy": {"dates": "keep"}},
        "POST cases/": {"project": key, **factories.STATEMENT},
        "PATCH cases/": {"seen": details.statement_hash(case), "title": "Claimed a refund nobody had confirmed"},
        "PATCH cases/provenance/": {"covering_test": "tests/test_refunds.py"},
        "PATCH cases/owners/": {"owners": [{"boundary": "privacy", "user": member}]},
        "PUT cases/security-incident/": {"flagged": True},
        "POST cases/containments/": {"note": "Keys were changed."},
        "POST cases/dependency-statements/": {**seen, "revision": revision.number, "acceptance": "unknown"},
        "POST cases/submissions/": seen,
        "POST cases/redaction-decisions/": {**decided, "content_hash": revision.content_hash},
        "POST cases/expectation-decisions/": {**decided, **seen, "checks_hash": revision.checks_hash},
        "POST cases/reproductions/": seen,
        "POST cases/promotions/": {**seen, "lane": "blocking"},
        "POST cases/returns/": {"reason": "Look again."},
        "POST cases/non-replayable-marks/": {"reason": "Gone.", "missing": "The recording."},
        "POST cases/reopenings/": {"reason": "Found."},
        "POST cases/re-reviews/": {"note": "Still right."},
        "POST cases/history-runs/": {"runs": 1},
        "POST revisions/": {**of_case, "fixture": document, "seen_revision": revision.number},
        "POST controls/": {
            "revision": str(revision.pk),
            "name": "never known",
            "outcome_type": "uncertain",
            "fixture": json.loads(factories.fixture(case_id="control-2")),
            "mutation": json.loads(factories.MUTATION),
        },
        "POST controls/decisions/": {"fixture_hash": HASH},
        "POST comments/": {"revision": str(revision.pk), "text": "Look here."},
        "POST comments/resolution/": {"resolution": "Done."},
        "POST proposals/": {**of_case, "kind": "retirement", "reason": "Gone."},
        "POST proposals/confirmation/": {"note": "Yes."},
        "POST proposals/refusal/": {"note": "No."},
        "POST flags/": {**of_case, "reason": "policy_changed", "detail": "The refund policy changed."},
        "POST closing-steps/": {**of_case, "step": "monitoring", "note": "Seen."},
        "POST grader-findings/": {**of_case, "grader": "judge", "version": "1", "label": "bad"},
        "POST run-sets/": {"revision": str(revision.pk), "implementation": implementation, "size": 1},
        "POST run-sets/voiding/": {"reason": "Bad host."},
        "POST comparisons/": {"revision": str(revision.pk), "new": implementation},
        "PATCH lanes/": {"repeated_runs": 3, "minimum_history": 4},
        "POST promotion-previews/": {"lane": "blocking", "cases": [str(case.pk)]},
        "POST bulk-promotions/": {"lane": "blocking", "chosen": [{**of_case, **seen}]},
        "POST ci-reports/": {
            "project": key,
            "lane": "blocking",
            "lane_digest": HASH,
            "implementation": {"name": "agent", "version": "1", "commit": "", "digest": HASH},
            "exit_code": 0,
            "results": [],
        },
        "POST raw-reads/": {**of_case, "reason": "Ticket 4711."},
        "POST teams/": {"project": key, "name": "Payments"},
        "PATCH teams/": {"name": "Refunds and returns"},
        "PUT teams/members/": {"members": [member]},
        "POST memberships/": {"project": key, "user": member, "role": "qa"},
        "POST invitations/": {"project": key, "email": "other@example.invalid", "roles": ["viewer"]},
        "POST tokens/": {"project": key, "name": "CI 2", "scopes": ["read"], "days": 1},
    }
