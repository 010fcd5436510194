"""What the pages about lanes show: what stands in each, how it has run, and what came from elsewhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import BooleanField, Count, ExpressionWrapper, F, Q, QuerySet

from replaycases.accounts import access
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import PROMOTES, SETS_LANE_POLICY
from replaycases.cases import lane_health, lanes
from replaycases.cases.models import Case, CiReport, Lane, LaneEntry, LaneName, Run, Stage
from replaycases.web import history_strip, proposal_rows
from replaycases.web.forms_lanes import PolicyForm
from replaycases.web.history_strip import Health, Outcome
from replaycases.web.labels import Look, verdict_look

CI_SHOWN = 8
MOST_CANDIDATES = 500
# What a row of a lane shows: seven tables' whole rows take longer to read than to show.
LISTED = (
    *("entered_at", "revision__number", "entered_by__display_name", "entered_by__username"),
    *("case__number", "case__title", "case__flagged", "case__verdict", "case__current_revision"),
    *("case__project__key", "case__latest_comparison__number", "demotion__until", "demotion__reason"),
    *("demotion__owner__display_name", "demotion__owner__username", "demotion__owner_team__name"),
)
NO_VERDICT = Look(word="Not compared with its fixed version", css="dunno", icon="q")

# What a case of the lane is promoted to from here; compatibility leads nowhere (A25).
LEADS_TO: Mapping[LaneName, LaneName] = {LaneName.NONBLOCKING: LaneName.BLOCKING}
ABOUT: Mapping[LaneName, str] = {
    LaneName.BLOCKING: "A case in it that fails stops a release.",
    LaneName.NONBLOCKING: "Its cases run and are shown; they stop nothing until they have a history.",
    LaneName.COMPATIBILITY: (
        "Its cases never block a release: they ask a live provider, so what they replay against is not recorded. "
        "When a result changes, it cannot be told whether the workflow changed or the model behind it."
    ),
}


@dataclass(frozen=True, kw_only=True)
class Stand:
    """One lane of a project. `lane` is unsaved where nothing ever stood in it. `verdicts` counts the verdicts of what
    stands in it, over the fixed version of each case; `form` is there for whoever may set the policy."""

    lane: Lane
    about: str
    cases: int
    flagged: int
    last_run: datetime | None
    verdicts: list[tuple[Look, int]]
    health: Health
    ci: list[CiReport]
    form: PolicyForm | None

    @property
    def name(self) -> LaneName:
        return LaneName(self.lane.name)


@dataclass(frozen=True, kw_only=True)
class EntryRow:
    """`counts` are the runs of this stay by outcome, in words and looks."""

    entry: LaneEntry
    counts: list[tuple[Look, int]]
    current: bool


def stands(project: Project, user: User, *, refused: PolicyForm | None = None) -> list[Stand]:
    """The three lanes of a project, the strictest first. Six queries. `refused` takes the place of its lane's form."""
    kept = {lane.name: lane for lane in Lane.objects.filter(project=project)}
    ordered = (LaneName.BLOCKING, LaneName.NONBLOCKING, LaneName.COMPATIBILITY)
    here = [kept.get(name) or Lane(project=project, name=name) for name in ordered]
    counted = _entries_counted(kept.values())
    verdicts = _verdicts(kept.values())
    days = lane_health.of(frozenset({project.pk}))
    ran = {name: [day for day in days if day.lane == name] for name in ordered}
    reports = _reports(kept.values())
    may_set = access.has_any(user, project, SETS_LANE_POLICY)
    return [
        Stand(
            lane=lane,
            about=ABOUT[LaneName(lane.name)],
            cases=counted.get(lane.pk, (0, 0))[0],
            flagged=counted.get(lane.pk, (0, 0))[1],
            last_run=max((day.last for day in ran[LaneName(lane.name)]), default=None),
            verdicts=verdicts[lane.pk],
            health=history_strip.health(ran[LaneName(lane.name)], where=f"lane {lane.name}"),
            ci=reports[lane.pk],
            form=_policy_form(lane, refused) if may_set else None,
        )
        for lane in here
    ]


def _policy_form(lane: Lane, refused: PolicyForm | None) -> PolicyForm:
    return refused if refused is not None and refused.lane_name == lane.name else PolicyForm(lane=lane)


def _entries_counted(here: Iterable[Lane]) -> dict[UUID, tuple[int, int]]:
    """{lane: (cases in it, flagged ones among them)}."""
    rows = (
        LaneEntry.objects.filter(lane__in=here, left_at=None)
        .values("lane")
        .annotate(cases=Count("pk"), flagged=Count("pk", filter=Q(case__in=_flagged())))
    )
    return {row["lane"]: (row["cases"], row["flagged"]) for row in rows}


