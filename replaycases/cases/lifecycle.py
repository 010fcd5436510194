"""A case's stage, and what a person may do next. Nothing else assigns a stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from replaycases.accounts import access
from replaycases.accounts.models import User
from replaycases.accounts.roles import ADDS_CONTROLS, CREATES_CASES, REQUESTS_REPLAYS, Role
from replaycases.cases.models import Case, Stage

# The way of a case that comes through; a closed one left it.
STEPS = (Stage.QUARANTINED, Stage.IN_REVIEW, Stage.REDACTION_APPROVED, Stage.REPRODUCED)
CLOSED = frozenset({Stage.RETIRED, Stage.NON_REPLAYABLE})

ActionName = Literal["request_comparison", "request_run_set", "add_revision", "add_control"]

# In the order in which a page shows them: the label, and the roles of which one is needed.
_ACTIONS: Mapping[ActionName, tuple[str, frozenset[Role]]] = {
    "request_comparison": ("Compare old and new", REQUESTS_REPLAYS),
    "request_run_set": ("Replay", REQUESTS_REPLAYS),
    "add_revision": ("Add a revision", CREATES_CASES),
    "add_control": ("Add a control", ADDS_CONTROLS),
}


class InvalidTransition(Exception):
    """The present state does not allow it. The message is a sentence for the person."""


@dataclass(frozen=True, kw_only=True)
class Action:
    """Something that can be done with a case. `why_not` is a sentence for the person, "" if it is allowed."""

    name: ActionName
    label: str
    allowed: bool
    why_not: str


def available_actions(case: Case, actor: User) -> list[Action]:
    """Every action on the case, allowed or not, in the order in which a page shows them. `require` decides by the same
    rules."""
    held = access.roles_of(actor, case.project)
    return [_action(name, case, held) for name in _ACTIONS]


def require(case: Case, actor: User, name: ActionName) -> None:
    """Raise PermissionDenied for a person without the role, InvalidTransition for a case that is closed."""
    access.require(actor, case.project, *_ACTIONS[name][1])
    why_not = _why_closed(case)
    if why_not:
        raise InvalidTransition(why_not)


def require_locked(case: Case, actor: User, name: ActionName) -> None:
    """`require` on the case as it stands now, its row locked until the caller's transaction ends: it cannot be closed
    in between. Not a key lock: rows that refer to the case can still be written."""
    require(Case.objects.select_for_update(no_key=True).get(pk=case.pk), actor, name)


def _action(name: ActionName, case: Case, held: frozenset[Role]) -> Action:
    label, needed = _ACTIONS[name]
    why_not = access.lacking(case.project, needed) if held.isdisjoint(needed) else _why_closed(case)
    return Action(name=name, label=label, allowed=not why_not, why_not=why_not)


def _why_closed(case: Case) -> str:
    return f"The case is {case.get_stage_display().lower()}." if case.stage in CLOSED else ""
