"""One Langfuse observation of a boundary -> the step that it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.strict_json import parse
from replaycases.importers.exchanges import AgentTool, ModelExchange, Recorded
from replaycases.importers.langchain_messages import said_by_tool, unwrapped
from replaycases.importers.mended import read_json
from replaycases.importers.model_answers import answer_of, asked_in, tokens
from replaycases.importers.neutral import ModelStep, Note, RetrievalStep, ToolStep
from replaycases.importers.retrieved import chunks_of, documents_of, query_of
from replaycases.importers.sent_requests import request_in, settings_in, turns_in
from replaycases.importers.trace_tree import Record, Tree
from replaycases.importers.turns import arguments_of, error_of, failure
from replaycases.importers.typed import text_or_none

JSON = Any
LOST = {"content": "role"}
_SCALARS = ("true", "false", "null")


def decoded(value: JSON) -> JSON:
    """What a text holds, also where it was encoded twice; a text that holds no JSON object, list or text as it is."""
    for _ in range(3):
        if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
            return value
        try:
            value = read_json(value.encode("utf-8", "surrogatepass"))
        except FixtureInvalid:
            return value
    return value


def with_tools(records: Sequence[Record]) -> list[Record]:
    """The records, with the spans that are tools by what they hold or by their name marked as such."""
    parents = {record.parent for record in records}
    asked = {
        call.tool
        for record in records
        if record.kind == "model"
        for choice in answer_of(decoded(record.row.get("output")), "").choices
        for call in choice
    }
    return [
        replace(record, kind="tool")
        if record.kind == "code" and (_is_tool_message(record) or (record.name in asked and record.id not in parents))
        else record
        for record in records
    ]


def recorded(tree: Tree) -> tuple[list[Recorded], list[Note]]:
    reader = _Reader(tree=tree)
    return reader.read(), reader.notes


@dataclass
class _Reader:
    tree: Tree

    def read(self) -> list[Recorded]:
        self.notes: list[Note] = []
        found: list[Recorded] = []
        before: tuple[Record, ModelExchange] | None = None
        for crossing in self.tree.crossings:
            record = crossing.record
            if record.kind == "model":
                exchange = self._model(record)
                if before and _is_next_part(before[0], record):
                    exchange = found[-1] = self._joined(before[1], exchange)
                else:
                    self._lacks(exchange, record)
                    found.append(exchange)
                before = (record, exchange)
                continue
            before = None
            if crossing.agent:
                arguments, name = arguments_of(decoded(record.row.get("input"))), _tool_name(record)
                found.append(AgentTool(source=record.source, tool=name, arguments=arguments, call_id=_call_id(record)))
            else:
                found.append(_tool(record) if record.kind == "tool" else self._retrieval(record))
        return found

    def _model(self, record: Record) -> ModelExchange:
        row = record.row
        output = decoded(row.get("output"))
        answer = answer_of(output, f"{record.source}/output")
        asked, branches = asked_in(answer, record.source)
        self.notes += [*answer.notes, *branches]
        inputs, reconstructed = _inputs(record, output)
        failed, said = row.get("level") == "ERROR", row.get("statusMessage")
        if failed:
            self._note("failed_call", record, "the model call ended with an error")
        response = output if output is not None or not failed else said
        step = ModelStep(
            source=record.source,
            started_at=record.started_at,
            ended_at=record.ended_at,
            request=request_in(inputs, {}),
            response=response,
            answered=response is not None,
            usage=answer.usage or tokens(row.get("usageDetails")) or tokens(row.get("usage")),
            serving=_serving(row, answer.returned_model),
            reconstructed=reconstructed,
        )
        sent = turns_in(inputs, f"{record.source}/input", "" if _is_wrapped(record) else f"{record.source}/input")
        return ModelExchange(step=step, sent=sent, asked=asked, said=answer.said)

    def _lacks(self, exchange: ModelExchange, record: Record) -> None:
        if not exchange.step.request:
            self._note("content_lost", record, "a model call lost its input", "what the model was asked is unknown")
        if not exchange.step.answered:
            self._note("content_lost", record, "a model call has no output", "what the model said is unknown")

    def _joined(self, before: ModelExchange, after: ModelExchange) -> ModelExchange:
        """One answer of the model that stands in two generations."""
        text = "an answer of the model stands in several generations: they were put together"
        self.notes.append(Note(kind="guessed_pairing", source=after.step.source, text=text, boundary="model"))
        response = _one_message(before.step.response, after.step.response)
        step = replace(before.step, response=response, ended_at=after.step.ended_at, usage=None)
        return replace(before, step=step, asked=before.asked + after.asked, said=before.said or after.said)

    def _retrieval(self, record: Record) -> RetrievalStep:
        output = decoded(record.row.get("output"))
        chunks, notes = chunks_of(output, record.source)
        self.notes += notes
        return RetrievalStep(
            source=record.source,
            started_at=record.started_at,
            ended_at=record.ended_at,
            query=query_of(decoded(record.row.get("input"))),
            chunks=chunks or [],
            answered=chunks is not None,
            documents=documents_of(output),
        )

    def _note(self, kind: Any, record: Record, text: str, cost: str = "") -> None:
        self.notes.append(Note(kind=kind, source=record.source, text=text, cost=cost, boundary="model"))


def documents_in(records: Iterable[Record]) -> tuple[str, ...]:
    """What every retrieval names, also one inside a tool."""
    outputs = (decoded(record.row.get("output")) for record in records if record.kind == "retrieval")
    return tuple(dict.fromkeys(name for output in outputs for name in documents_of(output)))


def _inputs(record: Record, output: JSON) -> tuple[dict[str, JSON], bool]:
    """What was sent as one object; {} where it was lost. Whether it was put together: from messages by themselves, and
    what stands elsewhere."""
    told = decoded(record.row.get("input"))
    if told is None or told in (LOST, "", [], {}):
        return {}, False
    echo = output if isinstance(output, dict) and output.get("object") == "response" else {}
    if isinstance(told, dict) and not _is_message(told):
        return told, False
    messages = [told] if isinstance(told, dict) else told
    offered = _offered(record)
    if isinstance(messages, list):
        offered += [message["content"] for message in messages if _is_definition(message)]
        messages = [message for message in messages if not _is_definition(message)]
    echoed = {key: echo[key] for key in ("instructions", "tools") if echo.get(key)}
    known = {"tools": offered} if offered else {}
    key = "input" if echo else "messages" if isinstance(messages, list) else "prompt"
    return {**known, **echoed, key: messages}, True


def _is_wrapped(record: Record) -> bool:
    told = decoded(record.row.get("input"))
    return isinstance(told, dict) and not _is_message(told)


def _is_message(told: dict[str, JSON]) -> bool:
    return "role" in unwrapped(told)


def _is_definition(message: JSON) -> bool:
    """Whether this is a tool that was offered, which some exports put among the messages."""
    content = message.get("content") if isinstance(message, dict) and message.get("role") == "tool" else None
    return isinstance(content, dict) and content.get("type") == "function" and isinstance(content.get("function"), dict)


def _offered(record: Record) -> list[JSON]:
    """The tools that the tracer's own metadata says were offered."""
    told = _attributes(record)
    listed = decoded(told.get("gen_ai.tool.definitions"))
    if isinstance(listed, list):
        return list(listed)
    parameters = decoded(told.get("model_request_parameters"))
    parameters = parameters if isinstance(parameters, dict) else {}
    return [
        {
            "type": "function",
            "name": item.get("name"),
            "description": item.get("description"),
            "parameters": item.get("parameters_json_schema"),
        }
        for key in ("function_tools", "output_tools")
        for item in (parameters[key] if isinstance(parameters.get(key), list) else ())
        if isinstance(item, dict)
    ]


