"""What the promotion page shows: the gates of the next lane, what stands in the way, and how the revision has run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet
from django.db.models.expressions import RawSQL
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions, gates, kept_queries, policies, proposals
from replaycases.cases.gate_around import surrounded
from replaycases.cases.gate_facts import Bundle, Facts
from replaycases.cases.json_rows import first_of, instant, written
from replaycases.cases.lane_history import History, history_of
from replaycases.cases.lane_moves import STRONGEST_FIRST
from replaycases.cases.lifecycle import GATES_OF, why_not_enter
from replaycases.cases.models import (
    ENDED,
    Boundary,
    Case,
    CiResult,
    DecisionKind,
    LaneEntry,
    LaneName,
    Proposal,
    ProposalKind,
    ProposalState,
    Run,
    Stage,
)
from replaycases.web import gate_rows, history_strip, proposal_rows
from replaycases.web.forms_lanes import HistoryForm, PromotionForm
from replaycases.web.labels import Look
from replaycases.web.templatetags import ui
from replaycases.web.templatetags.evidence import visible_html

# Gates about the way into a lane: they say nothing of a revision that stands there.
WAY_IN: frozenset[gates.GateName] = frozenset({"history", "promoter"})
COMPATIBILITY_VERDICTS = frozenset({"compatible_pass", "compatible_fail"})


@dataclass(frozen=True, kw_only=True)
class Owner:
    boundary: str
    name: str


ACTIONS: tuple[policies.ActionName, ...] = (
    "promote",
    "propose_demotion",
    "propose_retirement",
    "propose_override",
    "request_run_set",
)


class Shown:
    """A case with everything that the page reads of it, in as few queries as the gates need anyway. Raises Http404 for
    a case that the user may not see."""

    def __init__(self, user: User, key: str, number: int) -> None:
        seen = surrounded(Case.objects.visible_to(user)).annotate(**_elsewhere())
        self.case: Any = get_object_or_404(seen, project__key=key, number=number)
        self.entries = sorted(
            kept_queries.about(_inside, [self.case.pk]),
            key=lambda entry: STRONGEST_FIRST.index(LaneName(entry.lane.name)),
        )
        bundle = Bundle.of_surrounded([self.case], self.entries)
        [self.facts] = bundle.facts()
        for comparison in self.facts.comparisons:
            if comparison.pk == self.case.latest_comparison_id:
                self.case.latest_comparison = comparison
        self.proposals = [_of(self.case, proposal) for proposal in bundle.proposals[self.case.pk]]


def _inside(cases: Sequence[UUID]) -> QuerySet[LaneEntry]:
    """The open stays."""
    return LaneEntry.objects.filter(case__in=cases, left_at=None).select_related("lane", "revision", "entered_by")


def _of(case: Case, proposal: Proposal) -> Proposal:
    proposal.case = case
    return proposal


@cache
def _elsewhere() -> dict[str, RawSQL]:
    """The newest result from elsewhere, beside the case."""
    newest = CiResult.objects.filter(revision=OuterRef("current_revision")).order_by("-report__pushed_at")
    result = first_of(newest, label="label", version="report__implementation_version", at="report__pushed_at")
    return written(Case, ci=result)


def _ci(said: dict[str, str] | None) -> dict[str, Any] | None:
    return {**said, "at": instant(said["at"])} if said else None


def next_lane(shown: Shown, asked: str = "") -> LaneName:
    """The lane that is asked for, or the one that comes next: blocking once the current revision stands in nonblocking
    or blocking, else nonblocking."""
    if asked in LaneName.values:
        return LaneName(asked)
    inside = {entry.lane.name for entry in shown.entries if entry.revision_id == shown.case.current_revision_id}
    return LaneName.BLOCKING if inside & {LaneName.BLOCKING, LaneName.NONBLOCKING} else LaneName.NONBLOCKING


def context(
    shown: Shown,
    *,
    user: User,
    lane: LaneName,
    found: Sequence[gates.Gate] | None = None,
    refused: str = "",
    form: PromotionForm | None = None,
    history_form: HistoryForm | None = None,
) -> dict[str, Any]:
    """`found` are the gates as a refused promotion computed them, None: compute them; `refused` is why the last thing
    that was asked for was not done."""
    case, facts = shown.case, shown.facts
    held = access.roles_of(user, case.project)
    actions = {name: _action(name, case, user, held) for name in ACTIONS}
    if found is None:
        found = gates.gates_from(facts, GATES_OF[lane], actor=user) if case.current_revision else []
    offers = actions["propose_override"].allowed and case.stage == Stage.REPRODUCED
    stands = next((entry for entry in shown.entries if _holds(entry, case, lane)), None)
    if stands is not None:
        found = [gate for gate in found if gate.name not in WAY_IN]
    blocking = [gate for gate in gate_rows.blocking_first(found) if gate.blocks]
    pending = [proposal for proposal in shown.proposals if proposal.state == ProposalState.PENDING]
    return {
        "section": "cases",
        "tab": "promotion",
        "case": case,
        "revision": case.current_revision,
        "target": lane,
        "stands": stands,
        "demotions": _demotions(shown),
        "gates": gate_rows.rows(case, found, GATES_OF[lane], may_propose=offers),
        "sums": _sums(found),
        "blocking": blocking,
        "why_not": _why_not(actions["promote"], blocking, shown, lane),
        "now": timezone.now(),
        "refused": refused,
        "form": form or PromotionForm(initial={"lane": lane, "fixture_hash": _seen(case)}),
        "actions": actions,
        "provenance": facts.provenance,
        "ci": _ci(case.ci),
        "owners": [Owner(boundary=each.label, name=facts.snapshot.owners.get(each, "")) for each in Boundary],
        "expectation": facts.approvals.get(DecisionKind.EXPECTATION),
        "pending": _pending(pending, user, held, facts),
        "overrides": _overrides(shown),
        "compatible": case.verdict in COMPATIBILITY_VERDICTS,
        **_history(shown, _watched(shown), actions["request_run_set"], history_form),
    }


def _action(name: policies.ActionName, case: Case, user: User, held: frozenset[Role]) -> policies.Action:
    """As `policies.require` decides, of what has been read anyway."""
    why_not = policies.why_not_allowed(name, case, user, held=held)
    return policies.Action(name=name, label=policies.RULES[name].label, allowed=not why_not, why_not=why_not)


def _pending(found: Sequence[Proposal], user: User, held: frozenset[Role], facts: Facts) -> list[proposal_rows.Row]:
    """As `proposal_rows.rows`, of what has been read anyway."""
    if not found:
        return []
    own_work = decisions.own_work(user, facts.case, facts.authors)
    refusals = [
        proposals.why_not_second(user, each, held=held, own_work=own_work if each.kind == ProposalKind.OVERRIDE else "")
        for each in found
    ]
    return [proposal_rows.row(each, user, why_not) for each, why_not in zip(found, refusals, strict=True)]


def _demotions(shown: Shown) -> list[Proposal]:
    """Those by which the case stands where it does."""
    by = {entry.demotion_id for entry in shown.entries}
    return [proposal for proposal in shown.proposals if proposal.pk in by]


def _seen(case: Case) -> str:
    return case.current_revision.fixture_hash if case.current_revision else ""


def _holds(entry: LaneEntry, case: Case, lane: LaneName) -> bool:
    return entry.lane.name == lane and entry.revision_id == case.current_revision_id


def _watched(shown: Shown) -> LaneEntry | None:
    """The stay whose runs are shown: the current revision's in its strongest lane, else the strongest there is."""
    own = [entry for entry in shown.entries if entry.revision_id == shown.case.current_revision_id]
    return next(iter(own or shown.entries), None)


