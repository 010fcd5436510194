"""What may be done with a case, by whom and in which stage: one table behind pages, API, admin and bulk alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from django.core.exceptions import PermissionDenied
from django.utils import timezone

from replaycases.accounts import access
from replaycases.accounts import roles as may
from replaycases.accounts.models import Project, User
from replaycases.accounts.roles import Role
from replaycases.cases import decisions, reading
from replaycases.cases.locks import lock_project
from replaycases.cases.models import Case, Classification, LaneName, Stage

ActionName = Literal[
    "edit_statement",
    "edit_details",
    "confirm_containment",
    "state_acceptance",
    "request_comparison",
    "request_run_set",
    "add_revision",
    "add_control",
    "comment",
    "submit",
    "redact",
    "waive",
    "approve_redaction",
    "return_redaction",
    "approve_expectation",
    "return_expectation",
    "approve_control",
    "mark_reproduced",
    "promote",
    "propose_demotion",
    "propose_retirement",
    "propose_override",
    "propose_extension",
    "send_back",
    "mark_non_replayable",
    "reopen",
    "raise_flag",
    "review_again",
    "close_step",
]

OPEN = frozenset({Stage.QUARANTINED, Stage.IN_REVIEW, Stage.REDACTION_APPROVED, Stage.REPRODUCED})
DRAFT = frozenset({Stage.QUARANTINED, Stage.IN_REVIEW})
REVIEWED = frozenset({Stage.IN_REVIEW, Stage.REDACTION_APPROVED, Stage.REPRODUCED})
APPROVED = frozenset({Stage.REDACTION_APPROVED, Stage.REPRODUCED})


class InvalidTransition(Exception):
    """The present state does not allow it. The message is a sentence for the person."""


class SeenAnother(InvalidTransition):
    """What the person looked at is not what is there now. Nothing was decided."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """`roles`: one of them is needed. `stages`: in which the case must be. `by_person`: a token may not, whatever its
    owner may. `second_eyes`: nobody who captured or edited the case may. `reads`: nobody who may not read the current
    revision may; it is asked last, since it is about bytes that change hands as the case goes on."""

    label: str
    roles: frozenset[Role]
    stages: frozenset[Stage] = OPEN
    by_person: bool = False
    second_eyes: bool = False
    reads: bool = False


@dataclass(frozen=True, kw_only=True)
class Action:
    """Something that can be done with a case. `why_not` is a sentence for the person, "" if it is allowed."""

    name: ActionName
    label: str
    allowed: bool
    why_not: str


# In the order in which a page shows them.
RULES: Mapping[ActionName, Rule] = {
    "edit_statement": Rule(
        label="Edit the failure statement", roles=may.CREATES_CASES | may.DECIDES_EXPECTATION, stages=DRAFT
    ),
    "edit_details": Rule(label="Edit owners and links", roles=may.EDITS_DETAILS),
    "confirm_containment": Rule(label="Confirm containment", roles=may.CONFIRMS_CONTAINMENT, by_person=True),
    "state_acceptance": Rule(label="State the acceptance", roles=may.STATES_ACCEPTANCE, by_person=True),
    "request_comparison": Rule(label="Compare old and new", roles=may.REQUESTS_REPLAYS),
    "request_run_set": Rule(label="Replay", roles=may.REQUESTS_REPLAYS),
    "add_revision": Rule(label="Add a revision", roles=may.ADDS_REVISIONS),
    "add_control": Rule(label="Add a control", roles=may.ADDS_CONTROLS),
    "comment": Rule(label="Comment", roles=may.COMMENTS),
    "submit": Rule(label="Submit for review", roles=may.SUBMITS, stages=frozenset({Stage.QUARANTINED})),
    "redact": Rule(label="Redact", roles=may.CHANGES_CONTENT, by_person=True, reads=True),
    "waive": Rule(
        label="Let a finding stand",
        roles=may.WAIVES,
        stages=frozenset({Stage.IN_REVIEW}),
        by_person=True,
        second_eyes=True,
        reads=True,
    ),
    "approve_redaction": Rule(
        label="Approve the redaction",
        roles=may.DECIDES_REDACTION,
        stages=frozenset({Stage.IN_REVIEW}),
        by_person=True,
        second_eyes=True,
        reads=True,
    ),
    "return_redaction": Rule(
        label="Return the redaction",
        roles=may.DECIDES_REDACTION,
        stages=frozenset({Stage.IN_REVIEW}),
        by_person=True,
        reads=True,
    ),
    "approve_expectation": Rule(
        label="Approve the expectation",
        roles=may.DECIDES_EXPECTATION,
        stages=REVIEWED,
        by_person=True,
        second_eyes=True,
        reads=True,
    ),
    "return_expectation": Rule(
        label="Return the expectation", roles=may.DECIDES_EXPECTATION, stages=REVIEWED, by_person=True, reads=True
    ),
    "approve_control": Rule(label="Approve a control", roles=may.DECIDES_REDACTION, by_person=True, second_eyes=True),
    "mark_reproduced": Rule(
        label="Mark as reproduced", roles=may.REQUESTS_REPLAYS, stages=frozenset({Stage.REDACTION_APPROVED})
    ),
    "promote": Rule(label="Promote", roles=may.PROMOTES, stages=frozenset({Stage.REPRODUCED}), by_person=True),
    "propose_demotion": Rule(label="Propose a demotion", roles=may.PROMOTES, by_person=True),
    "propose_retirement": Rule(
        label="Propose retirement",
        roles=may.PROPOSES_RETIREMENT,
        stages=OPEN | {Stage.NON_REPLAYABLE},
        by_person=True,
    ),
    "propose_override": Rule(label="Propose an override", roles=may.PROPOSES_OVERRIDES, by_person=True),
    "propose_extension": Rule(label="Ask for a longer life", roles=may.PROPOSES_EXTENSIONS, by_person=True),
    "send_back": Rule(label="Send back to review", roles=may.SENDS_BACK, stages=APPROVED, by_person=True),
    "mark_non_replayable": Rule(label="Mark as non-replayable", roles=may.CLOSES_AS_NON_REPLAYABLE, by_person=True),
    "reopen": Rule(
        label="Open again",
        roles=may.CLOSES_AS_NON_REPLAYABLE,
        stages=frozenset({Stage.NON_REPLAYABLE}),
        by_person=True,
    ),
    "raise_flag": Rule(label="Ask for a re-review", roles=may.COMMENTS),
    # Which of the flags somebody answers hangs on their role: see `cases.flags`.
    "review_again": Rule(label="Note a re-review", roles=may.REVIEWS_AGAIN | may.DECIDES_REDACTION, by_person=True),
    "close_step": Rule(label="Note a closing step", roles=may.REVIEWS_AGAIN, by_person=True),
}
assert tuple(RULES) == get_args(ActionName)


def why_not_allowed(name: ActionName, case: Case, actor: User, *, held: frozenset[Role], own_work: str = "") -> str:
    """Why the actor, who holds these roles in the case's project, may not do it now; "" if they may. `own_work` is what
    `decisions.own_work` says, for rules that ask for second eyes. No query, so whether they may read is not asked."""
    return _lacks(RULES[name], case, actor, held, own_work) or _why_not_now(name, case)


def require(case: Case, actor: User, name: ActionName) -> None:
    """Raise PermissionDenied for the wrong person, InvalidTransition for the wrong state; the person comes first."""
    rule = RULES[name]
    held = access.roles_of(actor, case.project)
    own_work = decisions.own_work(actor, case) if rule.second_eyes else ""
    lacks = _lacks(rule, case, actor, held, own_work)
    if lacks:
        raise PermissionDenied(lacks)
    why_not = _why_not_now(name, case) or lacks_evidence(name, case)
    if why_not:
        raise InvalidTransition(why_not)
    unread = why_unread(case, actor, held) if rule.reads else ""
    if unread:
        raise PermissionDenied(unread)


def require_locked(case: Case, actor: User, name: ActionName) -> Case:
    """`require` on the case as it stands now, its project and itself locked until the caller's transaction ends (see
    `cases.locks`): its stage, lane, revision and verdicts cannot change in between. Not key locks: rows that refer to
    either can still be written. Returns the locked case."""
    held = locked(case)
    require(held, actor, name)
    return held


def require_roles_locked(actor: User, project: Project, *roles: Role) -> None:
    """`access.require` with the project's row locked until the caller's transaction ends, for what is decided without a
    case. Roles are taken away under the same lock: whoever loses theirs while they wait for it is refused."""
    lock_project(project)
    access.require(actor, project, *roles)


def locked(case: Case) -> Case:
    """The case as it stands now, locked as above."""
    lock_project(case.project)
    return Case.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=case.pk)


def refuse_tokens(actor: User) -> None:
    """Raise PermissionDenied for a program: decisions are made by people."""
    if actor.token is not None:
        raise PermissionDenied(BY_PERSON)


BY_PERSON = "A token never decides. Sign in and do it as yourself."


def _lacks(rule: Rule, case: Case, actor: User, held: frozenset[Role], own_work: str) -> str:
    """Why this person may not, whatever the state of the case; "" if they may."""
    if held.isdisjoint(rule.roles):
        return access.lacking(case.project, rule.roles)
    if rule.by_person and actor.token is not None:
        return BY_PERSON
    return own_work if rule.second_eyes else ""


def why_unread(case: Case, actor: User, held: frozenset[Role]) -> str:
    """Why nobody decides about what they cannot see; "" where they can, or where there is nothing yet."""
    revision = case.current_revision
    if revision is None or reading.reads_quarantined(held) or reading.readable_by(revision, actor, held=held):
        return ""
    return reading.not_shown()


def _why_not_now(name: ActionName, case: Case) -> str:
    """Why the state of the case does not allow it; "" if it does."""
    rule = RULES[name]
    stage = Stage(case.stage)
    if stage not in rule.stages:
        wanted = " or ".join(s.label.lower() for s in Stage if s in rule.stages)
        only = "" if rule.stages == OPEN else f" This is possible only while it is {wanted}."
        return f"The case is {stage.label.lower()}.{only}"
    if name in _ALSO:
        return _ALSO[name](case)
    return ""


NEEDS_EVIDENCE: frozenset[ActionName] = frozenset(
    {
        "request_comparison",
        "request_run_set",
        "add_control",
        "submit",
        "redact",
        "waive",
        "approve_redaction",
        "approve_expectation",
    }
)


def destroyed(case: Case) -> str:
    """Why nothing is replayed or approved of a case whose current revision is destroyed; "" while it is there."""
    revision = case.current_revision
    said = reading.destroyed(revision) if revision is not None and case.evidence_destroyed_at is not None else ""
    return f"{said} Capture the incident as a new case." if said else ""


BRINGS_EVIDENCE: frozenset[ActionName] = frozenset({"add_revision", "add_control"})


def lacks_evidence(name: ActionName, case: Case) -> str:
    """Why it is refused for what became of the case's raw evidence; "" if it is not. One query at most, and none
    while nothing was destroyed."""
    if name in NEEDS_EVIDENCE and (said := destroyed(case)):
        return said
    return no_more_evidence(case) if name in BRINGS_EVIDENCE else ""


def no_more_evidence(case: Case) -> str:
    """Why no more raw evidence of the case comes in: once its time is over, what was destroyed does not come back by a
    new revision. "" while it may; what was approved in time goes on, and what is added to it has an end of its own."""
    ends, current = case.evidence_expires_at, case.current_revision
    if ends is None and case.evidence_destroyed_at is None:
        return ""
    if ends is None and current is not None and reading.classification_of(current) != Classification.QUARANTINED:
        return ""
    if ends is not None and ends > timezone.now():
        return ""
    return "The time of this case's raw evidence is over. Capture the incident as a new case."


def _uncontained(case: Case) -> str:
    if case.security_incident and case.contained_at is None:
        return "This is a security incident that is not contained yet. The security owner confirms containment first."
    return ""


def _no_longer(case: Case) -> str:
    if case.evidence_expires_at is None:
        return "The case has no evidence that expires."
    over = case.evidence_expires_at <= timezone.now()
    return "The time of the evidence is over: nothing lengthens it any more." if over else ""


def needs_revision(case: Case) -> str:
    return "" if case.current_revision_id else "The case has no fixture yet."


_ALSO: Mapping[ActionName, Callable[[Case], str]] = {
    "confirm_containment": lambda case: (
        "" if case.security_incident and case.contained_at is None else "There is no containment to confirm."
    ),
    "state_acceptance": needs_revision,
    "request_comparison": lambda case: _uncontained(case) or needs_revision(case),
    "request_run_set": lambda case: _uncontained(case) or needs_revision(case),
    "add_control": needs_revision,
    "comment": needs_revision,
    "submit": needs_revision,
    "redact": needs_revision,
    "propose_override": needs_revision,
    "propose_demotion": lambda case: "" if case.lane == LaneName.BLOCKING else "The case does not stand in blocking.",
    "propose_extension": _no_longer,
    "mark_non_replayable": lambda case: (
        f"A revision stands in lane {case.lane}. Retire the case instead: a lane is left by two people."
        if case.lane
        else ""
    ),
    "review_again": lambda case: "" if case.flagged else "Nothing asks for a re-review.",
}
