"""How the demo's cases go on: each step by the person who may do it, through the same functions as in the browser.

A step that was done once is not done again, whatever became of it since: what somebody changes in the demo stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone

from replaycases.accounts.models import Project
from replaycases.cases import (
    dependency,
    details,
    jobs,
    lanes,
    lifecycle,
    proposals,
    raw_reads,
    redacting,
    redaction_rows,
    seen_spans,
)
from replaycases.cases.demo import KEY, People, cast
from replaycases.cases.demo_cases import INCIDENTS, Goal, Incident
from replaycases.cases.models import (
    AuditEvent,
    Boundary,
    Case,
    Comparison,
    Control,
    Decision,
    DecisionKind,
    FixtureRevision,
    LaneName,
    Proposal,
    ProposalKind,
    Run,
    RunSet,
    RunState,
)
from replaycases.cases.policies import InvalidTransition
from replaycases.verdict.sides import FEWEST_RESULTS

State = Literal["moved", "waiting", "settled"]


@dataclass(frozen=True, kw_only=True)
class Step:
    done: Callable[[Case], bool]
    act: Callable[[People, Case, Incident], object]


def advance() -> State:
    """Do every step that can be done now. "waiting" where replays are outstanding that the next step may need,
    "settled" where nothing is left that could come of itself."""
    project = Project.objects.filter(key=KEY).first()
    if project is None:
        return "settled"
    people = cast()
    moved = [_next(people, project, incident) for incident in INCIDENTS]
    if any(moved):
        return "moved"
    outstanding = Run.objects.filter(project=project, state__in=[RunState.QUEUED, RunState.LEASED])
    waits = outstanding.exists() or Comparison.objects.filter(project=project, computed_at=None).exists()
    return "waiting" if waits else "settled"


def _next(people: People, project: Project, incident: Incident) -> bool:
    """Whether the case took a step."""
    found = Case.objects.filter(project=project, incident_id=incident.incident_id)
    case = found.select_related("project", "current_revision").order_by("number").first()
    step = next((step for step in STEPS[incident.goal] if case and not step.done(case)), None)
    if case is None or step is None:
        return False
    try:
        with transaction.atomic():
            step.act(people, case, incident)
    except (InvalidTransition, PermissionDenied, ValidationError):
        # A gate waits for replays, or somebody changed what the step needs. Either shows on the case itself.
        return False
    return True


# --- steps ----------------------------------------------------------------------------------------------------------


def _happened(action: str) -> Callable[[Case], bool]:
    return lambda case: AuditEvent.objects.filter(case=case, action=action).exists()


def _stood_in(lane: LaneName) -> Callable[[Case], bool]:
    return lambda case: case.lane_entries.filter(lane__name=lane).exists()


def _proposed(kind: ProposalKind) -> Callable[[Case], bool]:
    return lambda case: Proposal.objects.filter(case=case, kind=kind).exists()


def _decided(kind: DecisionKind) -> Callable[[Case], bool]:
    return lambda case: Decision.objects.filter(case=case, kind=kind).exists()


def _revision(case: Case) -> FixtureRevision:
    if case.current_revision is None:
        raise InvalidTransition("The case has no fixture yet.")
    return case.current_revision


def _submit(people: People, case: Case, incident: Incident) -> None:
    lifecycle.submit(people["responder"], case=case, fixture_hash=_revision(case).fixture_hash)


def _redact(people: People, case: Case, incident: Incident) -> None:
    """Somebody who does not approve it replaces what must go, and has the affected version replayed on what is left."""
    redacting.redact(people["responder"], case=case, seen_revision=_revision(case).number)
    case.refresh_from_db()
    affected = case.provenance.affected
    assert affected is not None
    jobs.request_run_set(people["engineer"], revision=_revision(case), implementation=affected, size=FEWEST_RESULTS)


def _approve_redaction(people: People, case: Case, incident: Incident) -> None:
    seen = _revision(case)
    looked = redaction_rows.require_newest(seen)
    raw_reads.begin(people["privacy"], case=case, reason="I read every place before I approve the redaction.")
    seen_spans.mark(people["privacy"], redaction=looked, spans=range(looked.spans))
    lifecycle.approve_redaction(
        people["privacy"],
        case=case,
        revision=seen.number,
        content_hash=seen.content_hash,
        note="Made up: no person stands behind these names.",
    )


def _approve_expectation(people: People, case: Case, incident: Incident) -> None:
    seen = _revision(case)
    lifecycle.approve_expectation(
        people["owner"],
        case=case,
        revision=seen.number,
        fixture_hash=seen.fixture_hash,
        checks_hash=seen.checks_hash,
        note="This must never be said or done again.",
    )


def _state_dependency(people: People, case: Case, incident: Incident) -> None:
    seen = _revision(case)
    dependency.state(
        people["owner"],
        case=case,
        revision_number=seen.number,
        fixture_hash=seen.fixture_hash,
        acceptance=incident.acceptance,
        authored_confirmed=seen.authored_answers > 0,
        no_effect_confirmed=bool(seen.unstated_tools),
        note="As its own records say.",
    )


def _undecided_controls(case: Case) -> list[Control]:
    return list(Control.objects.filter(revision=case.current_revision_id, decisions=None))


def _approve_controls(people: People, case: Case, incident: Incident) -> None:
    for control in _undecided_controls(case):
        lifecycle.approve_control(people["privacy"], control=control, fixture_hash=control.fixture_hash)


def _reproduce(people: People, case: Case, incident: Incident) -> None:
    lifecycle.mark_reproduced(people["engineer"], case=case, fixture_hash=_revision(case).fixture_hash)


def _promote(lane: LaneName, note: str) -> Callable[[People, Case, Incident], None]:
    def act(people: People, case: Case, incident: Incident) -> None:
        lifecycle.promote(people["qa"], case=case, lane=lane, fixture_hash=_revision(case).fixture_hash, note=note)

    return act


def _nothing_to_go(case: Case) -> bool:
    """Whether the first revision holds nothing that must go, or somebody saw to it."""
    found = redaction_rows.newest(_revision(case))
    return found is not None and (found.source is not None or not found.open)


def _asked_for_history(case: Case) -> bool:
    """By a person; a lane's schedule asks by itself."""
    return RunSet.objects.filter(lane_entry__case=case, requested_by__isnull=False).exists()


