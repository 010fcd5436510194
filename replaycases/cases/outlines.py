"""What may be shown of a capture to everybody who sees it: its runs, their steps and what they lack, and no content."""

from __future__ import annotations

from dataclasses import dataclass

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
class Outline:
    """One run. `tools` are the names of those it calls; `says` names the parts of the run record that the trace holds
    (serving, tools, identity, system, started_at, workflow_version)."""

    head: RunHead
    report: Report
    steps: tuple[StepLine, ...]
    tools: tuple[str, ...]
    says: frozenset[str]


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
        says=_says(read),
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


def _says(run: NeutralRun) -> frozenset[str]:
    parts = ("serving", "tools", "identity", "system", "started_at", "workflow_version")
    return frozenset(part for part in parts if getattr(run, part) is not None)
