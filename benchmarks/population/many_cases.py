"""A database as it looks after years: many cases with their revisions, runs, verdicts, lanes and audit events.

PostgreSQL only: the rows are made by the database itself, from series of numbers, so that a million runs take a minute.
What a page reads is distributed as it would be (stages, lanes, verdicts, owners); hashes are of the right shape and
distinct. The audit chain is not a valid one, and payload bodies are shared: no page of a list reads either.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from benchmarks.population import around, redactions
from benchmarks.population.series import digest, insert
from replaycases.accounts.models import Membership, Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import archives, evidence, registry
from replaycases.cases.models import (
    Case,
    Classification,
    Comparison,
    Control,
    FixtureRevision,
    Implementation,
    Lane,
    LaneName,
    Run,
    RunSet,
)

REVISIONS_A_CASE = 3
TEAMS_A_PROJECT = 4
# Sets of a case: their size, and whose runs they are. Ten runs a case.
SETS = ((2, "old"), (5, "new"), (3, "lane"))
# A set a day of the stay of every fiftieth case of a lane: what a promotion reads.
DAYS_IN_LANE = 20
STAGES = "(ARRAY['quarantined','in_review','redaction_approved','reproduced','reproduced','reproduced','retired'])"
LABELS = (
    "(ARRAY['verified_red_to_green','verified_red_to_green','verified_red_to_green','still_failing','diverged',"
    "'undetermined','not_reproduced',''])"
)
WORDS = "(ARRAY['refund','shipment','recovery','invoice','address','tariff','booking','payout','limit','warranty'])"
LAST = f"md5('revision' || i || '-{REVISIONS_A_CASE}')::uuid"


def build(examples: Mapping[str, bytes], *, cases: int) -> tuple[User, User]:
    """Fill an empty, migrated PostgreSQL database; `examples` maps paths to the source of one small implementation.
    Returns a person with every role in every project, and a plain responder in every project."""
    person = User.objects.create_user("bench", "bench@example.invalid", "bench", is_staff=True, is_superuser=True)
    people = [person, *(User.objects.create_user(f"p{n}", f"p{n}@example.invalid") for n in range(20))]
    projects = [Project.objects.create(key=f"B{n}", name=f"Project {n}") for n in range(5)]
    for project in projects:
        _members(project, person, people)
    versions = [_version(person, project, examples, number) for project in projects for number in (1, 2)]
    with connection.cursor() as cursor:
        # Without foreign keys and triggers: a row may refer to one that comes later, and a million are not looked up.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SET synchronous_commit = off")
        _numbers(cursor, projects, people, versions, cases)
        _cases(cursor)
        around.people(cursor)
        around.lanes(cursor)
        _runs(cursor, cases)
        redactions.build(cursor, projects[0])
        around.reviews(cursor)
        around.proposals(cursor)
        around.messages(cursor, len(people))
        around.audit(cursor)
        around.require_repeated_on_cases(cursor)
        cursor.execute("SET session_replication_role = origin")
        # As autovacuum leaves it: what is read from an index alone needs the visibility map.
        cursor.execute("VACUUM ANALYZE")
    Project.objects.update(next_number=cases + 1, next_run_number=cases * 130, next_comparison_number=cases + 1)
    return person, people[1]


def _members(project: Project, person: User, people: list[User]) -> None:
    for member in people:
        roles = Role if member is person else (Role.RESPONDER, Role.VIEWER)
        Membership.objects.bulk_create(Membership(project=project, user=member, role=role) for role in roles)
    for number in range(TEAMS_A_PROJECT):
        team = Team.objects.create(project=project, name=f"Team {number}")
        team.members.set(people[number * 5 : number * 5 + 5])
    for name in LaneName:
        Lane.objects.create(project=project, name=name)


def _version(actor: User, project: Project, files: Mapping[str, bytes], number: int) -> Implementation:
    packed = {path: (data, False) for path, data in files.items()}
    spec = packed["implementation.json"][0].replace(b'"version": "1"', f'"version": "{number}"'.encode())
    packed["implementation.json"] = (spec, False)
    packed["number.txt"] = (str(number).encode(), False)
    return registry.register_archive(
        actor, project=project, archive=archives.pack(packed), spec_path="implementation.json"
    )


def _numbers(
    cursor: Any, projects: list[Project], people: list[User], versions: list[Implementation], cases: int
) -> None:
    """One row a case, with everything that its other rows repeat: table `n`."""
    redacted = evidence.store(projects[0], b"{}", media_type=evidence.JSON_TYPE, classification=Classification.REDACTED)
    ends = timezone.now() + timedelta(days=90)
    raw = evidence.store(projects[0], b"[]", media_type=evidence.JSON_TYPE, expires_at=ends)
    ids = {
        "projects": [project.pk for project in projects],
        "people": [user.pk for user in people],
        "old": [version.pk for version in versions[0::2]],
        "new": [version.pk for version in versions[1::2]],
        "teams": list(Team.objects.order_by("project__key", "name").values_list("pk", flat=True)),
        "count": cases,
        "redacted": redacted.pk,
        "raw": raw.pk,
        "now": timezone.now(),
    }
    cursor.execute(
        f"""
        CREATE TEMPORARY TABLE n AS SELECT *,
          stage IN ('redaction_approved', 'reproduced') AND (lane <> '' OR i %% 11 > 0) AS expected,
          CASE WHEN stage IN ('quarantined', 'in_review') THEN %(raw)s::uuid ELSE %(redacted)s::uuid END AS payload_id
        FROM (SELECT i,
          md5('case' || i)::uuid AS case_id, md5('comparison' || i)::uuid AS comparison_id,
          (%(projects)s::uuid[])[p] AS project_id, (%(people)s::uuid[])[1 + i %% 20] AS person_id,
          (%(people)s::uuid[])[1 + (i + 7) %% 20] AS other_id,
          (%(teams)s::uuid[])[1 + (p - 1) * {TEAMS_A_PROJECT} + i %% {TEAMS_A_PROJECT}] AS team_id,
          (%(old)s::uuid[])[p] AS old_id, (%(new)s::uuid[])[p] AS new_id,
          CASE WHEN i %% 21 = 6 THEN 'non_replayable' ELSE {STAGES}[1 + i %% 7] END AS stage,
          {LABELS}[1 + (i / 3) %% 8] AS label,
          CASE WHEN i %% 7 NOT IN (3, 4, 5) THEN '' WHEN i %% 3 = 0 THEN 'blocking' WHEN i %% 3 = 1 THEN 'nonblocking'
               ELSE '' END AS lane,
          %(now)s::timestamptz - i * interval '7 minutes' AS at,
          %(now)s::timestamptz + (1 - i / %(count)s::float) * interval '480 days' - interval '4 days' AS ends
        FROM (SELECT i, 1 + (CASE WHEN i %% 10 < 6 THEN 0 ELSE i %% 10 - 5 END) AS p
              FROM generate_series(1, %(count)s) AS i) AS s) AS t
        """,
        ids,
    )
    cursor.execute("UPDATE n SET label = '' WHERE stage = 'quarantined'")


def _cases(cursor: Any) -> None:
    contained = "i % 500 = 0 AND i % 2000 > 0"
    insert(
        cursor,
        Case,
        "n",
        id="case_id",
        project="project_id",
        number="i",
        title=f"'The ' || {WORDS}[1 + i % 10] || ' was confirmed although call ' || i || ' had timed out'",
        incident_id="'INC-' || i",
        case_id="'case-' || i",
        trigger="'The lookup gave no state before its deadline.'",
        prohibited_outcome="'The reply says that it was completed.'",
        deciding_evidence="'The state was unknown.'",
        stage="stage",
        stage_since="at",
        lane="lane",
        verdict="label",
        last_verdict="CASE WHEN label = '' AND stage <> 'quarantined' THEN 'diverged' ELSE label END",
        previous_verdict="CASE WHEN stage <> 'quarantined' AND i % 4 = 0 THEN 'still_failing' ELSE '' END",
        verdict_since="CASE WHEN stage <> 'quarantined' THEN at END",
        flagged="i % 100 = 0 AND stage <> 'retired'",
        expectation_approved="expected",
        redaction_returned="stage = 'in_review' AND i % 4 = 0",
        current_revision=LAST,
        revised_by="person_id",
        latest_comparison="CASE WHEN stage <> 'quarantined' THEN comparison_id END",
        security_incident="i % 500 = 0",
        contained_at=f"CASE WHEN {contained} THEN at END",
        contained_by=f"CASE WHEN {contained} THEN other_id END",
        containment_note=f"CASE WHEN {contained} THEN 'The key was revoked.' ELSE '' END",
        evidence_expires_at="CASE WHEN stage IN ('quarantined', 'in_review') THEN ends END",
        expiry_warned="CASE WHEN stage IN ('quarantined', 'in_review') AND ends < now() + interval '30 days' "
        "THEN 1 ELSE 0 END",
        review_due_at="CASE WHEN lane <> '' THEN at + interval '600 days' END",
        created_by="person_id",
        created_at="at",
    )
    insert(
        cursor,
        FixtureRevision,
        f"n, generate_series(1, {REVISIONS_A_CASE}) AS r",
        id="md5('revision' || i || '-' || r)::uuid",
        case="case_id",
        number="r",
        payload="payload_id",
        schema_version="'2.0'",
        fixture_case_id="'case-' || i",
        content_hash=digest("('c' || i || '-' || r)"),
        fixture_hash=digest("('f' || i || '-' || r)"),
        checks_hash=digest("('k' || i || '-' || r)"),
        effectful_tools="'[\"refund\"]'",
        unstated_tools="'[]'",
        non_replayable="false",
        created_by="person_id",
        created_at="at + r * interval '1 minute'",
    )
    insert(
        cursor,
        Control,
        "n, unnest(ARRAY['rejection', 'success']) AS outcome WHERE stage = 'reproduced'",
        id="md5('control' || i || outcome)::uuid",
        revision=LAST,
        name="'refund ' || outcome",
        outcome_type="outcome",
        tool="'refund'",
        payload="payload_id",
        mutation="payload_id",
        fixture_hash=digest("('c' || i || outcome)"),
        checks_hash=digest("('k' || i || outcome)"),
        mutated_hash=digest("('m' || i || outcome)"),
        created_by="person_id",
        created_at="at",
    )
    insert(
        cursor,
        Comparison,
        "n WHERE stage <> 'quarantined'",
        id="comparison_id",
        project="project_id",
        number="i",
        revision=LAST,
        old="old_id",
        new="new_id",
        requested_by="other_id",
        created_at="at + interval '5 minutes'",
        label="label",
        document="CASE WHEN label <> '' THEN payload_id END",
        computed_at="CASE WHEN label <> '' THEN at + interval '6 minutes' END",
        old_red="CASE WHEN label <> '' THEN label IN ('verified_red_to_green', 'still_failing', 'diverged') END",
        controls="CASE WHEN label <> '' AND stage = 'reproduced' THEN jsonb_build_object("
        "md5('control' || i || 'rejection')::uuid::text, true, md5('control' || i || 'success')::uuid::text, true) "
        "ELSE '{}' END",
    )


def _runs(cursor: Any, cases: int) -> None:
    """Those of each case; of some reproduced ones also the controls' with their mutated twins, and a long history."""
    first = 0
    for kind, (size, side) in enumerate(SETS, start=1):
        entry = "(SELECT e.id FROM cases_laneentry e WHERE e.case_id = n.case_id AND e.left_at IS NULL LIMIT 1)"
        _sets(
            cursor,
            "n",
            key=f"'{kind}-' || i",
            implementation="old_id" if side == "old" else "new_id",
            comparison="NULL" if side == "lane" else "CASE WHEN stage <> 'quarantined' THEN comparison_id END",
            lane_entry=entry if side == "lane" else "NULL",
            size=size,
            number=f"(i - 1) * 10 + {first} + r + 1",
        )
        first += size
    _sets(
        cursor,
        "n JOIN cases_control c ON c.revision_id = md5('revision' || i || '-3')::uuid, (VALUES (0), (1)) AS twin(m) "
        "WHERE i % 10 = 3",
        key="'control-' || c.id::text || m",
        implementation="new_id",
        control="c.id",
        mutated="m = 1",
        fixture_hash="CASE WHEN m = 1 THEN c.mutated_hash ELSE c.fixture_hash END",
        checks_hash="c.checks_hash",
        comparison="comparison_id",
        size=2,
        number=f"{cases} * 10 + i * 8 + m * 2 + r + 4 * (c.outcome_type = 'success')::int",
    )
    _sets(
        cursor,
        f"n JOIN cases_laneentry e ON e.case_id = n.case_id, generate_series(1, {DAYS_IN_LANE}) AS d WHERE i % 50 = 3",
        key="'history-' || e.id::text || d",
        implementation="new_id",
        lane_entry="e.id",
        requested_by="NULL",
        created_at="n.at + d * interval '1 day'",
        size=1,
        number=f"{cases} * 20 + i * 100 + d + 50 * (e.left_at IS NULL)::int",
    )


