"""Frozen values as plain JSON and back: a dataclass becomes the list of its fields in their order, an instant its text.

There is no name of a field in it: what reads it must be of the version that wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

JSON = Any
T = TypeVar("T")
Reader = Callable[[JSON], Any]


def plain(value: Any) -> JSON:
    if value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value):
        return [plain(getattr(value, name)) for name in _names(cast("Hashable", type(value)))]
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    return value.isoformat() if isinstance(value, datetime) else value


def value_of(kind: type[T], row: JSON) -> T:
    """What `plain` made the row of."""
    read = _reader(cast("Hashable", kind))
    return cast("T", row if read is None else read(row))


@cache
def _names(kind: Hashable) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cast("type[Any]", kind)))


@cache
def _reader(kind: Hashable) -> Reader | None:
    """None where the row is the value already."""
    if is_dataclass(kind):
        return _of_fields(cast("type[Any]", kind))
    if kind is datetime:
        return datetime.fromisoformat
    if get_origin(kind) is tuple:
        return _of_tuple(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        read = next((found for found in map(_reader, get_args(kind)) if found is not None), None)
        return None if read is None else lambda row: None if row is None else read(row)
    return None


def _of_fields(kind: type[Any]) -> Reader:
    hints = get_type_hints(kind)
    names = _names(cast("Hashable", kind))
    odd = [(name, read) for name in names if (read := _reader(hints[name])) is not None]

    def read_fields(row: JSON) -> Any:
        held = dict(zip(names, row, strict=True))
        for name, read in odd:
            held[name] = read(held[name])
        return kind(**held)

    return read_fields


def _of_tuple(part: Any) -> Reader:
    read = _reader(part)
    return tuple if read is None else lambda row: tuple(map(read, row))