def _ask_history(people: People, case: Case, incident: Incident) -> None:
    lanes.request_history(people["qa"], case=case, runs=incident.history)


def _demote(people: People, case: Case, incident: Incident) -> None:
    proposal = proposals.propose_demotion(
        people["qa"],
        case=case,
        reason="The payment team changes the lookup this month; until then it would hold up releases for nothing.",
        until=timezone.now() + timedelta(days=30),
        owner=people["engineer"],
    )
    proposals.confirm(people["lead"], proposal=proposal, note="Agreed for a month.")


def _retire(people: People, case: Case, incident: Incident) -> None:
    proposal = proposals.propose_retirement(
        people["lead"], case=case, reason="The old lookup was shut down: no version can ask it any more."
    )
    proposals.confirm(people["owner"], proposal=proposal, note="The new lookup has its own case.")


def _close(people: People, case: Case, incident: Incident) -> None:
    details.set_owners(people["owner"], case=case, owners={Boundary.PROHIBITED_OUTCOME: people["owner"]})
    lifecycle.mark_non_replayable(
        people["owner"],
        case=case,
        reason="What decided the outcome was not recorded.",
        missing="The calls to the payment service and their answers: tracing had left this request out.",
    )


def _ask_for_longer_life(people: People, case: Case, incident: Incident) -> None:
    proposals.propose_extension(
        people["responder"],
        case=case,
        reason="The support desk is short of people this week and wants to see the capture.",
        until=timezone.now() + timedelta(days=20),
    )


_REVIEW = (
    Step(done=_happened("case.submitted"), act=_submit),
    Step(done=_nothing_to_go, act=_redact),
)
_REDACTION = (*_REVIEW, Step(done=_decided(DecisionKind.REDACTION), act=_approve_redaction))
_REPRODUCED = (
    *_REDACTION,
    Step(done=_decided(DecisionKind.EXPECTATION), act=_approve_expectation),
    Step(done=_happened("dependency.stated"), act=_state_dependency),
    Step(done=lambda case: not _undecided_controls(case), act=_approve_controls),
    Step(done=_happened("case.reproduced"), act=_reproduce),
)
_NONBLOCKING = (
    *_REPRODUCED,
    Step(
        done=_stood_in(LaneName.NONBLOCKING),
        act=_promote(LaneName.NONBLOCKING, "Every outcome has a control."),
    ),
    Step(done=_asked_for_history, act=_ask_history),
)
_BLOCKING = (
    *_NONBLOCKING,
    Step(done=_stood_in(LaneName.BLOCKING), act=_promote(LaneName.BLOCKING, "It held in every run.")),
)
STEPS: Mapping[Goal, tuple[Step, ...]] = {
    "blank": (),
    "contained": (),
    "quarantined": (Step(done=_proposed(ProposalKind.EXTENSION), act=_ask_for_longer_life),),
    "in_review": _REVIEW,
    "redaction_approved": _REDACTION,
    "reproduced": _REPRODUCED,
    "nonblocking": _NONBLOCKING,
    "blocking": _BLOCKING,
    "demoted": (*_BLOCKING, Step(done=_proposed(ProposalKind.DEMOTION), act=_demote)),
    "retired": (Step(done=_proposed(ProposalKind.RETIREMENT), act=_retire),),
    "non_replayable": (Step(done=_happened("case.non_replayable"), act=_close),),
}
