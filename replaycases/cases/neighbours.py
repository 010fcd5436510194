"""The start of a control: a revision's own document in which one recorded call ends in another way. Pure.

What nobody can know is never made up: it stands as it was recorded, or as a text that says what its author fills in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replaycases.cases.models import OutcomeType
from replaycases.fixture.model import Accepted, Event, Fixture
from replaycases.fixture.pointer import covers, join, replaced, resolve
from replaycases.fixture.stated_effects import effectful_tools
from replaycases.fixture.timeouts import timeouts_of

JSON = Any

_ANSWER = "FILL IN: what the tool answers when it succeeds"
_MESSAGE = "FILL IN: the message of this error"
_KINDS: Mapping[OutcomeType, str] = {
    OutcomeType.REJECTION: "FILL IN: the kind of error by which the tool refuses",
    OutcomeType.TIMEOUT: "FILL IN: the kind of error when no answer came in time",
    OutcomeType.UNCERTAIN: "FILL IN: the kind of error that leaves open whether it was done",
}
PLACEHOLDERS = (_ANSWER, _MESSAGE, *_KINDS.values())
"""The texts that stand where only the author can know what belongs there."""

_ACCEPTED: Mapping[OutcomeType, Accepted] = {
    OutcomeType.SUCCESS: True,
    OutcomeType.REJECTION: False,
    OutcomeType.UNCERTAIN: "unknown",
}
"""What an outcome says of the effect. Before a known result it may have come about or not: that stays as recorded."""

_LACKING: Mapping[OutcomeType, str] = {
    OutcomeType.SUCCESS: "ends in an accepted result",
    OutcomeType.REJECTION: "ends in anything but an accepted result",
    OutcomeType.TIMEOUT: "ends in an error that leaves its result open",
}
"""What some call must do to show an outcome. A tool may refuse by a result or by an error: only an accepted result is
no refusal. Whether it was done may be left open by any of them: nothing recorded contradicts that."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """A recorded call of a tool that has an effect. `recorded_as` is the type that its outcome has by what was
    recorded: a guide for whoever reads it. A control may show a call otherwise where nothing contradicts that."""

    event: Event
    recorded_as: OutcomeType


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """`document` is a valid fixture, `mutation` the JSON Patch on it that puts the recorded outcome back. `accepted` is
    what the call's effect says in it, None where the call names none. `timed`: the call's recorded times are left out,
    as they are those of another outcome. `later` is how many events come after the call, `others` how many alternatives
    it has, and `instead` are the calls whose alternatives say what it answers once they were used: all of these stand
    as they are."""

    call: Call
    outcome_type: OutcomeType
    document: Mapping[str, JSON]
    mutation: Sequence[Mapping[str, JSON]]
    accepted: Accepted | None
    timed: bool
    later: int
    others: int
    instead: tuple[int, ...]


def calls_of(fixture: Fixture) -> list[Call]:
    """The recorded calls of every tool that has an effect, in order; none in 1.0, which has no word for effects."""
    tools, ran_out = set(effectful_tools(fixture)), {found.seq for found in timeouts_of(fixture)}
    return [
        Call(event=event, recorded_as=_recorded_as(event, ran_out=event.seq in ran_out))
        for event in fixture.events
        if event.boundary == "tool" and event.tool in tools
    ]


def _recorded_as(event: Event, *, ran_out: bool) -> OutcomeType:
    accepted = event.effect.accepted if event.effect is not None else None
    is_error = event.outcome is not None and event.outcome.type == "error"
    if accepted == "unknown":
        return OutcomeType.UNCERTAIN
    if is_error and ran_out:
        return OutcomeType.TIMEOUT
    if is_error and accepted is True:
        return OutcomeType.UNCERTAIN
    return OutcomeType.REJECTION if is_error or accepted is False else OutcomeType.SUCCESS


def why_not_shown(fixture: Fixture, tool: str, outcome_type: OutcomeType) -> str:
    """Why what is recorded of the tool's calls contradicts that they show the outcome, "" if nothing does. An optional
    call shows nothing: no run need make it."""
    calls = [event for event in fixture.events if event.tool == tool and not event.optional]
    ran_out = {found.seq for found in timeouts_of(fixture)}
    shown = {_recorded_as(event, ran_out=event.seq in ran_out) for event in calls}
    shown |= {OutcomeType.TIMEOUT for event in calls if _is_open_error(event)}
    may_refuse = outcome_type == OutcomeType.REJECTION and not all(_is_accepted_result(event) for event in calls)
    if outcome_type not in _LACKING or outcome_type in shown or may_refuse:
        return ""
    says = f"In this control no call of {tool} {_LACKING[outcome_type]} (an optional call shows nothing)."
    found = ", ".join(each.label.lower() for each in OutcomeType if each in shown)
    return f"{says} Write it so, or choose what is recorded: {found}." if found else says


def _is_accepted_result(event: Event) -> bool:
    is_result = event.outcome is not None and event.outcome.type == "result"
    return is_result and event.effect is not None and event.effect.accepted is True


def _is_open_error(event: Event) -> bool:
    """Whether the call ended in an error of which it is not said that nothing was accepted."""
    is_error = event.outcome is not None and event.outcome.type == "error"
    return is_error and (event.effect is None or event.effect.accepted is not False)


def neighbour(fixture: Fixture, call: Call, outcome_type: OutcomeType) -> Neighbour:
    """The fixture under a name of its own, in which the call, one of `calls_of` it, ends as `outcome_type`; all else
    stands as recorded."""
    at, before = call.event.pointer, resolve(fixture.document, call.event.pointer)
    event = {key: value for key, value in before.items() if key != "timing"}
    event["outcome"] = _outcome(call, outcome_type)
    accepted = _ACCEPTED.get(outcome_type, call.event.effect.accepted) if call.event.effect is not None else None
    if accepted is not None:
        event["effect"] = {**before["effect"], "accepted": accepted}
    document = _without_gaps(replaced(fixture.document, at, event), at)
    after = [later for later in fixture.events if later.seq > call.event.seq]
    return Neighbour(
        call=call,
        outcome_type=outcome_type,
        document={**document, "case_id": f"{fixture.case_id}--{outcome_type.replace('_', '-')}"},
        mutation=[{"op": "replace", "path": join(at, "outcome"), "value": before["outcome"]}],
        accepted=accepted,
        timed="timing" in before,
        later=len(after),
        others=len(call.event.alternatives),
        instead=tuple(
            earlier.seq
            for earlier in fixture.events
            if any(call.event.seq in other.then for other in earlier.alternatives)
        ),
    )


def _outcome(call: Call, outcome_type: OutcomeType) -> Mapping[str, JSON]:
    """Never the recorded one, so that putting that back changes something. The kind of a recorded error of the same
    type is known: it stays."""
    if outcome_type == OutcomeType.SUCCESS:
        return {"type": "result", "value": _ANSWER}
    recorded = call.event.outcome
    known = recorded.kind if recorded is not None and call.recorded_as == outcome_type else ""
    return {"type": "error", "error": {"kind": known or _KINDS[outcome_type], "message": _MESSAGE}}


def _without_gaps(document: Mapping[str, JSON], at: str) -> Mapping[str, JSON]:
    """Without what was said to be missing or declared in the outcome and the times that are gone."""
    gone = (join(at, "outcome"), join(at, "timing"))
    gaps = document.get("missing", ())
    left = [gap for gap in gaps if not any(covers(part, gap["pointer"]) for part in gone)]
    return document if len(left) == len(gaps) else {**document, "missing": left}


def unfilled(text: str) -> list[tuple[int, str]]:
    """(line, placeholder) of every place in a written document that its author has not filled in yet."""
    return [
        (number, placeholder)
        for number, line in enumerate(text.split("\n"), 1)
        for placeholder in PLACEHOLDERS
        if placeholder in line
    ]
