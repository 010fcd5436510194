"""Bytes of a foreign file -> an imported case. The format is found by content, never by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.fixture.model import Fixture
from replaycases.fixture.strict_json import parse
from replaycases.importers import chat_transcript
from replaycases.importers.findings import Gap, refused
from replaycases.importers.neutral import NeutralRun
from replaycases.importers.supplied import Supplied
from replaycases.importers.to_fixture import to_fixture

JSON = Any


@dataclass(frozen=True, kw_only=True)
class Importer:
    """One foreign format. `sniff` looks at a parsed document; `read` may refuse with ImportRefused."""

    name: str
    sniff: Callable[[JSON], bool]
    read: Callable[..., NeutralRun]


IMPORTERS = (Importer(name=chat_transcript.NAME, sniff=chat_transcript.sniff, read=chat_transcript.read),)


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What came of a file.

    `document` is the 2.0 fixture; without a supplied `expected` it is a draft that lacks one, and `fixture` is None.
    `gaps` is the completeness report; `left_out` are pointers into the file to what was not taken over.
    """

    document: dict[str, JSON]
    fixture: Fixture | None
    format: str
    gaps: tuple[Gap, ...]
    left_out: tuple[str, ...]

    def as_bytes(self) -> bytes:
        return (json.dumps(self.document, ensure_ascii=False, indent=1) + "\n").encode()


def formats() -> tuple[str, ...]:
    return tuple(importer.name for importer in IMPORTERS)


def import_run(data: bytes, *, format: str | None = None, supplied: Supplied) -> Imported:
    """Read one run. Raises ImportRefused (the file or what was supplied), or FixtureInvalid (what came of it is no
    fixture, for instance because the supplied expectation is malformed)."""
    try:
        document = parse(data)
    except FixtureInvalid as error:
        first = error.findings[0]
        raise refused("not-json", first.pointer, f"the file is not strict JSON: {first.message}", first.hint) from error
    importer = _importer(document, format)
    run = importer.read(document, run=supplied.run)
    fixture_document, gaps = to_fixture(run, supplied)
    imported = Imported(document=fixture_document, fixture=None, format=run.format, gaps=gaps, left_out=run.left_out)
    if supplied.expected is None:
        return imported
    return replace(imported, fixture=load_fixture(imported.as_bytes()))


def _importer(document: JSON, format: str | None) -> Importer:
    known = f"Known formats: {', '.join(formats())}."
    if format is not None:
        named = next((importer for importer in IMPORTERS if importer.name == format), None)
        if named is None:
            raise refused("format", "", "no importer has this name", known)
        if not named.sniff(document):
            raise refused("format", "", f"the file is not a {named.name}", known)
        return named
    found = next((importer for importer in IMPORTERS if importer.sniff(document)), None)
    if found is None:
        raise refused("unknown-format", "", "no importer recognises the file", known)
    return found
