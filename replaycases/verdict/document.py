"""The observation document: what `relations` and `schema` point into, and what check results point at."""

from __future__ import annotations

from typing import Any

from replaycases.fixture.model import Fixture
from replaycases.verdict.effects import Effects, action_counts
from replaycases.verdict.observation import Call, Observation


def observation_document(fixture: Fixture, observation: Observation, effects: Effects) -> dict[str, Any]:
    """{calls: [{seq?, boundary, tool, arguments, …}], outcome, action_counts}.

    A call's own params stand beside `boundary`; `seq` is there only if an event was selected. `outcome` is what the
    run reported at `finish`, absent if it never came.
    """
    document: dict[str, Any] = {
        "calls": [_call(call) for call in observation.calls],
        "action_counts": action_counts(fixture, effects),
    }
    if observation.outcome is not None:
        document["outcome"] = dict(observation.outcome)
    return document


def _call(call: Call) -> dict[str, Any]:
    entry: dict[str, Any] = {**call.params, "boundary": call.boundary}
    if call.seq is not None:
        entry["seq"] = call.seq
    return entry
