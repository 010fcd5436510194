"""What the database itself refuses, whoever asks: triggers, in the dialect of either database.

Fixture revisions, controls, edits of a statement, what dependency owners said, who read raw evidence, audit events,
reports from elsewhere, redactions and their policies are never updated or deleted. A run set changes only by being
voided, a decision too, a proposal by being decided, a stay in a lane by ending, a grader's finding by being confirmed,
a waiver by being confirmed and by ending: once, and in nothing else. A run that has ended stays as it ended. Nobody
approves their own work, and a decision is about exactly the bytes that it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connections
from django.db.models import Model

from replaycases.accounts.models import ApiToken, Invitation, Project, Team, User
from replaycases.cases.models import (
    AuditEvent,
    AuditHead,
    Capture,
    CaptureRule,
    Case,
    CiReport,
    CiResult,
    ClosingItem,
    Comparison,
    Control,
    Decision,
    DependencyStatement,
    Draft,
    FixtureRevision,
    GraderFinding,
    HeldDocument,
    Implementation,
    IncidentReport,
    Lane,
    LaneEntry,
    Proposal,
    Provenance,
    RawRead,
    Redaction,
    RedactionPolicy,
    RedactionRule,
    ReviewComment,
    ReviewFlag,
    Run,
    RunSet,
    SeenSpans,
    StatementEdit,
    Waiver,
)
from replaycases.cases.models.run import ENDED

_NEVER_CHANGED: tuple[type[Model], ...] = (
    FixtureRevision,
    Control,
    AuditEvent,
    CiReport,
    CiResult,
    StatementEdit,
    DependencyStatement,
    RawRead,
    HeldDocument,
    Redaction,
    RedactionPolicy,
)
# Each changes by its own rules, and an audit event may name it for ever.
_NEVER_DELETED: tuple[type[Model], ...] = (
    User,
    Project,
    Team,
    Invitation,
    ApiToken,
    Capture,
    CaptureRule,
    Draft,
    Case,
    Provenance,
    Implementation,
    Comparison,
    Lane,
    ReviewComment,
    ReviewFlag,
    ClosingItem,
    SeenSpans,
)
_ENDED_ONCE: tuple[type[Model], ...] = (RedactionRule, Waiver)
_CONFIRMED_ANEW = " OR ".join(
    f"OLD.{column} IS DISTINCT FROM NEW.{column}" for column in ("confirmed_at", "confirmed_by_id")
)
_RUN_ENDED = "OLD.state IN ({})".format(", ".join(f"'{state.value}'" for state in ENDED))


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """`operation` on a row of the table is refused where `condition` holds: SQL about OLD and NEW, which may look into
    other tables."""

    table: str
    operation: str
    condition: str = "1 = 1"
    why: str = "these rows are immutable"

    @property
    def name(self) -> str:
        return f"{self.table}_refuse_{self.operation.lower()}"

    @property
    def tables(self) -> frozenset[str]:
        """Its own and those that its condition reads."""
        return frozenset({self.table, *re.findall(r"(?<!DISTINCT )(?:FROM|JOIN) (\w+)", self.condition)})


def install(using: str) -> None:
    """Create the triggers anew and the audit chain's head row where it is missing. Idempotent. Where migrations were
    taken back, what needs a table that is gone is left out."""
    remove(using)
    connection = connections[using]
    with connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor))
        for refusal in _refusals():
            if refusal.tables <= there:
                for statement in _create(connection.vendor, refusal):
                    cursor.execute(statement)
        for table in _kept_tables():
            if table._meta.db_table in there:
                for statement in _whole(connection.vendor, table):
                    cursor.execute(statement)
    if AuditHead._meta.db_table in there:
        AuditHead.objects.using(using).get_or_create(pk=1)


def remove(using: str) -> None:
    """Drop the triggers: for a database administrator's repair, for migrations that rebuild a table that they read,
    and for tests that empty the tables."""
    connection = connections[using]
    with connection.cursor() as cursor:
        for refusal in _refusals():
            on_table = f' ON "{refusal.table}"' if connection.vendor == "postgresql" else ""
            cursor.execute(f'DROP TRIGGER IF EXISTS "{refusal.name}"{on_table}')
        for table in _kept_tables():
            on_table = f' ON "{table._meta.db_table}"' if connection.vendor == "postgresql" else ""
            cursor.execute(f'DROP TRIGGER IF EXISTS "{table._meta.db_table}_refuse_loss"{on_table}')


def _kept_tables() -> tuple[type[Model], ...]:
    """Those of which no row is ever deleted."""
    return (
        *_NEVER_CHANGED,
        *_NEVER_DELETED,
        Run,
        RunSet,
        Decision,
        Proposal,
        LaneEntry,
        GraderFinding,
        IncidentReport,
        *_ENDED_ONCE,
    )


def _refusals() -> Iterator[Refusal]:
    for model in _NEVER_CHANGED:
        yield from _never(model)
    for model in _NEVER_DELETED:
        yield _kept(model)
    yield _kept(Run)
    yield Refusal(table=Run._meta.db_table, operation="UPDATE", condition=_RUN_ENDED)
    yield from _once(RunSet, "OLD.voided_at IS NOT NULL", "voided_at", "voided_by", "void_reason")
    yield from _once(Decision, "OLD.voided_at IS NOT NULL", "voided_at", "void_reason")
    yield from _once(
        Proposal,
        f"OLD.state <> 'pending' OR NEW.kind = 'override' AND NEW.state = 'confirmed' AND {_OWN_WORK}",
        "state",
        "decided_by",
        "decided_at",
        "note",
    )
    yield from _once(RedactionRule, "OLD.withdrawn_at IS NOT NULL", "withdrawn_by", "withdrawn_at")
    yield from _once(
        Waiver,
        f"OLD.ended_at IS NOT NULL OR OLD.confirmed_at IS NOT NULL AND ({_CONFIRMED_ANEW})",
        "confirmed_by",
        "confirmed_at",
        "ended_by",
        "ended_at",
    )
    yield from _once(LaneEntry, "OLD.left_at IS NOT NULL", "left_at", "left_by")
    yield from _once(GraderFinding, "OLD.confirmed_at IS NOT NULL", "confirmed_by", "confirmed_at")
    yield from _once(IncidentReport, "OLD.settled_at IS NOT NULL", "case", "reason", "settled_by", "settled_at")
    yield Refusal(
        table=CaptureRule._meta.db_table,
        operation="UPDATE",
        condition=_rewritten(CaptureRule, ("project", "kind", "key", "value", "created_by", "created_at")),
        why="a rule changes in nothing but being enabled",
    )
    yield Refusal(
        table=Case._meta.db_table,
        operation="UPDATE",
        condition=_rewritten(Case, ("project", "number", "created_by", "on_behalf_of", "created_at")),
        why="whose case it is does not change",
    )
    yield Refusal(
        table=Capture._meta.db_table,
        operation="UPDATE",
        condition=_rewritten(
            Capture, ("project", "number", "payload", "captured_by", "on_behalf_of", "captured_at", "origin", "format")
        ),
        why="whose capture it is and of what does not change",
    )
    yield Refusal(
        table=Decision._meta.db_table,
        operation="INSERT",
        condition=f"NEW.outcome = 'approved' AND ({_OWN_WORK} OR {_OWN_CONTROL}) OR {_OTHER_BYTES}",
        why="nobody approves their own work, nor other bytes than those of the revision",
    )
    yield Refusal(
        table=Proposal._meta.db_table,
        operation="INSERT",
        condition=f"NEW.state <> 'pending' OR NEW.revision_id IS NOT NULL AND {_REVISION_OF_ANOTHER_CASE}",
        why="a proposal begins as pending, about a revision of its case",
    )
    yield Refusal(
        table=DependencyStatement._meta.db_table,
        operation="INSERT",
        condition=(
            f"{_REVISION_OF_ANOTHER_CASE} OR (NEW.authored_confirmed OR NEW.no_effect_confirmed) AND {_OWN_WORK}"
        ).replace("decided_by_id", "said_by_id"),
        why="it is about a revision of its case, and nobody confirms their own answers",
    )
    yield Refusal(
        table=RawRead._meta.db_table,
        operation="INSERT",
        condition=_READ_IN_ANOTHER_PROJECT,
        why="what is read belongs to the project",
    )
    yield Refusal(
        table=LaneEntry._meta.db_table,
        operation="INSERT",
        condition=f"{_REVISION_OF_ANOTHER_CASE} OR {_LANE_OF_ANOTHER_PROJECT}",
        why="a lane holds a revision of the case, in its own project",
    )


# --- conditions -----------------------------------------------------------------------------------------------------

_REVISION_OF_ANOTHER_CASE = """
NOT EXISTS (SELECT 1 FROM cases_fixturerevision r WHERE r.id = NEW.revision_id AND r.case_id = NEW.case_id)
"""
_LANE_OF_ANOTHER_PROJECT = """
NOT EXISTS (
    SELECT 1 FROM cases_lane l JOIN cases_case c ON c.project_id = l.project_id
    WHERE l.id = NEW.lane_id AND c.id = NEW.case_id
)
"""
_READ_IN_ANOTHER_PROJECT = """
NOT EXISTS (SELECT 1 FROM cases_case c WHERE c.id = NEW.case_id AND c.project_id = NEW.project_id)
AND NOT EXISTS (SELECT 1 FROM cases_capture t WHERE t.id = NEW.capture_id AND t.project_id = NEW.project_id)
"""
# Who decides captured the case, restated a part of what it is about, edited a revision of it up to the one in
# question, or had that done on their behalf.
_OWN_WORK = """
(EXISTS (
    SELECT 1 FROM cases_case c
    WHERE c.id = NEW.case_id AND NEW.decided_by_id IN (c.created_by_id, c.on_behalf_of_id)
) OR EXISTS (
    SELECT 1 FROM cases_fixturerevision r JOIN cases_fixturerevision x ON x.case_id = r.case_id AND x.number >= r.number
    WHERE x.id = NEW.revision_id AND NEW.decided_by_id IN (r.created_by_id, r.on_behalf_of_id)
) OR EXISTS (
    SELECT 1 FROM cases_statementedit s WHERE s.case_id = NEW.case_id AND s.editor_id = NEW.decided_by_id
))
"""
_OWN_CONTROL = """
EXISTS (SELECT 1 FROM cases_control k WHERE k.id = NEW.control_id AND k.created_by_id = NEW.decided_by_id)
"""
# What is decided about is not the revision of the case with these hashes, or not the control of it with these.
_OTHER_BYTES = """
NOT EXISTS (
    SELECT 1 FROM cases_fixturerevision r
    WHERE r.id = NEW.revision_id AND r.case_id = NEW.case_id AND r.content_hash = NEW.content_hash
    AND (NEW.control_id IS NOT NULL OR (r.fixture_hash = NEW.fixture_hash AND r.checks_hash = NEW.checks_hash))
) OR NEW.control_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM cases_control k WHERE k.id = NEW.control_id AND k.revision_id = NEW.revision_id
    AND k.fixture_hash = NEW.fixture_hash AND k.checks_hash = NEW.checks_hash
) OR NEW.redaction_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM cases_redaction w WHERE w.id = NEW.redaction_id AND w.revision_id = NEW.revision_id
)
"""


def _rewritten(model: type[Model], fields: tuple[str, ...]) -> str:
    columns = [field.column for field in model._meta.concrete_fields if field.name in fields]
    return " OR ".join(f'OLD."{column}" IS DISTINCT FROM NEW."{column}"' for column in columns)


def _never(model: type[Model]) -> Iterator[Refusal]:
    yield _kept(model)
    yield Refusal(table=model._meta.db_table, operation="UPDATE")


def _kept(model: type[Model]) -> Refusal:
    return Refusal(table=model._meta.db_table, operation="DELETE")


def _once(model: type[Model], done: str, *open_fields: str) -> Iterator[Refusal]:
    """Only `open_fields` change, and nothing does once `done` holds."""
    fixed = tuple(field.name for field in model._meta.concrete_fields if field.name not in open_fields)
    yield _kept(model)
    yield Refusal(table=model._meta.db_table, operation="UPDATE", condition=f"{done} OR {_rewritten(model, fixed)}")


# --- dialects -------------------------------------------------------------------------------------------------------


def _whole(vendor: str, model: type[Model]) -> list[str]:
    """What takes rows away without a DELETE that a trigger sees: TRUNCATE, and SQLite's INSERT OR REPLACE."""
    table = model._meta.db_table
    name, message = f"{table}_refuse_loss", f"{table}: these rows are immutable, and none is lost"
    if vendor == "sqlite":
        same = " OR ".join(" AND ".join(f'o."{one}" = NEW."{one}"' for one in key) for key in _keys(model))
        found = f'SELECT 1 FROM "{table}" o WHERE {same}'  # noqa: S608  names of our own columns
        return [
            f'CREATE TRIGGER "{name}" BEFORE INSERT ON "{table}" WHEN EXISTS ({found}) '
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        ]
    return [
        f'CREATE OR REPLACE FUNCTION "{name}"() RETURNS trigger LANGUAGE plpgsql AS '
        f"$$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = '23514'; END $$",
        f'CREATE TRIGGER "{name}" BEFORE TRUNCATE ON "{table}" FOR EACH STATEMENT EXECUTE FUNCTION "{name}"()',
    ]


