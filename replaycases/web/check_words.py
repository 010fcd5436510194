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
    action, least, most = f"The action “{spec['action']}”", spec.get("min"), spec.get("max")
    if most == 0:
        return f"{action} never happens."
    if least == most:
        return f"{action} happens exactly {_times(most)}."
    bounds = [
        *([f"at least {_times(least)}"] if least is not None else []),
        *([f"at most {_times(most)}"] if most is not None else []),
    ]
    return f"{action} happens {' and '.join(bounds)}."


def _times(number: int | None) -> str:
    return {1: "once", 2: "twice"}.get(number or 0, f"{number} times")


def _one_of(what: str) -> Callable[[Spec], str]:
    def sentence(spec: Spec) -> str:
        values = [f"no {what} at all" if value is None else f"“{value}”" for value in spec["one_of"]]
        return f"The workflow reports as its {what} {_either(values)}."

    return sentence


def _either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _sequence(spec: Spec) -> str:
    return " ".join(_sequenced(spec))


def _sequenced(spec: Spec) -> Iterator[str]:
    if "tools" in spec:
        tools = ", ".join(f"“{tool}”" for tool in spec["tools"])
        if not tools:
            yield "The run calls no tool."
        elif spec["mode"] == "exact":
            yield f"The run calls exactly these tools, in this order: {tools}."
        else:
            yield f"The run calls these tools in this order, others may come between them: {tools}."
    for rule in spec.get("forbid", ()):
        after = f" once “{rule['after_accepted']}” was accepted" if "after_accepted" in rule else ""
        unless = f", until “{rule['unless']}” was done" if "unless" in rule else ""
        yield f"The run never calls “{rule['tool']}”{after}{unless}."


def _relation(spec: Spec) -> str:
    first, second = spec["pointers"]
    how = "is the same as" if spec["kind"] == "equal" else "differs from"
    return f"What stands at {first} {how} what stands at {second}."


def _limits(spec: Spec) -> str:
    turns = spec.get("turns")
    parts = [
        *([f"makes at most {turns} model call{'' if turns == 1 else 's'}"] if turns is not None else []),
        *([f"costs at most {spec['cost']}"] if "cost" in spec else []),
    ]
    return f"The run {' and '.join(parts)}."


_SENTENCES: Mapping[CheckKind, Callable[[Spec], str]] = {
    "prohibited_claims": lambda spec: f"The reply never says: “{spec['statement']}”",
    "required_claims": lambda spec: f"The reply says: “{spec['statement']}”",
    "required_disclosures": lambda spec: f"The reply discloses: “{spec['statement']}”",
    "citations": lambda spec: f"The reply cites the chunk “{spec['chunk']}”, and the run looked it up.",
    "action_counts": _counted,
    "authorization": lambda spec: (
        f"The action “{spec['action']}” is decided about, and allowed each time."
        if spec["decision"] == "allow"
        else f"The action “{spec['action']}” is denied: no call that it guards is made, and it is not done."
    ),
    "action": _one_of("action"),
    "status": _one_of("status"),
    "tool_sequence": _sequence,
    "order": lambda spec: (
        f"The action “{spec['action']}” happens only after “{spec['after']}” answered without an error."
    ),
    "relations": _relation,
    "schema": lambda spec: "What the run did fits the JSON Schema of this check.",
    "limits": _limits,
    "run_status": lambda spec: (
        f"The run does not end as {_either([status.replace('_', ' ') for status in spec['forbid']])}."
    ),
}