def _metadata(record: Record) -> dict[str, JSON]:
    told = decoded(record.row.get("metadata"))
    return told if isinstance(told, dict) else {}


def _attributes(record: Record) -> dict[str, JSON]:
    told = _metadata(record).get("attributes")
    return told if isinstance(told, dict) else {}


def _serving(row: dict[str, JSON], returned: str | None) -> dict[str, JSON] | None:
    record = Record(id="", parent=None, kind="model", name="", source="", row=row)
    told = {**_metadata(record), **_attributes(record)}
    parameters = decoded(row.get("modelParameters"))
    parameters = parameters if isinstance(parameters, dict) else {}
    providers = ("gen_ai.provider.name", "ls_provider", "gen_ai.system", "llm.system", "llm.provider")
    asked = ("gen_ai.request.model", "ls_model_name", "llm.request.model_name")
    named = {
        "provider": _first(told, providers),
        "requested_model": _first(told, asked),
        "returned_model": returned or text_or_none(row.get("model")),
    }
    serving: dict[str, JSON] = {key: value for key, value in named.items() if value}
    settings = settings_in({key: _scalar(value) for key, value in parameters.items()})
    if settings:
        serving["settings"] = settings
    return serving or None


def _scalar(value: JSON) -> JSON:
    """A setting that was stored as text, as what it was."""
    if not isinstance(value, str):
        return value
    if value in _SCALARS or value[:1].isdigit() or value[:1] in ("{", "[", "-"):
        try:
            return parse(value.encode("utf-8", "surrogatepass"))
        except FixtureInvalid:
            return value
    return value


