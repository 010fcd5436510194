"""Everything that a check may look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replaycases.fixture.model import Event, Fixture
from replaycases.verdict.document import observation_document
from replaycases.verdict.effects import Effects, effects_of
from replaycases.verdict.observation import Call, Observation


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One run under one fixture, with its effects and its observation document computed once."""

    fixture: Fixture
    observation: Observation
    effects: Effects
    document: Mapping[str, Any]

    @property
    def outcome(self) -> Mapping[str, Any] | None:
        return self.observation.outcome

    @property
    def events(self) -> Mapping[int, Event]:
        return self.fixture.events_by_seq

    def attempts(self) -> Iterator[tuple[int, Call]]:
        """Every tool call received, answered or not, with its index."""
        return ((index, call) for index, call in enumerate(self.observation.calls) if call.boundary == "tool")


def gather(fixture: Fixture, observation: Observation) -> Evidence:
    effects = effects_of(fixture, observation)
    return Evidence(
        fixture=fixture,
        observation=observation,
        effects=effects,
        document=observation_document(fixture, observation, effects),
    )
