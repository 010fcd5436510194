"""Neutral run + what a person supplied -> a 2.0 fixture document and the list of its gaps."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from replaycases.importers.call_ids import CallIds
from replaycases.importers.completeness import FORENSIC, ends_open, replayable_steps, replays_something
from replaycases.importers.effects import check_effects, effect_of, without_absent_keys
from replaycases.importers.filling import offered_tools, with_tools
from replaycases.importers.findings import Gap, refused
from replaycases.importers.fixture_size import size_gap
from replaycases.importers.gaps import gaps_in
from replaycases.importers.neutral import (
    ClockStep,
    HumanStep,
    ModelStep,
    NeutralRun,
    RandomStep,
    RetrievalStep,
    Step,
    ToolStep,
)
from replaycases.importers.supplied import Supplied

JSON = Any
Numbered = list[tuple[int, Step]]
MUST_BE_SUPPLIED = ("case_id", "incident_id")
UNKNOWN = "unknown"


def to_fixture(run: NeutralRun, supplied: Supplied) -> tuple[dict[str, JSON], tuple[Gap, ...]]:
    """The document (with `expected` only if supplied) and every gap. Raises ImportRefused."""
    frozen_at = supplied.frozen_at or run.started_at
    asked = [name for name in MUST_BE_SUPPLIED if not getattr(supplied, name)]
    asked += [] if frozen_at else ["frozen_at"]
    if asked:
        raise refused("supply", "", f"the file does not say: {', '.join(asked)}", "Supply these; none may be guessed.")
    check_effects(supplied.effects)
    tools = offered_tools(run, supplied)
    kept, horizon = _kept(run, supplied)
    events = _events(kept, supplied, tools)
    gaps = _gaps(run, supplied, kept, events)
    forensic = not replays_something(step for _, step in kept)
    document: dict[str, JSON] = {
        "schema_version": "2.0",
        "case_id": supplied.case_id,
        "incident_id": supplied.incident_id,
        "workflow_version": supplied.workflow_version or run.workflow_version or UNKNOWN,
        "prompt_version": supplied.prompt_version or run.prompt_version or UNKNOWN,
        "frozen_at": frozen_at,
        "input": run.input,
        "identity": next((said for said in (supplied.identity, run.identity) if said is not None), {}),
        "events": events,
        "templates": [*_templates(run, supplied, tools), *supplied.templates],
        "missing": [entry for gap in gaps if gap.caps for entry in gap.as_missing()],
    }
    optional = {
        "serving": {**(supplied.serving or {}), **(run.serving or {})} or None,
        "time_zone": supplied.time_zone or run.time_zone,
        "locale": supplied.locale or run.locale,
        "recorded_by": _recorded_by(run, supplied),
        "policies": [*run.policies, *supplied.policies] or None,
        # Nothing stands before the end of what can only be read: a replay would be decided by its first call.
        "horizon": (horizon and not forensic) or None,
        "replayability": {"class": "non_replayable", "reason": FORENSIC} if forensic else None,
        "expected": supplied.expected,
    }
    return {**document, **{name: value for name, value in optional.items() if value is not None}}, gaps


def _recorded_by(run: NeutralRun, supplied: Supplied) -> JSON:
    """What the recorder said of itself, and what was supplied for the rest."""
    said = run.recorded_by or {}
    known = {name: value for name, value in said.items() if value is not None}
    return {**said, **(supplied.recorded_by or {}), **known} or None


def gaps_of(run: NeutralRun, supplied: Supplied) -> tuple[Gap, ...]:
    """What the fixture would lack, also while it still lacks a name or a time. Raises ImportRefused."""
    check_effects(supplied.effects)
    kept, _ = _kept(run, supplied)
    return _gaps(run, supplied, kept, _events(kept, supplied, offered_tools(run, supplied)))


def _gaps(run: NeutralRun, supplied: Supplied, kept: Numbered, events: list[dict[str, JSON]]) -> tuple[Gap, ...]:
    too_large = size_gap(events)
    return (*gaps_in(run, supplied, [step for _, step in kept]), *(() if too_large is None else (too_large,)))


def _events(kept: Numbered, supplied: Supplied, tools: list[JSON] | None) -> list[dict[str, JSON]]:
    ids = CallIds()
    events = [
        _with_leniency(_event(seq, step, tools, supplied.effects, ids), number, supplied)
        for seq, (number, step) in enumerate(kept, 1)
    ]
    return _ungrouped(without_absent_keys(events))


def kept_steps(run: NeutralRun, supplied: Supplied) -> Numbered:
    """The steps that have their answers, up to the first that has none, without those that a person left out, each with
    its number. One that was left out ends nothing, whether it has an answer or not."""
    named = {*supplied.leave_out, *supplied.optional, *map(int, supplied.alternatives)}
    unknown = sorted(named - set(range(1, len(run.steps) + 1)))
    if unknown:
        raise refused("leave-out", "", f"there is no step {unknown[0]}", f"The run has {len(run.steps)} steps.")
    out = frozenset(supplied.leave_out)
    reached = enumerate(run.steps[: replayable_steps(run, out)], 1)
    return [(number, step) for number, step in reached if number not in out]


def _kept(run: NeutralRun, supplied: Supplied) -> tuple[Numbered, bool]:
    """The steps of the fixture, and whether it is a prefix of what happened: it is trimmed, the recording is cut short,
    or after the last of them stands one of which nobody knows how it ended."""
    kept = kept_steps(run, supplied)
    after = _horizon(kept, supplied)
    if after is not None:
        return kept[:after], True
    last = kept[-1][0] if kept else 0
    return kept, bool(run.cut) or ends_open(run, last=last)


def _with_leniency(event: dict[str, JSON], number: int, supplied: Supplied) -> dict[str, JSON]:
    """The event with what was declared about it: what is not compared, that it may be left out, what is right too."""
    told = {"tool": event.get("tool"), "boundary": event["boundary"]}
    ignored = [rule["pointer"] for rule in supplied.ignore if any(rule.get(key) == told[key] for key in told)]
    more: dict[str, JSON] = {}
    if ignored:
        more["match"] = {**event.get("match", {}), "ignore": list(dict.fromkeys(ignored))}
    if number in supplied.optional:
        more["optional"] = True
    if str(number) in supplied.alternatives:
        more["alternatives"] = supplied.alternatives[str(number)]
    return {**event, **more}


def _horizon(kept: Numbered, supplied: Supplied) -> int | None:
    """How many of the steps a person keeps; None for all."""
    after, call = supplied.horizon_after, supplied.horizon_at_call
    if after is not None and call is not None:
        raise refused("horizon", "", "two horizons", "Give horizon_after or horizon_at_call, not both.")
    if call is not None:
        calls = [at for at, (_, step) in enumerate(kept) if isinstance(step, ToolStep)]
        if not 1 <= call <= len(calls):
            raise refused("horizon", "", f"there is no tool call {call}", f"The run has {len(calls)} tool calls.")
        after = calls[call - 1]
    if after is not None and not 1 <= after <= len(kept):
        raise refused("horizon", "", f"no events would be left or none cut at {after}", f"Choose 1 to {len(kept)}.")
    return after


def _ungrouped(events: list[dict[str, JSON]]) -> list[dict[str, JSON]]:
    """A group of which one member is left is no group any more."""
    members = Counter(event.get("group") for event in events)
    return [{k: v for k, v in event.items() if k != "group" or members[v] > 1} for event in events]


def _event(
    seq: int, step: Step, tools: list[JSON] | None, effects: Mapping[str, JSON], ids: CallIds
) -> dict[str, JSON]:
    head: dict[str, JSON] = {"seq": seq}
    match step:
        case ModelStep():
            return {**head, "boundary": "model", **_model(step, tools, ids)}
        case ToolStep():
            return {**head, "boundary": "tool", "attempt": f"event-{seq}", **_tool(step, effects)}
        case HumanStep():
            return {**head, "boundary": "human", "question": step.question, "decision": step.decision}
        case RetrievalStep():
            parameters = {} if step.parameters is None else {"parameters": step.parameters}
            return {**head, "boundary": "retrieval", "query": step.query, **parameters, "chunks": step.chunks}
        case ClockStep():
            return {**head, "boundary": "clock", "now": step.now}
        case RandomStep():
            return {**head, "boundary": "random", "name": step.name, "value": step.value}


def _model(step: ModelStep, tools: list[JSON] | None, ids: CallIds) -> dict[str, JSON]:
    request = with_tools(step, tools)
    generated = ids.of(request)
    event: dict[str, JSON] = {"request": request, "response": step.response}
    if step.usage is not None:
        event["usage"] = step.usage
    if generated:
        event["match"] = {"generated": generated}
    return event


def _tool(step: ToolStep, effects: Mapping[str, JSON]) -> dict[str, JSON]:
    outcome = {"type": "error", "error": step.error} if step.error else {"type": "result", "value": step.value}
    group = {} if step.group is None else {"group": f"message-{step.group}"}
    timing = {"timing": step.timing} if step.timing else {}
    call = {"tool": step.tool, "arguments": step.arguments, "outcome": outcome}
    return {**call, **group, **timing, **effect_of(effects, step)}


def _templates(run: NeutralRun, supplied: Supplied, tools: list[JSON] | None) -> list[dict[str, JSON]]:
    """What the workflow is given to work with: the system prompt and the tool catalogue (as JSON text)."""
    version = supplied.prompt_version or run.prompt_version or UNKNOWN
    recorded = {template["name"] for template in run.templates}
    contents = {"system": run.system, "tools": None if tools is None else json.dumps(tools, ensure_ascii=False)}
    templates = [
        {"name": name, "version": version, "sha256": hashlib.sha256(content.encode()).hexdigest(), "content": content}
        for name, content in contents.items()
        if content is not None and name not in recorded
    ]
    return [*run.templates, *templates]
