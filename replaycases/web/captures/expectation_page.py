"""The checks of a draft with what they say of the recorded run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from replaycases.cases.previews import Preview
from replaycases.verdict.rulings import CheckResult
from replaycases.web import check_words
from replaycases.web.captures import expectation_edit
from replaycases.web.captures.check_forms import BY_NAME, KINDS, CheckForm
from replaycases.web.check_words import CheckWords


@dataclass(frozen=True, kw_only=True)
class Change:
    """A link to the form that changes a check, or a part of it; `word` says which part."""

    part: str
    word: str


@dataclass(frozen=True, kw_only=True)
class CheckRow:
    """`words` and `result` are None while the draft is no fixture: nothing was computed then. `raw` is the check as it
    is written. `untouched` says what it names and the run does not have: where it is kept all the same, it is `idle`,
    for no run like this one could break it. `parts` are what of it can be changed."""

    id: str
    kind: str
    is_incident: bool
    words: CheckWords | None
    result: CheckResult | None
    raw: str
    untouched: str
    parts: tuple[Change, ...]

    @property
    def idle(self) -> bool:
        return bool(self.untouched) and self.result is not None and self.result.result == "held"

    @property
    def by_acceptance(self) -> bool:
        """Whether it is open because nobody knows if a call did what it was to do."""
        undetermined = self.result is not None and self.result.result == "undetermined"
        return undetermined and self.kind in ("action counts", "order")


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One kind of check to add. `open`: its form was sent and refused."""

    name: str
    title: str
    form: CheckForm
    open: bool


def rows_of(expected: Mapping[str, Any], tried: Preview | None) -> list[CheckRow]:
    """Those that are the incident first."""
    valid = tried is not None and _is_read(tried)
    document = {"schema_version": "2.0", "expected": expected}
    said = {row.id: row for row in check_words.told(document, {})} if valid else {}
    named = expected.get("boundary")
    boundary = named if isinstance(named, list) else []
    rows = [
        CheckRow(
            id=check.id,
            kind=check.kind.replace("_", " "),
            is_incident=check.id in boundary,
            words=said.get(check.id),
            result=tried.results.get(check.id) if tried else None,
            raw=json.dumps(check.spec, ensure_ascii=False),
            untouched=tried.untouched.get(check.id, "") if tried else "",
            parts=tuple(_change(part) for part in expectation_edit.parts_of(check)),
        )
        for check in expectation_edit.written(expected)
    ]
    return sorted(rows, key=lambda row: not row.is_incident)


def _is_read(tried: Preview) -> bool:
    """Whether the expectation is sound, also where the rest of the draft is no fixture yet."""
    faults = [found for found in tried.findings if found.level == "error"]
    sound = bool(faults) and not any(found.pointer.startswith("/expected") for found in faults)
    return tried.is_fixture or sound


def _change(part: expectation_edit.Part) -> Change:
    word = f"rule {int(part.name) + 1}" if part.name.isdecimal() else {"tools": "order"}.get(part.name, "")
    return Change(part=part.name, word=word)


def change_form(part: expectation_edit.Part, *, is_incident: bool) -> CheckForm:
    return BY_NAME[part.form].form(kind=part.form, incident=is_incident, shown=part.spec)


def offers(*, has_incident: bool, refused: CheckForm | None = None, kind: str = "") -> list[Offer]:
    """A form for each kind of check. The first check of a draft is taken for the incident."""
    return [
        Offer(
            name=each.name,
            title=each.title,
            form=refused
            if refused is not None and each.name == kind
            else each.form(kind=each.name, incident=not has_incident),
            open=refused is not None and each.name == kind,
        )
        for each in KINDS
    ]


def actions_of(choices: Mapping[str, Any]) -> list[str]:
    """The actions that the run record names."""
    rules = [rule for rule in choices.get("effects", {}).get("tools", {}).values() if rule is not None]
    return sorted({rule["action"] for rule in rules} | {rule["guard"]["action"] for rule in rules if "guard" in rule})


def leniency_of(choices: Mapping[str, Any]) -> dict[str, int]:
    """How much another run may do otherwise: counts."""
    others = [other for given in choices.get("alternatives", {}).values() for other in given if isinstance(other, dict)]
    return {
        "optional": len(choices.get("optional", ())),
        "alternatives": len(others),
        "authored": sum(other.get("origin") == "authored" for other in others),
        "ignored": len(choices.get("ignore", ())),
    }
