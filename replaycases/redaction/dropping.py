"""Members that people leave out, recorded as missing; and fixtures that are declared structural."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from replaycases.fixture.pointer import ABSENT, covers, is_pointer, join, replaced, resolve, split
from replaycases.fixture.strict_json import LIMITS
from replaycases.fixture.validate import document_and_detect_findings
from replaycases.redaction.manual import ManualRule
from replaycases.redaction.structure import Frame

JSON = Any
MISSING, REPLAYABILITY = "missing", "replayability"

_NOT_DROPPED = ("/expected", f"/{MISSING}", f"/{REPLAYABILITY}")
_COST = "left out when the case was redacted"


@dataclass(frozen=True, kw_only=True)
class Cut:
    """The source document without what people left out. `dropped` and `structural` are the rules that were carried out,
    `unfit` those that cannot be."""

    document: JSON = field(repr=False)
    dropped: tuple[ManualRule, ...] = ()
    structural: ManualRule | None = None
    unfit: tuple[ManualRule, ...] = ()

    def is_out(self, pointer: str) -> bool:
        """Whether the place is no part of the document any more."""
        return any(covers(drop.place.pointer, pointer) for drop in self.dropped) or (
            self.structural is not None and covers(f"/{REPLAYABILITY}", pointer)
        )


def cut(document: JSON, rules: Sequence[ManualRule], frame: Frame) -> Cut:
    """Carries out the rules that leave out members or declare the fixture structural."""
    rules = [rule for rule in rules if rule.action in ("drop", "structural")]
    if not rules:
        return Cut(document=document)
    structural = [rule for rule in rules if rule.action == "structural"]
    fits = structural and frame.version == "2.0" and _may_be_structural(document, structural[0])
    drops, refused = _possible(document, [rule for rule in rules if rule.action == "drop"], frame)
    drops, required = _not_required(document, drops, frame)
    out = _without(document, drops)
    if fits:
        out = replaced(out, f"/{REPLAYABILITY}", ABSENT)
    return Cut(
        document=out,
        dropped=tuple(drops),
        structural=structural[0] if fits else None,
        unfit=(*refused, *required, *structural[1 if fits else 0 :]),
    )


def additions(
    document: JSON, cut_out: Cut, frame: Frame, pointer_in: Callable[[ManualRule], str]
) -> tuple[tuple[str, JSON], ...]:
    """What a redacted document says of what was left out, each part with its pointer. `pointer_in` leads to the dropped
    member in the redacted document."""
    said: list[tuple[str, JSON]] = []
    if cut_out.dropped and frame.version == "2.0":
        there = len(document.get(MISSING, ()))
        for at, rule in enumerate(cut_out.dropped):
            said.append((f"/{MISSING}/{there + at}", _gap(pointer_in(rule), rule)))
    if cut_out.structural is not None:
        said.append((f"/{REPLAYABILITY}", {"class": "structural", "reason": cut_out.structural.reason}))
    return tuple(said)


def with_additions(document: JSON, said: Sequence[tuple[str, JSON]]) -> JSON:
    """The document with these parts in place."""
    for pointer, value in said:
        if pointer.startswith(f"/{MISSING}/"):
            document = {MISSING: [], **document}
        document = replaced(document, pointer, value)
    return document


def _gap(pointer: str, rule: ManualRule) -> JSON:
    return {"pointer": pointer, "cost": f"{_COST}: {rule.reason}" if rule.reason else _COST}


def _may_be_structural(document: JSON, rule: ManualRule) -> bool:
    """A fixture that is said to be beyond any replay stays so."""
    now = document.get(REPLAYABILITY)
    return bool(rule.reason.strip()) and not (isinstance(now, dict) and now.get("class") == "non_replayable")


def _possible(document: JSON, drops: Sequence[ManualRule], frame: Frame) -> tuple[list[ManualRule], list[ManualRule]]:
    """Members of objects that are content; of two that lie in one another the outer one."""
    may = [rule for rule in drops if _is_member(document, rule) and _may_go(document, rule.place.pointer, frame)]
    outer: list[ManualRule] = []
    for rule in sorted(may, key=lambda rule: (rule.place.pointer.count("/"), rule.place.pointer)):
        if not any(covers(other.place.pointer, rule.place.pointer) for other in outer):
            outer.append(rule)
    return [rule for rule in may if rule in outer], [rule for rule in drops if rule not in may]


def _is_member(document: JSON, rule: ManualRule) -> bool:
    place = rule.place
    if place.in_key or place.path or place.start or place.end or not place.pointer or not is_pointer(place.pointer):
        return False
    parent = resolve(document, place.pointer.rpartition("/")[0])
    return isinstance(parent, dict) and split(place.pointer)[-1] in parent


def _may_go(document: JSON, pointer: str, frame: Frame) -> bool:
    """Of a fixture only what a workflow was given, said and answered: what is expected of it is changed elsewhere. The
    first version has no place to say that something is missing."""
    if not frame.version:
        return True
    if frame.version == "1.0" or not isinstance(document.get(MISSING, []), list):
        return False
    return frame.may_change(pointer) and not any(covers(part, pointer) for part in _NOT_DROPPED)


def _not_required(document: JSON, drops: list[ManualRule], frame: Frame) -> tuple[list[ManualRule], list[ManualRule]]:
    """Those without which the fixture is as valid as it was, and the others. All of them where that cannot be told: a
    lone surrogate stands in it."""
    if not drops or not frame.version:
        return drops, []
    try:
        before = _faults(document)
        if _faults(_recorded(document, drops, frame)) <= before:
            return drops, []
        kept: list[ManualRule] = []
        for rule in drops:
            if _faults(_recorded(document, [*kept, rule], frame)) <= before:
                kept.append(rule)
    except UnicodeEncodeError:
        return [], drops
    return kept, [rule for rule in drops if rule not in kept]


def _recorded(document: JSON, drops: Sequence[ManualRule], frame: Frame) -> JSON:
    out = Cut(document=_without(document, drops), dropped=tuple(drops))
    return with_additions(out.document, additions(out.document, out, frame, lambda rule: rule.place.pointer))


def _faults(document: JSON) -> set[tuple[str, str]]:
    found = document_and_detect_findings(document, ABSENT, LIMITS)
    return {(finding.id, finding.pointer) for finding in found if finding.level == "error"}


def _without(document: JSON, drops: Sequence[ManualRule]) -> JSON:
    for rule in drops:
        document = replaced(document, rule.place.pointer, ABSENT)
    return document


def renamed(pointer: str, names: Mapping[tuple[str, bool], str]) -> str:
    """`pointer` in a document whose members at these addresses have other names."""
    before = after = ""
    for step in split(pointer):
        before = join(before, step)
        after = join(after, names.get((before, True), step))
    return after
