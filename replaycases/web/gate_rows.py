"""Gates as pages show them: how each looks, where its evidence is, and where an override of it can be proposed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.urls import reverse

from replaycases.cases import gates
from replaycases.cases.models import Case
from replaycases.web.labels import Look

# Those that block first.
LOOKS: Mapping[gates.GateState, Look] = {
    "error": Look(word="error", css="bad", icon="warn"),
    "unsatisfied": Look(word="unsatisfied", css="bad", icon="cross"),
    "overridden": Look(word="overridden", css="look", icon="pen"),
    "satisfied": Look(word="satisfied", css="ok", icon="check"),
    "not_applicable": Look(word="not applicable", css="dunno", icon="dash"),
}


@dataclass(frozen=True, kw_only=True)
class Link:
    label: str
    address: str


@dataclass(frozen=True, kw_only=True)
class GateRow:
    """`override` is the address at which one can be proposed, "" where none is possible."""

    gate: gates.Gate
    look: Look
    css: str
    links: tuple[Link, ...]
    override: str


def rows(case: Case, found: Iterable[gates.Gate], target: gates.Target, *, may_propose: bool) -> list[GateRow]:
    """Those that block first. No query."""
    return [_row(case, gate, target, may_propose) for gate in blocking_first(found)]


def blocking_first(found: Iterable[gates.Gate]) -> list[gates.Gate]:
    order = list(LOOKS)
    return sorted(found, key=lambda gate: order.index(gate.state))


def override_address(case: Case, gate: gates.GateName) -> str:
    return f"{reverse('case_overrides', args=[case.readable_id])}?gate={gate}"


def _row(case: Case, gate: gates.Gate, target: gates.Target, may_propose: bool) -> GateRow:
    possible = may_propose and gates.may_override(gate.name, gate.state, target)
    return GateRow(
        gate=gate,
        look=LOOKS[gate.state],
        css="block" if gate.blocks else "over" if gate.state == "overridden" else "",
        links=tuple(Link(label=shown.label, address=_address(case, gate.name, shown)) for shown in gate.evidence),
        override=override_address(case, gate.name) if possible else "",
    )


def _address(case: Case, gate: gates.GateName, shown: gates.Evidence) -> str:
    name = case.readable_id
    if shown.kind == "comparison" and shown.number:
        return reverse("comparison", args=[name, shown.number])
    if shown.kind == "run" and shown.number:
        return reverse("run", args=[case.project.key, shown.number])
    if shown.kind == "revision" and shown.number:
        return reverse("revision", args=[name, shown.number])
    if shown.kind == "redaction":
        return reverse("redaction_review", args=[name])
    if shown.kind == "proposal":
        return f"{reverse('case_promotion', args=[name])}#overrides"
    if shown.kind == "details":
        return _details(name, gate)
    if shown.kind == "control" and gate != "control_approvals":
        return f"{reverse('case', args=[name])}#controls"
    place = {"comments": "#comments", "control": "#controls", "decision": "#decide"}.get(shown.kind, "")
    return reverse("case_review", args=[name]) + place


def _details(name: str, gate: gates.GateName) -> str:
    """The page on which what the gate asks for is edited."""
    page: Mapping[gates.GateName, str] = {"owners": "case_owners", "statement": "case_statement"}
    if gate in ("containment", "evidence_expiry", "authored_answers", "replayable", "effects_stated"):
        return reverse("case", args=[name])
    return reverse(page.get(gate, "case_details"), args=[name])
