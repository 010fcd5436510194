"""Which model served the run: compared with the recording once, exactly, by hash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from replaycases.fixture.canonical import canonical_bytes, digest
from replaycases.fixture.hidden import gaps
from replaycases.fixture.model import SERVING_PARTS, Fixture
from replaycases.fixture.pointer import covers, replaced
from replaycases.verdict.differences import each_difference
from replaycases.verdict.observation import Difference, Divergence

_REMEDY = "a fix of the model or its settings belongs in the compatibility lane: re-run it there"


class ServingCheck:
    """Compares what the implementation declares, and what a model call states, with the recording.

    A part that neither side has is the same on both; `returned_model` counts where both state it. What the recording
    declares as missing is not compared. Without a recorded serving nothing can be: the run goes on, `trace` says so,
    and the verdict caps the pair. A call that states no serving runs on the declared one; one that states another than
    the declared one is stale, recorded or not.
    """

    def __init__(self, fixture: Fixture, declared: Mapping[str, Any] | None) -> None:
        lacking = gaps(fixture)
        self._needed = any(event.boundary == "model" for event in fixture.events)
        self._declared = dict(declared) if isinstance(declared, Mapping) else None
        self._recorded = None if any(covers(gap, "/serving") for gap in lacking) else fixture.serving
        self._gaps = tuple(gap.removeprefix("/serving") for gap in lacking if gap.startswith("/serving/"))
        self._approved: set[bytes] = set()
        self._compared = False

    def trace(self) -> dict[str, Any] | None:
        """{declared, recorded, compared} for the observation; None where no model has a part in the run."""
        if not (self._needed or self._declared or self._recorded):
            return None
        return {"declared": self._declared, "recorded": self._recorded, "compared": self._compared}

    def refusal(self, stated: Mapping[str, Any] | None) -> Divergence | None:
        """Why a model call may not have a recorded answer, or None. Constant after the first call with one serving."""
        if not self._needed:
            return None
        if self._declared is None:
            return Divergence(
                kind="serving",
                boundary="model",
                expected=self._recorded,
                message="the implementation declares no serving, but the recording has model events",
                remedy="declare {provider, requested_model, api_version, settings} as `serving` in its file",
            )
        return self._compare(self._declared if stated is None else stated)

    def _compare(self, actual: Mapping[str, Any]) -> Divergence | None:
        key = canonical_bytes(actual)
        if key in self._approved:
            return None
        against = {"declared": self._declared, "recorded": self._recorded}
        self._compared = self._recorded is not None
        for source, expected in against.items():
            found = () if expected is None else self._differences(expected, actual)
            if found:
                return _stale(source, expected, actual, found)
        self._approved.add(key)
        return None

    def _differences(self, expected: Mapping[str, Any], actual: Mapping[str, Any]) -> tuple[Difference, ...]:
        left, right = _parts(expected, actual), _parts(actual, expected)
        for gap in self._gaps:
            left, right = replaced(left, gap, None), replaced(right, gap, None)
        return () if digest(left) == digest(right) else tuple(each_difference(left, right))


def _parts(serving: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    parts = {name: serving.get(name) for name in SERVING_PARTS}
    if serving.get("returned_model") is not None and other.get("returned_model") is not None:
        parts["returned_model"] = serving["returned_model"]
    return parts


def _stale(source: str, expected: Any, actual: Any, found: tuple[Difference, ...]) -> Divergence:
    return Divergence(
        kind="serving",
        boundary="model",
        pointer=found[0].pointer,
        expected=expected,
        actual=dict(actual),
        differences=found,
        message=f"the serving differs from the {source} one at {', '.join(d.pointer for d in found)}",
        remedy=_REMEDY,
    )
