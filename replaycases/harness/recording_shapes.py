"""What a recording may hold: JSON that every reader reads alike, in shapes that are known to the last key.

Each function gives "" for what is well and else one plain sentence with the place, which never quotes a value.
"""

from __future__ import annotations

import math
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional

MAX_DEPTH = 100
MAX_STRING = 8 * 1024 * 1024
MAX_KEY = 1024
LARGEST_WHOLE = 2**53 - 1
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SERVING = ("provider", "requested_model", "returned_model", "api_version", "settings")
_USAGE = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "total_tokens", "cost", "currency")
_OUTCOME = ("message", "status", "action", "claims", "authorization", "structured", "policies_used")


def json_fault(value: Any, *, asked: bool = False) -> str:
    """Whether the value is JSON. What is `asked` may hold tuples, which a replay sends as arrays too; those of an
    answer would come back as something else."""
    return "" if _is_plain(value, 0) else _fault_in(value, asked, "", 0)


def _is_plain(value: Any, depth: int) -> bool:
    """Well, and of JSON's own types: what nearly every payload is, found without writing down places."""
    kind = type(value)
    if kind is str:
        return _is_text(value, MAX_STRING)
    if kind is int or kind is float:
        return bool(-LARGEST_WHOLE <= value <= LARGEST_WHOLE)
    if kind is list:
        return depth < MAX_DEPTH and all(_is_plain(item, depth + 1) for item in value)
    if kind is dict:
        return depth < MAX_DEPTH and all(
            type(key) is str and _is_text(key, MAX_KEY) and _is_plain(item, depth + 1) for key, item in value.items()
        )
    return value is None or kind is bool


def _is_text(text: str, most: int) -> bool:
    return len(text) <= most and (text.isascii() or not _string_fault(text, "", most))


def _fault_in(value: Any, asked: bool, at: str, depth: int) -> str:
    if depth > MAX_DEPTH:
        return "%s: nested deeper than %d levels, or in itself" % (at, MAX_DEPTH)
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, str):
        return _string_fault(value, at, MAX_STRING)
    if isinstance(value, (int, float)):
        return _number_fault(value, at)
    if isinstance(value, list) or (asked and isinstance(value, tuple)):
        parts = (_fault_in(item, asked, "%s/%d" % (at, i), depth + 1) for i, item in enumerate(value))
        return next(filter(None, parts), "")
    if isinstance(value, dict):
        return next(filter(None, (_member_fault(key, item, asked, at, depth) for key, item in value.items())), "")
    return "%s: a Python %s is no JSON" % (at or "/", type(value).__name__)


def _member_fault(key: Any, item: Any, asked: bool, at: str, depth: int) -> str:
    if not isinstance(key, str):
        return "%s: a key is a %s and no text" % (at or "/", type(key).__name__)
    fault = _string_fault(key, at, MAX_KEY)
    place = "%s/%s" % (at, key[:80].replace("~", "~0").replace("/", "~1"))
    return fault or _fault_in(item, asked, place, depth + 1)


def _string_fault(text: str, at: str, most: int) -> str:
    if len(text) > most:
        return "%s: a text of more than %d characters" % (at or "/", most)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "%s: half of a surrogate pair" % (at or "/")
    return ""


def _number_fault(value: Any, at: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "%s: not a number, or infinite" % (at or "/")
    if abs(value) > LARGEST_WHOLE and value == int(value):
        return "%s: a whole number beyond 2^53 - 1: record it as text" % (at or "/")
    return ""


def chunks_fault(chunks: Any) -> str:
    """[{id, text, score?}], and nothing else."""
    if not isinstance(chunks, list):
        return "chunks must be a list of {id, text, score?}"
    for at, chunk in enumerate(chunks):
        if not isinstance(chunk, dict) or not {"id", "text"} <= set(chunk) <= {"id", "text", "score"}:
            return "/%d: a chunk is {id, text, score?} and nothing else" % at
        if not _is_name(chunk["id"]) or not isinstance(chunk["text"], str):
            return "/%d: id and text of a chunk are texts, and the id is not empty" % at
        if not (chunk.get("score") is None or _is_number(chunk["score"])):
            return "/%d/score: not a number" % at
    return json_fault(chunks)


def serving_fault(serving: Any) -> str:
    if not isinstance(serving, dict) or not set(serving) <= set(_SERVING):
        return "serving is an object of %s and nothing else" % ", ".join(_SERVING)
    for name, value in serving.items():
        wanted = dict if name == "settings" else str
        if value is not None and (not isinstance(value, wanted) or value == ""):
            return "/%s: has another type, or is empty" % name
    return json_fault(serving, asked=True)


def usage_fault(usage: Any) -> str:
    if not isinstance(usage, dict) or not set(usage) <= set(_USAGE):
        return "usage is an object of %s and nothing else" % ", ".join(_USAGE)
    for name, value in usage.items():
        if name == "currency":
            well = _is_name(value)
        else:
            well = _is_number(value) and value >= 0 and (name == "cost" or isinstance(value, int))
        if not well:
            return "/%s: has another type" % name
    return json_fault(usage)


def texts_fault(texts: Any, what: str, *, content: bool = True) -> str:
    """[{name, version, sha256, content?}]: templates or policies; those that a run names as used have no content."""
    known = {"name", "version", "sha256"} | ({"content"} if content else set())
    if not isinstance(texts, list):
        return "%s must be a list" % what
    for at, text in enumerate(texts):
        if not isinstance(text, dict) or not {"name", "version", "sha256"} <= set(text) <= known:
            return "%s/%d: must be an object of %s and nothing else" % (what, at, ", ".join(sorted(known)))
        if not (_is_name(text["name"]) and _is_name(text["version"]) and _is_sha256(text["sha256"])):
            return "%s/%d: name and version are texts, sha256 is bare lower-case hex" % (what, at)
        if not isinstance(text.get("content", ""), str):
            return "%s/%d/content: must be a text" % (what, at)
    return json_fault(texts)


def outcome_fault(outcome: Any) -> str:
    """What `finish` reports."""
    for name in ("message", "status", "action", "authorization"):
        if not (outcome[name] is None or isinstance(outcome[name], str)):
            return "%s must be a text" % name
    claims = outcome.get("claims", [])
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        return "claims must be a list of texts"
    return texts_fault(outcome.get("policies_used", []), "policies_used", content=False) or json_fault(
        outcome, asked=True
    )


def name_fault(value: Any, what: str) -> str:
    return "" if _is_name(value) else "%s must be a text that is not empty" % what


def first(*faults: str) -> Optional[str]:
    return next(filter(None, faults), None)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != "" and not _string_fault(value, "", MAX_STRING)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_sha256(value: Any) -> bool:
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None
