"""Record a run of a live workflow through the session that it would be replayed with.

    from replaycases.harness.recording import RecordingSession

    with RecordingSession("recordings/", input=order, tools={"refund": refund}, model=ask_model) as session:
        replay(session)

Every crossing is written as it happens: a call when it is sent, its answer when it came, so that a crash leaves what
was sent and not answered. A fault of the recording never reaches the workflow: it is logged, it stands in
`session.faults`, and the recording says that it is incomplete. With `strict` a payload that is no strict JSON is
refused at once, as RecordingRefused: for tests, and for trying a recorder out.

Functions that are async are awaited by `acall`, `asearch` and `aask`, which a replayed session has too. A call gets its
number when it is sent; calls that wait at the same time get their answers in whatever order these come.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from datetime import datetime, timezone

from . import recording_shapes as shapes
from .recording_file import FSYNC
from .recording_live import at_once, failing, function_of, is_async, require_at_once, whole
from .recording_tape import RecordingRefused, Tape
from .wire import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Callable, Optional, Sequence, Union

MAX_BYTES = 32 * 1024 * 1024


class RecordingSession:
    """The live world, with the methods of a replayed session.

    `path` is a new file, or a folder in which one is made. `tools` maps a name to function(arguments), or is one
    function(name, arguments). `model` is function(request, serving), `retrieval` function(query, parameters), `human`
    function(question): each may be async. `random` maps a name to function(), or is one function(name); `clock` is
    function() that gives an aware datetime, by default the machine's time. What a tool raises is recorded and raised
    as ToolError, as in a replay; what others raise goes through.

    `commit` is that of the code that runs and records; `none` names boundaries (clock, random, retrieval) that the
    workflow does not have. `usage` is function(response) that gives the tokens of a model's response, or None.
    `budget_seconds` is the time that the whole run has. `fsync`: "always" after each line, once at the "end", or
    "never". Raises RecordingRefused for what cannot stand in the head of a recording.
    """

    ToolError = ToolError

    def __init__(
        self,
        path: Union[str, os.PathLike[str]],
        *,
        input: Any,
        tools: Union[Mapping[str, Callable[[Any], Any]], Callable[[str, Any], Any], None] = None,
        model: Optional[Callable[[Any, Any], Any]] = None,
        retrieval: Optional[Callable[[Any, Any], Any]] = None,
        human: Optional[Callable[[Any], Any]] = None,
        clock: Optional[Callable[[], datetime]] = None,
        random: Union[Mapping[str, Callable[[], Any]], Callable[[str], Any], None] = None,
        identity: Any = None,
        workflow_version: Optional[str] = None,
        prompt_version: Optional[str] = None,
        commit: Optional[str] = None,
        serving: Optional[dict[str, Any]] = None,
        locale: Optional[str] = None,
        time_zone: Optional[str] = None,
        templates: Sequence[dict[str, Any]] = (),
        policies: Sequence[dict[str, Any]] = (),
        none: Sequence[str] = (),
        usage: Optional[Callable[[Any], Any]] = None,
        budget_seconds: Optional[float] = None,
        strict: bool = False,
        max_bytes: int = MAX_BYTES,
        fsync: str = "end",
    ) -> None:
        live = {"tool": tools, "model": model, "retrieval": retrieval, "human": human, "clock": clock, "random": random}
        self.input, self.identity = input, identity
        self.locale, self.time_zone = locale, time_zone
        self.workflow_version = workflow_version
        self.templates = [_hashed(text) for text in templates]
        self.policies = [_hashed(text) for text in policies]
        given = {
            "input": input,
            "identity": identity,
            "workflow_version": workflow_version,
            "prompt_version": prompt_version,
            "commit": commit,
            "serving": serving,
            "locale": locale,
            "time_zone": time_zone,
            "templates": self.templates or None,
            "policies": self.policies or None,
            "budget_seconds": budget_seconds,
        }
        head = {name: value for name, value in given.items() if value is not None or name == "input"}
        sees = [name for name, function in live.items() if function is not None]
        head.update(sees=sees, none=sorted(none))
        _require_sound(head, {"clock": clock, "random": random, "usage": usage}, fsync)
        self._tape = Tape(path, head, strict=strict, max_bytes=max_bytes, fsync=fsync)
        self.tools = Tools(self._tape, tools)
        self.model = Model(self._tape, model, usage)
        self.retrieval = Retrieval(self._tape, retrieval)
        self.clock = Clock(self._tape, clock)
        self.random = Random(self._tape, random)
        self.human = Human(self._tape, human)
        self.finished = False

    @property
    def path(self) -> str:
        """Where the recording stands."""
        return self._tape.file.path

    @property
    def faults(self) -> list[str]:
        """What could not be recorded; empty for a complete recording."""
        return list(self._tape.faults)

    def finish(
        self,
        message: Optional[str] = None,
        *,
        status: Optional[str] = None,
        action: Optional[str] = None,
        claims: Optional[list[str]] = None,
        authorization: Optional[str] = None,
        structured: Any = None,
        policies_used: Optional[list[dict[str, str]]] = None,
    ) -> None:
        """Record the outcome, once, as the last thing."""
        outcome = {
            "message": message,
            "status": status,
            "action": action,
            "authorization": authorization,
            "structured": structured,
            **_given(claims=claims, policies_used=policies_used),
        }
        if self.finished:
            self._tape.fault("misuse", "finish was called more than once")
            return
        self._tape.finish(outcome)
        self.finished = True

    def close(self, raised: Optional[str] = None) -> None:
        """End the recording; `raised` names the exception that ended the workflow."""
        self._tape.end("raised" if raised else "finished" if self.finished else "left", raised)

    def __enter__(self) -> RecordingSession:
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close(kind.__name__ if kind is not None else None)


class Tools:
    def __init__(self, tape: Tape, live: Any) -> None:
        self._tape, self._live = tape, live

    def call(self, name: str, arguments: Any, call_id: Optional[str] = None) -> Any:
        """What the live tool returns. Raises ToolError where it raised, TypeError for one that is async."""
        require_at_once(self._live, "tools.acall", name)
        seq = self._sent(name, arguments, call_id)
        with failing(self._tape, seq, as_tool_error=True):
            value = at_once(self._ask(name, arguments), "tools.acall")
        self._tape.answer(seq, value)
        return value

    async def acall(self, name: str, arguments: Any, call_id: Optional[str] = None) -> Any:
        """As `call`, and waits for a tool that is async."""
        seq = self._sent(name, arguments, call_id)
        with failing(self._tape, seq, as_tool_error=True):
            value = await whole(self._ask(name, arguments))
        self._tape.answer(seq, value)
        return value

    def _sent(self, name: str, arguments: Any, call_id: Optional[str]) -> int:
        named = shapes.name_fault(name, "the tool's name")
        named = named or ("" if call_id is None else shapes.name_fault(call_id, "call_id"))
        return self._tape.call("tool", {"tool": name, "arguments": arguments, **_given(call_id=call_id)}, named)

    def _ask(self, name: str, arguments: Any) -> Any:
        live = function_of(self._live, "tools")
        return live(name, arguments) if callable(live) else live[name](arguments)


class Model:
    def __init__(self, tape: Tape, live: Any, usage: Optional[Callable[[Any], Any]]) -> None:
        self._tape, self._live, self._usage = tape, live, usage

    def call(self, request: Any, serving: Optional[dict[str, Any]] = None) -> Any:
        """What the live model responds. Raises TypeError for one that is async."""
        require_at_once(self._live, "model.acall")
        seq = self._sent(request, serving)
        with failing(self._tape, seq):
            value = at_once(function_of(self._live, "model")(request, serving), "model.acall")
        return self._came(seq, value)

    async def acall(self, request: Any, serving: Optional[dict[str, Any]] = None) -> Any:
        """As `call`, and waits for a model that is async."""
        seq = self._sent(request, serving)
        with failing(self._tape, seq):
            value = await whole(function_of(self._live, "model")(request, serving))
        return self._came(seq, value)

    def _sent(self, request: Any, serving: Optional[dict[str, Any]]) -> int:
        fault = shapes.serving_fault(serving) if serving is not None else ""
        return self._tape.call("model", {"request": request, **_given(serving=serving)}, fault)

    def _came(self, seq: int, value: Any) -> Any:
        usage, fault = self._used(value)
        if fault:
            self._tape.fault("usage", fault, seq)
        self._tape.answer(seq, value, **_given(usage=usage))
        return value

    def _used(self, response: Any) -> tuple[Any, str]:
        if self._usage is None:
            return None, ""
        try:
            usage = self._usage(response)
        except Exception as error:
            return None, "usage could not be read: %s" % type(error).__name__
        fault = "" if usage is None else shapes.usage_fault(usage)
        return (None if fault else usage), fault


class Retrieval:
    def __init__(self, tape: Tape, live: Any) -> None:
        self._tape, self._live = tape, live

    def search(self, query: Any, parameters: Any = None) -> list[dict[str, Any]]:
        """The chunks that the live search finds: [{id, text, score?}]. Raises TypeError for one that is async."""
        require_at_once(self._live, "retrieval.asearch")
        seq = self._sent(query, parameters)
        with failing(self._tape, seq):
            chunks = at_once(function_of(self._live, "retrieval")(query, parameters), "retrieval.asearch")
        return self._came(seq, chunks)

    async def asearch(self, query: Any, parameters: Any = None) -> list[dict[str, Any]]:
        """As `search`, and waits for a search that is async."""
        seq = self._sent(query, parameters)
        with failing(self._tape, seq):
            chunks = await whole(function_of(self._live, "retrieval")(query, parameters))
        return self._came(seq, chunks)

    def _sent(self, query: Any, parameters: Any) -> int:
        return self._tape.call("retrieval", {"query": query, **_given(parameters=parameters)})

    def _came(self, seq: int, chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        self._tape.answer(seq, chunks, shapes.chunks_fault(chunks))
        return chunks


class Clock:
    def __init__(self, tape: Tape, live: Optional[Callable[[], datetime]]) -> None:
        self._tape, self._live = tape, live

    def now(self) -> datetime:
        """The present instant, with its offset."""
        now = self._live() if self._live is not None else datetime.now(timezone.utc)
        aware = isinstance(now, datetime) and now.utcoffset() is not None
        fault = "" if aware else "the clock gave no datetime with an offset"
        self._tape.read("clock", fault, **({"now": now.isoformat()} if aware else {}))
        return now


class Random:
    def __init__(self, tape: Tape, live: Any) -> None:
        self._tape, self._live = tape, live

    def draw(self, name: str) -> Any:
        """The value that is drawn under this name."""
        live = function_of(self._live, "random")
        value = live(name) if callable(live) else live[name]()
        self._tape.read("random", shapes.name_fault(name, "the name of a draw"), name=name, value=value)
        return value


class Human:
    def __init__(self, tape: Tape, live: Any) -> None:
        self._tape, self._live = tape, live

    def ask(self, question: Any) -> Any:
        """The decision of the person who is asked. Raises TypeError where asking is async."""
        require_at_once(self._live, "human.aask")
        seq = self._tape.call("human", {"question": question})
        with failing(self._tape, seq):
            decision = at_once(function_of(self._live, "human")(question), "human.aask")
        self._tape.answer(seq, decision)
        return decision

    async def aask(self, question: Any) -> Any:
        """As `ask`, and waits for a person who is asked by an async function."""
        seq = self._tape.call("human", {"question": question})
        with failing(self._tape, seq):
            decision = await whole(function_of(self._live, "human")(question))
        self._tape.answer(seq, decision)
        return decision


def _require_sound(head: dict[str, Any], at_once: dict[str, Any], fsync: str) -> None:
    """Raises RecordingRefused: a recorder that is set up wrongly is seen at its first start. What is read `at_once` is
    never awaited."""
    names = ("workflow_version", "prompt_version", "commit", "locale", "time_zone")
    unknown = sorted(set(head["none"]) - {"clock", "random", "retrieval"})
    budget = head.get("budget_seconds", 0)
    fault = shapes.first(
        *(shapes.name_fault(head[name], name) for name in names if name in head),
        shapes.serving_fault(head["serving"]) if "serving" in head else "",
        shapes.texts_fault(head.get("templates", []), "templates"),
        shapes.texts_fault(head.get("policies", []), "policies"),
        "none: only clock, random and retrieval may stand in it" if unknown else "",
        "fsync must be one of %s" % ", ".join(FSYNC) if fsync not in FSYNC else "",
        "budget_seconds must be a number that is not negative" if not _is_span(budget) else "",
        *(
            "%s: is read at once: give a function that is not async" % name
            for name in at_once
            if is_async(at_once[name])
        ),
        shapes.json_fault(head, asked=True),
    )
    if fault:
        raise RecordingRefused(fault)


def _is_span(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _hashed(text: dict[str, Any]) -> dict[str, Any]:
    """With the hash of its content, where only the content was given."""
    content = text.get("content") if isinstance(text, dict) else None
    if not isinstance(content, str) or "sha256" in text:
        return text
    return {**text, "sha256": hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()}


def _given(**params: Any) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}
