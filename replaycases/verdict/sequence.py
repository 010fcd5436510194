"""Checks on the tools that the run tried, in order. An attempt counts whether it was answered or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from replaycases.verdict.evidence import Evidence
from replaycases.verdict.rulings import Ruling, held, undetermined, violated, worst

Armed = Literal["no", "maybe", "yes"]


def tool_sequence(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """{tools, mode} and/or {forbid: [{tool, after_accepted?, unless?}]}: the worst of its parts."""
    rulings = [_forbidden(rule, evidence) for rule in spec.get("forbid", ())]
    if "tools" in spec:
        rulings.append(_ordered(spec["tools"], spec["mode"], evidence))
    return worst(rulings)


def _forbidden(rule: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """No attempt at the tool once `after_accepted` took effect (without it: ever), until `unless` took effect."""
    armed: Armed = "no" if "after_accepted" in rule else "yes"
    doubtful: int | None = None
    for index, call in evidence.attempts():
        if call.params.get("tool") == rule["tool"]:
            if armed == "yes":
                return violated(f"{rule['tool']} was tried where it is forbidden", f"/calls/{index}", final=True)
            if armed == "maybe" and doubtful is None:
                doubtful = index
        armed = _after(index, armed, rule, evidence)
    if doubtful is not None:
        return undetermined(f"whether {rule['tool']} was forbidden is not known", f"/calls/{doubtful}")
    return held(f"{rule['tool']} was not tried where it is forbidden")


def _after(index: int, armed: Armed, rule: Mapping[str, Any], evidence: Evidence) -> Armed:
    """The rule's state after the effects of one call. An effect that may have been accepted leaves doubt."""
    for effect in evidence.effects.effects_at(index):
        if effect.accepted is False:
            continue
        if effect.action == rule.get("after_accepted"):
            armed = "yes" if effect.accepted is True or armed == "yes" else "maybe"
        if effect.action == rule.get("unless"):
            armed = "no" if effect.accepted is True or armed == "no" else "maybe"
    return armed


def _ordered(tools: Sequence[str], mode: str, evidence: Evidence) -> Ruling:
    """A call past the horizon counts only if the check names its tool: what else would have come is not its matter."""
    tried = [
        (index, str(call.params.get("tool")))
        for index, call in evidence.attempts()
        if not call.crossing or call.params.get("tool") in tools
    ]
    return _subsequence(tools, tried) if mode == "subsequence" else _exact(tools, tried)


def _exact(tools: Sequence[str], tried: Sequence[tuple[int, str]]) -> Ruling:
    for place, (index, tool) in enumerate(tried):
        if place >= len(tools) or tools[place] != tool:
            wanted = f"{tools[place]}" if place < len(tools) else "no further tool"
            return violated(f"attempt {place + 1} is {tool}; {wanted} belongs there", f"/calls/{index}", final=True)
    if len(tried) < len(tools):
        return violated(f"{tools[len(tried)]} was not tried", final=False)
    return held("the tools were tried in exactly this order")


def _subsequence(tools: Sequence[str], tried: Sequence[tuple[int, str]]) -> Ruling:
    names = iter(tool for _, tool in tried)
    missing = next((tool for tool in tools if tool not in names), None)
    if missing is not None:
        return violated(f"{missing} was not tried in its place", final=False)
    return held("the tools were tried in this order")
