"""What may be shown of a capture to everybody who sees it: its runs, their steps and what they lack, and no content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from replaycases.cases import captures, evidence
from replaycases.cases.models import Capture, Payload
from replaycases.cases.run_labels import in_the_open
from replaycases.importers.completeness import Report
from replaycases.importers.effects import check_effects
from replaycases.importers.findings import ImportRefused, refused
from replaycases.importers.neutral import NeutralRun, RunHead
from replaycases.importers.outline import StepLine, called_tools, offered_tools, outline_of
from replaycases.importers.registry import Recording, open_recording, report_on
from replaycases.importers.supplied import Supplied

# Runs of one capture whose calls are counted for the choice of one: each has to be read whole.
COUNTED_RUNS = 100
# Outlines that are remembered: a long run is read once, and not for each of its pages.
REMEMBERED = 32


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """What the trace says around its steps. `serving` and `recorded_by` are {} where it says nothing; `offered` counts
    the tools that the model was offered, None where the trace has no catalogue for the whole run, and `tells_tools`
    whether it says at all which were; `identity` and `system`: it holds them. `record` are parts of
    `importers.run_record`."""

    started_at: str | None
    workflow_version: str | None
    trace_id: str | None
    serving: Mapping[str, Any]
    offered: int | None
    identity: bool
    system: bool
    prompt_version: str | None
    time_zone: str | None
    locale: str | None
    recorded_by: Mapping[str, Any]
    tells_tools: bool
    record: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Outline:
    """One run. `tools` are the names of those it calls, `offered` of those that its model could call."""

    head: RunHead
    report: Report
    steps: tuple[StepLine, ...]
    tools: tuple[str, ...]
    offered: tuple[str, ...]
    record: RunRecord

    @property
    def known_tools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.tools, *self.offered)))


@dataclass(frozen=True, kw_only=True)
class RunChoice:
    """One run as it is offered. `calls` counts its model and tool calls, None where they were not counted; `refused`
    says why it cannot be read."""

    head: RunHead
    calls: int | None = None
    refused: str = ""


def of_run(capture: Capture, run: int) -> Outline:
    """Raises EvidenceDestroyed once its time is over, ImportRefused for a run that is not there or cannot be read."""
    captures.require_there(capture)
    return _remembered(capture.payload_id, capture.format, run)


def require_fits(shown: Outline, supplied: Supplied) -> None:
    """Raises ImportRefused for choices that cannot be of this run."""
    check_effects(supplied.effects)
    named = {*supplied.leave_out, *supplied.optional, *map(int, supplied.alternatives)}
    unknown = sorted(named - {line.number for line in shown.steps})
    if unknown:
        hint = f"The run has {len(shown.steps)} steps."
        raise refused("leave-out", "", f"there is no step {unknown[0]}", hint)


@lru_cache(maxsize=REMEMBERED)
def _remembered(payload_id: UUID, format: str, run: int) -> Outline:
    """Of bytes that never change; it holds nothing of what was said in them."""
    return outline(_recording(payload_id, format), run)


def _recording(payload_id: UUID, format: str) -> Recording:
    return open_recording(evidence.read(Payload.objects.defer("body").get(pk=payload_id)), format=format)


def outline(recording: Recording, run: int) -> Outline:
    """Raises ImportRefused for a run that is not there or cannot be read."""
    read = recording.read(run)
    return Outline(
        head=in_the_open(recording.runs[run]),
        report=report_on(read, Supplied()),
        steps=outline_of(read),
        tools=called_tools(read),
        offered=offered_tools(read),
        record=_record(read),
    )


def choices(capture: Capture) -> tuple[RunChoice, ...]:
    """Its runs to choose from; () where the file cannot be read any more. Raises EvidenceDestroyed."""
    captures.require_there(capture)
    try:
        return _remembered_choices(capture.payload_id, capture.format)
    except ImportRefused:
        return ()


def heads(capture: Capture) -> tuple[RunHead, ...]:
    """Its runs in the order of the file. Raises EvidenceDestroyed, ImportRefused."""
    captures.require_there(capture)
    return tuple(choice.head for choice in _remembered_choices(capture.payload_id, capture.format))


@lru_cache(maxsize=REMEMBERED)
def _remembered_choices(payload_id: UUID, format: str) -> tuple[RunChoice, ...]:
    recording = _recording(payload_id, format)
    if len(recording.runs) > COUNTED_RUNS:
        return tuple(RunChoice(head=in_the_open(head)) for head in recording.runs)
    return tuple(_choice(recording, in_the_open(head)) for head in recording.runs)


def _choice(recording: Recording, head: RunHead) -> RunChoice:
    try:
        lines = outline_of(recording.read(head.index))
    except ImportRefused as refused:
        return RunChoice(head=head, refused=str(refused))
    return RunChoice(head=head, calls=sum(line.boundary in ("model", "tool") for line in lines))


def _record(run: NeutralRun) -> RunRecord:
    return RunRecord(
        started_at=run.started_at,
        workflow_version=run.workflow_version,
        trace_id=run.trace_id,
        serving=run.serving or {},
        offered=None if run.tools is None else len(run.tools),
        identity=run.identity is not None,
        system=run.system is not None,
        prompt_version=run.prompt_version,
        time_zone=run.time_zone,
        locale=run.locale,
        recorded_by=run.recorded_by or {},
        tells_tools="tools" not in run.absent,
        record=run.record,
    )
