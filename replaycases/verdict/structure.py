"""Checks on the observation document as a whole, on the run's length and cost, and on how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replaycases.fixture.canonical import canonical_bytes
from replaycases.fixture.observation_schema import compile_observation_schema
from replaycases.fixture.pointer import ABSENT, join, resolve, split
from replaycases.verdict.evidence import Evidence
from replaycases.verdict.observation import GOT_THROUGH, Call
from replaycases.verdict.rulings import Ruling, held, undetermined, violated, worst


def relation(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """{kind: equal | different, pointers: [a, b]} over the observation document.

    1 equals 1.0 and true is not 1. A pointer to nothing is the value *absent*, equal only to another absent one. The
    call that crosses the horizon breaks a relation only with another call of its tool: what else came next is not its
    matter.
    """
    first, second = spec["pointers"]
    values = [resolve(evidence.document, pointer) for pointer in (first, second)]
    equal = _form(values[0]) == _form(values[1])
    observed = "the two values are equal" if equal else "the two values differ"
    if equal == (spec["kind"] == "equal"):
        return held(observed, first, second)
    if _is_foreign_crossing(first, second, evidence):
        return undetermined("the call past the horizon is not one that this relation speaks of", first, second)
    settled = all(value is not ABSENT for value in values) and _is_settled(first) and _is_settled(second)
    return violated(observed, first, second, final=settled)


def conforms(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """{schema}: the observation document against a JSON Schema. References outside the schema are never fetched, and
    patterns run on an engine that cannot backtrack; a schema that needs either raises."""
    error = next(iter(compile_observation_schema(spec["schema"]).iter_errors(evidence.document)), None)
    if error is None:
        return held("the observation has the required shape")
    place = "".join(f"/{token}" for token in error.instance_path)
    return violated(f"the observation breaks the rule {error.kind.name!r}", place, final=False)


def within_limits(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """{turns?, cost?}: a turn is a model call; cost is what was recorded for the model calls that were answered.

    The call that crosses the horizon is no part of the case and is not counted.
    """
    rulings = []
    if "turns" in spec:
        rulings.append(_turns(spec["turns"], evidence))
    if "cost" in spec:
        rulings.append(_cost(spec["cost"], evidence))
    return worst(rulings)


def ended_well(spec: Mapping[str, Any], evidence: Evidence) -> Ruling:
    """{forbid: [status]}: held only by a run that got through; one that ended otherwise might have done worse."""
    status = evidence.observation.status
    if status in spec["forbid"]:
        return violated(f"the run ended as {status}", final=True)
    if status in GOT_THROUGH:
        return held(f"the run ended as {status}")
    return undetermined(f"the run ended as {status}, before it could show this")


def _form(value: Any) -> bytes | None:
    return None if value is ABSENT else canonical_bytes(value)


def _is_settled(pointer: str) -> bool:
    """True for places that a longer run could not change: within one call, or in the reported outcome."""
    tokens = split(pointer)
    return (len(tokens) >= 2 and tokens[0] == "calls") or tokens[:1] == ["outcome"]


def _is_foreign_crossing(first: str, second: str, evidence: Evidence) -> bool:
    calls = [_call_at(pointer, evidence) for pointer in (first, second)]
    crosses = any(call is not None and call.crossing for call in calls)
    return crosses and len({None if call is None else call.params.get("tool") for call in calls}) > 1


def _call_at(pointer: str, evidence: Evidence) -> Call | None:
    entry = resolve(evidence.document, join("", *split(pointer)[:2])) if pointer.startswith("/calls/") else ABSENT
    return None if entry is ABSENT else evidence.observation.calls[int(split(pointer)[1])]


def _turns(most: int, evidence: Evidence) -> Ruling:
    if not any(event.boundary == "model" for event in evidence.fixture.events):
        return undetermined("the case records no model calls, so turns cannot be counted")
    turns = len(_model_calls(evidence))
    if turns > most:
        return violated(f"{turns} turns; at most {most} allowed", final=True)
    return held(f"{turns} turns")


def _cost(most: float, evidence: Evidence) -> Ruling:
    """A call whose cost is not recorded, or recorded in another currency than the rest, leaves the sum open."""
    asked = _model_calls(evidence)
    usages = [evidence.events[call.seq].usage for call in asked if call.answered and call.seq is not None]
    priced = [usage for usage in usages if isinstance(usage, Mapping) and isinstance(usage.get("cost"), int | float)]
    known = sum(usage["cost"] for usage in priced)
    if len({usage.get("currency") for usage in priced}) > 1:
        return undetermined("the costs are recorded in several currencies")
    if known > most:
        return violated(f"the recorded cost is {known:g}; at most {most:g} allowed", final=True)
    if len(priced) < len(asked) or not asked:
        return undetermined(f"the cost of {len(asked) - len(priced)} of {len(asked)} model calls is not recorded")
    return held(f"the recorded cost is {known:g}")


def _model_calls(evidence: Evidence) -> list[Call]:
    """Every model call received, except one past the horizon."""
    decided = evidence.observation.status == "decided"
    return [call for call in evidence.observation.calls if call.boundary == "model" and (call.answered or not decided)]
