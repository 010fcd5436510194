"""What the supervisor saw in one run: the only input of checks and manifest besides the fixture.

Nothing here is taken on the implementation's word except `outcome`, which is what it reported at `finish`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

RunStatus = Literal[
    "completed",
    "decided",
    "diverged",
    "stale",
    "exhausted",
    "crashed",
    "adapter_error",
    "timed_out",
    "limit_exceeded",
    "environment_unavailable",
    "cancelled",
]

GOT_THROUGH = frozenset({"completed", "decided"})
"""Statuses of runs whose checks may hold. Every other run broke off, and can only have violated something."""

DivergenceKind = Literal[
    "unexpected_tool",
    "arguments",
    "extra_call",
    "order",
    "serving",
    "prompt_delta",
    "policy",
    "model_exhausted",
    "retrieval",
    "human",
    "unconsumed",
    "adapter",
    "crash",
    "finish",
]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One path-level difference. `pointer` is into the call's arguments or request; `only` says that one side
    lacks it."""

    pointer: str
    expected: Any = None
    actual: Any = None
    only: Literal["expected", "actual"] | None = None


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """Where a run left the recording (or, between two runs, where they part).

    `seq` is the event that stood at that place (None past the end); `call` the index of the observed call.
    `nearest` explains: {seq, tool, why: "never recorded" | "already consumed" | "differs", differences: […]}.
    `remedy` is one sentence: what to do.
    """

    kind: DivergenceKind
    boundary: str
    seq: int | None = None
    call: int | None = None
    pointer: str = ""
    expected: Any = None
    actual: Any = None
    differences: tuple[Difference, ...] = ()
    nearest: Mapping[str, Any] | None = None
    message: str = ""
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request that the supervisor received: tool, model, retrieval or human, in order of arrival.

    Clock and random reads are counted in `Observation.reads`, not here, so that pointers such as
    `/calls/0/arguments/key` do not move when a clock is frozen instead of injected.
    `params` is the request's params as received: {tool, arguments, call_id?}, {request, serving},
    {query, parameters?}, {question}. `seq` is the recorded event that was selected for it (None: none was);
    `alternative` the index into that event's alternatives. `answered` is False for the call that ended the run.
    `crossing` marks the call past the horizon. `ignored` lists the pointers at which an ignore rule hid a difference
    or was hit; `compared` and `ignored_leaves` are leaf counts; `prompt_delta` the largest measured delta (model).
    """

    boundary: Literal["tool", "model", "retrieval", "human"]
    params: Mapping[str, Any]
    seq: int | None = None
    alternative: int | None = None
    answered: bool = True
    crossing: bool = False
    ignored: tuple[str, ...] = ()
    compared: int = 0
    ignored_leaves: int = 0
    prompt_delta: float | None = None


@dataclass(frozen=True, kw_only=True)
class Observation:
    """A whole run as observed. `outcome` is the params of `finish`, None if it never came.

    `reads` counts clock reads and random draws: {"clock": n, "random": {name: n}}. `unconsumed` holds the seqs of
    required events left over after a clean finish; `optional_skipped` the optional ones. `clock` says how the
    implementation's clock was controlled. `stderr` is capped text. `exit_status` is the process's.
    """

    status: RunStatus
    reason: str = ""
    calls: tuple[Call, ...] = ()
    reads: Mapping[str, Any] = field(default_factory=dict)
    outcome: Mapping[str, Any] | None = None
    unconsumed: tuple[int, ...] = ()
    optional_skipped: tuple[int, ...] = ()
    first_divergence: Divergence | None = None
    serving: Mapping[str, Any] | None = None
    clock: Literal["frozen", "injected", "uncontrolled"] = "uncontrolled"
    stderr: str = ""
    exit_status: int | None = None
