"""A case's stage, and what a person may do next. Nothing else assigns a stage."""

from __future__ import annotations

from dataclasses import dataclass

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import CREATES_CASES, REQUESTS_REPLAYS, Role
from replaycases.cases.models import Case, Stage

CLOSED = frozenset({Stage.RETIRED, Stage.NON_REPLAYABLE})


@dataclass(frozen=True, kw_only=True)
class Action:
    """Something that can be done with a case. `why_not` is a sentence for the person, "" if it is allowed."""

    name: str
    label: str
    allowed: bool
    why_not: str


def available_actions(case: Case, actor: User) -> list[Action]:
    """Every action on the case, allowed or not, in the order in which a page shows them. Pages and API read this one
    list."""
    held = access.roles_of(actor, case.project)
    return [
        _action("request_comparison", "Compare old and new", case, held, REQUESTS_REPLAYS),
        _action("request_run_set", "Replay", case, held, REQUESTS_REPLAYS),
        _action("add_revision", "Add a revision", case, held, CREATES_CASES),
        _action("add_control", "Add a control", case, held, frozenset({Role.RESPONDER, Role.WORKFLOW_ENGINEER})),
    ]


def _action(name: str, label: str, case: Case, held: frozenset[Role], needed: frozenset[Role]) -> Action:
    why_not = _why_not(case, held, needed)
    return Action(name=name, label=label, allowed=not why_not, why_not=why_not)


def _why_not(case: Case, held: frozenset[Role], needed: frozenset[Role]) -> str:
    if held.isdisjoint(needed):
        return "This needs the role " + " or ".join(sorted(role.label for role in needed)) + "."
    if case.stage in CLOSED:
        return f"The case is {case.get_stage_display().lower()}."
    return ""
