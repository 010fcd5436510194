"""A database as it looks after years: many cases with their revisions, runs, verdicts, lanes and audit events.

PostgreSQL only: the rows are made by the database itself, from series of numbers, so that a million runs take a minute.
What a page reads is distributed as it would be (stages, lanes, verdicts, owners); hashes are of the right shape and
distinct. The audit chain is not a valid one, and payload bodies are shared: no page of a list reads either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connection, models
from django.utils import timezone

from replaycases.accounts.models import Membership, Project, Team, User
from replaycases.accounts.roles import Role
from replaycases.cases import archives, evidence, immutability, registry
from replaycases.cases.models import (
    AuditEvent,
    Case,
    CaseOwner,
    Comparison,
    Decision,
    FixtureRevision,
    Implementation,
    Lane,
    LaneEntry,
    LaneName,
    Provenance,
    Run,
    RunSet,
)

REVISIONS_A_CASE = 3
# The old version's runs, the new version's, and what the lane added: ten runs a case.
SET_SIZES = (2, 5, 3)
STAGES = "(ARRAY['quarantined','in_review','redaction_approved','reproduced','reproduced','reproduced','retired'])"
LABELS = (
    "(ARRAY['verified_red_to_green','verified_red_to_green','verified_red_to_green','still_failing','diverged',"
    "'undetermined','not_reproduced',''])"
)
WORDS = "(ARRAY['refund','shipment','recovery','invoice','address','tariff','booking','payout','limit','warranty'])"
BOUNDARIES = "(ARRAY['prohibited_outcome','workflow','dependency','suite_policy','privacy'])"


def build(examples: Mapping[str, bytes], *, cases: int) -> User:
    """Fill an empty, migrated PostgreSQL database; `examples` maps paths to the source of one small implementation.
    Returns a person with every role in every project."""
    person = User.objects.create_user("bench", "bench@example.invalid", "bench", is_staff=True, is_superuser=True)
    people = [person, *(User.objects.create_user(f"p{n}", f"p{n}@example.invalid") for n in range(20))]
    projects = [Project.objects.create(key=f"B{n}", name=f"Project {n}") for n in range(5)]
    for project in projects:
        for member in people:
            Membership.objects.bulk_create(
                Membership(project=project, user=member, role=role)
                for role in (Role if member is person else (Role.RESPONDER, Role.VIEWER))
            )
        team = Team.objects.create(project=project, name="Payments")
        team.members.set(people[:5])
        for name in LaneName:
            Lane.objects.create(project=project, name=name)
    versions = [_version(person, project, examples, number) for project in projects for number in (1, 2)]
    with connection.cursor() as cursor:
        immutability.remove(connection.alias)
        cursor.execute("SET synchronous_commit = off")
        _numbers(cursor, projects, people, versions, cases)
        _cases(cursor)
        _runs(cursor)
        _people_and_lanes(cursor)
        _audit(cursor)
        immutability.install(connection.alias)
        cursor.execute("ANALYZE")
    Project.objects.update(
        next_number=cases + 1, next_run_number=cases * sum(SET_SIZES) + 1, next_comparison_number=cases + 1
    )
    return person


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
    payload = evidence.store(projects[0], b"{}", media_type=evidence.JSON_TYPE, classification="redacted")
    ids = {
        "projects": [project.pk for project in projects],
        "people": [user.pk for user in people],
        "old": [version.pk for version in versions[0::2]],
        "new": [version.pk for version in versions[1::2]],
        "teams": [Team.objects.get(project=project).pk for project in projects],
        "count": cases,
        "payload": payload.pk,
        "now": timezone.now(),
    }
    cursor.execute(
        f"""
        CREATE TEMPORARY TABLE n AS SELECT i,
          md5('case' || i)::uuid AS case_id, md5('comparison' || i)::uuid AS comparison_id,
          (%(projects)s::uuid[])[p] AS project_id, (%(people)s::uuid[])[1 + i %% 20] AS person_id,
          (%(people)s::uuid[])[2 + i %% 19] AS other_id, (%(teams)s::uuid[])[p] AS team_id,
          (%(old)s::uuid[])[p] AS old_id, (%(new)s::uuid[])[p] AS new_id, %(payload)s::uuid AS payload_id,
          {STAGES}[1 + i %% 7] AS stage,
          {LABELS}[1 + (i / 3) %% 8] AS label,
          CASE WHEN i %% 7 NOT IN (3, 4, 5) THEN '' WHEN i %% 3 = 0 THEN 'blocking' WHEN i %% 3 = 1 THEN 'nonblocking'
               ELSE '' END AS lane,
          %(now)s::timestamptz - i * interval '7 minutes' AS at
        FROM (SELECT i, 1 + (CASE WHEN i %% 10 < 6 THEN 0 ELSE i %% 10 - 5 END) AS p
              FROM generate_series(1, %(count)s) AS i) AS s
        """,
        ids,
    )
    cursor.execute("UPDATE n SET label = '' WHERE stage = 'quarantined'")


def _cases(cursor: Any) -> None:
    hashed = "'sha256:' || md5({0}) || md5('x' || {0})"
    _insert(
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
        last_verdict="label",
        verdict_since="at",
        security_incident="i % 500 = 0",
        flagged="i % 100 = 0",
        expectation_approved="stage IN ('redaction_approved', 'reproduced')",
        evidence_expires_at="CASE WHEN stage IN ('quarantined', 'in_review') THEN at + interval '400 days' END",
        review_due_at="at + interval '600 days'",
        created_by="person_id",
        created_at="at",
    )
    _insert(
        cursor,
        FixtureRevision,
        f"n, generate_series(1, {REVISIONS_A_CASE}) AS r",
        id="md5('revision' || i || '-' || r)::uuid",
        case="case_id",
        number="r",
        payload="payload_id",
        schema_version="'2.0'",
        fixture_case_id="'case-' || i",
        content_hash=hashed.format("'c' || i || '-' || r"),
        fixture_hash=hashed.format("'f' || i || '-' || r"),
        checks_hash=hashed.format("'k' || i || '-' || r"),
        created_by="person_id",
        created_at="at + r * interval '1 minute'",
    )
    _insert(
        cursor,
        Comparison,
        "n WHERE stage <> 'quarantined'",
        id="comparison_id",
        project="project_id",
        number="i",
        revision=f"md5('revision' || i || '-' || {REVISIONS_A_CASE})::uuid",
        old="old_id",
        new="new_id",
        requested_by="other_id",
        created_at="at + interval '5 minutes'",
        label="label",
        document="CASE WHEN label <> '' THEN payload_id END",
        computed_at="CASE WHEN label <> '' THEN at + interval '6 minutes' END",
        old_red="CASE WHEN label <> '' THEN label IN ('verified_red_to_green', 'still_failing', 'diverged') END",
    )
    cursor.execute(
        f"""
        UPDATE cases_case SET current_revision_id = md5('revision' || number || '-' || {REVISIONS_A_CASE})::uuid,
          latest_comparison_id = CASE WHEN stage <> 'quarantined' THEN md5('comparison' || number)::uuid END
        """
    )


def _runs(cursor: Any) -> None:
    hashed = "'sha256:' || md5({0}) || md5('x' || {0})"
    for number, size in enumerate(SET_SIZES, start=1):
        before = sum(SET_SIZES[: number - 1])
        _insert(
            cursor,
            RunSet,
            "n",
            id=f"md5('set' || i || '-{number}')::uuid",
            project="project_id",
            revision=f"md5('revision' || i || '-' || {REVISIONS_A_CASE})::uuid",
            implementation="old_id" if number == 1 else "new_id",
            comparison="NULL" if number == 3 else "CASE WHEN stage <> 'quarantined' THEN comparison_id END",
            size=str(size),
            fixture_hash=hashed.format(f"'f' || i || '-' || {REVISIONS_A_CASE}"),
            checks_hash=hashed.format(f"'k' || i || '-' || {REVISIONS_A_CASE}"),
            requested_by="other_id",
            created_at=f"at + {number} * interval '1 minute'",
        )
        _insert(
            cursor,
            Run,
            f"n, generate_series(0, {size - 1}) AS r",
            id=f"md5('run' || i || '-{number}-' || r)::uuid",
            project="project_id",
            number=f"(i - 1) * {sum(SET_SIZES)} + {before} + r + 1",
            run_set=f"md5('set' || i || '-{number}')::uuid",
            index="r",
            state="'finished'",
            attempts="1",
            lease_token="1",
            not_before="at",
            created_at="at",
            started_at="at",
            finished_at="at + interval '1 second'",
            manifest="payload_id",
            status="'completed'",
            boundary_passed="false" if number == 1 else "true",
            observation_hash=f"'sha256:' || md5('o' || i || {number == 1!r}) || md5('o' || i)",
            matching_policy="'sha256:' || md5('policy') || md5('policy')",
        )


def _people_and_lanes(cursor: Any) -> None:
    _insert(
        cursor,
        CaseOwner,
        "n, generate_series(1, 5) AS b WHERE i % 10 > 0",
        id="md5('owner' || i || '-' || b)::uuid",
        case="case_id",
        boundary=f"{BOUNDARIES}[b]",
        user="CASE WHEN b <> 3 THEN person_id END",
        team="CASE WHEN b = 3 THEN team_id END",
    )
    _insert(
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
    for kind in ("redaction", "expectation"):
        _insert(
            cursor,
            Decision,
            "n JOIN cases_fixturerevision f ON f.case_id = n.case_id AND f.number = 3 "
            "WHERE stage IN ('redaction_approved', 'reproduced')",
            id=f"md5('{kind}' || i)::uuid",
            case="n.case_id",
            revision="f.id",
            kind=f"'{kind}'",
            outcome="'approved'",
            content_hash="f.content_hash",
            fixture_hash="f.fixture_hash",
            checks_hash="f.checks_hash",
            decided_by="other_id",
            decided_at="at + interval '10 minutes'",
        )
    _insert(
        cursor,
        LaneEntry,
        "n JOIN cases_lane l ON l.project_id = n.project_id AND l.name = n.lane",
        id="md5('entry' || i)::uuid",
        lane="l.id",
        case="case_id",
        revision=f"md5('revision' || i || '-' || {REVISIONS_A_CASE})::uuid",
        entered_by="other_id",
        entered_at="at + interval '20 minutes'",
    )
    cursor.execute(
        "UPDATE cases_runset SET lane_entry_id = e.id FROM cases_laneentry e, n WHERE e.case_id = n.case_id "
        "AND cases_runset.id = md5('set' || n.i || '-3')::uuid"
    )


def _audit(cursor: Any) -> None:
    actions = "(ARRAY['case.created','revision.added','comparison.requested','comparison.computed','case.submitted'])"
    _insert(
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


def _insert(cursor: Any, model: type[models.Model], source: str, **values: str) -> None:
    """INSERT … SELECT: `values` are SQL expressions by field name; every other column takes its field's default."""
    columns, expressions, constants = [], [], []
    for field in model._meta.concrete_fields:
        columns.append(f'"{field.column}"')
        if field.name in values:
            expressions.append(values[field.name].replace("%", "%%"))
        else:
            constants.append(field.get_db_prep_save(_default(field), connection))
            kind = field.db_type(connection)
            expressions.append(f"%s::{_CAST.get(kind or '', kind)}")
    table = model._meta.db_table
    selected = ", ".join(expressions)
    cursor.execute(
        f'INSERT INTO "{table}" ({", ".join(columns)}) SELECT {selected} FROM {source.replace("%", "%%")}', constants
    )


_CAST = {"serial": "integer", "bigserial": "bigint"}


def _default(field: models.Field[Any, Any]) -> Any:
    return field.get_default() if field.has_default() or not field.null else None
