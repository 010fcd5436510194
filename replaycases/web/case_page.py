"""What the case page shows, from rows alone: no evidence bytes are read to draw it. At most twelve queries, with
those of the next stage's gates for who may take the case there: a step that would be refused is not offered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import (
    AUDITS,
    CONFIRMS_CONTAINMENT,
    DECIDES_EXPECTATION,
    DECIDES_REDACTION,
    SIGNS_HAND_OFF,
    Role,
)
from replaycases.cases import decisions, details, flags, gate_queries, gates, policies
from replaycases.cases.available import GATED, why_not_around
from replaycases.cases.gate_around import surrounded
from replaycases.cases.gate_facts import Bundle
from replaycases.cases.gate_facts import Facts as Around
from replaycases.cases.lifecycle import STEPS
from replaycases.cases.models import (
    Acceptance,
    Boundary,
    Case,
    ClosingStep,
    Comparison,
    Control,
    Decision,
    DecisionOutcome,
    FixtureRevision,
    FlagReason,
    LaneName,
    ProposalKind,
    ProposalState,
    Provenance,
    Stage,
)
from replaycases.cases.policies import Action, ActionName
from replaycases.web import next_steps, run_groups, run_record_rows, timeline, timeout_rows
from replaycases.web.captures.list_page import TITLES
from replaycases.web.case_facts import Fact, Facts, facts_of

EVENTS_SHOWN = 12
COMPARISONS_SHOWN = 8
MOST_COMPARISONS = 500


@dataclass(frozen=True, kw_only=True)
class Step:
    """One mark of the stage track. `state` is a class of track.css: done, now or ""."""

    name: str
    state: str
    note: str = ""
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The run of a capture that the case was made of, by a draft. `at` is when the capture ends, or was destroyed."""

    readable_id: str
    run: int
    format: str
    destroyed: bool
    at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Closing:
    """A step of the closing checklist. `done` is None until it is noted; then `why_not` says why this person cannot
    note it, "" if they can. `hint` is what to look at first."""

    step: ClosingStep
    done: Fact | None
    why_not: str
    hint: str


def _target(case: Case, actions: Mapping[ActionName, Action]) -> gates.Target | None:
    """The next stage, for who would take the case there with a form of this page. The gates of an approval read the
    evidence, and stand on the page of the review."""
    name: ActionName | None = _FORMS.get(Stage(case.stage))
    return GATED[name] if name is not None and actions[name].allowed else None


def _residual(case: Case, around: Around, user: User) -> list[gates.Gate]:
    """In review whether something is left to redact: it says whose turn it is, and reads no evidence."""
    in_review = case.stage == Stage.IN_REVIEW and case.current_revision_id is not None
    return gates.gates_from(around, "redaction_approved", actor=user, only={"residual"}) if in_review else []


_FORMS: Mapping[Stage, ActionName] = {Stage.QUARANTINED: "submit", Stage.REDACTION_APPROVED: "mark_reproduced"}


def cases_for(user: User) -> QuerySet[Case]:
    """Cases with what the page says of them first, and what gates need; people and versions come with `facts_of`."""
    return (
        surrounded(Case.objects.visible_to(user))
        .select_related("current_revision__payload", "latest_comparison")
        .defer("current_revision__payload__body")
    )


def context(case: Case, user: User, *, every_comparison: bool = False) -> dict[str, Any]:
    """What cases/detail.html shows but its forms, of a case out of `cases_for`. Six queries, and one more where gates
    of a redaction are among those of the next stage; where a flag asks about the redaction some more say what."""
    held = access.roles_of(user, case.project)
    [around] = Bundle.of_surrounded([case], whole=True).facts()
    own_work = decisions.own_work(user, case, around.authors)
    actions = actions_of(case, user, held, own_work)
    actions["mark_non_replayable"] = _closes(actions["mark_non_replayable"], around, user)
    facts = facts_of(case)
    asked = sorted(flag.key for flag in facts.of("flag"))
    actions["review_again"] = _answers(actions["review_again"], case, held, asked)
    target, most = _target(case, actions), MOST_COMPARISONS if every_comparison else COMPARISONS_SHOWN + 1
    # Gates read every run and comparison anyway; without them the database counts, as there may be thousands.
    found = gates.gates_from(around, target, actor=user) if target else _residual(case, around, user)
    blocking = [gate for gate in found if gate.blocks]
    groups = run_groups.of_runs(around.every_run) if target else run_groups.of_revision(case.current_revision)
    comparisons = list(around.every_comparison[:most] if target else comparisons_of(case)[:most])
    shown = comparisons if every_comparison else comparisons[:COMPARISONS_SHOWN]
    provenance: Provenance | None = getattr(case, "provenance", None)
    lanes = facts.by_key("lane")
    return {
        "section": "cases",
        "tab": "overview",
        "case": case,
        "revision": case.current_revision,
        "stages": stages(case, facts.entered()),
        "lanes": [_lane(name, lanes.get(name)) for name in LaneName],
        "why_closed": facts.why_closed() if case.stage not in STEPS else {},
        "next": next_steps.steps_of(case, actions, facts.by_key("approval"), blocking, around.snapshot.dependency),
        "actions": actions,
        "demotions": facts.of("demotion"),
        "approvals": facts.by_key("approval"),
        "versions": run_groups.version_rows(groups, provenance),
        "controls": run_groups.control_rows(_controls(case.current_revision), groups),
        "comparisons": shown,
        "more_comparisons": len(comparisons) > len(shown),
        "days": timeline.of_case(case, EVENTS_SHOWN, filter(None, (around.affected, around.fixed))),
        "owners": [(boundary.label, facts.by_key("owner").get(boundary)) for boundary in Boundary],
        "timeouts": timeout_rows.rows_of(case.current_revision, facts.by_key("owner")),
        "dependency": [(Acceptance(said.key).label.lower(), said) for said in facts.of("dependency")],
        "provenance": provenance,
        "run_record": run_record_rows.view_of(case, provenance),
        "people": facts.by_key("person"),
        "raw_reads": facts.of("raw_read")[::-1] if not held.isdisjoint(DECIDES_REDACTION | AUDITS) else [],
        "audits": not held.isdisjoint(AUDITS),
        "between": facts.by_key("version"),
        "captures": [_origin(case, fact) for fact in facts.of("capture")],
        "reports": facts.of("report"),
        "graders": [(finding, _why_not_confirm(finding, user, held, case)) for finding in facts.of("grader")],
        "sharing": [{"readable_id": f"{case.project.key}-{number}"} for number in facts.sharing()],
        "flags": [(FlagReason(flag.key).label, flag) for flag in facts.of("flag")],
        "proposals": [(ProposalKind(p.key).label, ProposalState(p.texts[1]).label, p) for p in facts.of("proposal")],
        "closing": _closing(case, facts, actions["close_step"], held),
        "clears_incident": _clears_incident(case, user, held),
    }


