"""What keeps a pair below green whatever its checks say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replaycases.fixture.model import SERVING_PARTS, Fixture, is_non_replayable
from replaycases.verdict.sides import Side


def compatibility_caps(fixture: Fixture, mode: str) -> Iterator[str]:
    """Why the pair can at best be `compatible_pass`.

    A part that the recording lacks caps; what a person supplied in its place (`declared`) is compared and does not. A
    recording with model calls must know its serving. A case that says of itself that it cannot be replayed (A31) is
    never shown to be fixed by a replay; a structural one is, for it keeps what decides the outcome.
    """
    if mode != "replay":
        yield f"these are {mode} runs, not replays"
    if is_non_replayable(fixture):
        yield "the case is marked as non-replayable"
    if any(event.boundary == "model" for event in fixture.events):
        unknown = [part for part in SERVING_PARTS if (fixture.serving or {}).get(part) is None]
        if unknown:
            yield f"the recording does not say which serving answered ({', '.join(unknown)})"
    lacking = [str(gap["pointer"]) for gap in fixture.missing if gap.get("declared") is not True]
    if lacking:
        yield f"the recording lacks {few(lacking)}"


def few(pointers: Sequence[str]) -> str:
    """For a sentence: the first three and how many more. The fixture's own list is whole."""
    shown, more = pointers[:3], len(pointers) - 3
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def isolation_faults(*sides: Side) -> Iterator[str]:
    """Why the runs may have reached what they were to be kept from: no sandbox, or a network left open."""
    for side in sides:
        for manifest in side.read:
            if manifest["isolation"]["tier"] in ("process", "none"):
                yield f"{side.name} ran without a sandbox"
            elif manifest["surfaces"]["network"] == "uncontrolled":
                yield f"{side.name} ran with an uncontrolled network"
