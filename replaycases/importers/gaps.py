"""What a fixture made of a run lacks, part by part, and what a person put in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from replaycases.fixture.model import SERVING_PARTS
from replaycases.importers.completeness import is_whole, replayable_steps
from replaycases.importers.effects import unused_rules
from replaycases.importers.filling import names_tools
from replaycases.importers.findings import Gap
from replaycases.importers.neutral import ModelStep, NeutralRun, NoteKind, Step, ToolStep
from replaycases.importers.supplied import DECLARABLE_NONE, Supplied

JSON = Any
SHOWN = 50
"""Steps that were left out and are named one by one."""

_NONE_COSTS = {
    "clock": "clock reads are not in the recording: a workflow that reads the clock may decide otherwise",
    "random": "random draws are not in the recording: a workflow that draws may decide otherwise",
    "retrieval": "retrieved chunks are not in the recording: what the answer was grounded on is unknown",
}
_REPLACED = "the recording says something else: a person's value stands in its place"


def gaps_in(run: NeutralRun, supplied: Supplied, kept: Sequence[Step]) -> tuple[Gap, ...]:
    """Every gap of the fixture whose events are the steps `kept`."""
    models = [(f"/events/{at}/request", step) for at, step in enumerate(kept) if isinstance(step, ModelStep)]
    found = (
        _about_the_run(run, supplied),
        _about_models(run, supplied, models) if models else (),
        _about_boundaries(run, supplied),
        _about_effects(run, supplied),
        _about_steps(run, supplied),
        _about_notes(run, kept),
    )
    return tuple(gap for gaps in found for gap in gaps)


def _about_the_run(run: NeutralRun, supplied: Supplied) -> Iterator[Gap]:
    yield from _part("prompt_version", run, supplied, "which prompt was used is known by its text only")
    yield from _part("workflow_version", run, supplied, "which code was affected is not in the recording")
    yield from _frozen_at(run, supplied)
    if "identity" in run.absent or run.identity is not None:
        yield from _part("identity", run, supplied, "who asked, and with which rights, is not in the recording")
    for name in ("time_zone", "locale"):
        if getattr(run, name) is not None:
            yield from _part(name, run, supplied, "")
    yield from _unused("serving", supplied.serving, run.serving)
    yield from _unused("recorded_by", supplied.recorded_by, run.recorded_by)


def _part(name: str, run: NeutralRun, supplied: Supplied, cost: str) -> Iterator[Gap]:
    recorded, given = getattr(run, name), getattr(supplied, name)
    if recorded is None:
        yield Gap(name=name, pointers=(f"/{name}",), declared=given is not None, cost=cost)
    elif given is not None and given != recorded:
        yield Gap(name=name, pointers=(f"/{name}",), declared=True, cost=_REPLACED)


def _unused(name: str, given: Mapping[str, JSON] | None, recorded: Mapping[str, JSON] | None) -> Iterator[Gap]:
    """What was recorded stays: that other values were supplied for it is said, and they stand nowhere."""
    held = {part: value for part, value in (recorded or {}).items() if value is not None}
    unused = sorted(part for part, value in (given or {}).items() if part in held and held[part] != value)
    if unused:
        yield _said(name, f"the recording holds {', '.join(unused)}, so that what was supplied is not used", f"/{name}")


def _frozen_at(run: NeutralRun, supplied: Supplied) -> Iterator[Gap]:
    if run.started_at is None:
        cost = "the recording has no time stamps"
        yield Gap(name="frozen_at", pointers=("/frozen_at",), declared=bool(supplied.frozen_at), cost=cost)
    elif supplied.frozen_at and supplied.frozen_at != run.started_at:
        yield Gap(name="frozen_at", pointers=("/frozen_at",), declared=True, cost=_REPLACED)


def _about_boundaries(run: NeutralRun, supplied: Supplied) -> Iterator[Gap]:
    for name in sorted(set(run.absent) & DECLARABLE_NONE):
        yield Gap(name=name, pointers=("/events",), declared=name in supplied.none, cost=_NONE_COSTS[name])


def _about_effects(run: NeutralRun, supplied: Supplied) -> Iterator[Gap]:
    unused = unused_rules(supplied.effects, {step.tool for step in run.steps if isinstance(step, ToolStep)})
    if unused:
        yield _said("effects", f"the effects annotation names tools that the run never calls: {', '.join(unused)}")


# --- model calls ----------------------------------------------------------------------------------------------------


def _about_models(run: NeutralRun, supplied: Supplied, models: Sequence[tuple[str, ModelStep]]) -> Iterator[Gap]:
    yield from _serving(run, supplied)
    yield from _tools(run, supplied, models)
    first, _ = models[0]
    if "system" in run.absent:
        cost = "the recording has no system message; either none was sent or it was left out"
        yield _said("system", cost, f"{first}/messages")
    rebuilt = tuple(request for request, step in models if step.reconstructed)
    if rebuilt:
        cost = "the request is put together from the transcript, not recorded as sent"
        yield Gap(name="requests", pointers=rebuilt, declared=True, cost=cost)
    if "usage" in run.absent:
        cost = "tokens and cost are not in the recording: a cost limit cannot be decided"
        yield _said("usage", cost, f"{first}/usage")


def _tools(run: NeutralRun, supplied: Supplied, models: Sequence[tuple[str, ModelStep]]) -> Iterator[Gap]:
    """Where the catalogue is unknown or supplied; and, where it was recorded, that the supplied one is not used."""
    if "tools" in run.absent:
        bare = tuple(f"{request}/tools" for request, step in models if not names_tools(step.request))
        cost = "the tool catalogue offered to the model is not in the recording"
        yield Gap(name="tools", pointers=bare, declared=supplied.tools is not None, cost=cost)
    elif supplied.tools is not None and supplied.tools != run.tools:
        cost = "the recording holds what each model call was offered, so that the supplied catalogue is not used"
        yield _said("tools", cost)


def _serving(run: NeutralRun, supplied: Supplied) -> Iterator[Gap]:
    """One gap for the whole where the file names no model, else one for each compared part that it leaves out."""
    given = supplied.serving or {}
    if run.serving is None:
        cost = "which model answered, with which settings, is not in the recording"
        yield Gap(name="serving", pointers=("/serving",), declared=bool(given), cost=cost)
        return
    for part in SERVING_PARTS:
        if part not in run.serving:
            cost = f"the recording names the model and not its {part}"
            yield Gap(name=f"serving.{part}", pointers=(f"/serving/{part}",), declared=part in given, cost=cost)


# --- steps ----------------------------------------------------------------------------------------------------------


def _about_steps(run: NeutralRun, supplied: Supplied) -> Iterator[Gap]:
    if run.cut:
        yield _said("cut", run.cut)
    whole = replayable_steps(run, supplied.leave_out)
    if whole < len(run.steps):
        cost = f"step {whole + 1} of {len(run.steps)} is not recorded whole: it and what follows are left out"
        yield _said("unanswered", cost)
    yield from _left_out(run, supplied)
    if run.ends_on_answer:
        yield _said("ending", "the recording ends with a tool's answer: trim it if the workflow goes on from there")


def _about_notes(run: NeutralRun, kept: Sequence[Step]) -> Iterator[Gap]:
    """What a reader of the file was told and that takes something away from the steps `kept`, or from none in
    particular. A call without an answer is no gap: it is in the fixture only where somebody left it out."""
    at = {step.source: f"/events/{place}" for place, step in enumerate(kept)}
    elsewhere = {step.source for step in run.steps} - at.keys()
    places: dict[tuple[NoteKind, str], dict[str, None]] = {}
    for note in run.notes:
        if note.cost and note.kind != "call_without_result" and note.source not in elsewhere:
            places.setdefault((note.kind, note.cost), {})[at.get(note.source, "/events")] = None
    for (kind, cost), pointers in places.items():
        yield Gap(name=kind, pointers=tuple(pointers), cost=cost)


def _left_out(run: NeutralRun, supplied: Supplied) -> Iterator[Gap]:
    """Steps that a person left out: the fixture says which, and it is their word that the case does without. Of one
    that lacks its answer nobody knows what it did: nothing stands in its place, and no word takes that back."""
    out = sorted(set(supplied.leave_out))
    if out:
        numbers = ", ".join(map(str, out[:SHOWN])) + (f" and {len(out) - SHOWN} more" if len(out) > SHOWN else "")
        cost = f"{len(out)} of {len(run.steps)} steps were left out by hand: {numbers}"
        yield Gap(name="left_out", pointers=("/events",), declared=True, cost=cost)
    lacking = sorted(n for n in set(supplied.leave_out) if 0 < n <= len(run.steps) and not is_whole(run.steps[n - 1]))
    if lacking:
        steps = f"step{'' if len(lacking) == 1 else 's'} {', '.join(map(str, lacking))}"
        cost = f"{steps} of {len(run.steps)}, left out by hand, had no whole record: what happened there is unknown"
        yield Gap(name="left_out_unanswered", pointers=("/events",), cost=cost)


def _said(name: str, cost: str, pointer: str = "/events") -> Gap:
    """One that is only reported."""
    return Gap(name=name, pointers=(pointer,), caps=False, cost=cost)
