"""The bytes of a foreign file and the ways in which they can be read, each tried once and at most."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.pointer import ABSENT
from replaycases.fixture.strict_json import Limits
from replaycases.importers.findings import refused
from replaycases.importers.json_lines import JsonLines, lines_of
from replaycases.importers.mended import read_json
from replaycases.importers.safe_yaml import YamlRefused, parse_yaml

JSON = Any
T = TypeVar("T")
MAX_BYTES = 50 * 1024 * 1024
LIMITS = Limits(max_bytes=MAX_BYTES, max_string=MAX_BYTES)
_HEAD = 64 * 1024


@dataclass(frozen=True)
class ForeignFile:
    """`data` as it came. Sniffers read `head`, `json` and `json_lines`; these are ABSENT or empty, never an error,
    where the file is something else. Larger files are refused before anything is read."""

    data: bytes

    def __post_init__(self) -> None:
        if len(self.data) > MAX_BYTES:
            hint = f"At most {MAX_BYTES // 1024 // 1024} MiB are read. Export one trace at a time."
            raise refused("too-large", "", f"the file has {len(self.data)} bytes", hint)

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB without a byte order mark and leading white space."""
        return self.data[:_HEAD].removeprefix(codecs.BOM_UTF8).lstrip()

    @cached_property
    def json(self) -> JSON:
        """The one JSON document that the file is; ABSENT if it is none, for the reason `json_fault` gives."""
        if self.head[:1] not in (b"{", b"["):
            return ABSENT
        try:
            return read_json(self.data.removeprefix(codecs.BOM_UTF8), limits=LIMITS)
        except FixtureInvalid:
            return ABSENT

    @cached_property
    def json_lines(self) -> tuple[JSON, ...]:
        """The objects of a file with one JSON object on each line that is not blank; () if it is no such file. A line
        that cannot be read is left out: `cut_line` says so of the last one, `broken_lines` of the others."""
        return tuple(self._lines.rows)

    @property
    def cut_line(self) -> bool:
        """Whether the last of the JSON lines breaks off."""
        return self.json is ABSENT and self._lines.cut

    @property
    def broken_lines(self) -> tuple[int, ...]:
        """The numbers, from 1, of JSON lines among others that cannot be read."""
        return tuple(self._lines.broken) if self.json is ABSENT else ()

    @cached_property
    def _lines(self) -> JsonLines:
        return lines_of(self.data.removeprefix(codecs.BOM_UTF8), LIMITS) if self.head[:1] == b"{" else JsonLines()

    @property
    def yaml(self) -> JSON:
        """The YAML document, in JSON's types and bytes for !!binary; ABSENT if it is none, for the reason `yaml_fault`
        gives."""
        return self._yaml[0]

    def yaml_fault(self) -> Exception:
        """Why the file is no YAML that is read, as the refusal to raise."""
        message = self._yaml[1] or "the file is YAML"
        return refused("not-yaml", "", message, "Export the file again, as JSON if there is a choice.")

    @cached_property
    def _yaml(self) -> tuple[JSON, str]:
        try:
            return parse_yaml(self.data), ""
        except YamlRefused as fault:
            return ABSENT, str(fault)

    def once(self, decode: Callable[[bytes], T]) -> T:
        """What a decoder of a format's own makes of the bytes, kept for whoever asks again."""
        return self._kept(decode, self.data)

    def read_once(self, read: Callable[[ForeignFile], T]) -> T:
        """Like `once`, for what is made of the file as it was parsed already."""
        return self._kept(read, self)

    def _kept(self, make: Callable[[Any], T], of: Any) -> T:
        kept: dict[Callable[[Any], Any], Any] = self.__dict__.setdefault("_decoded", {})
        if make not in kept:
            kept[make] = make(of)
        found: T = kept[make]
        return found

    def json_fault(self) -> Exception:
        """Why the file is no JSON, as the refusal to raise."""
        try:
            read_json(self.data.removeprefix(codecs.BOM_UTF8), limits=LIMITS)
        except FixtureInvalid as error:
            first = error.findings[0]
            if self._lines.spoilt:
                message = f"most lines of the file are no JSON, of which line {self._lines.broken[0]} is the first"
                return refused("not-json", "", message, "Export the file again, or take these lines out.")
            return refused("not-json", first.pointer, f"the file is not JSON: {first.message}", first.hint)
        return refused("not-json", "", "the file is JSON", "This is a fault of ours.")
