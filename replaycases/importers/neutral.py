"""One recorded run, whatever format it came in: an ordered list of boundary crossings.

The six boundaries are model, tool, retrieval, clock, random and human. An importer fills in what its format holds and
names what it lacks in `absent`; it never invents a value. `source` is a JSON Pointer into the foreign file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

JSON = Any
Part = Literal["serving", "tools", "usage", "identity", "system", "clock", "random", "retrieval"]


@dataclass(frozen=True, kw_only=True)
class ModelStep:
    """One model call. `reconstructed`: the request was put together from the transcript, not recorded as sent."""

    source: str
    request: dict[str, JSON]
    response: JSON
    usage: JSON = None
    reconstructed: bool = False


@dataclass(frozen=True, kw_only=True)
class ToolStep:
    """One tool call with its answer. Steps with the same `group` were asked for by one assistant message.

    `error` is {kind, message} where the format itself marks a failure; else `value` is the answer as recorded (a
    string stays a string, whatever it holds).
    """

    source: str
    tool: str
    arguments: JSON
    value: JSON = None
    error: dict[str, str] | None = None
    group: int | None = None


@dataclass(frozen=True, kw_only=True)
class HumanStep:
    """A person answered: `question` is what they were told, `decision` their answer."""

    source: str
    question: JSON
    decision: JSON


@dataclass(frozen=True, kw_only=True)
class RetrievalStep:
    source: str
    query: JSON
    parameters: JSON
    chunks: list[dict[str, JSON]]


@dataclass(frozen=True, kw_only=True)
class ClockStep:
    """`now` is an ISO 8601 instant with an offset."""

    source: str
    now: str


@dataclass(frozen=True, kw_only=True)
class RandomStep:
    source: str
    name: str
    value: JSON


Step = ModelStep | ToolStep | HumanStep | RetrievalStep | ClockStep | RandomStep


@dataclass(frozen=True, kw_only=True)
class NeutralRun:
    """A whole run. `input` is what started it; `system` the system prompt, None where the file has none.

    `serving` and `tools` (the catalogue offered to the model) are None where the file has none. `absent` names what
    the format could not tell. `cut` says why the recording stops in the middle, "" if it does not. `ends_on_answer`:
    the last thing recorded is a tool's answer, so that what the workflow did with it is not known. `left_out` are
    pointers to parts of the file that were not imported.
    """

    format: str
    input: JSON
    steps: tuple[Step, ...]
    system: str | None = None
    serving: dict[str, JSON] | None = None
    tools: list[JSON] | None = None
    absent: tuple[Part, ...] = ()
    cut: str = ""
    ends_on_answer: bool = False
    left_out: tuple[str, ...] = ()
