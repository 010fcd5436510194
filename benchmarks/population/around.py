"""What stands around the cases: owners, decisions, lanes, proposals, messages, audit events. From the table `n`."""

from __future__ import annotations

from typing import Any

from benchmarks.population import redactions
from benchmarks.population.series import digest, insert
from replaycases.cases.models import (
    AuditEvent,
    CaseOwner,
    CiReport,
    CiResult,
    ClosingItem,
    Decision,
    GraderFinding,
    LaneEntry,
    Notification,
    Proposal,
    Provenance,
    ReviewComment,
    ReviewFlag,
)

BOUNDARIES = "(ARRAY['prohibited_outcome','workflow','dependency','suite_policy','privacy'])"
LAST = "md5('revision' || i || '-3')::uuid"
# Some cases wait for a second person: an override, and the case's retirement.
PROPOSES = "i % 19 = 0 AND i % 50 IN (3, 10)"


def people(cursor: Any) -> None:
    insert(
        cursor,
        CaseOwner,
        "n, generate_series(1, 5) AS b WHERE i % 9 > 0",
        id="md5('owner' || i || '-' || b)::uuid",
        case="case_id",
        boundary=f"{BOUNDARIES}[b]",
        user="CASE WHEN b <> 3 THEN person_id END",
        team="CASE WHEN b = 3 THEN team_id END",
        project="project_id",
        case_created_at="at",
        case_number="i",
    )
    insert(
        cursor,
        Provenance,
        "n WHERE stage <> 'quarantined'",
        case="case_id",
        incident_url="'https://incidents.example/' || i",
        trace_id="'trace-' || i",
        affected="old_id",
        fixed="new_id",
        covering_test="'tests/test_' || i || '.py'",
    )
    insert(
        cursor,
        GraderFinding,
        "n WHERE i % 10 = 3",
        id="md5('grader' || i)::uuid",
        case="case_id",
        grader="'groundedness'",
        version="'4'",
        label="'unsupported'",
        recorded_by="person_id",
        recorded_at="at",
    )
    insert(
        cursor,
        ClosingItem,
        "n WHERE lane = 'blocking'",
        id="md5('closing' || i)::uuid",
        case="case_id",
        step="'rollout'",
        note="'Seen in every region.'",
        done_by="other_id",
        done_at="at",
    )


def reviews(cursor: Any) -> None:
    """The approvals that stand, what was returned, comments, and the reasons for a re-review."""
    revision = "JOIN cases_fixturerevision f ON f.case_id = n.case_id AND f.number = 3"
    approvals = {
        "redaction": redactions.APPROVED,
        "expectation": "expected",
        "returned": "stage = 'in_review' AND i % 4 = 0",
    }
    for name, where in approvals.items():
        returned = name == "returned"
        insert(
            cursor,
            Decision,
            f"n {revision} WHERE {where}",
            id=f"md5('{name}' || i)::uuid",
            case="n.case_id",
            revision="f.id",
            kind="'redaction'" if returned else f"'{name}'",
            outcome="'returned'" if returned else "'approved'",
            note="'An address is left.'" if returned else "''",
            content_hash="f.content_hash",
            fixture_hash="f.fixture_hash",
            checks_hash="f.checks_hash",
            redaction=redactions.newest("3") if name == "redaction" else "NULL",
            decided_by="other_id",
            decided_at="at + interval '10 minutes'",
        )
    insert(
        cursor,
        Decision,
        "n JOIN cases_control c ON c.revision_id = md5('revision' || n.i || '-3')::uuid",
        id="md5('control' || c.id::text)::uuid",
        case="n.case_id",
        revision="c.revision_id",
        control="c.id",
        kind="'control'",
        outcome="'approved'",
        content_hash="c.fixture_hash",
        fixture_hash="c.fixture_hash",
        checks_hash="c.checks_hash",
        decided_by="other_id",
        decided_at="at + interval '12 minutes'",
    )
    insert(
        cursor,
        ReviewComment,
        "n WHERE i % 5 = 0",
        id="md5('comment' || i)::uuid",
        revision=LAST,
        pointer="'/events/0'",
        text="'Whose state is this?'",
        author="other_id",
        created_at="at",
        resolved_by="CASE WHEN stage <> 'in_review' THEN person_id END",
        resolved_at="CASE WHEN stage <> 'in_review' THEN at END",
    )
    insert(
        cursor,
        ReviewFlag,
        "n WHERE i % 100 = 0 AND stage <> 'retired'",
        id="md5('flag' || i)::uuid",
        case="case_id",
        reason="'drifted'",
        raised_at="at",
    )


