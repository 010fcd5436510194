"""What a person adds to a recording: identifiers, the parts it lacks, effects, expectation, where to trim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from replaycases.fixture.instants import parse_instant
from replaycases.fixture.rules_document import INSTANT_HINT
from replaycases.importers.findings import refused
from replaycases.importers.run_record import is_record

JSON = Any
_LISTS = ("none", "leave_out", "policies", "templates", "ignore", "optional")
DECLARABLE_NONE = frozenset({"clock", "random", "retrieval"})


@dataclass(frozen=True, kw_only=True)
class Supplied:
    """Everything that the file does not say. Each part given here is marked `declared` in the fixture's `missing`.

    case_id and incident_id must be given: no file holds them and none may be guessed; so must frozen_at (ISO 8601
    with an offset) where the file has no times. `serving` {provider, requested_model, …}; `tools` the catalogue offered
    to the model; `identity` claims.
    `none` names boundaries (clock, random, retrieval) that the workflow is declared not to have.
    `effects` is the annotation of docs/importing.md: {tools: {NAME: {action, key?, accepted?, rejected?, guard?}}}.
    `expected` is the fixture's `expected`. `run` picks one run (from 0) of a file that holds several. `leave_out` are
    the numbers (from 1) of steps that decided nothing.
    `policies` and `templates` are {name, version, sha256, content?} that the workflow worked with. `ignore` are
    {tool | boundary, pointer}: parts of every such call that are not compared. `optional` are the numbers of steps that
    another run may leave out, `alternatives` {NUMBER: [alternative]} other calls that are right in a step's place.
    `record` are parts of the run record, {NAME: text}; none of it stands in the fixture.
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
    leave_out: tuple[int, ...] = ()
    policies: tuple[JSON, ...] = ()
    templates: tuple[JSON, ...] = ()
    ignore: tuple[Mapping[str, str], ...] = ()
    optional: tuple[int, ...] = ()
    alternatives: Mapping[str, list[JSON]] = field(default_factory=dict)
    horizon_after: int | None = None
    horizon_at_call: int | None = None
    record: Mapping[str, str] = field(default_factory=dict)


def supplied_from(document: Mapping[str, JSON]) -> Supplied:
    """From a JSON object with the field names of Supplied (null: not supplied). Raises ImportRefused for an unknown
    name, for a part of the wrong type, and for a frozen_at that is no instant with an offset."""
    names = {f.name for f in fields(Supplied)}
    for name, value in document.items():
        if name not in names:
            hint = f"Known: {', '.join(sorted(names))}."
            raise refused("supplied", f"/{name}", "no such part can be supplied", hint)
        if value is not None and not _fits(name, value):
            raise refused("supplied", f"/{name}", "the part has the wrong type", "See docs/importing.md.")
    _require_instant(document.get("frozen_at"))
    given = {name: value for name, value in document.items() if value is not None}
    return Supplied(**{**given, **{name: tuple(given.get(name, ())) for name in _LISTS}})


def _require_instant(frozen_at: str | None) -> None:
    """Without its offset nobody knows which instant is meant."""
    if frozen_at and parse_instant(frozen_at) is None:
        raise refused("supplied", "/frozen_at", "the time is no instant with an offset", INSTANT_HINT)


def _fits(name: str, value: JSON) -> bool:
    if name == "none":
        return isinstance(value, list) and all(isinstance(v, str) and v in DECLARABLE_NONE for v in value)
    if name in ("leave_out", "optional"):
        return isinstance(value, list) and all(_is_number(number) for number in value)
    if name in ("run", "horizon_after", "horizon_at_call"):
        return _is_number(value)
    if name in ("serving", "recorded_by", "effects", "expected"):
        return isinstance(value, dict)
    if name == "record":
        return is_record(value)
    if name == "ignore":
        return isinstance(value, list) and all(_is_ignore_rule(rule) for rule in value)
    if name == "alternatives":
        return isinstance(value, dict) and all(
            number.isascii() and number.isdecimal() and isinstance(given, list) for number, given in value.items()
        )
    if name in ("tools", "policies", "templates"):
        return isinstance(value, list)
    return name == "identity" or isinstance(value, str)


def _is_number(value: JSON) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_ignore_rule(rule: JSON) -> bool:
    """{tool, pointer} or {boundary, pointer}."""
    if not isinstance(rule, dict) or not all(isinstance(part, str) for part in rule.values()):
        return False
    return set(rule) in ({"tool", "pointer"}, {"boundary", "pointer"})