def _sums(found: Sequence[gates.Gate]) -> list[tuple[Look, int]]:
    counts = {state: sum(gate.state == state for gate in found) for state in gate_rows.LOOKS}
    return [(gate_rows.LOOKS[state], count) for state, count in counts.items() if count]


def _why_not(promote: policies.Action, blocking: Sequence[gates.Gate], shown: Shown, lane: LaneName) -> str:
    """Why the button is off, "" if it is on."""
    current = shown.case.current_revision
    inside = {LaneName(entry.lane.name): entry for entry in shown.entries}
    if current is not None and (why_not := why_not_enter(current, lane, inside)):
        return why_not
    if not promote.allowed:
        return promote.why_not
    if current is None:
        return "The case has no fixture yet."
    if blocking:
        names = ", ".join(gate.title[:1].lower() + gate.title[1:] for gate in blocking)
        return f"{len(blocking)} gate{'s block' if len(blocking) > 1 else ' blocks'}: {names}."
    return ""


def _overrides(shown: Shown) -> dict[str, list[Proposal]]:
    """The overrides that hold now, and those that no longer do or never did; pending ones stand among the proposals."""
    decided = [
        proposal
        for proposal in shown.proposals
        if proposal.kind == ProposalKind.OVERRIDE and proposal.state != ProposalState.PENDING
    ]
    holding = [proposal for proposal in decided if _stands_in(proposal, shown.facts)]
    return {"standing": holding, "past": [proposal for proposal in decided if proposal not in holding]}


