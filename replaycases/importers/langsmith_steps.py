"""One LangSmith run of a boundary -> the step that it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from replaycases.fixture.model_request import CATALOGUE_KEYS
from replaycases.importers.answer_ids import named_in
from replaycases.importers.exchanges import AgentTool, ModelExchange, Recorded
from replaycases.importers.langchain_messages import said_by_tool, unwrapped
from replaycases.importers.model_answers import answer_of, asked_in, tokens
from replaycases.importers.neutral import ModelStep, Note, RetrievalStep, ToolStep
from replaycases.importers.retrieved import chunks_of, documents_of, query_of
from replaycases.importers.sent_requests import MODEL_NAMES, request_in, settings_in, settings_of, turns_in
from replaycases.importers.trace_tree import Record, Tree
from replaycases.importers.turns import arguments_of, error_of, failure
from replaycases.importers.typed import object_or_empty, text_or_none

JSON = Any


def recorded(tree: Tree) -> tuple[list[Recorded], list[Note]]:
    found: list[Recorded] = []
    notes: list[Note] = []
    for crossing in tree.crossings:
        record = crossing.record
        if crossing.agent:
            found.append(
                AgentTool(
                    source=record.source,
                    tool=record.name,
                    arguments=_arguments(record.row),
                    call_id=_call_id(record.row),
                )
            )
        elif record.kind == "tool":
            found.append(_tool(record))
        elif record.kind == "retrieval":
            found.append(_retrieval(record, notes))
        else:
            found += _models(record, notes)
    return found, notes


def metadata_of(row: dict[str, JSON]) -> dict[str, JSON]:
    return object_or_empty(object_or_empty(row.get("extra")).get("metadata"))


def _models(record: Record, notes: list[Note]) -> Iterator[ModelExchange]:
    """One exchange, or one for each list of messages where a batch was sent."""
    inputs, outputs = object_or_empty(record.row.get("inputs")), record.row.get("outputs")
    batches = inputs.get("messages")
    if not (isinstance(batches, list) and batches and isinstance(batches[0], list) and not _is_pair(batches[0])):
        yield _model(record, inputs, "", outputs, notes)
        return
    generations = object_or_empty(outputs).get("generations")
    for at, messages in enumerate(batches):
        if len(batches) > 1 and isinstance(generations, list):
            answered = (
                {**object_or_empty(outputs), "generations": generations[at : at + 1]} if at < len(generations) else None
            )
        else:
            answered = outputs
        place = f"{record.source}/inputs/messages/{at}"
        yield _model(record, {**inputs, "messages": messages}, place, answered, notes)


def _model(record: Record, inputs: dict[str, JSON], place: str, outputs: JSON, notes: list[Note]) -> ModelExchange:
    """`place` points to the messages where they are one list of a batch, which a framework keeps in a form of its own:
    such a request, and one whose tools stand apart from it, is put together."""
    parameters = object_or_empty(object_or_empty(record.row.get("extra")).get("invocation_params"))
    answer = answer_of(outputs, f"{record.end}/outputs")
    error = record.row.get("error")
    asked, branches = asked_in(answer, record.end)
    notes += [*answer.notes, *branches]
    if not inputs:
        cost = "what the model was asked here is unknown"
        notes.append(_note("content_lost", record, "a model call has no input in the file", cost))
    if error:
        notes.append(_note("failed_call", record, "the model call ended with an error"))
    elif not outputs:
        cost = "what the model said here is unknown"
        notes.append(_note("content_lost", record, "a model call has no answer in the file", cost))
    step = ModelStep(
        source=record.source,
        started_at=record.started_at,
        ended_at=record.ended_at,
        request=request_in(inputs, parameters) if inputs else {},
        response=outputs or error or None,
        answered=bool(outputs or error),
        usage=answer.usage
        or tokens(object_or_empty(object_or_empty(outputs).get("llm_output")).get("token_usage"))
        or tokens(object_or_empty(outputs).get("usage_metadata")),
        serving=_serving(record.row, inputs, parameters, answer.returned_model),
        reconstructed=bool(place) or any(parameters.get(key) and key not in inputs for key in CATALOGUE_KEYS),
    )
    return ModelExchange(
        step=step, sent=turns_in(inputs, f"{record.source}/inputs", place), asked=asked, said=answer.said
    )


def _serving(
    row: dict[str, JSON], inputs: dict[str, JSON], parameters: dict[str, JSON], returned: str | None
) -> dict[str, JSON] | None:
    told = metadata_of(row)
    asked = next(
        (value for source in (parameters, inputs) for key in MODEL_NAMES if text_or_none(value := source.get(key))),
        None,
    )
    asked = asked or text_or_none(told.get("ls_model_name"))
    settings = {**settings_in(inputs), **settings_of(parameters)}
    named = {"provider": text_or_none(told.get("ls_provider")), "requested_model": asked, "returned_model": returned}
    serving: dict[str, JSON] = {key: value for key, value in named.items() if value}
    if parameters or any(key in inputs for key in MODEL_NAMES):
        serving["settings"] = settings
    return serving or None


def _tool(record: Record) -> ToolStep:
    row = record.row
    error, outputs = row.get("error"), row.get("outputs")
    told = outputs["output"] if isinstance(outputs, dict) and set(outputs) == {"output"} else outputs
    value, failed = said_by_tool(told) or (told, False)
    answered = bool(outputs) or bool(error)
    raised = error_of(error, otherwise="exception") if isinstance(error, str) and error else None
    return ToolStep(
        source=record.source,
        started_at=record.started_at,
        ended_at=record.ended_at,
        tool=record.name,
        arguments=_arguments(row),
        value=value,
        error=raised or (failure(value) if failed else None),
        answered=answered,
        call_id=_call_id(row),
    )


def _call_id(row: dict[str, JSON]) -> str | None:
    told = object_or_empty(object_or_empty(row.get("outputs")).get("output"))
    extra = object_or_empty(row.get("extra"))
    places = (unwrapped(told), extra, object_or_empty(extra.get("metadata")))
    return next((place["tool_call_id"] for place in places if text_or_none(place.get("tool_call_id"))), None)


def _arguments(row: dict[str, JSON]) -> JSON:
    """What the tool was called with; LangChain records text input under `input`, JSON or not."""
    inputs = row.get("inputs")
    if isinstance(inputs, dict) and set(inputs) == {"input"} and isinstance(inputs["input"], str):
        read = arguments_of(inputs["input"])
        return read if isinstance(read, dict) and read else inputs
    return arguments_of(inputs)


def documents_in(records: Iterable[Record]) -> tuple[str, ...]:
    """What every retrieval names, also one inside a tool, and what a tool gave beside the answer that the model saw."""
    found: dict[str, None] = {}
    for record in records:
        outputs = record.row.get("outputs")
        if record.kind == "retrieval":
            found |= dict.fromkeys(documents_of(outputs))
        elif record.kind == "tool":
            told = object_or_empty(object_or_empty(outputs).get("output"))
            found |= dict.fromkeys(named_in(unwrapped(told).get("artifact")))
    return tuple(found)


def _retrieval(record: Record, notes: list[Note]) -> RetrievalStep:
    chunks, noted = chunks_of(record.row.get("outputs"), record.end)
    notes += noted
    return RetrievalStep(
        source=record.source,
        started_at=record.started_at,
        ended_at=record.ended_at,
        query=query_of(record.row.get("inputs")),
        chunks=chunks or [],
        answered=chunks is not None,
        documents=documents_of(record.row.get("outputs")),
    )


def _is_pair(value: list[JSON]) -> bool:
    return len(value) == 2 and all(isinstance(part, str) for part in value)


def _note(kind: Any, record: Record, text: str, cost: str = "") -> Note:
    boundary: Any = {"model": "model", "retrieval": "retrieval"}.get(record.kind, "tool")
    return Note(kind=kind, source=record.source, text=text, cost=cost, boundary=boundary)
