"""Ids by which the answer of a tool names documents and chunks: seen by its shape, whatever the tool is called.

What was looked up by a tool is in its answer: a list of results, or one, as JSON, as JSON text, or in blocks of text.
An id that can only be a chunk's or a document's counts wherever it stands; `id`, `source`, `url` and the like count
where a text, a title or a score stands beside them. At most `MOST_IDS` are taken of one answer and `MOST_VALUES` of its
values looked at; an id is no longer than `LONGEST_ID`, and text that holds JSON no larger than `LARGEST_TEXT`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import orjson

from replaycases.importers.neutral import ModelStep, Step, ToolStep

JSON = Any
MOST_IDS = 1000
MOST_VALUES = 50_000
LONGEST_ID = 500
LARGEST_TEXT = 4 * 1024 * 1024
DEEPEST = 16
_LONGEST_NUMBER = 128
_START = 64
_OWN = frozenset(
    {"chunk_id", "chunkId", "x-amz-bedrock-kb-chunk-id", "document_id", "documentId", "doc_id", "docId", "ref_doc_id"}
    | {"source_id", "sourceId", "source_document_id", "file_id", "node_id", "passage_id", "source_uri"}
)
_SHARED = frozenset(
    {"id", "_id", "id_", "uuid", "key", "source", "uri", "url", "link", "path", "file_path", "filename"}
)
_BESIDE = frozenset(
    {"content", "page_content", "text", "snippet", "chunk", "passage", "excerpt", "body", "summary", "title"}
    | {"score", "_score", "@search.score", "relevance_score", "distance", "similarity", "_source", "metadatas"}
)
# Where a result keeps what is said of it: ids there are its own.
_OF_A_RESULT = frozenset(
    {"metadata", "metadatas", "meta", "location", "_source", "kwargs", "properties", "payload", "node", "document"}
)
# Lists of ids beside lists of texts, as vector stores give columns.
_COLUMNS = frozenset({"documents", "metadatas", "distances"})


def named_in(answer: JSON) -> tuple[str, ...]:
    """The ids, each once, in their order."""
    found: dict[str, None] = {}
    for name in _ids(answer):
        found[name] = None
        if len(found) == MOST_IDS:
            break
    return tuple(found)


def named_by(steps: Iterable[Step]) -> Iterator[str]:
    """The ids in the answers of tools, and in those of tools that the model's provider ran."""
    for step in steps:
        if isinstance(step, ToolStep) and step.answered and step.error is None:
            yield from named_in(step.value)
        elif isinstance(step, ModelStep):
            yield from named_in(answered_by_provider(step.response))


def answered_by_provider(response: JSON) -> list[JSON]:
    """What the response of a model holds of tools that the provider ran: what its searches found."""
    found = response if isinstance(response, dict) else {}
    listed = chain.from_iterable(part for part in (found.get("output"), found.get("content")) if isinstance(part, list))
    ran = [item for item in listed if isinstance(item, dict) and _is_answer(item.get("type"))]
    return [item[name] for item in ran for name in ("results", "content", "output") if name in item]


def _is_answer(kind: JSON) -> bool:
    return isinstance(kind, str) and kind.endswith(("_tool_result", "_search_call", "mcp_call"))


def _ids(answer: JSON) -> Iterator[str]:
    """From the outside in: of each value its own ids, then what is in it."""
    waiting: list[tuple[JSON, int, bool]] = [(answer, 0, False)]
    for _ in range(MOST_VALUES):
        if not waiting:
            return
        value, depth, of_result = waiting.pop()
        value = _decoded(value) if isinstance(value, str) else value
        if isinstance(value, dict):
            of_result = of_result or not _BESIDE.isdisjoint(value) or not _OWN.isdisjoint(value)
            yield from _names(value, of_result)
            inner = [(held, depth + 1, of_result and _is_part(name)) for name, held in value.items() if _may_hold(held)]
        else:
            listed = value if isinstance(value, list) else ()
            inner = [(held, depth + 1, of_result) for held in listed if _may_hold(held)]
        if depth < DEEPEST:
            waiting += reversed(inner)


def _is_part(name: str) -> bool:
    return name in _OF_A_RESULT or str(name).endswith("Location")


def _names(told: dict[str, JSON], of_result: bool) -> Iterator[str]:
    for name, held in told.items():
        if name in _OWN or (of_result and name in _SHARED):
            yield from _id(held)
    if not _COLUMNS.isdisjoint(told):
        columns = told.get("ids")
        for column in columns if isinstance(columns, list) else ():
            for held in column if isinstance(column, list) else (column,):
                yield from _id(held)


def _id(held: JSON) -> Iterator[str]:
    if isinstance(held, str) and 0 < len(held) <= LONGEST_ID:
        yield held
    elif isinstance(held, int) and not isinstance(held, bool) and held.bit_length() <= _LONGEST_NUMBER:
        yield str(held)


def _may_hold(value: JSON) -> bool:
    return isinstance(value, dict | list) or (isinstance(value, str) and value[:_START].lstrip()[:1] in ("{", "["))


def _decoded(text: str) -> JSON:
    if not _may_hold(text) or len(text) > LARGEST_TEXT:
        return None
    try:
        return orjson.loads(text)
    except ValueError:
        return None
