"""A YAML document as JSON values and bytes, read in one pass over the parser's events.

Nothing in a document is ever called: only the tags of YAML itself are known, and those few that cassettes hold for
plain data. Nesting, the number of nodes and the size with every alias written out are bounded while the events come,
so that a small file cannot grow large. Keys are texts as they are written, times and numbers that JSON cannot hold
stay the text that they are, and a key that is named twice is refused.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

import yaml

from replaycases.importers.mended import fits, kept

JSON = Any
MAX_DEPTH = 120
MAX_NODES = 2_000_000
MAX_SIZE = 128 * 1024 * 1024
_TAG = "tag:yaml.org,2002:"
_TEXT = frozenset({"!", f"{_TAG}str", f"{_TAG}timestamp", f"{_TAG}python/str", f"{_TAG}python/unicode", f"{_TAG}value"})
_NESTED = frozenset(f"{_TAG}{name}" for name in ("seq", "map", "set", "omap", "pairs", "python/tuple"))
_WRAPPED = {f"{_TAG}python/object/new:_io.BytesIO": "state", f"{_TAG}python/object/apply:builtins.iter": "args"}
_MAKE = yaml.SafeLoader("")
_CONSTRUCT: dict[str, Callable[[yaml.ScalarNode], JSON]] = {
    f"{_TAG}bool": _MAKE.construct_yaml_bool,
    f"{_TAG}null": lambda node: None,
    f"{_TAG}int": _MAKE.construct_yaml_int,
    f"{_TAG}float": _MAKE.construct_yaml_float,
}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class YamlRefused(Exception):
    """Why a text is not read as YAML: a plain sentence that quotes nothing of it."""


def parse_yaml(data: bytes) -> JSON:
    """The one document in `data`. Raises YamlRefused and nothing else."""
    reader = _Reader()
    try:
        for event in yaml.parse(data, Loader=_LOADER):
            reader.take(event)
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark is not None else ""
        raise YamlRefused(f"the text is no YAML{where}") from None
    except (ValueError, RecursionError, OverflowError):
        raise YamlRefused("the text holds a value that YAML cannot hold") from None
    return reader.document()


@dataclass(frozen=True)
class _Weight:
    nodes: int
    size: int


@dataclass
class _Open:
    """A sequence or mapping that is being read. `key` is the key that waits for its value; `merged` what `<<` names."""

    value: list[JSON] | dict[str, JSON]
    anchor: str | None
    tag: str | None
    before: _Weight
    key: str | None = None
    merged: list[JSON] = field(default_factory=list)


@dataclass
class _Reader:
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[JSON, _Weight]] = field(default_factory=dict)
    documents: list[JSON] = field(default_factory=list)
    plain: dict[str, JSON] = field(default_factory=dict)
    nodes: int = 0
    size: int = 0

    def document(self) -> JSON:
        if len(self.documents) != 1:
            raise YamlRefused(f"the text holds {len(self.documents)} YAML documents")
        return self.documents[0]

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._open(event, {})
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open(event, [])
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(str(event.anchor))

    def _weigh(self, nodes: int, size: int) -> None:
        self.nodes += nodes
        self.size += size
        if self.nodes > MAX_NODES:
            raise YamlRefused(f"the document holds more than {MAX_NODES} nodes, with its aliases written out")
        if self.size > MAX_SIZE:
            raise YamlRefused(f"the document holds more than {MAX_SIZE} characters, with its aliases written out")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._weigh(1, len(event.value))
        here = self.stack[-1] if self.stack else None
        if here is not None and here.key is None and isinstance(here.value, dict):
            merge = event.implicit[0] and event.value == "<<"
            here.key = "<<" if merge else self._key(here, event)
            if merge:
                here.merged.append(None)
            if event.anchor:
                self.anchors[event.anchor] = (event.value, _Weight(1, len(event.value)))
            return
        value = self._value(event)
        if event.anchor:
            self.anchors[event.anchor] = (value, _Weight(1, len(event.value)))
        self._place(value)

    def _key(self, here: _Open, event: yaml.ScalarEvent) -> str:
        if event.tag is not None and event.tag not in _TEXT and event.tag not in _CONSTRUCT:
            raise YamlRefused("a key has a tag that no key can have")
        if event.value in here.value:
            raise YamlRefused("a mapping names a key twice")
        return str(event.value)

    def _value(self, event: yaml.ScalarEvent) -> JSON:
        text = event.value
        if event.tag is not None:
            return _tagged(event.tag, text)
        if not event.implicit[0]:
            return text
        if text not in self.plain:
            if len(text) > 64 or len(self.plain) > 10_000:
                return _implicit(text)
            self.plain[text] = _implicit(text)
        return self.plain[text]

    def _open(self, event: yaml.CollectionStartEvent, value: list[JSON] | dict[str, JSON]) -> None:
        self._weigh(1, 0)
        if len(self.stack) >= MAX_DEPTH:
            raise YamlRefused(f"the document is nested deeper than {MAX_DEPTH} levels")
        here = self.stack[-1] if self.stack else None
        if here is not None and isinstance(here.value, dict) and here.key is None:
            raise YamlRefused("a mapping has a key that is no text")
        if event.tag is not None and event.tag not in _NESTED and event.tag not in _WRAPPED:
            raise YamlRefused("the document has a tag that names code or an unknown type; it is not run")
        if event.anchor:
            self.anchors.pop(event.anchor, None)
        before = _Weight(self.nodes - 1, self.size)
        self.stack.append(_Open(value=value, anchor=event.anchor, tag=event.tag, before=before))

    def _close(self) -> None:
        closed = self.stack.pop()
        value: JSON = closed.value
        if closed.merged:
            value = _merged(closed)
        if closed.tag in _WRAPPED:
            value = _unwrapped(value, _WRAPPED[closed.tag])
        if closed.anchor:
            weight = _Weight(self.nodes - closed.before.nodes, self.size - closed.before.size)
            self.anchors[closed.anchor] = (value, weight)
        self._place(value)

    def _alias(self, name: str) -> None:
        if name not in self.anchors:
            raise YamlRefused("an alias names nothing that is complete before it")
        value, weight = self.anchors[name]
        self._weigh(weight.nodes, weight.size)
        here = self.stack[-1] if self.stack else None
        if here is not None and isinstance(here.value, dict) and here.key is None:
            if not isinstance(value, str) or value in here.value:
                raise YamlRefused("a mapping has a key that is no text, or one twice")
            here.key = value
            return
        self._place(value)

    def _place(self, value: JSON) -> None:
        if not self.stack:
            self.documents.append(value)
            return
        here = self.stack[-1]
        if isinstance(here.value, list):
            here.value.append(value)
            return
        key, here.key = here.key, None
        assert key is not None
        if key == "<<" and here.merged and here.merged[-1] is None:
            here.merged[-1] = value
        else:
            here.value[key] = value


def _merged(closed: _Open) -> dict[str, JSON]:
    """The mapping with what its merge keys bring in: its own keys first, then the first that names one."""
    assert isinstance(closed.value, dict)
    for named in closed.merged:
        for source in named if isinstance(named, list) else [named]:
            if not isinstance(source, dict):
                raise YamlRefused("a merge key names no mapping")
            for key, value in source.items():
                closed.value.setdefault(key, value)
    return closed.value


def _unwrapped(value: JSON, name: str) -> JSON:
    """The content of a file or an iterator that a recorder wrote down: the first of the list under `name`."""
    held = value.get(name) if isinstance(value, dict) else None
    return held[0] if isinstance(held, list) and held else b""


def _tagged(tag: str, text: str) -> JSON:
    if tag == f"{_TAG}binary":
        try:
            return base64.b64decode(text.encode("ascii"))
        except (binascii.Error, UnicodeEncodeError):
            raise YamlRefused("a binary value is not base64") from None
    if tag in _TEXT:
        return text
    if tag in _CONSTRUCT:
        return _constructed(tag, text)
    raise YamlRefused("the document has a tag that names code or an unknown type; it is not run")


def _implicit(text: str) -> JSON:
    for tag, pattern in yaml.SafeLoader.yaml_implicit_resolvers.get(text[:1], ()):
        if pattern.match(text):
            return _constructed(tag, text)
    return text


def _constructed(tag: str, text: str) -> JSON:
    """The number, truth value or nothing that the text stands for; the text itself where JSON cannot hold it."""
    make = _CONSTRUCT.get(tag)
    if make is None:
        return text
    try:
        value = make(yaml.ScalarNode(tag, text))
    except (ValueError, KeyError, IndexError, yaml.YAMLError):
        return text
    number = isinstance(value, int | float)
    return kept(text) if number and not (fits(value) and _is_exact(value, text)) else value


def _is_exact(value: JSON, text: str) -> bool:
    """Whether a double has all the decimals that were written. YAML's own notations are taken as they were read."""
    if not isinstance(value, float) or repr(value) == text:
        return True
    try:
        return Decimal(text) == Decimal(repr(value))
    except InvalidOperation:
        return True
