"""Side effects by declarative annotation: which tools carry which action, and when their answer was a refusal.

{"tools": {NAME: {"action": str, "key"?: pointer into the arguments, "accepted"?: true | false | "unknown",
"rejected"?: {"any": [RE2], "none"?: [RE2]}, "guard"?: {"action", "decision"}} | null}}

null is the word of whoever writes the annotation that the tool only reads. A fixture has no word for that, so that the
owner of the dependency is still asked.

`rejected` is searched in the recorded answer: a match means not accepted, no match means accepted. Without it
`accepted` holds for every call, "unknown" by default. A recorded error that `rejected` does not match is "unknown".
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from replaycases.fixture.patterns import PatternInvalid, compile_pattern, detects
from replaycases.fixture.pointer import ABSENT, resolve
from replaycases.importers.findings import refused
from replaycases.importers.neutral import ToolStep

JSON = Any
RULE_KEYS = frozenset({"action", "key", "accepted", "rejected", "guard"})


def check_effects(annotation: Mapping[str, JSON]) -> None:
    """Raises ImportRefused for an annotation that is malformed."""
    rules = annotation.get("tools", {})
    if set(annotation) - {"tools"} or not isinstance(rules, Mapping):
        raise _refused("", 'the effects annotation is {"tools": {NAME: {action, …}}}')
    for name, rule in rules.items():
        pointer = f"/tools/{name}"
        if rule is None:
            continue
        if not isinstance(rule, Mapping) or set(rule) - RULE_KEYS or not isinstance(rule.get("action"), str):
            raise _refused(pointer, f"a rule holds action and at most {', '.join(sorted(RULE_KEYS))}")
        guard = rule.get("guard", {"action": ""})
        guards = isinstance(guard, Mapping) and isinstance(guard.get("action"), str)
        if not isinstance(rule.get("key", ""), str) or not guards:
            raise _refused(pointer, "`key` is a pointer, `guard` an object {action, decision}")
        if "rejected" in rule:
            _check_detect(f"{pointer}/rejected", rule["rejected"])


def unused_rules(annotation: Mapping[str, JSON], called: set[str]) -> list[str]:
    """Tools that the annotation names and the run never calls."""
    return sorted(set(annotation.get("tools", {})) - called)


def said_to_read(annotation: Mapping[str, JSON]) -> list[str]:
    """The tools that only read, by the word of whoever wrote the annotation."""
    return sorted(name for name, rule in annotation.get("tools", {}).items() if rule is None)


def effect_of(annotation: Mapping[str, JSON], step: ToolStep) -> dict[str, JSON]:
    """The event's `effect` and `guard`: {} where the tool carries none."""
    rule = annotation.get("tools", {}).get(step.tool)
    if rule is None:
        return {}
    key = {"key": rule["key"]} if "key" in rule else {}
    guard = {"guard": dict(rule["guard"])} if "guard" in rule else {}
    return {"effect": {"action": rule["action"], **key, "accepted": _accepted(rule, step)}, **guard}


def without_absent_keys(events: Sequence[dict[str, JSON]]) -> list[dict[str, JSON]]:
    """A call that lacks the key which others of its tool have counts by itself, as a retry that dropped it does. A key
    that no call of a tool has stays, so that it is found."""
    keyed = {event["tool"] for event in events if _has_key(event) is True}
    return [_keyless(event) if _has_key(event) is False and event["tool"] in keyed else event for event in events]


def _has_key(event: Mapping[str, JSON]) -> bool | None:
    """None where the event's effect names no key."""
    key = (event.get("effect") or {}).get("key")
    return None if key is None else resolve(event["arguments"], key) is not ABSENT


def _keyless(event: dict[str, JSON]) -> dict[str, JSON]:
    return {**event, "effect": {name: value for name, value in event["effect"].items() if name != "key"}}


def _accepted(rule: Mapping[str, JSON], step: ToolStep) -> JSON:
    if "rejected" not in rule:
        return rule.get("accepted", "unknown")
    answer = step.error["message"] if step.error else step.value
    if detects(rule["rejected"], answer if isinstance(answer, str) else json.dumps(answer)):
        return False
    return "unknown" if step.error else True


def _check_detect(pointer: str, detect: JSON) -> None:
    required = detect.get("any") if isinstance(detect, Mapping) else None
    excluded = detect.get("none", []) if isinstance(detect, Mapping) else None
    if not isinstance(required, list) or not isinstance(excluded, list) or not required:
        raise _refused(pointer, "`rejected` is {any: [pattern], none?: [pattern]} with at least one pattern in `any`")
    for pattern in [*required, *excluded]:
        try:
            compile_pattern(pattern)
        except (PatternInvalid, TypeError):
            raise _refused(pointer, "a pattern is not RE2") from None


def _refused(pointer: str, message: str) -> Exception:
    return refused("effects", pointer, message, "See docs/importing.md, effects.")
