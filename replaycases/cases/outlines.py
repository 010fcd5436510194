"""What may be shown of a capture to everybody who sees it: its runs, their steps and what they lack, and no content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replaycases.cases import evidence
from replaycases.cases.models import Capture
from replaycases.cases.policies import InvalidTransition
from replaycases.importers.completeness import Report
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import NeutralRun, RunHead
from replaycases.importers.outline import StepLine, called_tools, outline_of
from replaycases.importers.registry import Recording, open_recording, report_on
from replaycases.importers.supplied import Supplied

# Runs of one capture whose calls are counted for the choice of one: each has to be read whole.
COUNTED_RUNS = 100


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """What the trace says around its steps. `serving` is {} where it names no model; `offered` counts the tools that
    the model was offered, None where the trace has no catalogue; `identity` and `system`: it holds them."""

    started_at: str | None
    workflow_version: str | None
    trace_id: str | None
    serving: Mapping[str, Any]
    offered: int | None
    identity: bool
    system: bool


@dataclass(frozen=True, kw_only=True)
class Outline:
    """One run. `tools` are the names of those it calls."""

    head: RunHead
    report: Report
    steps: tuple[StepLine, ...]
    tools: tuple[str, ...]
    record: RunRecord


@dataclass(frozen=True, kw_only=True)
class RunChoice:
    """One run as it is offered. `calls` counts its model and tool calls, None where they were not counted; `refused`
    says why it cannot be read."""

    head: RunHead
    calls: int | None = None
    refused: str = ""


def opened(capture: Capture) -> Recording:
    """The capture, read again, for what holds no content. Raises InvalidTransition where it is destroyed."""
    if capture.purged_at is not None:
        raise InvalidTransition(f"{capture.readable_id} was destroyed when its time was over. Capture the run anew.")
    return open_recording(evidence.read(capture.payload), format=capture.format)


def outline(recording: Recording, run: int, supplied: Supplied | None = None) -> Outline:
    """Raises ImportRefused for a run that is not there or cannot be read, and for choices that do not fit it."""
    read = recording.read(run)
    return Outline(
        head=recording.runs[run],
        report=report_on(read, supplied or Supplied()),
        steps=outline_of(read),
        tools=called_tools(read),
        record=_record(read),
    )


def choices(recording: Recording) -> tuple[RunChoice, ...]:
    if len(recording.runs) > COUNTED_RUNS:
        return tuple(RunChoice(head=head) for head in recording.runs)
    return tuple(_choice(recording, head) for head in recording.runs)


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
    )
