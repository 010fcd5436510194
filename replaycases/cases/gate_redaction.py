"""The gates about redaction: nothing is left that must go, and what was replaced did not take the bug with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from replaycases.cases import gate_verdicts
from replaycases.cases.gate_facts import Facts
from replaycases.cases.gate_found import Evidence, Found, not_applicable, satisfied, unsatisfied
from replaycases.cases.gate_rules import current, without_voided
from replaycases.cases.lane_history import why_unread
from replaycases.cases.models import ENDED, DecisionKind, FixtureRevision, Implementation, Run, RunSet, RunState
from replaycases.redaction import kind_words
from replaycases.verdict.sides import FEWEST_RESULTS

BY_HAND = "Undo what was edited by hand, or write it into the raw evidence too and redact that."

# --- the same behaviour ---------------------------------------------------------------------------------------------


def equivalent(facts: Facts) -> Found:
    """The affected version does on the redacted revision what it did on the raw one, and that violates a check. So it
    does on one that was edited by hand since."""
    revision, redactions = current(facts), facts.bundle.redactions
    if redactions.newest(revision) is None:
        return not_applicable(f"Nobody looked yet for what is to be replaced in revision {revision.number}.")
    descent, affected = redactions.descent(revision), facts.affected
    if descent is None:
        return _by_hand(facts, revision)
    if affected is None:
        details = Evidence(kind="details", label="Links and versions")
        return unsatisfied("The affected version is not recorded.", "Record it.", details)
    raw, redacted = (
        _Replays(affected=affected, revision=one, every=tuple(redactions.runs_of(affected, one)))
        for one in (descent.raw, descent.redacted)
    )
    if raw.never_red and facts.override("red") is not None:
        left_out = without_voided(raw.voided)
        return not_applicable(f"Two people agreed that red is missing: nothing can be the same as it.{left_out}")
    found = raw.fault() or redacted.fault() or _compared(raw, redacted, by_hand=redactions.source(revision) is None)
    if found.state != "satisfied" or descent.redacted == revision:
        return found
    own = _by_hand(facts, revision)  # Other checks than the raw revision's: what they say is asked of its own runs.
    return found if own.state in ("satisfied", "not_applicable") else own


def _by_hand(facts: Facts, revision: FixtureRevision) -> Found:
    """Without a raw revision that it was made of, red is shown on its own bytes: on those of the first revision on the
    way into review."""
    if revision.number == 1:
        return not_applicable("Nothing was replaced: red is asked of these bytes on the way into review.")
    if facts.override("red") is not None:
        return not_applicable(f"Two people agreed that red is missing on revision {revision.number}.")
    return gate_verdicts.red(facts)


@dataclass(frozen=True, kw_only=True)
class _Replays:
    """Of the affected version on one revision. `every` holds those of voided sets too."""

    affected: Implementation
    revision: FixtureRevision
    every: tuple[Run, ...]

    @property
    def standing(self) -> list[Run]:
        return [run for run in self.every if run.run_set.voided_at is None]

    @property
    def voided(self) -> list[RunSet]:
        return list({run.run_set_id: run.run_set for run in self.every if run.run_set.voided_at}.values())

    @property
    def read(self) -> list[Run]:
        return [run for run in self.standing if not why_unread(run)]

    @property
    def never_red(self) -> bool:
        """Nothing is on its way that could still be red, and nothing was."""
        return all(run.ended and run.boundary_passed is not False for run in self.standing)

    @property
    def name(self) -> str:
        return f"revision {self.revision.number}"

    def fault(self) -> Found | None:
        """Why these runs do not say one thing; None where they do."""
        again = f"Replay {self.affected} on {self.name}."
        void = f"Void its set and replay {self.affected} on {self.name}."
        waiting = [run for run in self.standing if run.state not in ENDED]
        if waiting:
            found = f"{len(waiting)} of {len(self.standing)} runs on {self.name} have not ended."
            return unsatisfied(found, "Wait until its replays have ended.", self.link(waiting[0]))
        lost = [run for run in self.standing if run.state == RunState.QUARANTINED]
        if lost:
            found = f"Run {lost[0].number} on {self.name} gave no result, and no run may be left out."
            return unsatisfied(found, void, self.link(lost[0]))
        if len(self.read) < FEWEST_RESULTS:
            found = f"{self.affected} has {len(self.read)} results on {self.name}, and {FEWEST_RESULTS} are needed."
            return unsatisfied(found, again)
        unknown = [run for run in self.read if not run.behaviour]
        if unknown:
            return unsatisfied(f"What run {unknown[0].number} did is not kept.", void, self.link(unknown[0]))
        if len({run.behaviour for run in self.read}) > 1:
            found = f"The {len(self.read)} runs on {self.name} differ: no single one of them counts."
            return unsatisfied(found, "Look at them.", self.link(self.read[-1]))
        return None

    def link(self, run: Run) -> Evidence:
        return Evidence(kind="run", label=f"run {run.number} on {self.name}", number=run.number)


def _compared(raw: _Replays, redacted: _Replays, *, by_hand: bool) -> Found:
    links = (raw.link(raw.read[-1]), redacted.link(redacted.read[-1]))
    if any(run.boundary_passed is not False for run in raw.read):
        remedy = "Mend the fixture or its checks, or have two people agree that red is missing."
        return unsatisfied(f"{raw.affected} violates no check on {raw.name}: no bug is seen there.", remedy, links[0])
    if raw.read[0].behaviour != redacted.read[0].behaviour:
        remedy = "Compare a run of each, keep by a rule what was lost, and redact again."
        if by_hand:
            remedy = BY_HAND
        return unsatisfied(
            f"The redacted revision shows another behaviour than {raw.name}: a relation that decides was lost.",
            remedy,
            *links,
        )
    found = f"{raw.affected} does on {redacted.name} what it did on {raw.name}, in {len(redacted.read)} and "
    same = f"{len(raw.read)} runs: the same violated checks, calls and counts of actions."
    return satisfied(found + same + without_voided([*raw.voided, *redacted.voided]), *links)


# --- nothing left ---------------------------------------------------------------------------------------------------


def residual(facts: Facts) -> Found:
    """The detectors and the second look found nothing that stands in the way, or two people let it stand, under the
    policy and by the detectors of today; no relation was lost."""
    revision, redactions = current(facts), facts.bundle.redactions
    looked = redactions.newest(revision)
    place = Evidence(kind="redaction", label=f"redaction of revision {revision.number}", number=revision.number)
    if looked is None:
        return unsatisfied(f"Nobody looked yet for what must go of revision {revision.number}.", "Redact it.", place)
    outrun, remedy = redactions.outrun(looked)
    if outrun and not _is_approved(facts, revision):
        return unsatisfied(outrun, remedy, place)
    if looked.lost:
        remedy = "Mark, keep, join or split values by a rule, and redact again."
        descent = redactions.descent(revision)
        if descent is not None and descent.raw != redactions.source(revision):
            remedy = BY_HAND  # An edit came between, and no rule of this redaction mends it.
        return unsatisfied(f"Relations between values were lost: {looked.lost}.", remedy, place)
    left = redactions.left(looked)
    if left:
        kinds = kind_words.counted(Counter(one["kind"] for one in left))
        remedy = "Redact it, decide about each place by a rule, or have two people let it stand."
        return unsatisfied(f"Open findings: {kinds}.", remedy, place)
    waived = f" Left to stand by a waiver: {len(looked.open)}." if looked.open else ""
    return satisfied(f"Nothing is left of what {looked.policy or 'the built-in policy'} finds.{waived}", place)


def _is_approved(facts: Facts, revision: FixtureRevision) -> bool:
    """What was approved under an earlier policy is looked at again by people, and goes on meanwhile."""
    given = facts.approvals.get(DecisionKind.REDACTION)
    return given is not None and given.content_hash == revision.content_hash