def _is_next_part(before: Record, record: Record) -> bool:
    """Whether this generation goes on with the answer of the one before: it has no input of its own, and starts the
    moment the other ends, in the same place and of the same model."""
    if decoded(record.row.get("input")) != LOST or before.ended is None or record.started is None:
        return False
    same = all(before.row.get(key) == record.row.get(key) for key in ("name", "model", "parentObservationId"))
    return same and before.ended.at == record.started.at


def _one_message(first: JSON, second: JSON) -> JSON:
    """Two parts of an answer as one message, where both are lists of blocks; else both, in order."""
    parts = [part.get("content") if isinstance(part, dict) else None for part in (first, second)]
    if all(isinstance(part, list) for part in parts):
        return {**first, "content": [*parts[0], *parts[1]]}  # type: ignore[misc]
    return [first, second]


def _tool(record: Record) -> ToolStep:
    row = record.row
    raw = row.get("output")
    value, failed = said_by_tool(decoded(raw)) or (raw, False)
    ended_badly = row.get("level") == "ERROR"
    message = text_or_none(row.get("statusMessage"))
    error = error_of(message, otherwise="error") if ended_badly and message else None
    return ToolStep(
        source=record.source,
        started_at=record.started_at,
        ended_at=record.ended_at,
        tool=_tool_name(record),
        arguments=_arguments(row),
        value=value,
        error=error or (failure(value) if failed or ended_badly else None),
        answered=raw is not None or ended_badly,
        call_id=_call_id(record),
    )


def _is_tool_message(record: Record) -> bool:
    told = decoded(record.row.get("output"))
    return isinstance(told, dict) and unwrapped(told).get("role") == "tool" and "tool_call_id" in unwrapped(told)


def _arguments(row: dict[str, JSON]) -> JSON:
    """What the tool was called with, also where the tracer put it under `input`."""
    told = arguments_of(decoded(row.get("input")))
    inner = told.get("input") if isinstance(told, dict) and set(told) == {"input"} else None
    return inner if isinstance(inner, dict) else told


def _tool_name(record: Record) -> str:
    told = decoded(record.row.get("output"))
    message = unwrapped(told) if isinstance(told, dict) else {}
    said = text_or_none(message.get("name")) if message.get("role") == "tool" else None
    return _first(_attributes(record), ("gen_ai.tool.name", "tool.name")) or said or record.name or "tool"


def _call_id(record: Record) -> str | None:
    told = decoded(record.row.get("output"))
    message = unwrapped(told) if isinstance(told, dict) else {}
    return text_or_none(message.get("tool_call_id")) or _first(_attributes(record), ("gen_ai.tool.call.id", "tool.id"))


def _first(holder: dict[str, JSON], keys: tuple[str, ...]) -> str | None:
    return next((said for key in keys if (said := text_or_none(holder.get(key)))), None)
