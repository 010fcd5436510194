"""What the gates of a redaction are computed from: one query for all cases and one for their runs, each asked when the
first of these gates needs it. Other gates pay nothing for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

from django.utils import timezone

from replaycases.cases import gate_queries, kept_queries, redaction_rows
from replaycases.cases.json_rows import instant
from replaycases.cases.models import (
    Case,
    FixtureRevision,
    Implementation,
    Provenance,
    Redaction,
    Run,
)
from replaycases.cases.redaction_descent import Descent, Descents, looks_at, source_in
from replaycases.redaction.scan import DETECTORS_VERSION

LOOK_AGAIN = "Redact it again, or have the detectors look again."


class RedactionFacts:
    """Of the current revisions of these cases, whose rows are loaded with `current_revision` and `provenance`."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases

    def newest(self, revision: FixtureRevision) -> Any:
        """The `Redaction` that counts, see `redaction_rows.newest`, with what `gate_queries.redactions` says beside it;
        None where nobody looked."""
        return next(reversed(self._rows[revision.pk]), None)

    def source(self, revision: FixtureRevision) -> FixtureRevision | None:
        """The other revision that it was made of by replacing what was found; None for one made by hand. It stays so
        when somebody looks at the revision again."""
        return source_in(self._rows[revision.pk])

    def descent(self, revision: FixtureRevision) -> Descent | None:
        """The raw revision that it was made of, also where it was edited by hand since; None where nothing was ever
        redacted on the way to it. One query for all cases, where any was edited."""
        made = self.source(revision)
        if not self._is_edited(revision):
            return None if made is None else Descent(raw=made, redacted=revision)
        return self._descents[revision.case_id].of(revision)

    def _is_edited(self, revision: FixtureRevision) -> bool:
        """Whether earlier revisions may tell more of where it comes from."""
        return (self.source(revision) or revision).number > 1

    def outrun(self, looked: Any) -> tuple[str, str]:
        """Why it says too little today, and what to do: another policy is in force, the detectors are newer, or people
        decided something since; both "" if none of it. `looked` is a newest one."""
        number = looked.in_force or 0
        of = looked.policy.number if looked.policy is not None else 0
        if of != number:
            under = redaction_rows.policy_name(of)
            return (
                f"Version {number} of the redaction policy is in force, and this was found under {under}.",
                LOOK_AGAIN,
            )
        if looked.detectors != DETECTORS_VERSION:
            return "The detectors are newer than what was found.", LOOK_AGAIN
        if redaction_rows.has_changed_rules(looked):
            return (
                "Rules were added or taken back since it was redacted.",
                "Redact it again to apply them.",
            )
        return "", ""

    def left(self, looked: Any) -> list[Mapping[str, str]]:
        """Its open findings that no waiver covers now. `looked` is a newest one."""
        now = timezone.now()
        waived = {waiver["finding"] for waiver in looked.given or () if instant(waiver["until"]) > now}
        return redaction_rows.left_by(looked, waived)

    def runs_of(self, implementation: Implementation, revision: FixtureRevision) -> list[Run]:
        """Every run of that code on the bytes of the revision or of its source, those of voided sets too, in the order
        of their numbers."""
        wanted = (implementation.digest, revision.fixture_hash, revision.checks_hash)
        return [run for run in self._runs if _ran(run) == wanted]

    @cached_property
    def _rows(self) -> Mapping[UUID, list[Any]]:
        """By revision, the oldest first."""
        found: defaultdict[UUID, list[Any]] = defaultdict(list)
        revisions = [case.current_revision_id for case in self._cases if case.current_revision_id]
        for row in kept_queries.about(gate_queries.redactions, revisions):
            found[row.revision_id].append(row)
        return found

    @cached_property
    def _descents(self) -> Mapping[UUID, Descents]:
        current = (case.current_revision for case in self._cases)
        cases = {one.case_id for one in current if one is not None and self._is_edited(one)}
        looks: defaultdict[UUID, list[Redaction]] = defaultdict(list)
        for look in looks_at(cases):
            looks[look.revision.case_id].append(look)
        return {case: Descents(looks[case]) for case in cases}

    @cached_property
    def _runs(self) -> list[Run]:
        revisions = [case.current_revision for case in self._cases if case.current_revision]
        descents = [descent for revision in revisions if (descent := self.descent(revision))]
        replayed = [*revisions, *(one for descent in descents for one in (descent.raw, descent.redacted))]
        affected = [side for case in self._cases if (side := _affected(case))]
        runs = Run.objects.filter(
            project__in={case.project_id for case in self._cases},
            run_set__fixture_hash__in={one.fixture_hash for one in replayed},
            run_set__implementation__digest__in={side.digest for side in affected},
        )
        rows = runs.select_related("run_set__implementation", "run_set__voided_by").order_by("number")
        return list(rows.defer("progress", "run_set__implementation__spec"))


def _affected(case: Case) -> Implementation | None:
    found: Provenance | None = getattr(case, "provenance", None)
    return found.affected if found else None


def _ran(run: Run) -> tuple[str, str, str]:
    return run.run_set.implementation.digest, run.run_set.fixture_hash, run.run_set.checks_hash
