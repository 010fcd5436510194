"""The `expected` of a draft, changed check by check. It may be malformed: what cannot be read is left alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replaycases.fixture.normalise import LISTED, SINGLE

JSON = Any


@dataclass(frozen=True, kw_only=True)
class Written:
    """One check as it is written. `spec` is its own object."""

    id: str
    kind: str
    spec: Mapping[str, JSON]


def written(expected: Mapping[str, JSON]) -> Iterator[Written]:
    for kind in LISTED:
        for spec in _listed(expected.get(kind)):
            yield Written(id=str(spec.get("id", "")), kind=kind, spec=spec)
    for action, bounds in _object(expected.get("action_counts")).items():
        spec = {"action": action, **_object(bounds)}
        yield Written(id=f"action_counts.{action}", kind="action_counts", spec=spec)
    for kind in SINGLE:
        if isinstance(expected.get(kind), dict):
            yield Written(id=str(expected[kind].get("id", "")), kind=kind, spec=expected[kind])


def added(expected: Mapping[str, JSON], kind: str, spec: Mapping[str, JSON], *, is_incident: bool) -> dict[str, JSON]:
    """With one check more. Of a kind that stands once the new one takes the old one's place; rules of `forbid` join."""
    name = _name(expected, kind, spec)
    document = dict(expected)
    if kind == "action_counts":
        bounds = {key: value for key, value in spec.items() if key != "action"}
        document[kind] = {**_object(document.get(kind)), spec["action"]: bounds}
    elif kind in LISTED:
        others = [other for other in _listed(document.get(kind)) if other.get("id") != name]
        document[kind] = [*others, {"id": name, **spec}]
    elif kind == "grade":
        return {**document, "grade": dict(spec)}
    else:
        document[kind] = {"id": name, **_joined(document.get(kind), spec)}
    boundary = [check for check in _strings(document.get("boundary")) if check != name]
    document["boundary"] = [*boundary, name] if is_incident else boundary
    return document


def removed(expected: Mapping[str, JSON], check: str) -> dict[str, JSON]:
    """Without the check of this id, also where it is named as the incident."""
    document = dict(expected)
    for kind in LISTED:
        if kind in document:
            document[kind] = [spec for spec in _listed(document[kind]) if spec.get("id") != check]
    document["action_counts"] = {
        action: bounds
        for action, bounds in _object(document.get("action_counts")).items()
        if f"action_counts.{action}" != check
    }
    for kind in SINGLE:
        if isinstance(document.get(kind), dict) and document[kind].get("id") == check:
            del document[kind]
    document["boundary"] = [name for name in _strings(document.get("boundary")) if name != check]
    kept = {name: value for name, value in document.items() if value not in ([], {}) or name == "boundary"}
    return kept if set(kept) != {"boundary"} else {}


def with_boundary(expected: Mapping[str, JSON], checks: list[str]) -> dict[str, JSON]:
    known = [check.id for check in written(expected)]
    return {**expected, "boundary": [check for check in known if check in checks]}


def _name(expected: Mapping[str, JSON], kind: str, spec: Mapping[str, JSON]) -> str:
    """The check's id: what was chosen, else the kind with the first number that is free."""
    if kind == "action_counts":
        return f"action_counts.{spec['action']}"
    there = expected.get(kind)
    if "id" in spec:
        return str(spec["id"])
    if kind in SINGLE and isinstance(there, dict) and there.get("id"):
        return str(there["id"])
    taken = {check.id for check in written(expected)}
    word = kind.removesuffix("s").replace("_", "-")
    return next(name for number in range(1, len(taken) + 2) if (name := f"{word}-{number}") not in taken)


def _joined(there: JSON, spec: Mapping[str, JSON]) -> dict[str, JSON]:
    """A sequence's rules join those that are there: one form adds one of them."""
    before = _object(there)
    if not set(spec) & {"tools", "forbid"}:
        return dict(spec)
    kept = {key: value for key, value in before.items() if key != "id"}
    rules = [*_listed(kept.get("forbid")), *spec.get("forbid", [])]
    return {**kept, **spec, **({"forbid": rules} if rules else {})}


def _listed(value: JSON) -> list[dict[str, JSON]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _strings(value: JSON) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _object(value: JSON) -> dict[str, JSON]:
    return value if isinstance(value, dict) else {}
