"""Values of OTLP as plain JSON that may stand in a fixture, and what of them could not be kept as it was."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from sys import intern
from typing import Any

import orjson

from replaycases.fixture.canonical import MAX_INTEGER
from replaycases.fixture.pointer import ABSENT

JSON = Any
# `envelope.dump` writes what was read, with a writer that nests this deep. Around the value of an event's attribute
# stand twelve objects and lists, and a key of an object takes four: the pair, its value, and both of its wrappers.
WRITTEN_DEPTH = 254
MAX_DEPTH = (WRITTEN_DEPTH - 12) // 4 - 1
BIG = "a whole number beyond 2^53 - 1 is kept as text"
NO_NUMBER = "a value that is no finite number is kept as text"
TOO_DEEP = f"what is nested deeper than {MAX_DEPTH} was dropped"
HALF_CHARACTER = "half of a surrogate pair was replaced by U+FFFD"
TWICE = "an attribute stands twice in one place; the last one is kept"
UNREADABLE = "a value of no known type was dropped"

_SUSPECT = re.compile(r"\d{16}|NaN|Infinity|[eE]\+?\d|\\u[dD][89a-fA-F]")
_HEX = re.compile(r"(?:[0-9a-f]{2})+\Z")
_TYPES = {
    "stringValue": "text",
    "string_value": "text",
    "intValue": "int",
    "int_value": "int",
    "doubleValue": "double",
    "double_value": "double",
    "boolValue": "bool",
    "bool_value": "bool",
    "arrayValue": "array",
    "array_value": "array",
    "kvlistValue": "object",
    "kvlist_value": "object",
    "bytesValue": "text",
    "bytes_value": "text",
}


def attributes_of(pairs: JSON, faults: list[str], depth: int = 0) -> dict[str, JSON]:
    """A list of {key, value} as an object. A printer that wrote an object already is taken at its word."""
    if isinstance(pairs, dict):
        return {intern(key): standing(value, faults, depth) for key, value in pairs.items()}
    found: dict[str, JSON] = {}
    for pair in pairs if isinstance(pairs, list) else ():
        if not isinstance(pair, dict) or not isinstance(pair.get("key"), str):
            faults.append(UNREADABLE)
            continue
        key, value = intern(pair["key"]), pair.get("value")
        if key in found:
            faults.append(TWICE)
        text = value.get("stringValue", ABSENT) if isinstance(value, dict) else ABSENT
        found[key] = text if type(text) is str else plain(value, faults, depth)
    return found


def plain(value: JSON, faults: list[str], depth: int = 0) -> JSON:
    """One AnyValue of OTLP JSON."""
    if not isinstance(value, dict):
        return None if value is None else standing(value, faults, depth)
    for name, inner in value.items():
        kind = _TYPES.get(name)
        if kind is not None:
            return _typed(kind, inner, faults, depth)
    if value:
        faults.append(UNREADABLE)
    return None


def _typed(kind: str, inner: JSON, faults: list[str], depth: int) -> JSON:
    if kind in ("array", "object") and depth > MAX_DEPTH:
        faults.append(TOO_DEEP)
        return None
    if kind == "array":
        values = inner.get("values") if isinstance(inner, dict) else inner
        return [plain(item, faults, depth + 1) for item in values] if isinstance(values, list) else []
    if kind == "object":
        return attributes_of(inner.get("values") if isinstance(inner, dict) else inner, faults, depth + 1)
    if kind == "int":
        return whole(inner, faults, depth)
    if kind == "double":
        return number(inner, faults, depth)
    if kind == "bool" and isinstance(inner, bool):
        return inner
    return inner if isinstance(inner, str) else standing(inner, faults, depth)


def whole(value: JSON, faults: list[str], depth: int = 0) -> int | str | JSON:
    """An int64, that JSON holds as a text or as a number."""
    if isinstance(value, str):
        try:
            value = int(value) if len(value) <= 20 else value
        except ValueError:
            faults.append(UNREADABLE)
    return standing(value, faults, depth)


def number(value: JSON, faults: list[str], depth: int = 0) -> JSON:
    """A double, that JSON holds as a number, or as a text where it is not finite."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            faults.append(UNREADABLE)
    return standing(value, faults, depth)


