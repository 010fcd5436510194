"""May these manifests be compared at all, and does nothing stand in for a run that was left out?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from replaycases.fixture.model import Fixture
from replaycases.verdict.manifest import Manifest
from replaycases.verdict.sides import Side, SideName


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A manifest that could not be read or verified. `run` is a file name or run id, `reason` says why."""

    side: SideName
    run: str
    reason: str


def obstacle(fixture: Fixture, old: Side, new: Side, refused: Sequence[Refusal]) -> tuple[SideName | None, str] | None:
    """(side, sentence) for the first thing that forbids comparing, or None."""
    for refusal in sorted(refused, key=lambda item: (item.side != "old", item.run)):
        return refusal.side, f"The {refusal.side} manifest {refusal.run} was refused: {refusal.reason}."
    if not old.results and not new.results:
        return None, "There is no result on either side."
    for side in (old, new):
        for sentence in _faults_of_side(fixture, side):
            return side.name, sentence
    return next(((None, sentence) for sentence in _faults_of_pair(old, new)), None)


def _faults_of_side(fixture: Fixture, side: Side) -> Iterator[str]:
    wanted = {
        "case_id": fixture.case_id,
        "fixture_hash": fixture.fixture_hash,
        "content_hash": fixture.content_hash,
        "checks_hash": fixture.checks_hash,
    }
    for manifest in side.results:
        for field, value in wanted.items():
            if manifest[field] != value:
                yield f"The {side.name} run {manifest.run_id} names another {field} than the fixture."
    if len({manifest.implementation_digest for manifest in side.results}) > 1:
        yield f"The {side.name} side mixes runs of several implementations."
    yield from _faults_of_sets(side)


def _faults_of_sets(side: Side) -> Iterator[str]:
    """Every run of a declared set must be here, once: a lucky run cannot be picked, nor one run counted twice."""
    twice = [run for run, times in Counter(manifest.run_id for manifest in side.results).items() if times > 1]
    if twice:
        yield f"The {side.name} run {min(twice)} was given more than once."
    declared: dict[str, list[Manifest]] = {}
    for manifest in side.results:
        declared.setdefault(manifest["run"]["set"]["id"], []).append(manifest)
    for name, members in sorted(declared.items()):
        sizes = {member["run"]["set"]["size"] for member in members}
        indexes = sorted(member["run"]["set"]["index"] for member in members)
        if len(sizes) > 1 or indexes != list(range(min(sizes))):
            yield (
                f"The {side.name} set {name} declares {max(sizes)} runs, and not exactly these were given: "
                "a verdict reads every run of a set."
            )


def _faults_of_pair(old: Side, new: Side) -> Iterator[str]:
    together = (*old.results, *new.results)
    for field in ("manifest_version", "mode", "matching_policy"):
        if any(manifest[field] != together[0][field] for manifest in together):
            yield f"The runs differ in {field}, so their results do not mean the same."
    if old.results and new.results:
        if old.results[0].implementation_digest == new.results[0].implementation_digest:
            yield "Old and new are the same implementation: their digests are equal."
        if {manifest.run_id for manifest in old.results} & {manifest.run_id for manifest in new.results}:
            yield "A run was given on both sides."
