"""What may be shown of a capture to everybody who sees it: its runs, their steps and what they lack, and no content.

It is made when a capture comes in, since its file is read whole then, and kept beside it, sealed and for as long as the
capture is. What an earlier version made is made anew by who looks first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from replaycases.cases import capture_ends, evidence, kept_outlines
from replaycases.cases.locks import lock_project
from replaycases.cases.models import Capture
from replaycases.cases.plain_values import plain, value_of
from replaycases.cases.run_labels import in_the_open
from replaycases.fixture.findings import Finding
from replaycases.importers.completeness import Report
from replaycases.importers.effects import check_effects
from replaycases.importers.findings import ImportRefused, refused
from replaycases.importers.neutral import NeutralRun, RunHead
from replaycases.importers.outline import StepLine, called_tools, offered_tools, outline_of
from replaycases.importers.registry import Recording, no_such_run, open_recording, report_on
from replaycases.importers.supplied import Supplied

# Outlines that are remembered: what is kept of a long run is unpacked once, and not for each of its pages.
REMEMBERED = 32
# Of the outlines of one capture, before they are packed. Runs beyond are read again by who looks at them.
MOST_BYTES = 32 * 1024 * 1024


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
    """One run as it is offered. `calls` counts its model and tool calls; `refused` says why it cannot be read."""

    head: RunHead
    calls: int | None = None
    refused: str = ""


@dataclass(kw_only=True)
class Outlined:
    """What is kept of a recording, made run by run while it is read. A line is the outline of a run, or the finding for
    which it cannot be read, or null where there was no room for it."""

    choices: list[RunChoice] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    size: int = 0

    def read(self, recording: Recording) -> NeutralRun:
        """The next run. Raises ImportRefused for one that cannot be read; the one after it is the next then."""
        head = recording.runs[len(self.lines)]
        shown = in_the_open(head)
        try:
            run = recording.read(head.index)
            outline = _outline(shown, run)
        except ImportRefused as refusal:
            self._add(RunChoice(head=shown, refused=str(refusal)), {"refused": plain(refusal.finding)})
            raise
        calls = sum(step.boundary in ("model", "tool") for step in outline.steps)
        self._add(RunChoice(head=shown, calls=calls), {"outline": plain(outline)})
        return run

    def _add(self, choice: RunChoice, told: Mapping[str, Any]) -> None:
        line = kept_outlines.line(told)
        if self.size + len(line) > MOST_BYTES:
            line = kept_outlines.line(None)
        self.choices.append(choice)
        self.lines.append(line)
        self.size += len(line)

    def whole(self) -> list[str]:
        return [kept_outlines.line(plain(self.choices)), *self.lines]


def keep(capture: Capture, outlined: Outlined) -> None:
    """In place of what was kept before, in a transaction that has locked the project's row. Nothing is kept that would
    be larger than a file may be, or beside evidence that ends no more."""
    data = kept_outlines.packed(capture.pk, outlined.whole())
    if len(data) > settings.MAX_UPLOAD_BYTES or capture.expires_at <= timezone.now():
        return
    former = capture.outline_id
    capture.outline = evidence.store(
        capture.project, data, media_type=kept_outlines.MEDIA_TYPE, expires_at=capture.expires_at
    )
    capture.save(update_fields=["outline"])
    if former is not None and former != capture.outline_id:
        evidence.discard([former])


def of_run(capture: Capture, run: int) -> Outline:
    """Raises EvidenceDestroyed once its time is over, ImportRefused for a run that is not there or cannot be read."""
    capture_ends.require_there(capture)
    return _remembered(capture.pk, run)


def require_fits(shown: Outline, supplied: Supplied) -> None:
    """Raises ImportRefused for choices that cannot be of this run."""
    check_effects(supplied.effects)
    named = {*supplied.leave_out, *supplied.optional, *map(int, supplied.alternatives)}
    unknown = sorted(named - {line.number for line in shown.steps})
    if unknown:
        hint = f"The run has {len(shown.steps)} steps."
        raise refused("leave-out", "", f"there is no step {unknown[0]}", hint)


def choices(capture: Capture) -> tuple[RunChoice, ...]:
    """Its runs to choose from; () where the file cannot be read any more. Raises EvidenceDestroyed."""
    capture_ends.require_there(capture)
    try:
        return _remembered_choices(capture.pk)
    except ImportRefused:
        return ()


def heads(capture: Capture) -> tuple[RunHead, ...]:
    """Its runs in the order of the file. Raises EvidenceDestroyed, ImportRefused."""
    capture_ends.require_there(capture)
    return tuple(choice.head for choice in _remembered_choices(capture.pk))


@lru_cache(maxsize=REMEMBERED)
def _remembered(capture: UUID, run: int) -> Outline:
    """Of bytes that never change; it holds nothing of what was said in them."""
    _, *lines = _kept(capture)
    if not 0 <= run < len(lines):
        raise no_such_run(run, len(lines))
    told = json.loads(lines[run])
    if told is None:
        recording = _recording(_loaded(capture))
        return _outline(in_the_open(recording.runs[run]), recording.read(run))
    if "refused" in told:
        raise ImportRefused(value_of(Finding, told["refused"]))
    return value_of(Outline, told["outline"])


@lru_cache(maxsize=REMEMBERED)
def _remembered_choices(capture: UUID) -> tuple[RunChoice, ...]:
    return tuple(value_of(RunChoice, choice) for choice in json.loads(_kept(capture)[0]))


def _kept(key: UUID) -> list[str]:
    """The line of the choices, then one for each run."""
    capture = _loaded(key)
    try:
        kept = capture.outline and kept_outlines.unpacked(key, evidence.read(capture.outline))
    except (evidence.EvidenceDamaged, evidence.EvidenceDestroyed):
        kept = None
    return kept or _made_anew(capture)


def _made_anew(capture: Capture) -> list[str]:
    recording, outlined = _recording(capture), Outlined()
    while len(outlined.lines) < len(recording.runs):
        try:
            outlined.read(recording)
        except ImportRefused:
            continue  # it is noted why
    with transaction.atomic():
        lock_project(capture.project)
        capture = _loaded(capture.pk)
        capture_ends.require_there(capture)
        keep(capture, outlined)
    return outlined.whole()


def _loaded(key: UUID) -> Capture:
    captures = Capture.objects.select_related("project", "payload", "outline")
    return captures.defer("payload__body", "outline__body").get(pk=key)


def _recording(capture: Capture) -> Recording:
    return open_recording(evidence.read(capture.payload), format=capture.format)


def _outline(head: RunHead, run: NeutralRun) -> Outline:
    return Outline(
        head=head,
        report=report_on(run, Supplied()),
        steps=outline_of(run),
        tools=called_tools(run),
        offered=offered_tools(run),
        record=_record(run),
    )


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
