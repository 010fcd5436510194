"""What a comparison proves and what it does not (A34), in short sentences computed from its facts."""

from __future__ import annotations

from collections.abc import Iterator

from replaycases.verdict.caps import few
from replaycases.verdict.labels import Label
from replaycases.verdict.rows import Pair


def proves(pair: Pair, label: Label) -> tuple[str, ...]:
    return tuple(_proves(pair, label))


def does_not_prove(pair: Pair, label: Label) -> tuple[str, ...]:
    return tuple(_does_not_prove(pair, label))


def _proves(pair: Pair, label: Label) -> Iterator[str]:
    checks = ", ".join(pair.fixture.boundary)
    if label in (Label.VERIFIED_RED_TO_GREEN, Label.NEAR_MISS, Label.CONTROL_FAILED, Label.STILL_FAILING):
        runs = len(pair.old.read)
        yield f"In each of {runs} runs the old version violates {checks} on this fixture."
    if label in (Label.VERIFIED_RED_TO_GREEN, Label.NEAR_MISS, Label.CONTROL_FAILED):
        yield f"In each of {len(pair.new.read)} runs the new version holds every check on the identical fixture."
    if label is Label.VERIFIED_RED_TO_GREEN and pair.controls:
        yield f"The new version passes {len(pair.controls)} neighbouring controls."
    if label is Label.STILL_FAILING:
        yield "The new version does not fix this case."


def _does_not_prove(pair: Pair, label: Label) -> Iterator[str]:
    if label is not Label.VERIFIED_RED_TO_GREEN:
        yield "It does not show that the incident is fixed."
    yield "It closes no incident: controls, monitoring and rollout remain to be checked."
    if not pair.controls:
        yield "No control was run, so neighbouring behaviour may have changed."
    unplayed = [result.control for result in pair.controls if not result.replayed]
    if unplayed:
        yield f"What these controls show is not known, they were not replayed yet: {few(unplayed)}."
    if any(finding.id == "expected.no-positive-check" for finding in pair.fixture.warnings):
        yield "Claims are prohibited and nothing is required: any other sentence would pass."
    boundaries = {event.boundary for event in pair.fixture.events}
    if "model" in boundaries:
        yield "The model's answers were recorded: what today's model would answer is not tested."
    if boundaries & {"tool", "retrieval"}:
        yield "The dependencies' answers were recorded: what they answer today is not tested."
    if pair.fixture.horizon:
        yield "The case ends at its horizon: nothing after it was observed, the final message included."
    if any(event.group is not None for event in pair.fixture.events):
        yield "Calls within a parallel group were matched in any order: a race between them is not covered."
    declared = [str(gap["pointer"]) for gap in pair.fixture.missing if gap.get("declared") is True]
    if declared:
        yield f"A person supplied what the recording lacks: {few(declared)}."
    if pair.new.read and pair.new.any_run["authored_used"]:
        yield "The new version's path used authored answers, which no dependency gave: its owner must confirm them."
    if pair.new.read and pair.new.any_run["ignored_share"]:
        yield f"{pair.new.any_run['ignored_share']:.0%} of the compared values were ignored by rule."