def _origin(case: Case, fact: Fact) -> Origin:
    return Origin(
        readable_id=f"{case.project.key}-T{fact.number}",
        run=int(fact.key),
        format=TITLES.get(fact.texts[0], fact.texts[0]),
        destroyed=bool(fact.texts[1]),
        at=fact.at,
    )


def actions_of(case: Case, user: User, held: frozenset[Role], own_work: str) -> dict[ActionName, Action]:
    """As `policies.require` decides, of what has been read anyway."""
    found: dict[ActionName, Action] = {}
    for name, rule in policies.RULES.items():
        why_not = policies.why_not_allowed(name, case, user, held=held, own_work=own_work)
        why_not = why_not or policies.lacks_evidence(name, case)
        found[name] = Action(name=name, label=rule.label, allowed=not why_not, why_not=why_not)
    return found


def _closes(closing: Action, around: Around, user: User) -> Action:
    why_not = closing.why_not or why_not_around(closing.name, around, user)
    return replace(closing, allowed=not why_not, why_not=why_not)


def _answers(noting: Action, case: Case, held: frozenset[Role], asked: list[str]) -> Action:
    why_not = noting.why_not or flags.why_not_review_again(held, case, asked)
    return replace(noting, allowed=not why_not, why_not=why_not)


def comparisons_of(case: Case) -> QuerySet[Comparison]:
    """What the table of them shows."""
    return gate_queries.comparisons_of_cases([case.pk])


def _controls(revision: FixtureRevision | None) -> Iterable[Control]:
    if revision is None:
        return []
    approval = Decision.objects.filter(control=OuterRef("pk"), outcome=DecisionOutcome.APPROVED, voided_at=None)
    return revision.controls.annotate(approved=Exists(approval))


# --- stages, lanes, people ------------------------------------------------------------------------------------------


def stages(case: Case, entered: Mapping[str, datetime]) -> list[Step]:
    """The stages with when the case came into each; a stage that it was sent back from is open again."""
    reached = STEPS.index(Stage(case.stage)) if case.stage in STEPS else -1
    when = {Stage.QUARANTINED.value: case.created_at, **entered, case.stage: case.stage_since}
    steps = [
        Step(
            name=stage.label,
            state="now" if index == reached else "done" if index < reached or (reached < 0 and stage in when) else "",
            at=when.get(stage) if index <= reached or reached < 0 else None,
        )
        for index, stage in enumerate(STEPS)
    ]
    if case.stage not in STEPS:
        steps.append(Step(name=Stage(case.stage).label, state="now", at=case.stage_since))
    return steps


def _lane(name: LaneName, entry: Fact | None) -> Step:
    """A place in a suite, apart from the stages."""
    if entry is None:
        return Step(name=f"Lane {name}", state="", note="not in it")
    demoted = ", demoted" if entry.texts[0] else ""
    return Step(name=f"Lane {name}", state="now", note=f"revision {entry.number}{demoted}", at=entry.at)


def _why_not_confirm(finding: Fact, user: User, held: frozenset[Role], case: Case) -> str:
    """Why this person cannot confirm it; "" if they can."""
    if held.isdisjoint(DECIDES_EXPECTATION):
        return access.lacking(case.project, DECIDES_EXPECTATION)
    own = details.why_not_confirm(user, recorded_by=UUID(finding.person_id), confirmed=bool(finding.other))
    return own or policies.why_not_allowed("edit_details", case, user, held=held)


def _closing(case: Case, facts: Facts, action: Action, held: frozenset[Role]) -> list[Closing]:
    done = facts.by_key("closing")
    hand_off = action.why_not or ("" if held & SIGNS_HAND_OFF else access.lacking(case.project, SIGNS_HAND_OFF))
    hints = {ClosingStep.CONTROLS: _controls_hint(case)}
    return [
        Closing(
            step=step,
            done=done.get(step),
            why_not=hand_off if step == ClosingStep.HAND_OFF else action.why_not,
            hint=hints.get(step, ""),
        )
        for step in ClosingStep
    ]


def _controls_hint(case: Case) -> str:
    """Whether the newest comparison saw every control pass."""
    newest = case.latest_comparison
    if newest is None or newest.computed_at is None:
        return "No comparison has looked at the controls yet."
    if not newest.controls:
        return "The newest comparison had no controls."
    if all(newest.controls.values()):
        return ""
    return "The newest comparison did not see every control pass."


def _clears_incident(case: Case, user: User, held: frozenset[Role]) -> bool:
    uncontained = case.security_incident and case.contained_at is None
    return uncontained and bool(held & CONFIRMS_CONTAINMENT) and user.token is None
