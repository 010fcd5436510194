"""One case and the runs on it: a shipment is made twice because the retry drops its idempotency key."""

from __future__ import annotations

from typing import Any

from replaycases.fixture.model import Fixture
from replaycases.verdict.manifest import RunSet, build
from replaycases.verdict.observation import Call, Divergence, Observation
from replaycases.verdict.verified import VerifiedManifest
from tests.verdict.cases import NEW, OLD, call, effect, facts, fixture_2, observed, tool_event


def shipment_case(**more: Any) -> Fixture:
    retry = {
        "tool": "ship",
        "arguments": {"key": "a"},
        "outcome": {"type": "result", "value": {}},
        "effect": effect("ship", key="/key"),
        "origin": "authored",
    }
    return fixture_2(
        [
            tool_event(1, "ship", {"key": "a"}, effect=effect("ship", key="/key")),
            tool_event(2, "ship", {"key": "b"}, effect=effect("ship", key="/key"), alternatives=[retry]),
            tool_event(3, "note", optional=True, effect=effect("note")),
            tool_event(4, "look"),
        ],
        {
            "boundary": ["action_counts.ship"],
            "action_counts": {"ship": {"min": 1, "max": 1}},
            "status": {"id": "status", "one_of": ["done"]},
        },
        **more,
    )


CASE = shipment_case()
FIRST = call("ship", {"key": "a"}, seq=1)
SECOND = call("ship", {"key": "b"}, seq=2)
SAME_KEY = call("ship", {"key": "a"}, seq=2, alternative=0)
NOTE = call("note", seq=3)
LOOK = call("look", seq=4)
DONE = {"status": "done"}
PATH = Divergence(kind="arguments", boundary="tool", seq=2, call=1)


def red(*more: Call, **fields: Any) -> Observation:
    return observed(FIRST, SECOND, *more, LOOK, **{"outcome": DONE, **fields})


def green(*more: Call, **fields: Any) -> Observation:
    return observed(FIRST, SAME_KEY, *more, LOOK, **{"outcome": DONE, **fields})


def results(
    *observations: Observation, name: str, digest: str, fixture: Fixture = CASE, size: int | None = None, **facts_: Any
) -> list[VerifiedManifest]:
    """One declared set with a run for each observation."""
    size = len(observations) if size is None else size
    return [
        VerifiedManifest(
            build(
                fixture,
                observation,
                facts(
                    digest=digest,
                    **{
                        "run_id": f"{name}-{index}",
                        "run_set": RunSet(id=f"set-{name}", index=index, size=size),
                        **facts_,
                    },
                ),
            )
        )
        for index, observation in enumerate(observations)
    ]


def old(*observations: Observation, **more: Any) -> list[VerifiedManifest]:
    return results(*(observations or (red(), red())), **{"name": "old", "digest": OLD, **more})


def new(*observations: Observation, **more: Any) -> list[VerifiedManifest]:
    return results(*(observations or (green(), green())), **{"name": "new", "digest": NEW, **more})


def twice(observation: Observation) -> tuple[Observation, Observation]:
    return observation, observation