def _sets(cursor: Any, source: str, *, key: str, size: int, number: str, **values: str) -> None:
    """Run sets and their runs, `size` each; `key` names a set, `number` gives the run of index `r` its own."""
    made = {
        "id": f"md5({key})::uuid",
        "project": "n.project_id",
        "revision": LAST,
        "size": str(size),
        "fixture_hash": digest("('f' || i || '-3')"),
        "checks_hash": digest("('k' || i || '-3')"),
        "requested_by": "other_id",
        "created_at": "n.at + interval '1 minute'",
        **values,
    }
    insert(cursor, RunSet, source, **made)
    joined = source.partition(" WHERE ")
    rows = f"{joined[0]} CROSS JOIN generate_series(0, {size - 1}) AS r {joined[1]}{joined[2]}"
    red = values["implementation"] == "old_id"
    insert(
        cursor,
        Run,
        rows,
        id=f"md5('run' || {key} || r)::uuid",
        project="n.project_id",
        number=number,
        run_set=f"md5({key})::uuid",
        index="r",
        state="'finished'",
        attempts="1",
        lease_token="1",
        not_before="n.at",
        created_at="n.at",
        started_at="n.at",
        finished_at=f"{made['created_at']} + interval '1 second'",
        manifest="n.payload_id",
        status="'completed'",
        boundary_passed="false" if red else "true" if values.get("mutated") is None else "m = 0",
        observation_hash=digest(f"('o' || i || '{red}')"),
        matching_policy=digest("'policy'"),
    )
