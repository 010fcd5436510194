"""How each verdict label and each state looks: a word, an icon and a shape. Colour comes last.

Shapes say how final a label is: solid (a settled verdict), outlined (a person must look, or it blocks), dashed
(not known, never a pass). Only `verified_red_to_green` is green at all: the three passes that were not earned in full
are dashed and grey, and their words say what they lack.
"""

from __future__ import annotations

from dataclasses import dataclass

VERIFIED = "verified_red_to_green"


@dataclass(frozen=True, kw_only=True)
class Look:
    """`css` are classes of components/badge.css; `meaning` is one sentence for the legend."""

    word: str
    css: str
    icon: str
    meaning: str = ""


FINAL = {
    VERIFIED: Look(
        word="Verified red to green",
        css="ok final",
        icon="check",
        meaning="The old version breaks the boundary in every run, the new one holds every check on the same fixture.",
    ),
    "still_failing": Look(
        word="Still failing", css="bad final", icon="cross", meaning="The new version violates a check."
    ),
}
NEEDS_A_PERSON = {
    "near_miss": Look(
        word="Near miss",
        css="look",
        icon="warn",
        meaning="Every check holds, but the new version got there by doing less, more or by handing off.",
    ),
    "diverged": Look(
        word="Diverged", css="look", icon="fork", meaning="The new version took a path that was not recorded."
    ),
    "varied": Look(word="Varied", css="look", icon="fork", meaning="Runs of one side do not agree with each other."),
    "unconsumed": Look(
        word="Unconsumed events",
        css="look",
        icon="dash",
        meaning="The new version left recorded events that it had to use.",
    ),
    "stale": Look(
        word="Stale recording",
        css="look",
        icon="clock",
        meaning="Model settings, prompt or policy are not the recorded ones: a replay cannot answer, a re-run can.",
    ),
}
BLOCKS = {
    "not_reproduced": Look(
        word="Not reproduced", css="bad", icon="cross", meaning="The old version does not show the incident."
    ),
    "control_failed": Look(
        word="Control not passed",
        css="bad",
        icon="cross",
        meaning="A neighbouring case broke, was not replayed yet, or did not fail when it was mutated. Never a pass.",
    ),
    "adapter_error": Look(
        word="Adapter error", css="bad", icon="warn", meaning="The implementation could not be started or spoken to."
    ),
    "fixture_invalid": Look(
        word="Fixture invalid", css="bad", icon="warn", meaning="The fixture has findings; nothing was judged."
    ),
    "compatible_fail": Look(
        word="Compatible fail", css="bad", icon="link", meaning="A compatibility pair in which the new version fails."
    ),
}
NOT_KNOWN = {
    "undetermined": Look(
        word="Undetermined", css="dunno", icon="q", meaning="The evidence does not decide it. Never a pass."
    ),
    "not_comparable": Look(
        word="Not comparable",
        css="dunno",
        icon="q",
        meaning="Case, hash, mode, policy or manifest version differ, or both sides are the same code.",
    ),
    "environment_unavailable": Look(
        word="Environment unavailable", css="dunno", icon="q", meaning="Too few runs could be made; nothing was judged."
    ),
    "baseline_only": Look(
        word="Baseline only", css="dunno", icon="dash", meaning="There is no run of the old version: no red was seen."
    ),
    "old_only": Look(word="Old only", css="dunno", icon="dash", meaning="There is no run of the new version."),
}
APART = {
    "green_without_red": Look(
        word="Green without red",
        css="dunno",
        icon="pen",
        meaning="A missing red baseline that a reviewer accepted on trace evidence. Not a verified fix.",
    ),
    "compatible_pass": Look(
        word="Compatible pass",
        css="dunno",
        icon="link",
        meaning="It passes, but the recorded model was not reproduced. Never blocks or unblocks a release. Where the "
        "recording lacks a part, such as the tool catalogue, declaring it in the run record lifts that.",
    ),
    "unisolated_pass": Look(
        word="Unisolated pass",
        css="dunno",
        icon="warn",
        meaning="It passes in a process without isolation: the network was not controlled.",
    ),
}

LEGEND: tuple[tuple[str, tuple[Look, ...]], ...] = (
    ("Final", tuple(FINAL.values())),
    ("Needs a person to look", tuple(NEEDS_A_PERSON.values())),
    ("Blocks, not a verdict on the fix", tuple(BLOCKS.values())),
    ("Not known, never a pass", tuple(NOT_KNOWN.values())),
    ("Apart from the order, not a verified fix", tuple(APART.values())),
)
VERDICTS: dict[str, Look] = FINAL | NEEDS_A_PERSON | BLOCKS | NOT_KNOWN | APART

WAITING = Look(word="Waiting for runs", css="dunno", icon="clock")

STATES: dict[str, Look] = {
    "held": Look(word="held", css="ok", icon="check"),
    "violated": Look(word="violated", css="bad", icon="cross"),
    "undetermined": Look(word="undetermined", css="dunno", icon="q"),
    "true": Look(word="true", css="ok", icon="check"),
    "false": Look(word="false", css="bad", icon="cross"),
    "null": Look(word="null: not decided", css="dunno", icon="q"),
    "controlled": Look(word="controlled", css="", icon=""),
    "denied": Look(word="denied", css="", icon=""),
    "uncontrolled": Look(word="uncontrolled", css="look", icon="warn"),
}
RUN_STATES: dict[str, Look] = {
    "queued": Look(word="queued", css="dunno", icon="clock"),
    "leased": Look(word="running", css="dunno", icon="play"),
    "finished": Look(word="finished", css="", icon=""),
    "quarantined": Look(word="quarantined", css="bad", icon="warn"),
    "cancelled": Look(word="cancelled", css="dunno", icon="dash"),
}


def verdict_look(label: str) -> Look:
    """The look of a label; a label this page does not know is shown as it stands, dashed and never green."""
    if not label:
        return WAITING
    return VERDICTS.get(label) or Look(word=label.replace("_", " "), css="dunno", icon="q")


def state_look(state: object) -> Look:
    """The look of a check result, a boundary value or a surface; unknown ones are plain words."""
    key = {True: "true", False: "false", None: "null"}.get(state) if state is None or isinstance(state, bool) else state
    return STATES.get(str(key)) or Look(word=str(key), css="", icon="")


def run_state_look(state: str) -> Look:
    return RUN_STATES.get(state) or Look(word=state, css="dunno", icon="q")