def _verdicts(here: Iterable[Lane]) -> defaultdict[UUID, list[tuple[Look, int]]]:
    """Per lane how many cases have which verdict: the newest one of the revision that stands there, against the fixed
    version that the case names. Every other case counts as not compared."""
    over_fixed = models.When(
        case__current_revision=F("revision"),
        case__latest_comparison__new=F("case__provenance__fixed"),
        then=F("case__verdict"),
    )
    rows = (
        LaneEntry.objects.filter(lane__in=here, left_at=None)
        .annotate(label=models.Case(over_fixed, default=None))
        .values("lane", "label")
        .annotate(cases=Count("pk"))
        .order_by("-cases", "label")
    )
    found: defaultdict[UUID, list[tuple[Look, int]]] = defaultdict(list)
    for row in rows:
        look = NO_VERDICT if row["label"] is None else verdict_look(row["label"])
        found[row["lane"]].append((look, row["cases"]))
    return found


def _reports(here: Iterable[Lane]) -> defaultdict[UUID, list[CiReport]]:
    """The newest reports from elsewhere, per lane."""
    newest = CiReport.objects.filter(lane__in=here).select_related("pushed_by").order_by("-pushed_at")
    found: defaultdict[UUID, list[CiReport]] = defaultdict(list)
    for report in newest[: CI_SHOWN * len(LaneName)]:
        if len(found[report.lane_id]) < CI_SHOWN:
            found[report.lane_id].append(report)
    return found


def entries_of(lane: Lane) -> QuerySet[LaneEntry]:
    """What stands in the lane, flagged first, then the longest stay first."""
    flagged = ExpressionWrapper(Q(case__in=_flagged()), output_field=BooleanField())
    return (
        LaneEntry.objects.filter(lane=lane, left_at=None).annotate(flagged=flagged).order_by("-flagged", "entered_at")
    )


def _flagged() -> QuerySet[Case, Any]:
    """From their own small index: joined, the case of every stay would be looked up."""
    return Case.objects.filter(flagged=True).order_by().values("pk")


def entry_rows(chosen: Sequence[UUID]) -> list[EntryRow]:
    """Stays in the order of these keys, with the runs of each counted. Two queries."""
    stays = LaneEntry.objects.select_related(
        "case__project",
        "case__latest_comparison",
        "revision",
        "entered_by",
        "demotion__owner",
        "demotion__owner_team",
    )
    entries = stays.only(*LISTED).in_bulk(chosen)
    runs = (
        Run.objects.filter(run_set__lane_entry__in=chosen, run_set__voided_at=None)
        .order_by()
        .values("run_set__lane_entry", "state", "status", "boundary_passed")
        .annotate(runs=Count("pk"))
    )
    counts: defaultdict[UUID, Counter[Outcome]] = defaultdict(Counter)
    for row in runs:
        name = history_strip.outcome(row["state"], row["status"], row["boundary_passed"])
        counts[row["run_set__lane_entry"]][name] += row["runs"]
    return [
        EntryRow(
            entry=entry,
            counts=[
                (look, counts[entry.pk][name]) for name, look in history_strip.LOOKS.items() if counts[entry.pk][name]
            ],
            current=entry.revision_id == entry.case.current_revision_id,
        )
        for entry in (entries[key] for key in chosen)
    ]


def candidates(project: Project) -> list[Case]:
    """Reproduced cases that stand in no lane, the longest wait first."""
    waiting = Case.objects.filter(project=project, stage=Stage.REPRODUCED, lane="")
    return list(waiting.select_related("project", "latest_comparison").order_by("stage_since")[:MOST_CANDIDATES])


@dataclass(frozen=True, kw_only=True)
class PreviewRow:
    """`passed` of `total` gates let the case through."""

    case: Case
    will_move: bool
    why: str
    passed: int
    total: int


def preview_row(found: lanes.Preview) -> PreviewRow:
    total = len(found.gates)
    blocking = sum(gate.blocks for gate in found.gates)
    return PreviewRow(case=found.case, will_move=found.will_move, why=found.why, passed=total - blocking, total=total)


def promoters() -> str:
    return proposal_rows.in_words(PROMOTES)


def overview(user: User, project: Project | None, projects: Sequence[Project], **more: Any) -> dict[str, Any]:
    return {
        "section": "lanes",
        "projects": projects,
        "project": project,
        "stands": stands(project, user, **more) if project else [],
        "legend": history_strip.LOOKS,
    }
