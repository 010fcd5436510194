"""Of each part of the run record: the trace holds it, a person declared it, or it is missing and costs something."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replaycases.cases.outlines import RunRecord
from replaycases.importers.completeness import Report
from replaycases.web.captures.draft_form import SERVING, RunRecordForm
from replaycases.web.labels import Look

TRACE = Look(word="from the trace", css="", icon="check")
DECLARED = Look(word="declared", css="", icon="pen")
MISSING = Look(word="missing", css="look", icon="warn")
UNSAVED = Look(word="not saved", css="look", icon="warn")
NEEDED = Look(word="needed", css="bad", icon="warn")
OPEN = Look(word="not set", css="dunno", icon="dash")


@dataclass(frozen=True, kw_only=True)
class Part:
    """One field of the form and where its value comes from. `note` is the trace's value, or what the gap costs."""

    field: Any
    look: Look
    note: str = ""


def parts_of(
    form: RunRecordForm, record: RunRecord, report: Report | None, choices: Mapping[str, Any]
) -> dict[str, Part]:
    """By the field's name."""
    costs = {gap.name: gap.cost for gap in report.gaps if not gap.declared} if report else {}
    values = _in_trace(record)
    given = _declared(choices)
    return {name: _part(form, name, values.get(name, ""), name in given, costs) for name in form.fields}


def _part(form: RunRecordForm, name: str, held: str, declared: bool, costs: Mapping[str, str]) -> Part:
    field = form[name]
    if form.is_bound and name in form.changed_data:  # a form that was sent is shown again only where it was refused
        return Part(field=field, look=UNSAVED)
    if name in ("case_id", "incident_id") or (name == "frozen_at" and not held):
        note = "" if declared else "No trace holds it." if name != "frozen_at" else "The trace has no times."
        return Part(field=field, look=DECLARED if declared else NEEDED, note=note)
    if held and (not declared or name.startswith("serving_") or name == "tools"):
        return Part(field=field, look=TRACE, note=held)
    if declared:
        return Part(field=field, look=DECLARED, note=f"In place of what the trace says: {held}." if held else "")
    cost = costs.get(_gap_of(name)) or (costs.get("serving") if _gap_of(name).startswith("serving.") else None)
    return Part(field=field, look=MISSING if cost else OPEN, note=f"{cost[:1].upper()}{cost[1:]}." if cost else "")


def _gap_of(name: str) -> str:
    return name.replace("serving_", "serving.", 1) if name.startswith("serving_") else name


def _in_trace(record: RunRecord) -> dict[str, str]:
    """What may be shown of the values without a reason: how it was served and when, never what was said."""
    found = {f"serving_{name}": str(record.serving[name]) for name in SERVING if record.serving.get(name) is not None}
    if record.serving.get("settings") is not None:
        found["serving_settings"] = json.dumps(record.serving["settings"], ensure_ascii=False)[:300]
    if record.started_at:
        found["frozen_at"] = f"{record.started_at}, when the run began"
    if record.workflow_version:
        found["workflow_version"] = record.workflow_version
    if record.offered is not None:
        found["tools"] = f"{record.offered} tool{'' if record.offered == 1 else 's'}"
    if record.identity:
        found["identity"] = "the trace says who asked"
    if record.system:
        found["templates"] = "the system prompt"
    return found


def _declared(choices: Mapping[str, Any]) -> set[str]:
    flat = {name for name, value in choices.items() if value not in (None, "", [], {})}
    nested = {f"{part}_{name}" for part in ("serving", "recorded_by") for name in choices.get(part, {})}
    return flat | nested
