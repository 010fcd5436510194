"""What may happen to a file on its way, drawn by hypothesis."""

from __future__ import annotations

import copy
import json
from typing import Any

import yaml
from hypothesis import strategies as st

JSON = Any
ODD = st.sampled_from(
    [None, True, 0, -1, 1e300, "", "x", "[", '"', "CALL-1", [], {}, [[]], [None], {"role": "user"}, {"type": []}, [{}],
     {"content": "role"}, {"type": "constructor", "kwargs": 1}, "1970-01-01T00:00:00Z", "9999-12-31T23:59:59", 10**15]
)  # fmt: skip
EDITS = st.sampled_from(["drop", "twice", "swap", "odd", "move", "text", "nest"])


def opened(data: bytes, how: str) -> JSON:
    """The document of a file that is written as `json`, `lines` or `yaml`."""
    if how == "lines":
        return [json.loads(line) for line in data.splitlines()]
    return yaml.load(data, yaml.CSafeLoader) if how == "yaml" else json.loads(data)


def closed(document: JSON, how: str) -> bytes:
    if how == "yaml":
        return yaml.dump(document, Dumper=yaml.CSafeDumper).encode()
    if how == "lines" and isinstance(document, list):
        return "\n".join(json.dumps(row) for row in document).encode()
    return json.dumps(document).encode()


def places(value: JSON) -> list[tuple[JSON, Any]]:
    """Every (holder, key) of the document; text that holds JSON is not opened."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [pair for key in keys for pair in ((value, key), *places(value[key]))]


def edit(document: JSON, kind: str, draw: Any) -> None:
    where = places(document)
    if not where:
        return
    holder, key = draw(st.sampled_from(where))
    if kind in ("twice", "swap", "move") and isinstance(holder, list):
        item = holder[key]
        if kind == "twice":
            holder.insert(key, copy.deepcopy(item))
        else:
            holder.insert(draw(st.integers(0, len(holder) - 1)), holder.pop(key))
    elif kind == "drop":
        del holder[key]
    elif kind == "text":
        holder[key] = json.dumps(holder[key], default=str)
    elif kind == "nest":
        holder[key] = [holder[key]]
    else:
        holder[key] = copy.deepcopy(draw(ODD))


def spliced(raw: bytes, draw: Any) -> bytes:
    """With a piece left out, doubled, turned round or replaced."""
    start, end = sorted((draw(st.integers(0, len(raw))), draw(st.integers(0, len(raw)))))
    pieces = [b"", raw[start:end] * 2, raw[start:end][::-1], b"\x00", b"\xff\xfe", b"NaN", b"\n"]
    return raw[:start] + draw(st.sampled_from(pieces)) + raw[end:]