def lanes(cursor: Any) -> None:
    """Stays in the lanes; a case that blocks was in nonblocking before. And what came from elsewhere."""
    for lane, where, left in (
        ("nonblocking", "n.lane = 'nonblocking'", "NULL"),
        ("nonblocking", "n.lane = 'blocking'", "at + interval '18 minutes'"),
        ("blocking", "n.lane = 'blocking'", "NULL"),
    ):
        insert(
            cursor,
            LaneEntry,
            f"n JOIN cases_lane l ON l.project_id = n.project_id AND l.name = '{lane}' WHERE {where}",
            id=f"md5('entry-{lane}' || i)::uuid",
            lane="l.id",
            case="case_id",
            revision=LAST,
            entered_by="other_id",
            entered_at="at + interval '17 minutes'",
            left_at=left,
            left_by="''" if left == "NULL" else "'promoted'",
        )
    insert(
        cursor,
        CiReport,
        "cases_lane l, generate_series(1, 10) AS r WHERE l.name = 'blocking'",
        id="md5('report' || l.id::text || r)::uuid",
        lane="l.id",
        lane_digest=digest("'lane' || r"),
        implementation_name="'agent'",
        implementation_version="r::text",
        implementation_digest=digest("'code' || r"),
        exit_code="0",
        digest=digest("'report' || r"),
        pushed_by="(SELECT person_id FROM n LIMIT 1)",
        pushed_at="now() - r * interval '1 day'",
    )
    insert(
        cursor,
        CiResult,
        "cases_cireport c JOIN cases_lane l ON l.id = c.lane_id JOIN n ON n.project_id = l.project_id "
        "WHERE n.lane = 'blocking' AND i % 2 = 0",
        report="c.id",
        revision=LAST,
        label="'verified_red_to_green'",
    )


def proposals(cursor: Any) -> None:
    for name, kind, where, decided in (
        ("waits", "'override'", PROPOSES, False),
        ("retires", "'retirement'", PROPOSES, False),
        ("stood", "'override'", f"i % 13 = 0 OR {PROPOSES}", True),
    ):
        insert(
            cursor,
            Proposal,
            f"n WHERE stage = 'reproduced' AND ({where})",
            id=f"md5('{name}' || i)::uuid",
            case="case_id",
            kind=kind,
            state="'confirmed'" if decided else "'pending'",
            revision=LAST,
            gate={"waits": "'provenance'", "stood": "'red'"}.get(name, "''"),
            reason="'The affected version is gone.'",
            until="now() + interval '20 days'" if kind == "'override'" else "NULL",
            proposed_by="person_id",
            proposed_at="at + interval '15 minutes'",
            decided_by="other_id" if decided else "NULL",
            decided_at="at + interval '16 minutes'" if decided else "NULL",
        )


def messages(cursor: Any, people: int) -> None:
    """Two thousand notifications a person, a tenth of them unread."""
    insert(
        cursor,
        Notification,
        f"n JOIN (SELECT id, row_number() OVER (ORDER BY id) AS p FROM accounts_user) u ON true "
        f"WHERE i <= 2000 AND p <= {people}",
        id="md5('notification' || i || '-' || p)::uuid",
        user="u.id",
        case="case_id",
        kind="CASE WHEN i % 3 = 0 THEN 'verdict_changed' ELSE 'review_wanted' END",
        key="'key-' || i",
        text="'B-' || i || ': the verdict changed from verified red to green to diverged.'",
        created_at="at",
        read_at="CASE WHEN i % 10 > 0 THEN now() END",
        mailed_at="now()",
    )


def audit(cursor: Any) -> None:
    actions = "(ARRAY['case.created','revision.added','comparison.requested','comparison.computed','case.submitted'])"
    insert(
        cursor,
        AuditEvent,
        "n, generate_series(1, 5) AS a",
        sequence="1000 + i * 5 + a",
        project="project_id",
        actor="person_id",
        case="case_id",
        action=f"{actions}[a]",
        object_type="'cases.case'",
        object_id="case_id::text",
        before="'{}'",
        after='CASE WHEN a = 4 THEN \'{"label":"diverged","runs":4}\' ELSE \'{}\' END',
        at="at + a * interval '1 minute'",
        prev_hash="'sha256:' || md5('p' || i || a)",
        hash="'sha256:' || md5('h' || i || a)",
    )
    cursor.execute("UPDATE cases_audithead SET sequence = (SELECT max(sequence) FROM cases_auditevent)")


def require_repeated_on_cases(cursor: Any) -> None:
    """What a case repeats is what the rows around it say, as the services keep it."""
    cursor.execute(
        """
        SELECT count(*) FROM cases_case c LEFT JOIN cases_comparison x ON x.id = c.latest_comparison_id
        WHERE c.verdict <> coalesce(x.label, '')
        OR c.flagged <> EXISTS (SELECT 1 FROM cases_reviewflag f WHERE f.case_id = c.id AND f.cleared_at IS NULL)
        OR c.expectation_approved <> EXISTS (SELECT 1 FROM cases_decision d WHERE d.case_id = c.id
          AND d.kind = 'expectation' AND d.outcome = 'approved' AND d.voided_at IS NULL)
        OR c.redaction_returned <> EXISTS (SELECT 1 FROM cases_decision d WHERE d.revision_id = c.current_revision_id
          AND d.kind = 'redaction' AND d.outcome = 'returned')
        OR c.lane <> coalesce((SELECT l.name FROM cases_laneentry e JOIN cases_lane l ON l.id = e.lane_id
          WHERE e.case_id = c.id AND e.left_at IS NULL), '')
        OR NOT EXISTS (SELECT 1 FROM cases_fixturerevision r WHERE r.id = c.current_revision_id)
        """
    )
    [(wrong,)] = cursor.fetchall()
    if wrong:
        raise SystemExit(f"{wrong} cases repeat something that the rows around them do not say")
