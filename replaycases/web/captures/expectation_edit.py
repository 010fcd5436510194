"""The `expected` of a draft, changed check by check. It may be malformed: what cannot be read is left alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replaycases.fixture.normalise import LISTED, SINGLE
from replaycases.web.captures.entry_digest import digest_of

JSON = Any


@dataclass(frozen=True, kw_only=True)
class Written:
    """One check as it is written. `spec` is its own object."""

    id: str
    kind: str
    spec: Mapping[str, JSON]


@dataclass(frozen=True, kw_only=True)
class Part:
    """What of a check one form changes: all of it, or of a sequence its order ("tools") or one of its rules ("0", …).
    `form` is the name of the kind whose form that is."""

    check: str
    name: str
    kind: str
    form: str
    spec: Mapping[str, JSON]

    @property
    def digest(self) -> str:
        """By which it is known again: a rule stands in a list without an id of its own."""
        return digest_of(self.spec)


def parts_of(check: Written) -> list[Part]:
    if check.kind != "tool_sequence":
        return [Part(check=check.id, name="", kind=check.kind, form=check.kind, spec=check.spec)]
    order = {key: check.spec[key] for key in ("id", "tools", "mode") if key in check.spec}
    found = [("tools", "tool_sequence", order)] if "tools" in check.spec else []
    rules = enumerate(_listed(check.spec.get("forbid")))
    found += [(str(number), "forbid", {"id": check.id, **rule}) for number, rule in rules]
    return [Part(check=check.id, name=name, kind=check.kind, form=form, spec=spec) for name, form, spec in found]


def part_of(expected: Mapping[str, JSON], check: str, name: str) -> Part | None:
    parts = (part for each in written(expected) for part in parts_of(each))
    return next((part for part in parts if part.check == check and part.name == name), None)


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


def changed(
    expected: Mapping[str, JSON], part: Part, spec: Mapping[str, JSON], *, is_incident: bool
) -> dict[str, JSON]:
    """With this part of a check as `spec` says, in its place. Without an id of its own the check keeps the one it has.
    Raises ValueError where another check has that id."""
    document = dict(expected)
    name = f"action_counts.{spec['action']}" if part.kind == "action_counts" else str(spec.get("id") or part.check)
    if name != part.check and name in {check.id for check in written(expected)}:
        raise ValueError(name)
    if part.kind == "action_counts":
        counts = _object(document.get(part.kind)).items()
        new = (spec["action"], {key: value for key, value in spec.items() if key != "action"})
        document[part.kind] = dict(
            new if f"action_counts.{action}" == part.check else (action, b) for action, b in counts
        )
    elif part.kind in LISTED:
        specs = _listed(document.get(part.kind))
        document[part.kind] = [{**spec, "id": name} if other.get("id") == part.check else other for other in specs]
    else:
        document[part.kind] = {**_with_part(_object(document.get(part.kind)), part, spec), "id": name}
    before = _strings(document.get("boundary"))
    document["boundary"] = [name if check == part.check else check for check in before]
    if is_incident != (part.check in before):
        document["boundary"] = [*before, name] if is_incident else [check for check in before if check != part.check]
    return document


def _with_part(there: Mapping[str, JSON], part: Part, spec: Mapping[str, JSON]) -> dict[str, JSON]:
    if part.form == "forbid":
        rules = _listed(there.get("forbid"))
        rules[int(part.name)] = spec["forbid"][0]
        return {**there, "forbid": rules}
    return {**there, **spec} if part.name == "tools" else dict(spec)


def removed(expected: Mapping[str, JSON], check: str, part: str = "") -> dict[str, JSON]:
    """Without the check of this id, also where it is named as the incident; without that part of it alone, where it
    has others."""
    document = dict(expected)
    found = part_of(expected, check, part) if part else None
    left = _without(document[found.kind], found.name) if found else {}
    if found and set(left) & {"tools", "forbid"}:
        return {**document, found.kind: left}
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


def _without(sequence: Mapping[str, JSON], part: str) -> dict[str, JSON]:
    rules = [rule for number, rule in enumerate(_listed(sequence.get("forbid"))) if str(number) != part]
    order = () if part == "tools" else ("tools", "mode")
    kept = {key: sequence[key] for key in ("id", *order) if key in sequence}
    return {**kept, **({"forbid": rules} if rules else {})}


def incident_of(expected: Mapping[str, JSON]) -> list[str]:
    """The ids of the checks that are the incident."""
    return _strings(expected.get("boundary"))


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
    word = (kind if kind in SINGLE else kind.removesuffix("s")).replace("_", "-")
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
