"""New passed every check, and yet something beside them changed that a person must look at (A20)."""

from __future__ import annotations

from collections.abc import Iterator

from replaycases.fixture.model import Fixture
from replaycases.fixture.named_actions import named_actions
from replaycases.verdict.effects import actions_of, effects_by_tool
from replaycases.verdict.manifest import Manifest

HANDOFF = "handoff"


def near_misses(fixture: Fixture, old: Manifest | None, new: Manifest) -> Iterator[str]:
    """A sentence for each. Without old only what the fixture alone shows is looked at."""
    if old is not None:
        for action in sorted(unnamed_actions(fixture)):
            if old["action_counts"][action] != new["action_counts"][action]:
                yield f"New changed how often {action} took effect, and no check names it."
    for tool in sorted(skipped_tools(fixture, new)):
        yield f"New skipped the tool {tool}, which the case does not mark as optional."
    if hands_off(new) and not (old is not None and hands_off(old)) and not handoff_is_allowed(fixture):
        yield "New hands off to a person where old did not, and no status or action check allows it."


def unnamed_actions(fixture: Fixture) -> frozenset[str]:
    carried = [(tool, action) for tool, actions in effects_by_tool(fixture).items() for action in actions]
    return actions_of(fixture) - named_actions(((check.kind, check.spec) for check in fixture.checks), carried)


def skipped_tools(fixture: Fixture, new: Manifest) -> frozenset[str]:
    """Tools with an event that is not optional and that no call of the run was matched to, unless the tool was called
    elsewhere. An event that an alternative answered was not skipped, whatever tool that names: the fixture says that
    this call is right there."""
    tried = {call["params"].get("tool") for call in new["calls"] if call["boundary"] == "tool"}
    answered = {call["seq"] for call in new["calls"] if call["answered"]}
    required = (event for event in fixture.events if event.boundary == "tool" and not event.optional)
    return frozenset(event.tool for event in required if event.seq not in answered and event.tool not in tried)


def hands_off(manifest: Manifest) -> bool:
    """The run chose the action `handoff`, or an effect `handoff` was or may have been accepted."""
    count = manifest["action_counts"].get(HANDOFF, {"min": 0, "max": 0})
    return (manifest["raw_outcome"] or {}).get("action") == HANDOFF or count["max"] is None or count["max"] > 0


def handoff_is_allowed(fixture: Fixture) -> bool:
    """A status or action check lists `handoff`, or the expectation counts on at least one."""
    for check in fixture.checks:
        if check.kind in ("status", "action") and HANDOFF in check.spec["one_of"]:
            return True
        if check.kind == "action_counts" and check.spec["action"] == HANDOFF and check.spec.get("min", 0) > 0:
            return True
    return False
