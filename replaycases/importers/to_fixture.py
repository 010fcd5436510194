"""Neutral run + what a person supplied -> a 2.0 fixture document and the list of its gaps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from replaycases.fixture.model import SERVING_PARTS
from replaycases.importers.call_ids import call_id_pointers
from replaycases.importers.completeness import replayable_steps
from replaycases.importers.effects import check_effects, effect_of, unused_rules
from replaycases.importers.findings import Gap, refused
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
from replaycases.importers.supplied import DECLARABLE_NONE, Supplied

JSON = Any
MUST_BE_SUPPLIED = ("case_id", "incident_id")
UNKNOWN = "unknown"
NONE_COSTS = {
    "clock": "clock reads are not in the recording: a workflow that reads the clock may decide otherwise",
    "random": "random draws are not in the recording: a workflow that draws may decide otherwise",
    "retrieval": "retrieved chunks are not in the recording: what the answer was grounded on is unknown",
}


def to_fixture(run: NeutralRun, supplied: Supplied) -> tuple[dict[str, JSON], tuple[Gap, ...]]:
    """The document (with `expected` only if supplied) and every gap. Raises ImportRefused."""
    frozen_at = supplied.frozen_at or run.started_at
    asked = [name for name in MUST_BE_SUPPLIED if not getattr(supplied, name)]
    asked += [] if frozen_at else ["frozen_at"]
    if asked:
        raise refused("supply", "", f"the file does not say: {', '.join(asked)}", "Supply these; none may be guessed.")
    check_effects(supplied.effects)
    tools = run.tools if run.tools is not None else supplied.tools
    events, horizon = _events(run, supplied, tools)
    gaps = _gaps(run, supplied, events)
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
        "recorded_by": supplied.recorded_by or run.recorded_by,
        "policies": [*run.policies, *supplied.policies] or None,
        "horizon": horizon or None,
        "expected": supplied.expected,
    }
    return {**document, **{name: value for name, value in optional.items() if value is not None}}, gaps


def gaps_of(run: NeutralRun, supplied: Supplied) -> tuple[Gap, ...]:
    """What the fixture would lack, also while it still lacks a name or a time. Raises ImportRefused."""
    check_effects(supplied.effects)
    events, _ = _events(run, supplied, run.tools if run.tools is not None else supplied.tools)
    return _gaps(run, supplied, events)


def _events(run: NeutralRun, supplied: Supplied, tools: list[JSON] | None) -> tuple[list[dict[str, JSON]], bool]:
    """The events kept, and whether they are a prefix."""
    kept = [
        _with_leniency(_event(seq, step, tools, supplied.effects), number, supplied)
        for seq, (number, step) in enumerate(kept_steps(run, supplied), 1)
    ]
    return _trim(kept, supplied, prefix=bool(run.cut) or replayable_steps(run) < len(run.steps))


def kept_steps(run: NeutralRun, supplied: Supplied) -> list[tuple[int, Step]]:
    """The steps that have their answers, up to the first that has none, without those that a person left out, each with
    its number."""
    named = {*supplied.leave_out, *supplied.optional, *map(int, supplied.alternatives)}
    unknown = sorted(named - set(range(1, len(run.steps) + 1)))
    if unknown:
        raise refused("leave-out", "", f"there is no step {unknown[0]}", f"The run has {len(run.steps)} steps.")
    whole = enumerate(run.steps[: replayable_steps(run)], 1)
    return [(number, step) for number, step in whole if number not in supplied.leave_out]


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


def _trim(events: list[dict[str, JSON]], supplied: Supplied, *, prefix: bool) -> tuple[list[dict[str, JSON]], bool]:
    """The events kept, and whether the fixture is a prefix. A recording that is cut short is one by itself."""
    after, call = supplied.horizon_after, supplied.horizon_at_call
    if after is not None and call is not None:
        raise refused("horizon", "", "two horizons", "Give horizon_after or horizon_at_call, not both.")
    if call is not None:
        calls = [event["seq"] for event in events if event["boundary"] == "tool"]
        if not 1 <= call <= len(calls):
            raise refused("horizon", "", f"there is no tool call {call}", f"The run has {len(calls)} tool calls.")
        after = calls[call - 1] - 1
    if after is None:
        return _ungrouped(events), prefix
    if not 1 <= after <= len(events):
        raise refused("horizon", "", f"no events would be left or none cut at {after}", f"Choose 1 to {len(events)}.")
    return _ungrouped(events[:after]), True


def _ungrouped(events: list[dict[str, JSON]]) -> list[dict[str, JSON]]:
    """A group of which one member is left is no group any more."""
    names = [event.get("group") for event in events]
    return [{k: v for k, v in event.items() if k != "group" or names.count(v) > 1} for event in events]


def _event(seq: int, step: Step, tools: list[JSON] | None, effects: Mapping[str, JSON]) -> dict[str, JSON]:
    head: dict[str, JSON] = {"seq": seq}
    match step:
        case ModelStep():
            return {**head, "boundary": "model", **_model(step, tools)}
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


def _model(step: ModelStep, tools: list[JSON] | None) -> dict[str, JSON]:
    request = {**step.request, **({"tools": tools} if tools is not None and "tools" not in step.request else {})}
    generated = call_id_pointers(request)
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


def _gaps(run: NeutralRun, supplied: Supplied, events: list[dict[str, JSON]]) -> tuple[Gap, ...]:
    gaps = []
    if run.prompt_version is None:
        gaps.append(
            Gap(
                name="prompt_version",
                pointers=("/prompt_version",),
                declared=supplied.prompt_version is not None,
                cost="which prompt was used is known by its text only",
            )
        )
    if run.workflow_version is None:
        gaps.append(
            Gap(
                name="workflow_version",
                pointers=("/workflow_version",),
                declared=supplied.workflow_version is not None,
                cost="which code was affected is not in the recording",
            )
        )
    if run.started_at is None:
        cost = "the recording has no time stamps"
        gaps.append(Gap(name="frozen_at", pointers=("/frozen_at",), declared=bool(supplied.frozen_at), cost=cost))
    if "identity" in run.absent:
        gaps.append(
            Gap(
                name="identity",
                pointers=("/identity",),
                declared=supplied.identity is not None,
                cost="who asked, and with which rights, is not in the recording",
            )
        )
    gaps += _model_gaps(run, supplied, events)
    for name in sorted(set(run.absent) & DECLARABLE_NONE):
        gaps.append(Gap(name=name, pointers=("/events",), declared=name in supplied.none, cost=NONE_COSTS[name]))
    unused = unused_rules(supplied.effects, {step.tool for step in run.steps if isinstance(step, ToolStep)})
    if unused:
        gaps.append(
            Gap(
                name="effects",
                pointers=("/events",),
                caps=False,
                cost=f"the effects annotation names tools that the run never calls: {', '.join(unused)}",
            )
        )
    if run.cut:
        gaps.append(Gap(name="cut", pointers=("/events",), cost=run.cut, caps=False))
    whole = replayable_steps(run)
    if whole < len(run.steps):
        cost = f"step {whole + 1} of {len(run.steps)} lacks its answer or its request: it and what follows are left out"
        gaps.append(Gap(name="unanswered", pointers=("/events",), cost=cost, caps=False))
    if supplied.leave_out:
        cost = f"{len(supplied.leave_out)} of {len(run.steps)} steps were left out by hand"
        gaps.append(Gap(name="left_out", pointers=("/events",), cost=cost, caps=False))
    if run.ends_on_answer:
        gaps.append(
            Gap(
                name="ending",
                pointers=("/events",),
                caps=False,
                cost="the recording ends with a tool's answer: trim it if the workflow goes on from there",
            )
        )
    return tuple(gaps)


def _model_gaps(run: NeutralRun, supplied: Supplied, events: list[dict[str, JSON]]) -> list[Gap]:
    requests = [f"/events/{index}/request" for index, event in enumerate(events) if event["boundary"] == "model"]
    if not requests:
        return []
    gaps = _serving_gaps(run, supplied)
    if "tools" in run.absent:
        gaps.append(
            Gap(
                name="tools",
                pointers=tuple(f"{request}/tools" for request in requests),
                declared=supplied.tools is not None,
                cost="the tool catalogue offered to the model is not in the recording",
            )
        )
    if "system" in run.absent:
        gaps.append(
            Gap(
                name="system",
                pointers=(f"{requests[0]}/messages",),
                caps=False,
                cost="the recording has no system message; either none was sent or it was left out",
            )
        )
    if any(isinstance(step, ModelStep) and step.reconstructed for step in run.steps):
        gaps.append(
            Gap(
                name="requests",
                pointers=tuple(requests),
                declared=True,
                cost="the request is put together from the transcript, not recorded as sent",
            )
        )
    if "usage" in run.absent:
        gaps.append(
            Gap(
                name="usage",
                pointers=(f"{requests[0]}/usage",),
                caps=False,
                cost="tokens and cost are not in the recording: a cost limit cannot be decided",
            )
        )
    return gaps


def _serving_gaps(run: NeutralRun, supplied: Supplied) -> list[Gap]:
    """One gap for the whole where the file names no model, else one for each compared part that it leaves out."""
    given = supplied.serving or {}
    if run.serving is None:
        cost = "which model answered, with which settings, is not in the recording"
        return [Gap(name="serving", pointers=("/serving",), declared=bool(given), cost=cost)]
    return [
        Gap(
            name=f"serving.{part}",
            pointers=(f"/serving/{part}",),
            declared=part in given,
            cost=f"the recording names the model and not its {part}",
        )
        for part in SERVING_PARTS
        if part not in run.serving
    ]
