"""Gates: what must be true before a case moves on, computed on the server at that moment, each with how to mend it.

A gate that raises is an error, and an error blocks: what was not looked at is not satisfied.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from django.db import Error as DatabaseError

from replaycases.accounts.models import User
from replaycases.cases import gate_redaction, gate_rules, gate_verdicts
from replaycases.cases.evidence import EvidenceDestroyed
from replaycases.cases.gate_around import Override
from replaycases.cases.gate_facts import Bundle, Facts
from replaycases.cases.gate_found import Evidence, Found, GateState
from replaycases.cases.models import Case
from replaycases.cases.policies import InvalidTransition

__all__ = [
    "Evidence",
    "Gate",
    "GateName",
    "GateState",
    "GatesClosed",
    "Target",
    "gates_from",
    "gates_of",
    "gates_of_many",
]

GateName = Literal[
    "statement",
    "evidence_expiry",
    "containment",
    "red",
    "fixture_valid",
    "comments_resolved",
    "residual",
    "equivalent",
    "redaction_approval",
    "expectation_approval",
    "owners",
    "provenance",
    "authored_answers",
    "replayable",
    "effects_stated",
    "controls",
    "control_approvals",
    "only_name",
    "current_passes",
    "controls_pass",
    "repeated_runs",
    "history",
    "deterministic",
    "covered",
    "promoter",
    "provider_backed",
]
Target = Literal["in_review", "redaction_approved", "reproduced", "nonblocking", "blocking", "compatibility"]


@dataclass(frozen=True, kw_only=True)
class Gate:
    """`detail` says what was found, `remedy` what to do ("" if there is nothing to do). `override` is what two people
    agreed that stands in for it."""

    name: GateName
    title: str
    state: GateState
    detail: str
    remedy: str = ""
    evidence: tuple[Evidence, ...] = ()
    override: Override | None = None

    @property
    def blocks(self) -> bool:
        return self.state in ("unsatisfied", "error")


class GatesClosed(InvalidTransition):
    """One or more gates block. `gates` are all of them, the satisfied ones too."""

    def __init__(self, gates: Iterable[Gate]) -> None:
        self.gates = tuple(gates)
        blocking = [gate for gate in self.gates if gate.blocks]
        super().__init__(" ".join(f"{gate.title}: {gate.detail} {gate.remedy}".strip() for gate in blocking))


Rule = Callable[[Facts], Found]

TITLES: Mapping[GateName, str] = {
    "statement": "Failure statement",
    "evidence_expiry": "End of the raw evidence",
    "containment": "Containment",
    "red": "Affected version reproduces",
    "fixture_valid": "Fixture valid",
    "comments_resolved": "Comments resolved",
    "residual": "Nothing left to redact",
    "equivalent": "Redacted replay equivalent",
    "redaction_approval": "Redaction approved for this content",
    "expectation_approval": "Expectation approved for this fixture",
    "owners": "Owner of every boundary",
    "provenance": "Provenance complete",
    "authored_answers": "Authored answers confirmed",
    "replayable": "More than forensic reading",
    "effects_stated": "Effect of every tool stated",
    "controls": "Controls for every tool and outcome",
    "control_approvals": "Controls approved",
    "only_name": "Only case under this name",
    "current_passes": "Fixed version passes the identical fixture",
    "controls_pass": "Adjacent controls pass",
    "repeated_runs": "One observation in repeated runs",
    "history": "Minimum history in nonblocking",
    "deterministic": "Deterministic replay only",
    "covered": "Fixed version and covering test recorded",
    "promoter": "Promoter did not make the case",
    "provider_backed": "Backed by a provider",
}
_RULES: Mapping[GateName, Rule] = {
    "statement": gate_rules.statement,
    "evidence_expiry": gate_rules.evidence_expiry,
    "containment": gate_rules.containment,
    "red": gate_verdicts.red,
    "fixture_valid": gate_rules.fixture_valid,
    "comments_resolved": gate_rules.comments_resolved,
    "residual": gate_redaction.residual,
    "equivalent": gate_redaction.equivalent,
    "redaction_approval": gate_rules.redaction_approval,
    "expectation_approval": gate_rules.expectation_approval,
    "owners": gate_rules.owners,
    "provenance": gate_rules.provenance,
    "authored_answers": gate_rules.authored_answers,
    "replayable": gate_rules.replayable,
    "effects_stated": gate_rules.effects_stated,
    "controls": gate_verdicts.controls,
    "control_approvals": gate_verdicts.control_approvals,
    "only_name": gate_rules.only_name,
    "current_passes": gate_verdicts.current_passes,
    "controls_pass": gate_verdicts.controls_pass,
    "repeated_runs": gate_verdicts.repeated_runs,
    "history": gate_verdicts.history,
    "deterministic": gate_verdicts.deterministic,
    "covered": gate_rules.covered,
    "provider_backed": gate_verdicts.provider_backed,
}
_NONBLOCKING: tuple[GateName, ...] = (
    "containment",
    "redaction_approval",
    "expectation_approval",
    "comments_resolved",
    "owners",
    "provenance",
    "authored_answers",
    "replayable",
    "red",
    "effects_stated",
    "controls",
    "control_approvals",
    "only_name",
)
# Containment is asked for at every step: a case may be found to be a security incident at any time.
GATES: Mapping[Target, tuple[GateName, ...]] = {
    "in_review": ("statement", "evidence_expiry", "containment", "red"),
    "redaction_approved": ("containment", "fixture_valid", "comments_resolved", "residual", "equivalent"),
    "reproduced": ("containment", "redaction_approval", "residual", "replayable", "red"),
    "nonblocking": _NONBLOCKING,
    "blocking": (
        *_NONBLOCKING,
        "current_passes",
        "controls_pass",
        "repeated_runs",
        "history",
        "deterministic",
        "covered",
        "promoter",
    ),
    "compatibility": (
        "containment",
        "redaction_approval",
        "expectation_approval",
        "owners",
        "provenance",
        "replayable",
        "only_name",
        "provider_backed",
    ),
}
# The four facts hold by themselves where a case blocks releases. Nothing stands in for what a person must say, or for a
# replay that is deterministic.
_FOUR_FACTS: frozenset[GateName] = frozenset({"red", "current_passes", "controls", "controls_pass"})
_NEVER_OVERRIDDEN: frozenset[GateName] = frozenset(
    {
        "containment",
        "redaction_approval",
        "expectation_approval",
        "authored_answers",
        "replayable",
        "effects_stated",
        "control_approvals",
        "only_name",
        "promoter",
        "deterministic",
        "provider_backed",
    }
)

logger = logging.getLogger(__name__)


def gates_of(case: Case, target: Target, *, actor: User) -> list[Gate]:
    """Every gate on the way to `target` for the case's current revision, in the order in which a page shows them. At
    most six queries."""
    return gates_of_many([case], target, actor=actor)[0]


def gates_of_many(cases: Sequence[Case], target: Target, *, actor: User) -> list[list[Gate]]:
    """The same for each of the cases, in as many queries as for one."""
    return [gates_from(facts, target, actor=actor) for facts in Bundle(cases).facts()]


def gates_from(facts: Facts, target: Target, *, actor: User, only: Collection[GateName] | None = None) -> list[Gate]:
    """The same from facts that a page has read already, to show them beside the gates. A transition reads its own.
    `only`: of them those that the page needs; None for all."""
    rules: Mapping[GateName, Rule] = {**_RULES, "promoter": partial(gate_rules.promoter, actor=actor)}
    return [_gate(name, rules[name], facts, target) for name in GATES[target] if only is None or name in only]


def may_override(gate: GateName, state: GateState, target: Target) -> bool:
    """Whether an override can stand in for this gate in this state on the way to `target`: for a missing red, and for
    a gate that could not be computed; never for one of the four facts of a blocking case or an approval."""
    if gate in _NEVER_OVERRIDDEN or (target == "blocking" and gate in _FOUR_FACTS):
        return False
    return state == "error" or (gate == "red" and state == "unsatisfied")


def _gate(name: GateName, rule: Rule, facts: Facts, target: Target) -> Gate:
    found = _found(name, rule, facts)
    override = facts.override(name) if may_override(name, found.state, target) else None
    if override is None:
        return Gate(
            name=name,
            title=TITLES[name],
            state=found.state,
            detail=found.detail,
            remedy=found.remedy,
            evidence=found.evidence,
        )
    without = "Green without red" if name == "red" else "Overridden"
    return Gate(
        name=name,
        title=TITLES[name],
        state="overridden",
        detail=f"{without} until {override.until:%Y-%m-%d}: {override.reason} What was found: {found.detail}",
        evidence=(*found.evidence, Evidence(kind="proposal", label="override")),
        override=override,
    )


def _found(name: GateName, rule: Rule, facts: Facts) -> Found:
    try:
        return rule(facts)
    except gate_rules.NoFixture:
        return Found(state="unsatisfied", detail="The case has no fixture yet.", remedy="Add one.")
    except EvidenceDestroyed as destroyed:
        return Found(
            state="unsatisfied",
            detail=str(destroyed),
            remedy="Capture the incident as a new case.",
        )
    except DatabaseError:  # the transaction is lost, and with it whatever the other gates would say
        raise
    except Exception as error:  # its text may hold evidence, so only its class is told
        logger.exception("gate %s of case %s", name, facts.key)
        return Found(
            state="error",
            detail=f"It could not be computed ({type(error).__name__}).",
            remedy="An error blocks until it is mended: tell whoever runs this installation.",
        )


def require_open(case: Case, target: Target, *, actor: User) -> list[Gate]:
    """The gates, or GatesClosed. In the transaction of the transition, on the locked case."""
    gates = gates_of(case, target, actor=actor)
    if any(gate.blocks for gate in gates):
        raise GatesClosed(gates)
    return gates
