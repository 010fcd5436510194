"""Controls: neighbouring cases that the new version must pass, each seen to turn red when its answers are mutated.

A control is a fixture; its mutation is a JSON Patch (RFC 6902) on recorded answers and nothing else, so that what turns
red is the workflow's reaction and not an edited expectation (A23).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import jsonpatch
import orjson

from replaycases.fixture.findings import Finding, FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.fixture.strict_json import parse
from replaycases.replay.values import same
from replaycases.verdict.control_result import NOT_REPLAYED, ControlResult
from replaycases.verdict.manifest import Manifest
from replaycases.verdict.observation import GOT_THROUGH

_ANSWER = re.compile(
    r"/(?:events|tool_events)/\d+/(?:outcome|response|chunks|now|value|decision|alternatives/\d+/(?:outcome|then))(?:/|$)"
)


class MutationInvalid(Exception):
    """The mutation cannot be applied. `pointer` is into the patch."""

    def __init__(self, pointer: str, message: str, hint: str) -> None:
        self.pointer, self.message, self.hint = pointer, message, hint
        super().__init__(f"mutation {pointer or '/'}: {message}; {hint}")


def mutate(control: bytes, mutation: bytes) -> bytes:
    """The control's document with the mutation applied to its recorded answers.

    Raises MutationInvalid for a patch that is malformed, reaches beyond the answers, does not apply or changes
    nothing, and FixtureInvalid if what comes of it is no fixture.
    """
    patch = _patch(mutation)
    document = parse(control)
    try:
        mutated = jsonpatch.apply_patch(document, patch)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError):
        raise MutationInvalid("", "does not apply to this control", "point at answers that the control has") from None
    if same(mutated, document):
        raise MutationInvalid("", "changes nothing", "give an answer other than the recorded one") from None
    data = orjson.dumps(mutated)
    load_fixture(data)
    return data


def _patch(mutation: bytes) -> list[dict[str, Any]]:
    try:
        patch = parse(mutation)
    except FixtureInvalid as error:
        first: Finding = error.findings[0]
        raise MutationInvalid(first.pointer, first.message, first.hint) from None
    if not isinstance(patch, list) or not patch:
        raise MutationInvalid("", "is no list of operations", "write a JSON Patch: [{op, path, value}, …]")
    for index, operation in enumerate(patch):
        _refuse_foreign(f"/{index}", operation)
    return patch


def _refuse_foreign(pointer: str, operation: Any) -> None:
    if not isinstance(operation, dict) or operation.get("op") not in ("add", "remove", "replace"):
        raise MutationInvalid(pointer, "is no add, remove or replace", "use these three operations")
    if not _ANSWER.match(str(operation.get("path"))):
        raise MutationInvalid(
            f"{pointer}/path",
            "is no recorded answer",
            "mutate outcomes, responses, chunks, decisions, reads or draws only",
        )


def judge(name: str, control: Fixture, runs: Sequence[Manifest], mutated: Sequence[Manifest] | None) -> ControlResult:
    """What a control says of the new version.

    `runs` are its manifests on the control, `mutated` those on the mutated control (None: no mutation is stored). It
    passes if every run held every check and every mutated run violated one; a mutated run that only diverged does not
    count. Without a run, without a mutation, or with an undecided run, it is None: not a pass, for a control that was
    never seen to fail shows nothing.
    """
    passed = _all_the_same([run.boundary_passed for run in runs])
    if passed is not True:
        return ControlResult(control=name, passed=passed, reason=_why_not(control, runs))
    if mutated is None:
        return ControlResult(control=name, passed=None, reason="held, but no mutation shows that it can fail")
    if not mutated or not all(_violated(run) for run in mutated):
        return ControlResult(
            control=name, passed=None, reason="held, but the mutation did not turn it red: it proves nothing"
        )
    return ControlResult(control=name, passed=True, reason="held, and seen to fail when mutated")


def _all_the_same(results: Sequence[bool | None]) -> bool | None:
    """True if all passed, False if any check was violated, else None."""
    if any(result is False for result in results):
        return False
    return True if results and all(result is True for result in results) else None


def _violated(run: Manifest) -> bool:
    """Red by a check, in a run that followed the recording."""
    return run.boundary_passed is False and run.status in GOT_THROUGH


def _why_not(control: Fixture, runs: Sequence[Manifest]) -> str:
    if not runs:
        return NOT_REPLAYED
    worst = next((run for run in runs if run.boundary_passed is False), None) or next(
        run for run in runs if run.boundary_passed is not True
    )
    broken = [check for check, result in worst.checks.items() if result != "held"]
    named = f": {', '.join(broken)} not held" if broken else ""
    return f"run {worst.status}{named} ({len(control.checks)} checks)"
