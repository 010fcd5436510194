"""The checks of a fixture in words, for who approves them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from replaycases.fixture.model import Check, CheckKind
from replaycases.fixture.normalise import boundary_of, checks_of

Spec = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class CheckWords:
    """One check. `is_boundary`: it is the incident. `patterns` are the rules by which a claim is found in the final
    message, "not: " before those that excuse it; `undecided`: a claim that has none."""

    id: str
    sentence: str
    is_boundary: bool
    patterns: tuple[str, ...]
    undecided: bool


def told(document: Mapping[str, Any], detect: Mapping[str, Any]) -> list[CheckWords]:
    """Every check of a valid document with its detect rules, those of the boundary first."""
    boundary = boundary_of(document)
    rows = [_told(check, boundary) for check in checks_of(document, detect)]
    return sorted(rows, key=lambda row: not row.is_boundary)


def _told(check: Check, boundary: tuple[str, ...]) -> CheckWords:
    detect = check.spec.get("detect", {})
    return CheckWords(
        id=check.id,
        sentence=_SENTENCES[check.kind](check.spec),
        is_boundary=check.id in boundary,
        patterns=(*detect.get("any", ()), *(f"not: {pattern}" for pattern in detect.get("none", ()))),
        undecided="statement" in check.spec and not detect,
    )


def _counted(spec: Spec) -> str:
    least, most = spec.get("min"), spec.get("max")
    if least == most:
        return f"“{spec['action']}” is done exactly {least} time{'' if least == 1 else 's'}."
    bounds = [*([f"at least {least}"] if least is not None else []), *([f"at most {most}"] if most is not None else [])]
    last = most if most is not None else least
    return f"“{spec['action']}” is done {' and '.join(bounds)} time{'' if last == 1 else 's'}."


def _one_of(what: str) -> Callable[[Spec], str]:
    def sentence(spec: Spec) -> str:
        values = ", ".join("none" if value is None else f"“{value}”" for value in spec["one_of"])
        return f"The reported {what} is one of: {values}."

    return sentence


def _sequence(spec: Spec) -> str:
    return " ".join(_sequenced(spec))


def _sequenced(spec: Spec) -> Iterator[str]:
    if "tools" in spec:
        how = "exactly these, in this order" if spec["mode"] == "exact" else "these in this order, others between them"
        yield f"Tools are called, {how}: {', '.join(spec['tools']) or 'none'}."
    for rule in spec.get("forbid", ()):
        after = f" after “{rule['after_accepted']}” was accepted" if "after_accepted" in rule else ""
        unless = f", unless “{rule['unless']}” was done" if "unless" in rule else ""
        yield f"“{rule['tool']}” is not called{after}{unless}."


def _relation(spec: Spec) -> str:
    first, second = spec["pointers"]
    return f"{first} and {second} are {'equal' if spec['kind'] == 'equal' else 'different'}."


def _limits(spec: Spec) -> str:
    parts = [f"at most {spec[name]} {word}" for name, word in (("turns", "turns"), ("cost", "of cost")) if name in spec]
    return f"It takes {' and '.join(parts)}."


_SENTENCES: Mapping[CheckKind, Callable[[Spec], str]] = {
    "prohibited_claims": lambda spec: f"The reply never says: “{spec['statement']}”",
    "required_claims": lambda spec: f"The reply says: “{spec['statement']}”",
    "required_disclosures": lambda spec: f"The reply discloses: “{spec['statement']}”",
    "citations": lambda spec: f"The reply cites “{spec['chunk']}”.",
    "action_counts": _counted,
    "authorization": lambda spec: (
        f"“{spec['action']}” is {'allowed' if spec['decision'] == 'allow' else 'denied'} where it is decided."
    ),
    "action": _one_of("action"),
    "status": _one_of("status"),
    "tool_sequence": _sequence,
    "order": lambda spec: f"“{spec['action']}” comes after “{spec['after']}”.",
    "relations": _relation,
    "schema": lambda spec: "What is observed has the shape of its JSON Schema.",
    "limits": _limits,
    "run_status": lambda spec: f"The run ends in none of: {', '.join(spec['forbid'])}.",
}
