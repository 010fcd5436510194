"""Of each part of the run record: the trace holds it, a person declared it, or it is missing and costs something."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from replaycases.cases.outlines import RunRecord
from replaycases.fixture.findings import Finding
from replaycases.importers import run_record
from replaycases.importers.completeness import Report
from replaycases.web.captures.draft_form import RECORD, SERVING, RunRecordForm
from replaycases.web.captures.record_rules import by_field
from replaycases.web.labels import Look

# What providers call the settings that hold a number or a switch.
PLAIN_SETTINGS = frozenset(
    (
        "temperature",
        "top_p",
        "top_k",
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "frequency_penalty",
        "presence_penalty",
        "seed",
        "n",
        "parallel_tool_calls",
        "logprobs",
        "top_logprobs",
    )
)
# What was recorded of these stays, whatever is typed; in these others both are kept.
RECORDED = ("serving_", "recorded_by_")
JOINED = ("policies", "templates")
TRACE = Look(word="from the trace", css="", icon="check")
DECLARED = Look(word="declared", css="", icon="pen")
INSTEAD = Look(word="declared instead", css="look", icon="pen")
UNUSED = Look(word="not used", css="look", icon="warn")
MISSING = Look(word="missing", css="look", icon="warn")
UNSAVED = Look(word="not saved", css="look", icon="warn")
NEEDED = Look(word="needed", css="bad", icon="warn")
OPEN = Look(word="not set", css="dunno", icon="dash")
UNSTATED = Look(word="not stated", css="dunno", icon="dash")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One field of the form and where its value comes from. `note` is the trace's value, or what the gap costs;
    `findings` are what is wrong with what is kept there."""

    field: Any
    look: Look
    note: str = ""
    findings: Sequence[Finding] = ()


def parts_of(
    form: RunRecordForm,
    record: RunRecord,
    report: Report | None,
    choices: Mapping[str, Any],
    findings: Iterable[Finding] = (),
) -> dict[str, Part]:
    """By the field's name."""
    wrong = by_field(findings, form.fields)
    costs = {gap.name: gap.cost for gap in report.gaps if not gap.declared} if report else {}
    values = _in_trace(record)
    given = _declared(choices)
    parts = {name: _part(form, name, values.get(name, ""), given.get(name), costs) for name in form.fields}
    return {name: replace(part, findings=wrong.get(name, ())) for name, part in parts.items()}


@dataclass(frozen=True, kw_only=True)
class RecordRows:
    """The parts of the run record that a trace seldom holds, by what they are about. `stated` of all `of` are known by
    the trace or by somebody's word. `wrong`: one was refused."""

    groups: Sequence[tuple[run_record.RecordGroup, Sequence[Part]]]
    stated: int
    of: int
    wrong: bool


def record_rows(parts: Mapping[str, Part]) -> RecordRows:
    groups = [(group, [parts[f"{RECORD}{part.name}"] for part in group.parts]) for group in run_record.GROUPS]
    every = [part for _, found in groups for part in found]
    stated = sum(part.look in (TRACE, DECLARED, INSTEAD) for part in every)
    return RecordRows(groups=groups, stated=stated, of=len(every), wrong=any(part.field.errors for part in every))


def _part(form: RunRecordForm, name: str, held: str, given: Any, costs: Mapping[str, str]) -> Part:
    field, declared = form[name], given is not None
    if form.is_bound and name in form.changed_data:  # a form that was sent is shown again only where it was refused
        return Part(field=field, look=UNSAVED)
    if name in ("case_id", "incident_id") or (name == "frozen_at" and not held):
        note = "" if declared else "No trace holds it." if name != "frozen_at" else "The trace has no times."
        return Part(field=field, look=DECLARED if declared else NEEDED, note=note)
    if held and declared:
        return _both(field, name, held, given)
    if held:
        return Part(field=field, look=TRACE, note=held)
    if declared:
        return Part(field=field, look=DECLARED)
    if name.startswith(RECORD):
        return Part(field=field, look=UNSTATED)
    cost = costs.get(_gap_of(name)) or (costs.get("serving") if _gap_of(name).startswith("serving.") else None)
    return Part(field=field, look=MISSING if cost else OPEN, note=f"{cost[:1].upper()}{cost[1:]}." if cost else "")


def _both(field: Any, name: str, held: str, given: Any) -> Part:
    """What was typed where the trace holds a value too: it is used in its place, beside it, or not at all."""
    if held == str(given) or held.startswith(f"{given}, "):
        return Part(field=field, look=TRACE, note=f"{held}. What is typed here says the same.")
    if name in JOINED:
        return Part(field=field, look=DECLARED, note=f"Beside what the trace holds: {held}.")
    if name == "tools" or name.startswith(RECORDED):
        return Part(field=field, look=UNUSED, note=f"The trace says {held}, and what was recorded stays.")
    return Part(field=field, look=INSTEAD, note=f"The trace says {held}. What is typed here stands in its place.")


def _gap_of(name: str) -> str:
    return name.replace("serving_", "serving.", 1) if name.startswith("serving_") else name


def _in_trace(record: RunRecord) -> dict[str, str]:
    """What may be shown of the values without a reason: how it was served and when, never what was said."""
    found = {f"serving_{name}": str(record.serving[name]) for name in SERVING if record.serving.get(name) is not None}
    if record.serving.get("settings") is not None:
        found["serving_settings"] = _settings(record.serving["settings"])
    if record.started_at:
        found["frozen_at"] = f"{record.started_at}, when the run began"
    if record.workflow_version:
        found["workflow_version"] = record.workflow_version
    plain = ("prompt_version", "time_zone", "locale")
    found |= {name: getattr(record, name) for name in plain if getattr(record, name)}
    found |= {f"recorded_by_{name}": str(value) for name, value in record.recorded_by.items() if value is not None}
    found |= {f"{RECORD}{name}": value for name, value in record.record.items()}
    if record.tells_tools:
        found["tools"] = "what each model call was offered"
    if record.offered is not None:
        found["tools"] = f"{record.offered} tool{'' if record.offered == 1 else 's'}"
    if record.identity:
        found["identity"] = "the trace says who asked"
    if record.system:
        found["templates"] = "the system prompt"
    return found


def _settings(settings: Any) -> str:
    """Numbers and switches by their names. Other settings may quote a person or a prompt: only how many there are."""
    if not isinstance(settings, Mapping):
        return "settings of a form of their own"
    plain = {name: value for name, value in settings.items() if name in PLAIN_SETTINGS and _is_plain(value)}
    others = len(settings) - len(plain)
    shown = [f"{name} {json.dumps(value)}" for name, value in plain.items()]
    return ", ".join([*shown, *([f"{others} more" if shown else f"{others} set"] if others else [])])


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float)


def _declared(choices: Mapping[str, Any]) -> dict[str, Any]:
    """What was chosen, by the field that it was typed in."""
    flat = {name: value for name, value in choices.items() if value not in (None, "", [], {})}
    nested = {
        f"{part}_{name}": value
        for part in ("serving", "recorded_by", "record")
        for name, value in choices.get(part, {}).items()
    }
    return flat | nested
