"""One recorded run, whatever format it came in: an ordered list of boundary crossings.

The six boundaries are model, tool, retrieval, clock, random and human. An importer fills in what its format holds,
names what it lacks in `absent`, and says in `notes` what it met on the way; it never invents a value. `source` is a
JSON Pointer into the foreign file, times are ISO 8601 with an offset, None where the file has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

JSON = Any
Boundary = Literal["model", "tool", "retrieval", "clock", "random", "human"]
Part = Literal[Boundary, "serving", "tools", "usage", "identity", "system"]
NoteKind = Literal[
    "call_without_result",  # asked for, and no answer is in the file
    "result_without_call",  # an answer whose call is not in the file
    "guessed_pairing",  # call and answer were put together by their order, not by an id
    "sequence_gap",  # something is missing between two recorded steps
    "clock_contradiction",  # two times in the file contradict each other
    "unresolved_reference",  # an attachment, an earlier response, a parent that is not in the file
    "content_lost",  # a part was recorded without its content, cut, or flattened
    "server_side",  # the provider ran a tool itself; its call and answer stand inside the model's response
    "branch",  # one step has several successors; one of them was followed
    "failed_call",  # a model call that ended with an error
    "left_out",  # a part of the file that is no boundary of this run
]


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a reader of the report must know about one place of the file. `text` is one plain sentence and never
    quotes a value of the file; `cost` says what it takes away, "" for nothing."""

    kind: NoteKind
    source: str
    text: str
    cost: str = ""
    boundary: Boundary | None = None


@dataclass(frozen=True, kw_only=True)
class _Step:
    source: str
    started_at: str | None = None
    ended_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class ModelStep(_Step):
    """One model call. `request` is what was sent without what `serving` says of it (model, settings); {} where the file
    does not hold it.

    `reconstructed`: the request was put together from other parts, not recorded as sent. `answered` is False where
    the file holds no response. A call that failed has the provider's error body as its response. `partial`: some of
    what was sent or answered is known to be missing from the file.
    """

    request: dict[str, JSON]
    response: JSON = None
    answered: bool = True
    usage: JSON = None
    serving: dict[str, JSON] | None = None
    reconstructed: bool = False
    partial: bool = False


@dataclass(frozen=True, kw_only=True)
class ToolStep(_Step):
    """One tool call with its answer. Steps with the same `group` were asked for by one assistant message.

    `error` is {kind, message} where the format itself marks a failure; else `value` is the answer as recorded (a
    string stays a string, whatever it holds). `answered` is False where the file holds no answer. `timing` is the
    fixture's, for what the file tells of budget, dispatch, receipt and deadline.
    """

    tool: str
    arguments: JSON
    value: JSON = None
    error: dict[str, str] | None = None
    answered: bool = True
    group: int | None = None
    call_id: str | None = None
    timing: dict[str, JSON] | None = None


@dataclass(frozen=True, kw_only=True)
class HumanStep(_Step):
    """A person answered: `question` is what they were told, `decision` their answer."""

    question: JSON
    decision: JSON
    answered: bool = True


@dataclass(frozen=True, kw_only=True)
class RetrievalStep(_Step):
    """`chunks` are {id, text, score?}; not `answered` where the file does not hold them, which is no empty list.
    `documents` are all ids by which the results name their chunks and documents, whether their texts are there or
    not."""

    query: JSON
    parameters: JSON = None
    chunks: list[dict[str, JSON]]
    answered: bool = True
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ClockStep(_Step):
    """`now` is an ISO 8601 instant with an offset."""

    now: str
    answered: bool = True


@dataclass(frozen=True, kw_only=True)
class RandomStep(_Step):
    name: str
    value: JSON
    answered: bool = True


Step = ModelStep | ToolStep | HumanStep | RetrievalStep | ClockStep | RandomStep


@dataclass(frozen=True, kw_only=True)
class NeutralRun:
    """A whole run. `input` is what started it; `system` the system prompt, None where the file has none.

    `serving` and `tools` (the catalogue offered to the model) are None where the file has none. `absent` names what
    the format could not tell. `cut` says why the recording stops in the middle, "" if it does not. `ends_on_answer`:
    the last thing recorded is a tool's answer, so that what the workflow did with it is not known. `left_out` are
    pointers to parts of the file that were not imported. `started_at` is when the run began; `identity` and what
    follows is what the file says of who asked, of the trace, of the code and its surroundings, and of the recorder, in
    the fixture's shapes; None or () where it says nothing. `record` holds parts of the run record (`run_record.PARTS`).
    `documents` are ids that parts which are no steps name as `RetrievalStep.documents` does: retrievals inside tools.
    """

    format: str
    input: JSON
    steps: tuple[Step, ...]
    system: str | None = None
    serving: dict[str, JSON] | None = None
    tools: list[JSON] | None = None
    absent: tuple[Part, ...] = ()
    notes: tuple[Note, ...] = ()
    cut: str = ""
    ends_on_answer: bool = False
    left_out: tuple[str, ...] = ()
    started_at: str | None = None
    identity: JSON = None
    trace_id: str | None = None
    workflow_version: str | None = None
    prompt_version: str | None = None
    time_zone: str | None = None
    locale: str | None = None
    templates: tuple[JSON, ...] = ()
    policies: tuple[JSON, ...] = ()
    recorded_by: dict[str, JSON] | None = None
    record: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RunHead:
    """One run of a file, as a person chooses among several: `index` from 0, `label` what the file calls it (an id, a
    name; never content), `started_at` if the file says so. `source` points to it."""

    index: int
    label: str
    source: str
    started_at: str | None = None


def boundary_of(step: Step) -> Boundary:
    return _BOUNDARIES[type(step)]


_BOUNDARIES: dict[type[Any], Boundary] = {
    ModelStep: "model",
    ToolStep: "tool",
    RetrievalStep: "retrieval",
    ClockStep: "clock",
    RandomStep: "random",
    HumanStep: "human",
}
