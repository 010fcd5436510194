"""Chat transcripts with tool calls: {"messages" | "traj": [{role, content, tool_calls?, tool_call_id?, name?}, …]}.

Roles system, developer, user, assistant, tool. `tool_calls` hold {id?, function: {name, arguments: JSON string}}. Such
a file holds what the model said and what was answered, never what was sent to it: requests are put together from the
messages before each answer and marked as reconstructed.

Calls and answers are paired by adjacency: the tool messages right after an assistant message answer its calls. Inside
that block ids decide only if they name each call exactly once; else order decides. Ids elsewhere in the run are never
looked at, because they repeat.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.model_request import is_system_message
from replaycases.fixture.pointer import ABSENT
from replaycases.fixture.strict_json import parse
from replaycases.importers.chat_shape import check_messages
from replaycases.importers.findings import refused
from replaycases.importers.foreign_file import ForeignFile
from replaycases.importers.formats import Format
from replaycases.importers.neutral import HumanStep, ModelStep, NeutralRun, Part, RunHead, Step, ToolStep

JSON = Any
NAME = "chat-transcript"
KEYS = ("messages", "traj")
SETTINGS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "reasoning_effort", "tool_choice")


def sniff(file: ForeignFile) -> bool:
    """True for one run, a bare list of messages, or a list of runs."""
    runs = _runs(file)
    return bool(runs) and all(_messages(run) is not None for run in runs)


def heads(file: ForeignFile) -> tuple[RunHead, ...]:
    return tuple(
        RunHead(index=index, label=_label(run, index), source=_base(file, index))
        for index, run in enumerate(_runs(file))
    )


def read(file: ForeignFile, run: int) -> NeutralRun:
    """The run as a neutral one. Raises ImportRefused with a pointer into the file."""
    chosen, base = _runs(file)[run], _base(file, run)
    key, messages = _messages(chosen) or ("", [])
    reader = _Reader(base=f"{base}/{key}" if key else base, messages=messages)
    reader.read()
    if not any(isinstance(step, ToolStep) for step in reader.steps):
        raise refused(
            "no-tool-calls",
            reader.base,
            "the run has no answered tool call",
            "Export the transcript with its tool calls and results; there is no boundary to replay without.",
        )
    head = chosen if isinstance(chosen, dict) else {}
    serving, tools = _serving(head), head.get("tools")
    return NeutralRun(
        format=NAME,
        input={"messages": reader.opening},
        steps=tuple(reader.steps),
        system=reader.system,
        serving=serving,
        tools=tools if isinstance(tools, list) else None,
        absent=_absent(serving, tools, reader.system),
        ends_on_answer=reader.ends_on_tool(),
        cut=reader.cut,
        left_out=tuple(f"{base}/{name}" for name in sorted(head) if name not in (key, "model", "tools", *SETTINGS)),
    )


def _runs(file: ForeignFile) -> list[JSON]:
    document = file.json
    if document is ABSENT:
        return []
    return document if isinstance(document, list) and not _is_messages(document) else [document]


def _base(file: ForeignFile, index: int) -> str:
    return f"/{index}" if isinstance(file.json, list) and not _is_messages(file.json) else ""


def _label(run: JSON, index: int) -> str:
    """By what benchmarks call their runs; else by its place."""
    head = run if isinstance(run, dict) else {}
    named = [f"{key} {head[key]}" for key in ("task_id", "trial", "id") if _is_id(head.get(key))]
    return ", ".join(named) or f"run {index}"


def _is_id(value: JSON) -> bool:
    return isinstance(value, int) or (isinstance(value, str) and 0 < len(value) <= 100)


def _absent(serving: JSON, tools: JSON, system: str | None) -> tuple[Part, ...]:
    lacking: list[Part] = ["usage", "identity", "clock", "random", "retrieval"]
    if serving is None:
        lacking.append("serving")
    if not isinstance(tools, list):
        lacking.append("tools")
    if system is None:
        lacking.append("system")
    return tuple(lacking)


def _serving(head: dict[str, JSON]) -> dict[str, JSON] | None:
    model = head.get("model")
    if not isinstance(model, str):
        return None
    settings = {name: head[name] for name in SETTINGS if name in head}
    return {"requested_model": model, **({"settings": settings} if settings else {})}


def _is_messages(value: JSON) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(m, dict) and "role" in m for m in value)


def _messages(run: JSON) -> tuple[str, list[dict[str, JSON]]] | None:
    """(key, messages) of one run; the key is "" for a bare list. None if this is no transcript."""
    if _is_messages(run):
        return "", run
    if isinstance(run, dict):
        return next(((key, run[key]) for key in KEYS if _is_messages(run.get(key))), None)
    return None


@dataclass
class _Reader:
    """Walks the messages once. `prefix` is the conversation so far, as a model would have been sent it."""

    base: str
    messages: list[dict[str, JSON]]
    steps: list[Step] = field(default_factory=list)
    opening: list[dict[str, JSON]] = field(default_factory=list)
    prefix: list[dict[str, JSON]] = field(default_factory=list)
    system: str | None = None
    cut: str = ""

    def ends_on_tool(self) -> bool:
        return bool(self.messages[-1]["role"] == "tool")

    def read(self) -> None:
        check_messages(self.base, self.messages)
        at = self._opening()
        while at < len(self.messages):
            role = self.messages[at]["role"]
            if role == "assistant":
                at = self._assistant(at)
            elif role == "user":
                at = self._user(at)
            else:
                raise self._refused(
                    at,
                    "order",
                    f"a {role} message does not belong here",
                    "Tool messages follow the assistant message that made the call; system messages come first.",
                )

    def _opening(self) -> int:
        """System prompt and what the user said before the first answer."""
        for at, message in enumerate(self.messages):
            if is_system_message(message) and not self.prefix:
                self.system = message["content"]
                self.prefix.append({"role": "system", "content": self.system})
            elif message["role"] == "user":
                self.opening.append(_said(message))
                self.prefix.append(_said(message))
            else:
                return at
        raise refused("no-tool-calls", self.base, "the run has no assistant message", "Export the whole conversation.")

    def _assistant(self, at: int) -> int:
        message = self.messages[at]
        self.steps.append(
            ModelStep(
                source=self._pointer(at),
                request={"messages": list(self.prefix)},
                response={"message": message},
                reconstructed=True,
            )
        )
        self.prefix.append(message)
        calls = message.get("tool_calls") or []
        return self._tools(at, calls) if calls else at + 1

    def _tools(self, at: int, calls: list[JSON]) -> int:
        """The block of tool messages after an assistant message: paired, then appended in recorded order."""
        end = at + 1
        while end < len(self.messages) and self.messages[end]["role"] == "tool":
            end += 1
        answers = list(range(at + 1, end))
        if len(answers) > len(calls):
            raise self._refused(
                at + 1 + len(calls),
                "unpaired",
                "there are more tool messages than calls",
                "Each tool message must answer one call of the assistant message before it.",
            )
        order = self._pair(calls, answers)
        if len(answers) < len(calls):
            self._unanswered(at, end)
            return end
        for index, (call, answer) in enumerate(zip(calls, order, strict=True)):
            self._tool(at, index, call, answer, grouped=len(calls) > 1)
        self.prefix.extend(_answer(call, self.messages[answer]) for call, answer in zip(calls, order, strict=True))
        return end

    def _pair(self, calls: list[JSON], answers: list[int]) -> list[int]:
        wanted = [call.get("id") for call in calls]
        given = {self.messages[answer].get("tool_call_id"): answer for answer in answers}
        if len(given) == len(answers) == len(set(wanted)) == len(calls) and set(given) == set(wanted):
            return [given[name] for name in wanted]
        return answers

    def _unanswered(self, at: int, end: int) -> None:
        if end < len(self.messages):
            raise self._refused(
                at,
                "unanswered",
                "a tool call has no answer, yet the conversation goes on",
                "The order of what followed cannot be known; export the missing tool message.",
            )
        self.cut = "the recording ends before every call of the last assistant message was answered"

    def _tool(self, at: int, index: int, call: JSON, answer: int, *, grouped: bool) -> None:
        source = f"{self._pointer(at)}/tool_calls/{index}"
        function = call["function"]
        recorded = self.messages[answer].get("name")
        if recorded is not None and recorded != function["name"]:
            raise self._refused(
                answer,
                "unpaired",
                "this tool message names another tool than the call at its place",
                "Calls and answers must stand in the same order.",
            )
        self.steps.append(
            ToolStep(
                source=source,
                tool=function["name"],
                arguments=_arguments(function, source),
                value=self.messages[answer].get("content"),
                group=at if grouped else None,
            )
        )

    def _user(self, at: int) -> int:
        before = self.messages[at - 1]
        if before["role"] != "assistant" or before.get("tool_calls") or before.get("content") is None:
            raise self._refused(
                at,
                "order",
                "a user message that answers nothing the agent said",
                "Between two user messages the agent must have spoken; merge them or export its turn.",
            )
        said = _said(self.messages[at])
        self.steps.append(HumanStep(source=self._pointer(at), question=before.get("content"), decision=said["content"]))
        self.prefix.append(said)
        return at + 1

    def _pointer(self, at: int) -> str:
        return f"{self.base}/{at}"

    def _refused(self, at: int, name: str, message: str, hint: str) -> Exception:
        return refused(name, self._pointer(at), message, hint)


def _said(message: dict[str, JSON]) -> dict[str, JSON]:
    return {"role": "user", "content": message.get("content")}


def _answer(call: JSON, message: dict[str, JSON]) -> dict[str, JSON]:
    """A tool message as a loop sends it back: the call's own id, not the message's, which an SDK may have rewritten;
    with the tool's name only if the recorded message has one, since most clients send none."""
    named = {"name": message["name"]} if message.get("name") is not None else {}
    known = {"tool_call_id": call["id"]} if "id" in call else {}
    return {"role": "tool", **named, "content": message.get("content"), **known}


def _arguments(function: dict[str, JSON], source: str) -> dict[str, JSON]:
    """The JSON object in the string; nothing or an empty string is a call without arguments."""
    raw = function.get("arguments")
    try:
        value = parse(raw.encode("utf-8", "surrogatepass")) if isinstance(raw, str) and raw.strip() else raw or {}
    except FixtureInvalid as error:
        raise refused(
            "arguments",
            f"{source}/function/arguments",
            f"not strict JSON: {error.findings[0].message}",
            "A tool cannot have been called with these; trim the run before this call.",
        ) from error
    if not isinstance(value, dict):
        raise refused(
            "arguments",
            f"{source}/function/arguments",
            "the arguments are not an object",
            "A tool is called with a JSON object.",
        )
    return value


FORMAT = Format(name=NAME, title="chat transcript with tool calls", sniff=sniff, heads=heads, read=read)