def _keys(model: type[Model]) -> Iterator[tuple[str, ...]]:
    """The columns of which no two rows hold the same, key by key."""
    columns = {field.name: str(field.column) for field in model._meta.concrete_fields}
    yield from ((str(field.column),) for field in model._meta.concrete_fields if field.unique)
    for constraint in model._meta.total_unique_constraints:
        yield tuple(columns[name] for name in constraint.fields)


def _create(vendor: str, refusal: Refusal) -> list[str]:
    name, table, operation = refusal.name, refusal.table, refusal.operation
    message = f"{table}: {operation} is refused, {refusal.why}"
    if vendor == "sqlite":
        condition = refusal.condition.replace("IS DISTINCT FROM", "IS NOT")
        return [
            f'CREATE TRIGGER "{name}" BEFORE {operation} ON "{table}" WHEN {condition} '
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        ]
    # The condition stands in the body because WHEN takes no subquery. 23514 is check_violation, which arrives as
    # IntegrityError as it does on SQLite.
    row = "OLD" if operation == "DELETE" else "NEW"
    return [
        f'CREATE OR REPLACE FUNCTION "{name}"() RETURNS trigger LANGUAGE plpgsql AS '
        f"$$ BEGIN IF {refusal.condition} THEN RAISE EXCEPTION '{message}' USING ERRCODE = '23514'; END IF; "
        f"RETURN {row}; END $$",
        f'CREATE TRIGGER "{name}" BEFORE {operation} ON "{table}" FOR EACH ROW EXECUTE FUNCTION "{name}"()',
    ]
