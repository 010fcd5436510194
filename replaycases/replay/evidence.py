"""Is a file evidence? Fixtures, manifests, packets and detect rules are told by content, never by name.

The code under test must not see what it is judged by (contracts.md: never `expected`, never a later event). This
finds evidence that lies about in a repository; it is no defence against someone who hides a copy on purpose, which
is why nothing but the observed run decides.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

LARGEST = 64 * 1024 * 1024
"""Bytes above which a file is not read for its content; a fixture is smaller (fixture limits)."""

_START = b"{["
_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


def holds_evidence(stream: BinaryIO, *, size: int) -> bool:
    """True if the file is JSON, or JSON lines, and any object in it is a fixture, a manifest or a detect rule set.

    A packet embeds fixture and manifests, so it is found by them.
    """
    if size > LARGEST:
        return False
    head = stream.read(64).removeprefix(_BOM).lstrip(_BLANK)
    if head and head[0] not in _START:
        return False
    stream.seek(0)
    return any(_is_evidence(node) for document in _documents(stream.read()) for node in _objects(document))


def _documents(data: bytes) -> Iterator[Any]:
    text = data.removeprefix(_BOM)
    try:
        yield json.loads(text)
        return
    except (ValueError, RecursionError):
        lines = text.splitlines()
    for line in lines:
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            return


def _objects(document: Any) -> Iterator[dict[str, Any]]:
    stack = [document]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _is_evidence(node: dict[str, Any]) -> bool:
    recording = "expected" in node or "tool_events" in node or ("case_id" in node and "events" in node)
    fixture = "schema_version" in node and recording
    manifest = "manifest_version" in node and "fixture_hash" in node
    return fixture or manifest or _is_detect_rules(node)


def _is_detect_rules(node: dict[str, Any]) -> bool:
    """{statement: {any: [pattern], none?: [pattern]}}."""
    return bool(node) and all(
        isinstance(rule, dict) and isinstance(rule.get("any"), list) and set(rule) <= {"any", "none"}
        for rule in node.values()
    )
