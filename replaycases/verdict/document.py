"""The observation document: what `relations` and `schema` point into, and what check results point at."""

from __future__ import annotations

from typing import Any

from replaycases.fixture.model import Fixture
from replaycases.verdict.effects import Effects, action_counts
from replaycases.verdict.observation import Call, Observation


def observation_document(fixture: Fixture, observation: Observation, effects: Effects) -> dict[str, Any]:
    """{calls: [{seq?, boundary, tool, arguments, …}], outcome, action_counts}.

    A call's own params stand beside `boundary`; `seq` is there only if an event was selected. `outcome` is what the
    run reported at `finish`, absent if it never came. A model, retrieval or human call past the horizon is left out:
    it can break no check.
    """
    document: dict[str, Any] = {
        "calls": [_call(call) for call in observation.calls if not _is_idle_crossing(call, observation)],
        "action_counts": action_counts(fixture, effects),
    }
    if observation.outcome is not None:
        document["outcome"] = dict(observation.outcome)
    return document


def _is_idle_crossing(call: Call, observation: Observation) -> bool:
    """Such a call ends the run, so it is the last one and its absence moves no other pointer."""
    return observation.status == "decided" and not call.answered and call.boundary != "tool"


def _call(call: Call) -> dict[str, Any]:
    entry: dict[str, Any] = {**call.params, "boundary": call.boundary}
    if call.seq is not None:
        entry["seq"] = call.seq
    return entry