def standing(value: JSON, faults: list[str], depth: int = 0) -> JSON:
    """The value with everything replaced that cannot stand in a fixture."""
    if type(value) is str:
        return _sound(value, faults)
    if type(value) is int:
        return value if -MAX_INTEGER <= value <= MAX_INTEGER else _as_text(value, BIG, faults)
    if type(value) is float:
        if not math.isfinite(value):
            return _as_text(value, NO_NUMBER, faults)
        beyond = value.is_integer() and not -MAX_INTEGER <= value <= MAX_INTEGER
        return _as_text(value, BIG, faults) if beyond else value
    if isinstance(value, dict | list) and depth > MAX_DEPTH:
        faults.append(TOO_DEEP)
        return None
    if isinstance(value, dict):
        return {_sound(key, faults): standing(item, faults, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [standing(item, faults, depth + 1) for item in value]
    return value


def _sound(text: str, faults: list[str]) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        faults.append(HALF_CHARACTER)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _as_text(value: float, why: str, faults: list[str]) -> str:
    faults.append(why)
    return str(value)


def loads(text: str | bytes, faults: list[str]) -> JSON:
    """Any JSON, also with what strict readers refuse (NaN is a text then); ABSENT if it is none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        pass
    try:
        return whole_characters(json.loads(text, parse_constant=str), faults)
    except (ValueError, RecursionError):
        return ABSENT


def whole_characters(value: JSON, faults: list[str]) -> JSON:
    """The value with every half of a surrogate pair replaced."""
    if isinstance(value, str):
        return _sound(value, faults)
    if isinstance(value, dict):
        return {_sound(key, faults): whole_characters(item, faults) for key, item in value.items()}
    return [whole_characters(item, faults) for item in value] if isinstance(value, list) else value


def json_in(text: JSON, faults: list[str]) -> JSON:
    """The JSON object or list that an attribute holds as text; ABSENT where it holds none. What is no text is returned
    as it is."""
    value = parsed(text, faults)
    if not isinstance(text, str) or value is ABSENT:
        return value
    return standing(value, faults) if _SUSPECT.search(text) or _deep(text) else value


def parsed(text: JSON, faults: list[str]) -> JSON:
    """As `json_in`, with whatever numbers and depth there are."""
    if not isinstance(text, str):
        return text
    return loads(text, faults) if text.lstrip()[:1] in ("{", "[") else ABSENT


def decoded(recorded: JSON) -> JSON:
    """What a recorder encoded as JSON, so that a text stands in quotes; as it is where it is no JSON."""
    if not isinstance(recorded, str):
        return recorded
    faults: list[str] = []
    value = loads(recorded, faults)
    return recorded if value is ABSENT else standing(value, faults)


def _deep(text: str) -> bool:
    return text.count("[") + text.count("{") > MAX_DEPTH


def nanos(value: JSON, faults: list[str]) -> int:
    """Nanoseconds since 1970, text or number; 0 for none, and for what is none."""
    try:
        found = int(value) if isinstance(value, int | float) or (isinstance(value, str) and len(value) <= 20) else 0
    except (ValueError, OverflowError):
        found = -1
    if 0 <= found < 2**64:
        return found
    faults.append("a time could not be read")
    return 0


def count_of(value: JSON, faults: list[str]) -> int:
    """A number of 32 bits without a sign, text or number; 0 for none, and for what is none."""
    if not value:
        return 0
    try:
        found = int(value) if isinstance(value, int) or (isinstance(value, str) and len(value) <= 10) else -1
    except ValueError:
        found = -1
    if 0 <= found < 2**32:
        return found
    faults.append("a count could not be read")
    return 0


def id_of(value: JSON, size: int) -> str:
    """An id of `size` bytes, hexadecimal or as protobuf's JSON printer writes it in base64; "" for none."""
    if not isinstance(value, str) or not value:
        return ""
    if len(value) != 2 * size and len(value) == -(-size // 3) * 4:
        try:
            return _no_zeros(base64.b64decode(value, validate=True).hex())
        except (binascii.Error, ValueError):
            return value
    return _no_zeros(value.lower())


def _no_zeros(text: str) -> str:
    return text if text.strip("0") else ""


def is_hex(text: str) -> bool:
    return _HEX.match(text) is not None
