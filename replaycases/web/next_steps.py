"""What a case waits for, and whether the person who looks can do it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from replaycases.cases import dependency, gates
from replaycases.cases.available import GATED
from replaycases.cases.gate_around import Said
from replaycases.cases.models import Case, DecisionKind, LaneName, Stage
from replaycases.cases.policies import APPROVED, DRAFT, REVIEWED, Action, ActionName
from replaycases.verdict.labels import Label
from replaycases.web import gate_rows


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """`form` names the form of the box that does it; else `address` is the page on which it is done. `why` says what it
    is for; `named` is a better name for it here than the action's own. `closed` are the gates that would refuse it
    now. `override` is the action that proposes to go on without a red baseline, where none was seen yet;
    `override_address` the page of it."""

    action: Action
    why: str
    form: str = ""
    named: str = ""
    address: str = ""
    closed: Sequence[gate_rows.GateRow] = ()
    override: Action | None = None
    override_address: str = ""

    @property
    def label(self) -> str:
        return self.named or self.action.label


@dataclass(frozen=True, kw_only=True)
class NextSteps:
    """`yours` are possible for the person now, in the order in which they come; `others` wait for somebody else."""

    yours: list[NextStep]
    others: list[NextStep]


def steps_of(
    case: Case,
    actions: Mapping[ActionName, Action],
    approved: Iterable[str],
    blocking: Sequence[gates.Gate] = (),
    said: Said | None = None,
) -> NextSteps:
    """`approved` are the kinds of approval that stand, `blocking` the gates that close the next stage now. `said` is
    what a dependency owner said last of the current revision. No query."""
    steps = [*_steps(case, actions, frozenset(approved), blocking), *_of_dependency(case, actions, said)]
    return NextSteps(
        yours=[step for step in steps if step.action.allowed],
        others=[step for step in steps if not step.action.allowed],
    )


def _steps(
    case: Case, actions: Mapping[ActionName, Action], approved: frozenset[str], blocking: Sequence[gates.Gate]
) -> Iterable[NextStep]:
    name = case.readable_id
    review = reverse("case_review", args=[name])
    if case.security_incident and case.contained_at is None:
        why = "A security incident is contained before anything is replayed: evidence kept, secrets changed."
        yield NextStep(action=actions["confirm_containment"], why=why, form="containment")
    only_read = case.stage in DRAFT and case.current_revision is not None and case.current_revision.non_replayable
    if only_read:
        why = "Its recording can only be read: no replay shows anything. Or capture the incident with its content."
        address = f"{reverse('case', args=[name])}#non-reason"
        yield NextStep(action=actions["mark_non_replayable"], why=why, address=address)
    if case.current_revision_id is None and case.stage in (Stage.QUARANTINED, Stage.IN_REVIEW):
        why = "The case started from a blank form: it needs the recorded fixture."
        address = reverse("new_revision", args=[name])
        yield NextStep(action=actions["add_revision"], named="Add the fixture", why=why, address=address)
    elif case.stage == Stage.QUARANTINED and not only_read:
        why = "Needed: a complete statement, and an affected version that was seen to do it in quarantine."
        yield NextStep(
            action=actions["submit"], why=why, form="submission", **_gated(case, actions, "submit", blocking)
        )
    elif case.stage == Stage.IN_REVIEW and (left := [gate for gate in blocking if gate.name == "residual"]):
        why = f"{left[0].detail} Whoever redacts it does not approve it."
        address = reverse("redaction_review", args=[name])
        yield NextStep(action=actions["redact"], named="Redact it", why=why, address=address)
    elif case.stage == Stage.IN_REVIEW:
        why = "Who approves says that nothing that must be redacted is left in these bytes."
        yield NextStep(action=actions["approve_redaction"], why=why, address=f"{review}#decide")
    elif case.stage == Stage.REDACTION_APPROVED:
        why = "It may be marked once the affected version is red on the reviewed fixture in every run."
        gated = _gated(case, actions, "mark_reproduced", blocking)
        yield NextStep(action=actions["mark_reproduced"], why=why, form="reproduction", **gated)
    if case.stage in REVIEWED and DecisionKind.EXPECTATION not in approved:
        why = "Who approves says that the prohibited outcome and its checks are what must hold."
        yield NextStep(action=actions["approve_expectation"], why=why, address=f"{review}#decide")
    if case.stage == Stage.REPRODUCED and case.lane != LaneName.BLOCKING:
        lane = LaneName.BLOCKING if case.lane == LaneName.NONBLOCKING else LaneName.NONBLOCKING
        why = f"Needed: every gate on the way to lane {lane}. Its page says which of them block now."
        yield NextStep(action=actions["promote"], why=why, address=reverse("case_promotion", args=[name]))
    elif case.lane == LaneName.BLOCKING and case.verdict not in ("", Label.VERIFIED_RED_TO_GREEN):
        why = "It blocks, and no result that stands shows red and green. Compare again, or two people demote it."
        yield NextStep(action=actions["request_comparison"], why=why, address=f"{reverse('case', args=[name])}#request")
    if case.flagged:
        why = "A re-review is asked for: why stands under Expiry and review. A blocking case keeps blocking meanwhile."
        yield NextStep(action=actions["review_again"], why=why, form="re_review")
    if case.stage == Stage.NON_REPLAYABLE:
        why = "It was closed because the decisive condition could not be replayed."
        yield NextStep(action=actions["reopen"], why=why, form="reopening")


_OF_DEPENDENCY = (
    "that the dependency gives the answers which its recording does not hold",
    "that the tools of which it names no effect have none",
)


def _of_dependency(case: Case, actions: Mapping[ActionName, Action], said: Said | None) -> Iterable[NextStep]:
    """What only a dependency owner can say, once they may read the revision; lanes are closed until then."""
    revision = case.current_revision
    if revision is None or case.stage not in APPROVED:
        return
    wanted = dependency.asked(revision, answers=bool(said and said.confirmed), effects=bool(said and said.no_effect))
    words = [word for word, is_wanted in zip(_OF_DEPENDENCY, wanted, strict=True) if is_wanted]
    if words:
        why = (
            f"A dependency owner who did not make the case confirms {', and '.join(words)}. No lane is entered before."
        )
        address = f"{reverse('case', args=[case.readable_id])}#dependency"
        yield NextStep(
            action=actions["state_acceptance"], named="Confirm it for the dependency", why=why, address=address
        )


def _gated(
    case: Case, actions: Mapping[ActionName, Action], name: ActionName, blocking: Sequence[gates.Gate]
) -> dict[str, Any]:
    """What closes the step now, each with where it is mended; where a red is not seen yet, how to go on without."""
    rows = gate_rows.rows(case, blocking, GATED[name], may_propose=False)
    red = any(gate.name == "red" for gate in blocking)
    override = {"override": actions["propose_override"], "override_address": gate_rows.override_address(case, "red")}
    return {"closed": rows, **(override if red else {})}