def _stands_in(proposal: Proposal, facts: Facts) -> bool:
    override = facts.override(proposal.gate)
    return override is not None and override.id == proposal.pk


def _history(
    shown: Shown, entry: LaneEntry | None, asking: policies.Action, history_form: HistoryForm | None
) -> dict[str, Any]:
    """The runs of the stay, as a strip and in a table; `outstanding` is how many have not ended."""
    if entry is None:
        return {"entry": None}
    case, facts = shown.case, shown.facts
    history = history_of(facts.runs_in(entry), fixed=facts.fixed, needed=facts.snapshot.minimum_history)
    return {
        "entry": entry,
        "history": history,
        "strip": history_strip.strip(history.runs, where=f"{case.readable_id} in lane {entry.lane.name}")
        if history.runs
        else None,
        "history_rows": _run_rows(history, case.project.key),
        "asked": len(history.runs),
        "ended": sum(run.state in ENDED for run in history.runs),
        "asking": asking,
        "history_form": history_form or HistoryForm(initial={"runs": min(max(1, history.missing), HistoryForm.MOST)}),
    }


def _run_rows(history: History, project: str) -> SafeString:
    """Put together here and not by a template, as there may be hundreds of them."""
    before, _, after = reverse("run", args=[project, 0]).rpartition("0")
    rows = (_run_row(run, history.uncounted.get(run.pk, ""), before, after) for run in reversed(history.runs))
    return SafeString("\n".join(rows))


def _run_row(run: Run, uncounted: str, before: str, after: str) -> SafeString:
    """A run of the stay; `uncounted` is why it does not count towards the history, "" if it does."""
    look = history_strip.LOOKS[history_strip.outcome_of(run)]
    return format_html(
        '<tr><th scope="row" class="id"><a href="{}{}{}">{}</a></th><td class="nw">{}</td><td class="nw">{}</td>'
        '<td class="nw"><span class="st {}">{}{}</span></td><td class="grow">{}</td><td class="nw">{}</td></tr>',
        *(before, run.number, after, run.number),
        ui.when(run.created_at),
        visible_html(str(run.run_set.implementation)),
        *(look.css, ui.icon(look.icon), look.word),
        format_html('<span class="mute">no: {}</span>', uncounted) if uncounted else "yes",
        ui.hash_of(run.observation_hash, "observation hash", 6) if run.observation_hash else "-",
    )
