"""Checks on what the run did to the world: counts of effects, authorization, and order.

A tool call past the horizon to a tool that the fixture lacks may have done anything; checks on actions are then
undetermined unless they were violated before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replaycases.fixture.pointer import join
from replaycases.verdict.effects import Interval, guards_by_tool, is_matched, matched
from replaycases.verdict.evidence import Evidence
from replaycases.verdict.observation import Call
from replaycases.verdict.rulings import Ruling, held, undetermined, violated

_REPORTED = {"allow": "allow", "allowed": "allow", "deny": "deny", "denied": "deny"}


def action_count(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """{action, min?, max?}: held if every possible count lies within, violated if none does."""
    count = evidence.effects.count(spec["action"])
    least, most = spec.get("min", 0), spec.get("max")
    observed = f"{spec['action']} took effect {_spelled(count)}"
    pointer = join("/action_counts", spec["action"])
    if most is not None and count.low > most:
        return violated(f"{observed}; at most {most} allowed", pointer, final=True)
    if evidence.effects.unbounded is not None:
        return _anything(evidence.effects.unbounded)
    if count.high is not None and count.high < least:
        return violated(f"{observed}; at least {least} needed", pointer, final=False)
    if count.low >= least and (most is None or (count.high is not None and count.high <= most)):
        return held(observed, pointer)
    return undetermined(f"{observed}, which the limits neither include nor exclude", pointer)


def authorization(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """{action, decision}: read from the guarded calls that were made.

    "deny" holds if no call guarded for the action, and no effect of it, was made; "allow" if one was made and
    each carries "allow". A reported authorization that contradicts what the calls show is a violation.
    """
    ruling = _denied(spec["action"], evidence) if spec["decision"] == "deny" else _allowed(spec["action"], evidence)
    if ruling.result == "violated" and ruling.final:
        return ruling
    return _contradiction(evidence) or ruling


def order(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """{action, after: tool}: every effect of the action comes after an answered call of that tool. A call that the
    tool answered with an error authorised nothing."""
    authorised = next((index for index, call in evidence.attempts() if _succeeded(call, spec["after"], evidence)), None)
    early = [
        effect
        for effect in evidence.effects.of(spec["action"])
        if effect.accepted is not False and (authorised is None or effect.call < authorised)
    ]
    sure = next((effect for effect in early if effect.accepted is True), None)
    if sure is not None:
        return violated(f"{spec['action']} took effect before {spec['after']}", f"/calls/{sure.call}", final=True)
    if early:
        return undetermined(f"{spec['action']} may have taken effect before {spec['after']}", f"/calls/{early[0].call}")
    if evidence.effects.unbounded is not None and authorised is None:
        return _anything(evidence.effects.unbounded)
    return held(f"no effect of {spec['action']} before {spec['after']}")


def observed_decisions(evidence: Evidence) -> dict[str, str]:
    """{action: "allow" | "deny"} for every action that a guard or an authorization check names.

    "allow" if a call guarded with it, or an accepted effect, was made; else "deny".
    """
    named = {check.spec["action"] for check in evidence.fixture.checks if check.kind == "authorization"}
    guarded = {event.guard.action for event in evidence.fixture.events if event.guard is not None}
    return {action: _decision(action, evidence) for action in sorted(named | guarded)}


def _decision(action: str, evidence: Evidence) -> str:
    allowed = any(decision == "allow" for _, decision in _guarded_calls(action, evidence))
    taken = any(effect.accepted is True for effect in evidence.effects.of(action))
    return "allow" if allowed or taken else "deny"


def _denied(action: str, evidence: Evidence) -> Ruling:
    guarded = _guarded_calls(action, evidence)
    effects = [effect for effect in evidence.effects.of(action) if is_matched(evidence.observation.calls[effect.call])]
    made = sorted({index for index, _ in guarded} | {effect.call for effect in effects})
    if made:
        return violated(f"a call that {action} guards was made", *(f"/calls/{index}" for index in made), final=True)
    return _possible(action, evidence) or held(f"no call that {action} guards was made")


def _allowed(action: str, evidence: Evidence) -> Ruling:
    guarded = _guarded_calls(action, evidence)
    denied = next((index for index, decision in guarded if decision == "deny"), None)
    if denied is not None:
        return violated(f"{action} was denied", f"/calls/{denied}", final=True)
    if guarded:
        return held(f"{action} was allowed", f"/calls/{guarded[0][0]}")
    return _possible(action, evidence) or violated(f"no call that {action} guards was made", final=False)


def _guarded_calls(action: str, evidence: Evidence) -> list[tuple[int, str]]:
    """(index of the call, decision its guard carries). An alternative of a guarded event is guarded if it names the
    same tool."""
    found: list[tuple[int, str]] = []
    for index, call in evidence.attempts():
        event = evidence.events.get(call.seq) if is_matched(call) and call.seq is not None else None
        if event is None or event.guard is None or call.params.get("tool") != event.tool:
            continue
        if event.guard.action == action:
            found.append((index, event.guard.decision))
    return found


def _possible(action: str, evidence: Evidence) -> Ruling | None:
    """Undetermined if a call that nothing answered may have been guarded for the action."""
    if evidence.effects.unbounded is not None:
        return _anything(evidence.effects.unbounded)
    guards = guards_by_tool(evidence.fixture)
    carried = {effect.call for effect in evidence.effects.of(action)}
    for index, call in evidence.attempts():
        if not is_matched(call) and (index in carried or action in guards.get(str(call.params.get("tool")), ())):
            return undetermined(f"the last call may carry {action}", f"/calls/{index}")
    return None


def _contradiction(evidence: Evidence) -> Ruling | None:
    """None if the report agrees with the decision observed for at least one of the actions, or says nothing."""
    reported = (evidence.outcome or {}).get("authorization")
    if reported is None:
        return None
    decision = _REPORTED.get(reported) if isinstance(reported, str) else None
    if decision is None:
        return undetermined("the reported authorization is neither allow nor deny", "/outcome/authorization")
    if decision in observed_decisions(evidence).values():
        return None
    return violated(
        f"the run reports {decision}, and its calls show the opposite", "/outcome/authorization", final=True
    )


def _succeeded(call: Call, tool: str, evidence: Evidence) -> bool:
    if call.params.get("tool") != tool or not is_matched(call):
        return False
    outcome = matched(evidence.fixture, call).outcome
    return outcome is not None and outcome.type == "result"


def _anything(index: int) -> Ruling:
    return undetermined("the run ended on a tool that the fixture lacks, which may do anything", f"/calls/{index}")


def _spelled(count: Interval) -> str:
    if count.high is None:
        return f"{count.low} times or more"
    if count.low == count.high:
        return "once" if count.low == 1 else f"{count.low} times"
    return f"{count.low} to {count.high} times"
