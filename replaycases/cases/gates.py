"""Gates: what must be true before a case moves on, computed on the server at that moment, each with how to mend it.

A gate that raises is an error, and an error blocks: what was not looked at is not satisfied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from replaycases.accounts.models import User
from replaycases.cases.models import Case, Proposal
from replaycases.cases.policies import InvalidTransition

GateState = Literal["satisfied", "unsatisfied", "not_applicable", "overridden", "error"]
GateName = Literal[
    "statement",
    "evidence_expiry",
    "containment",
    "red",
    "fixture_valid",
    "comments_resolved",
    "redaction_approval",
    "expectation_approval",
    "owners",
    "provenance",
    "controls",
    "control_approvals",
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
class Evidence:
    """Where the reader can look: `kind` is comparison, run, revision, control, decision, proposal, details or comments;
    `number` names it within the case or project, None where there is one of it."""

    kind: str
    label: str
    number: int | None = None


@dataclass(frozen=True, kw_only=True)
class Gate:
    """`detail` says what was found, `remedy` what to do ("" if there is nothing to do). `override` is the confirmed
    proposal that stands in for it."""

    name: GateName
    title: str
    state: GateState
    detail: str
    remedy: str = ""
    evidence: tuple[Evidence, ...] = ()
    override: Proposal | None = None

    @property
    def blocks(self) -> bool:
        return self.state in ("unsatisfied", "error")


class GatesClosed(InvalidTransition):
    """One or more gates block. `gates` are all of them, the open ones too."""

    def __init__(self, gates: Iterable[Gate]) -> None:
        self.gates = tuple(gates)
        blocking = [gate for gate in self.gates if gate.blocks]
        super().__init__(" ".join(f"{gate.title}: {gate.detail} {gate.remedy}".strip() for gate in blocking))


def gates_of(case: Case, target: Target, *, actor: User) -> list[Gate]:
    """Every gate on the way to `target` for the case's current revision, in the order in which a page shows them."""
    raise NotImplementedError


def require_open(case: Case, target: Target, *, actor: User) -> list[Gate]:
    """The gates, or GatesClosed. In the transaction of the transition, on the locked case."""
    gates = gates_of(case, target, actor=actor)
    if any(gate.blocks for gate in gates):
        raise GatesClosed(gates)
    return gates
