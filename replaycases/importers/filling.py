"""What a person supplied goes where the recording holds none: what was recorded stays as it is."""

from __future__ import annotations

from typing import Any

from replaycases.fixture.model_request import CATALOGUE_KEYS
from replaycases.importers.neutral import ModelStep, NeutralRun
from replaycases.importers.supplied import Supplied

JSON = Any


def names_tools(request: JSON) -> bool:
    """Whether the request holds a tool catalogue, under whatever name providers have for it."""
    return any(key in request for key in CATALOGUE_KEYS)


def offered_tools(run: NeutralRun, supplied: Supplied) -> list[JSON] | None:
    """The catalogue for requests that hold none: the run's, else the supplied one where the file cannot tell. A request
    that was recorded without tools was sent without them."""
    if run.tools is not None:
        return run.tools
    return supplied.tools if "tools" in run.absent else None


def with_tools(step: ModelStep, tools: list[JSON] | None) -> dict[str, JSON]:
    """The request of a model call with the catalogue that it was offered."""
    if tools is None or names_tools(step.request):
        return step.request
    return {**step.request, "tools": tools}
