"""What stands beside a case, in one query: who captured and who owns it, between which versions, which approvals stand,
where it runs, what was noted.

Rows of a dozen tables as one union of plain columns: the page shows few of each, and asking for each apart would take
ten queries.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from replaycases.accounts.models import Project
from replaycases.cases.models import Case, Stage

# For how long who read raw evidence stands on the case's page.
LATELY = timedelta(days=30)
CLOSINGS = ("case.non_replayable", "case.retired")

# Written out: to put it together from querysets takes longer than everything else that the page reads. People are
# joined once, around the union: in each part they take longer to plan than to find.
_FACTS = """
SELECT fact.kind, fact.name, fact.t0, fact.t1, fact.t2, fact.t3,
  COALESCE(NULLIF(person.display_name, ''), person.username, ''), COALESCE(CAST(fact.person AS text), ''),
  COALESCE(NULLIF(other.display_name, ''), other.username, ''), fact.number, fact.at
FROM (
  SELECT 'grader' AS kind, CAST(id AS text) AS name, grader AS t0, version AS t1, label AS t2, result AS t3,
    recorded_by_id AS person, confirmed_by_id AS other, CAST(NULL AS integer) AS number, recorded_at AS at
  FROM cases_graderfinding WHERE case_id = %(case)s
  UNION ALL
  SELECT 'dependency', said.acceptance, said.note, CASE WHEN said.authored_confirmed THEN 'yes' ELSE '' END,
    CASE WHEN said.no_effect_confirmed THEN 'yes' ELSE '' END, '',
    said.said_by_id, NULL, revision.number, said.said_at
  FROM cases_dependencystatement said JOIN cases_fixturerevision revision ON revision.id = said.revision_id
  WHERE said.case_id = %(case)s
  UNION ALL
  SELECT 'owner', owner.boundary, COALESCE(team.name, ''), '', '', '', owner.user_id, NULL, NULL, NULL
  FROM cases_caseowner owner LEFT JOIN accounts_team team ON team.id = owner.team_id
  WHERE owner.case_id = %(case)s
  UNION ALL
  SELECT 'closing', step, note, '', '', '', done_by_id, NULL, NULL, done_at
  FROM cases_closingitem WHERE case_id = %(case)s
  UNION ALL
  SELECT 'lane', lane.name, COALESCE(demotion.reason, ''), '', '', '', entry.entered_by_id, NULL, revision.number,
    entry.entered_at
  FROM cases_laneentry entry
  JOIN cases_lane lane ON lane.id = entry.lane_id
  JOIN cases_fixturerevision revision ON revision.id = entry.revision_id
  LEFT JOIN cases_proposal demotion ON demotion.id = entry.demotion_id
  WHERE entry.case_id = %(case)s AND entry.left_at IS NULL
  UNION ALL
  SELECT 'demotion', lane.name, demotion.reason, COALESCE(team.name, ''), '', '', demotion.owner_id,
    demotion.decided_by_id, NULL, demotion.until
  FROM cases_laneentry entry
  JOIN cases_lane lane ON lane.id = entry.lane_id
  JOIN cases_proposal demotion ON demotion.id = entry.demotion_id
  LEFT JOIN accounts_team team ON team.id = demotion.owner_team_id
  WHERE entry.case_id = %(case)s AND entry.left_at IS NULL
  UNION ALL
  SELECT 'approval', given.kind, given.fixture_hash, given.note, '', '', given.decided_by_id, NULL, revision.number,
    given.decided_at
  FROM cases_decision given JOIN cases_fixturerevision revision ON revision.id = given.revision_id
  WHERE given.case_id = %(case)s AND given.outcome = 'approved' AND given.voided_at IS NULL AND given.control_id IS NULL
  UNION ALL
  SELECT 'flag', reason, detail, '', '', '', raised_by_id, NULL, NULL, raised_at
  FROM cases_reviewflag WHERE case_id = %(case)s AND cleared_at IS NULL
  UNION ALL
  SELECT 'proposal', kind, reason, state, gate, '', proposed_by_id, decided_by_id, NULL, until
  FROM cases_proposal WHERE case_id = %(case)s AND (state = 'pending' OR
    (kind = 'override' AND state = 'confirmed' AND until > %(now)s AND revision_id = %(revision)s))
  UNION ALL
  -- The events that move a case to another stage carry it in what was after.
  SELECT 'move', action, after, '', '', '', NULL, NULL, NULL, at
  FROM cases_auditevent WHERE case_id = %(case)s AND action IN ('case.submitted', 'redaction.approved',
    'case.reproduced', 'case.sent_back', 'case.back_in_review', 'case.back_to_redaction_approved',
    'case.non_replayable', 'case.reopened', 'case.retired')
  UNION ALL
  SELECT 'person', 'captured', '', '', '', '', created_by_id, on_behalf_of_id, NULL, created_at
  FROM cases_case WHERE id = %(case)s
  UNION ALL
  SELECT 'person', 'contained', '', '', '', '', contained_by_id, NULL, NULL, contained_at
  FROM cases_case WHERE id = %(case)s AND contained_at IS NOT NULL
  UNION ALL
  SELECT 'version', 'affected', version.name, version.version, '', '', NULL, NULL, NULL, NULL
  FROM cases_provenance origin JOIN cases_implementation version ON version.id = origin.affected_id
  WHERE origin.case_id = %(case)s
  UNION ALL
  SELECT 'version', 'fixed', version.name, version.version, '', '', NULL, NULL, NULL, NULL
  FROM cases_provenance origin JOIN cases_implementation version ON version.id = origin.fixed_id
  WHERE origin.case_id = %(case)s
  UNION ALL
  SELECT 'capture', CAST(draft.run AS text), capture.format, CASE WHEN capture.purged_at IS NULL THEN '' ELSE 'yes' END,
    '', '', capture.captured_by_id, capture.on_behalf_of_id, capture.number,
    COALESCE(capture.purged_at, capture.expires_at)
  FROM cases_draft draft JOIN cases_capture capture ON capture.id = draft.capture_id
  WHERE draft.case_id = %(case)s AND capture.project_id = %(project)s
  UNION ALL
  SELECT 'report', CAST(id AS text), label, grader, title, '', reported_by_id, settled_by_id, NULL, reported_at
  FROM cases_incidentreport WHERE case_id = %(case)s AND project_id = %(project)s
  UNION ALL
  SELECT 'raw_read', '', CAST(COUNT(*) AS text), '', '', '', user_id, NULL, NULL, MAX(made_at)
  FROM cases_rawread WHERE case_id = %(case)s AND made_at > %(lately)s GROUP BY user_id
  UNION ALL
  -- Whoever sees a case sees every case of its project.
  SELECT 'sharing', '', '', '', '', '', NULL, NULL, twin.number, NULL
  FROM cases_case twin
  WHERE twin.project_id = %(project)s AND twin.id <> %(case)s AND twin.id IN
    (SELECT case_id FROM cases_fixturerevision WHERE fixture_hash = %(fixture)s AND checks_hash = %(checks)s)
) fact
LEFT JOIN accounts_user person ON person.id = fact.person
LEFT JOIN accounts_user other ON other.id = fact.other
"""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """`key` names it within its kind: a boundary, a step, a lane, a kind of decision, an id. `person` is who it is
    about, by `person_id`; `other` a second person; `texts` what is said, depending on the kind."""

    kind: str
    key: str
    texts: tuple[str, str, str, str]
    person: str
    person_id: str
    other: str
    number: int | None
    at: datetime | None

    @property
    def uuid(self) -> UUID:
        """The key as an id: SQLite gives it without dashes."""
        return UUID(self.key)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """By kind, in the order in which they came to be."""

    rows: tuple[Fact, ...]

    def of(self, kind: str) -> list[Fact]:
        return [fact for fact in self.rows if fact.kind == kind]

    def by_key(self, kind: str) -> dict[str, Fact]:
        return {fact.key: fact for fact in self.of(kind)}

    def sharing(self) -> list[int]:
        """The numbers of the project's other cases with the same fixture: their runs and this one's count together."""
        return sorted(fact.number for fact in self.of("sharing") if fact.number is not None)

    def entered(self) -> dict[str, datetime]:
        """When the case last came into each stage."""
        found: dict[str, datetime] = {}
        for move in self.of("move"):
            stage = json.loads(move.texts[0]).get("stage", "")
            if stage in Stage.values and move.at is not None:
                found[stage] = move.at
        return found

    def why_closed(self) -> dict[str, str]:
        """What was said when the case was closed: "reason" and, where it cannot be replayed, "missing"."""
        said = [move for move in self.of("move") if move.key in CLOSINGS]
        return json.loads(said[-1].texts[0]) if said else {}


def facts_of(case: Case) -> Facts:
    """One query."""
    with connection.cursor() as cursor:
        cursor.execute(_FACTS, _parameters(case))
        rows = cursor.fetchall()
    made = [
        Fact(
            kind=kind,
            key=key,
            texts=(a, b, c, d),
            person=person,
            person_id=pid,
            other=other,
            number=number,
            at=_instant(at),
        )
        for kind, key, a, b, c, d, person, pid, other, number, at in rows
    ]
    return Facts(rows=tuple(sorted(made, key=lambda fact: fact.at or case.created_at)))


def _parameters(case: Case) -> dict[str, Any]:
    """As the columns of this database hold them."""
    key, revision = (Case._meta.pk.get_db_prep_value(pk, connection) for pk in (case.pk, case.current_revision_id))
    fixture = case.current_revision
    return {
        "case": key,
        "revision": revision,
        "lately": connection.ops.adapt_datetimefield_value(timezone.now() - LATELY),
        "now": connection.ops.adapt_datetimefield_value(timezone.now()),
        "project": Project._meta.pk.get_db_prep_value(case.project_id, connection),
        "fixture": fixture.fixture_hash if fixture else "",
        "checks": fixture.checks_hash if fixture else "",
    }


def _instant(kept: datetime | str | None) -> datetime | None:
    """SQLite keeps instants in UTC without saying so, and may give them as text."""
    read = parse_datetime(kept) if isinstance(kept, str) else kept
    return read.replace(tzinfo=UTC) if read is not None and timezone.is_naive(read) else read
