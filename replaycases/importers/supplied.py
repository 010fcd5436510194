"""What a person adds to a recording: identifiers, the parts it lacks, effects, expectation, where to trim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from replaycases.importers.findings import refused

JSON = Any
DECLARABLE_NONE = frozenset({"clock", "random", "retrieval"})


@dataclass(frozen=True, kw_only=True)
class Supplied:
    """Everything that the file does not say. Each part given here is marked `declared` in the fixture's `missing`.

    case_id, incident_id, frozen_at (ISO 8601 with an offset) must be given: no file holds them and none may be
    guessed. `serving` {provider, requested_model, …}; `tools` the catalogue offered to the model; `identity` claims.
    `none` names boundaries (clock, random, retrieval) that the workflow is declared not to have.
    `effects` is the annotation of docs/importing.md: {tools: {NAME: {action, key?, accepted?, rejected?, guard?}}}.
    `expected` is the fixture's `expected`. `run` picks one run (from 0) of a file that holds several.
    Trim with one of `horizon_after` (keep events up to this seq) and `horizon_at_call` (end just before the n-th
    tool call, from 1, so that this call is the first one past the horizon).
    """

    case_id: str = ""
    incident_id: str = ""
    frozen_at: str = ""
    workflow_version: str | None = None
    prompt_version: str | None = None
    identity: JSON = None
    serving: Mapping[str, JSON] | None = None
    tools: list[JSON] | None = None
    time_zone: str | None = None
    locale: str | None = None
    recorded_by: Mapping[str, JSON] | None = None
    none: tuple[str, ...] = ()
    effects: Mapping[str, JSON] = field(default_factory=dict)
    expected: Mapping[str, JSON] | None = None
    run: int | None = None
    horizon_after: int | None = None
    horizon_at_call: int | None = None


def supplied_from(document: Mapping[str, JSON]) -> Supplied:
    """From a JSON object with the field names of Supplied. Raises ImportRefused for an unknown name."""
    names = {f.name for f in fields(Supplied)}
    unknown = sorted(set(document) - names)
    if unknown:
        raise refused(
            "supplied", f"/{unknown[0]}", "no such part can be supplied", f"Known: {', '.join(sorted(names))}."
        )
    given = dict(document)
    if "none" in given:
        given["none"] = tuple(given["none"])
    return Supplied(**given)
