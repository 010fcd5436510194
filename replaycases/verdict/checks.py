"""The typed checks of a fixture against one observed run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from replaycases.fixture.model import Check, CheckKind, Fixture
from replaycases.verdict import actions, claims, sequence, structure
from replaycases.verdict.evidence import Evidence, gather
from replaycases.verdict.observation import GOT_THROUGH, Observation
from replaycases.verdict.rulings import CheckResult, Ruling, undetermined

Family = Callable[[Mapping[str, Any], Evidence], Ruling]

_FAMILIES: Mapping[CheckKind, Family] = {
    "prohibited_claims": claims.prohibited_claim,
    "required_claims": claims.required_statement,
    "required_disclosures": claims.required_statement,
    "citations": claims.citation,
    "status": claims.reported_status,
    "action": claims.chosen_action,
    "action_counts": actions.action_count,
    "authorization": actions.authorization,
    "order": actions.order,
    "tool_sequence": sequence.tool_sequence,
    "relations": structure.relation,
    "schema": structure.conforms,
    "limits": structure.within_limits,
    "run_status": structure.ended_well,
}


def evaluate(fixture: Fixture, observation: Observation) -> tuple[CheckResult, ...]:
    """One result for each check of the fixture, in its order. Never raises: a check that does is undetermined.

    Of a run that broke off only a violation that nothing could have undone counts; the rest is undetermined. So is
    everything but a violation where the case depends on time and the implementation's clock was not controlled, or
    was declared as injected and never asked.
    """
    return judge(gather(fixture, observation))


def judge(evidence: Evidence) -> tuple[CheckResult, ...]:
    """`evaluate` for evidence that was gathered already."""
    return tuple(_result(check, evidence) for check in evidence.fixture.checks)


def depends_on_time(fixture: Fixture) -> bool:
    return fixture.time_zone is not None or any(event.boundary == "clock" for event in fixture.events)


def _result(check: Check, evidence: Evidence) -> CheckResult:
    ruling = _in_this_run(_ruling(check, evidence), evidence)
    return CheckResult(
        id=check.id, kind=check.kind, result=ruling.result, observed=ruling.observed, pointers=ruling.pointers
    )


def _ruling(check: Check, evidence: Evidence) -> Ruling:
    try:
        return _FAMILIES[check.kind](check.spec, evidence)
    except Exception as error:  # whatever a check stumbles over must not become a verdict; its text may hold evidence
        return undetermined(f"the check could not be evaluated ({type(error).__name__})")


def _in_this_run(ruling: Ruling, evidence: Evidence) -> Ruling:
    observation = evidence.observation
    if observation.status not in GOT_THROUGH and not (ruling.result == "violated" and ruling.final):
        return replace(
            undetermined(f"the run ended as {observation.status} before this was decided"), pointers=ruling.pointers
        )
    doubt = _doubt_about_time(evidence) if ruling.result == "held" else None
    return ruling if doubt is None else undetermined(doubt, *ruling.pointers)


def _doubt_about_time(evidence: Evidence) -> str | None:
    """Why nobody knows which time the run went by, or None where the case does not depend on it.

    A clock that is declared as injected and was never asked, although the case recorded reads of it, is a declaration
    that nothing bears out: such a run may have gone by the computer's clock.
    """
    observation, fixture = evidence.observation, evidence.fixture
    if observation.clock == "uncontrolled" and depends_on_time(fixture):
        return "the implementation read a clock that nobody controlled"
    recorded = any(event.boundary == "clock" and not event.optional for event in fixture.events)
    if observation.clock == "injected" and recorded and not observation.reads.get("clock"):
        return "the clock is declared as injected, and the run took no instant from the session"
    return None
