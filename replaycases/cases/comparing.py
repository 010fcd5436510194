"""When a verdict is computed and where it is kept. How it is reached stands in `cases.judging`.

A stored label is only ever the verdict over results that are all in: asking for more runs clears it in the same
transaction, and it is written under a lock, after checking that nothing came in while it was computed.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import orjson
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from replaycases.cases import events, evidence, judging, reading
from replaycases.cases.locks import lock_project
from replaycases.cases.models import ENDED, Case, Comparison, Control, FixtureRevision, Payload, Run, RunSet
from replaycases.verdict.labels import Label

# A verdict computed while other results came in is thrown away and computed again, at most this often in a row.
MAX_TRIES = 3

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What a verdict rests on: every run and how it ended, every control that must have passed, and whether a missing
    red was approved."""

    runs: tuple[tuple[UUID, str], ...]
    controls: frozenset[UUID]
    without_red: bool


def asked(comparison: Comparison) -> None:
    """The comparison is the newest one of its case from now on, where it is about the current revision. In the caller's
    transaction, which holds the project's lock."""
    current = Case.objects.filter(pk=comparison.revision.case_id, current_revision=comparison.revision)
    current.update(latest_comparison=comparison, verdict="")


def invalidate(run_set: RunSet, *, voided: bool = False) -> None:
    """Clear the verdicts that read this set's results: it was declared or voided. In the caller's transaction; the
    project's row is locked first, so that no verdict is stored meanwhile. Where the fixture is destroyed no verdict can
    be reached anew: what was found while it was there stands, unless it rests on a set that is voided."""
    lock_project(run_set.project)
    readers = _readers(run_set)
    _clear(readers if voided else readers.exclude(_out_of_reach()))


def control_added(control: Control) -> None:
    """Reach the verdicts anew, after the commit, that read the controls of its revision: they were reached without this
    one, and it passes nothing before it is replayed. Locks as `invalidate`."""
    lock_project(control.revision.case.project)
    _clear(Comparison.objects.filter(revision=control.revision, with_controls=True, new__isnull=False))
    _refresh_after_commit(control.revision)


def red_overridden(revision: FixtureRevision) -> None:
    """Compute anew, after the commit, the verdicts without an old side: two people approved that there is no red. Locks
    as `invalidate`."""
    lock_project(revision.case.project)
    _clear(Comparison.objects.filter(revision=revision, label=Label.BASELINE_ONLY))
    _refresh_after_commit(revision)


def _refresh_after_commit(revision: FixtureRevision) -> None:
    """Now, and not at the next sweep: no run is asked for, so nothing that ends would do it."""
    waiting = Comparison.objects.filter(revision=revision, computed_at=None)
    transaction.on_commit(partial(_refresh_all, waiting), robust=True)


def _clear(comparisons: QuerySet[Comparison]) -> None:
    cases = Case.objects.filter(latest_comparison__in=comparisons.filter(computed_at__isnull=False))
    cases.update(verdict="")
    comparisons.update(label="", reason="", document=None, computed_at=None, old_red=None, controls={})


def run_ended(run_id: UUID) -> None:
    """Compute the verdicts that waited for this run. After its commit; what fails here the sweep does again."""
    run_set = Run.objects.select_related("run_set__project", "run_set__implementation").get(id=run_id).run_set
    _refresh_all(_readers(run_set).filter(computed_at=None))


def refresh_waiting() -> None:
    """Compute every verdict that is still missing although all of its runs have ended."""
    _refresh_all(Comparison.objects.filter(computed_at=None).exclude(_out_of_reach()))


def _out_of_reach() -> Q:
    """Comparisons whose fixture is destroyed."""
    gone = Payload.objects.filter(evidence.gone()).values("pk")
    return Q(revision__payload__in=gone) | Q(revision__detect__isnull=False, revision__detect__in=gone)


def _refresh_all(comparisons: QuerySet[Comparison]) -> None:
    for comparison in comparisons.select_related("project", "revision__case", "old", "new"):
        try:
            refresh(comparison)
        except evidence.EvidenceDestroyed:
            logger.info("comparison %s is not computed: its evidence is destroyed", comparison.pk)
        # One verdict that cannot be computed must not keep the others from being; it stays "waiting", never green.
        except Exception:
            logger.exception("comparison %s cannot be computed", comparison.pk)


def refresh(comparison: Comparison) -> None:
    """Compute and keep the verdict, unless runs are outstanding."""
    for _ in range(MAX_TRIES):
        basis = _basis(comparison)
        if basis is None:
            return
        judged = judging.judge(comparison)
        if _keep(comparison, judged, basis):
            return


def _basis(comparison: Comparison) -> Basis | None:
    """What the verdict rests on now; None while a run has not ended."""
    runs = tuple(comparison.runs().values_list("id", "state"))
    if any(state not in ENDED for _, state in runs):
        return None
    return Basis(
        runs=runs,
        controls=frozenset(comparison.revision.controls.values_list("id", flat=True)),
        without_red=judging.approved_without_red(comparison.revision),
    )


@transaction.atomic
def _keep(comparison: Comparison, judged: judging.Judged, basis: Basis) -> bool:
    """Store the verdict, or False if its basis changed while it was computed. Where another worker has stored it
    meanwhile, it stays: who asks for more runs clears it, so it rests on the same results."""
    lock_project(comparison.project)
    stored = Comparison.objects.select_for_update().get(pk=comparison.pk)
    if stored.computed_at is not None:
        return True
    if _basis(comparison) != basis:
        return False
    classification, ends = reading.restriction_of(comparison)
    document = evidence.store(
        comparison.project,
        orjson.dumps(judged.document, option=orjson.OPT_SORT_KEYS),
        media_type=evidence.VERDICT_TYPE,
        classification=classification,
        expires_at=ends,
    )
    comparison.label, comparison.reason = judged.label, evidence.printable(judged.reason, cap=2000)
    comparison.document, comparison.computed_at = document, timezone.now()
    comparison.old_red, comparison.controls = judged.old_red, dict(judged.controls)
    comparison.save(update_fields=["label", "reason", "document", "computed_at", "old_red", "controls"])
    _repeat_on_case(comparison)
    events.record(
        actor=None,
        action="comparison.computed",
        subject=comparison,
        project=comparison.project,
        case=comparison.revision.case,
        object_hash=document.digest,
        before={"label": stored.label},
        after={"label": judged.label, "runs": len(basis.runs), "comparison": comparison.number},
    )
    return True


def _repeat_on_case(comparison: Comparison) -> None:
    """The label, on the case of which this is the newest comparison, and the label that the case had before."""
    for case in Case.objects.filter(latest_comparison=comparison).exclude(last_verdict=comparison.label):
        Case.objects.filter(pk=case.pk).update(
            previous_verdict=case.last_verdict, last_verdict=comparison.label, verdict_since=comparison.computed_at
        )
    Case.objects.filter(latest_comparison=comparison).update(verdict=comparison.label)


def _readers(run_set: RunSet) -> QuerySet[Comparison]:
    """The comparisons that read this set's results."""
    digest = run_set.implementation.digest
    sides = Q(old__digest=digest) | Q(new__digest=digest)
    on_incident = sides & Q(revision__fixture_hash=run_set.fixture_hash, revision__checks_hash=run_set.checks_hash)
    on_controls = Q(new__digest=digest, with_controls=True, revision=run_set.revision)
    wanted = on_controls | on_incident if run_set.control_id else on_incident
    return Comparison.objects.filter(wanted, project=run_set.project)
