"""What the calls of one tool do in the world, as a row of a form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from replaycases.cases import texts
from replaycases.fixture.patterns import PatternInvalid, compile_pattern
from replaycases.web.forms import StyledForm
from replaycases.web.labels import Look

ACCEPTED: Mapping[str, Any] = {"unknown": "unknown", "yes": True, "no": False}


def patterns_field(label: str) -> forms.CharField:
    return forms.CharField(
        required=False,
        label=label,
        widget=forms.Textarea(attrs={"rows": 2, "class": "input mono", "spellcheck": "false"}),
        validators=[validate_patterns],
    )


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def validate_patterns(text: str) -> None:
    """A JSON object is a pattern too, of a text that no answer holds: whoever pastes one means what stands in it."""
    if _is_json_object(text):
        raise forms.ValidationError("This is a JSON object. Write the patterns in it alone, one a line.")
    for number, pattern in enumerate(lines_of(text), 1):
        try:
            compile_pattern(pattern)
        except PatternInvalid as invalid:
            raise forms.ValidationError(f"Pattern {number} is not RE2: {invalid}") from None


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


NOTHING_SAID = Look(word="not said", css="look", icon="warn")
READS = Look(word="only reads: your word", css="", icon="pen")
HAS_EFFECT = Look(word="effect stated", css="", icon="check")


class EffectForm(StyledForm):
    """What a tool does: an action, or the word that it only reads, or nothing said. The gate that asks for the effect
    of every tool takes an action alone: a word that there is none is confirmed by the owner of the dependency."""

    none = forms.BooleanField(required=False, label="No effect: it only reads")
    action = forms.CharField(required=False, max_length=texts.NAME_CAP, label="Action")
    key = forms.CharField(required=False, max_length=texts.NAME_CAP, label="Key")
    accepted = forms.ChoiceField(
        required=False,
        choices=[("unknown", "not known"), ("yes", "every call"), ("no", "no call")],
        label="Accepted",
    )
    rejected = patterns_field("Refused where the answer matches")
    excused = patterns_field("but not")
    guard_action = forms.CharField(required=False, max_length=texts.NAME_CAP, label="Decides about")
    guard_decision = forms.ChoiceField(
        required=False, choices=[("", "nothing"), ("allow", "allows"), ("deny", "denies")], label="Decision"
    )

    def __init__(self, data: Any, *, prefix: str, tool: str, said: bool, rule: Mapping[str, Any] | None) -> None:
        """`said`: something is kept of the tool, and it is `rule`; None is the word that it only reads."""
        super().__init__(data, prefix=prefix, initial={**_initial(rule or {}), "none": said and rule is None})
        self.tool = tool
        self.look = (HAS_EFFECT if rule else READS) if said else NOTHING_SAID
        for name, field in self.fields.items():
            field.widget.attrs["aria-label"] = f"{field.label}, {tool[:60]}"
            if name in ("action", "key", "guard_action"):
                field.widget.attrs["size"] = 12

    @property
    def is_open(self) -> bool:
        """Whether its parts are shown at once: there is one, or something is wrong with one."""
        return bool(self["action"].value() or self.errors)

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if said.get("key") and not said["key"].startswith("/"):
            self.add_error("key", "A pointer into the arguments begins with /.")
        parts = ("action", "key", "rejected", "excused", "guard_action", "guard_decision")
        if said.get("none"):
            if any(said.get(name) for name in parts):
                self.add_error("none", "Take the tick out, or empty what the tool does.")
            return said
        if not said.get("action") and any(said.get(name) for name in ("key", "rejected", "guard_action")):
            self.add_error("action", "Name the action, or leave the row empty.")
        if bool(said.get("guard_action")) != bool(said.get("guard_decision")):
            self.add_error("guard_decision", "Name the action and the decision, or neither.")
        if said.get("excused") and not said.get("rejected"):
            self.add_error("rejected", "Say which answers are refusals first.")
        return said

    @property
    def says_something(self) -> bool:
        return bool(self.cleaned_data["none"] or self.cleaned_data["action"])

    def rule(self) -> dict[str, Any] | None:
        """None for a tool that only reads."""
        said = self.cleaned_data
        if said["none"]:
            return None
        rule: dict[str, Any] = {"action": said["action"]}
        if said["key"]:
            rule["key"] = said["key"]
        if said["rejected"]:
            none = lines_of(said["excused"])
            rule["rejected"] = {"any": lines_of(said["rejected"]), **({"none": none} if none else {})}
        else:
            rule["accepted"] = ACCEPTED[said["accepted"] or "unknown"]
        if said["guard_action"]:
            rule["guard"] = {"action": said["guard_action"], "decision": said["guard_decision"]}
        return rule


def rules_of(forms_of_tools: Iterable[EffectForm]) -> dict[str, Any]:
    return {form.tool: form.rule() for form in forms_of_tools if form.says_something}


def _initial(rule: Mapping[str, Any]) -> dict[str, Any]:
    rejected, guard = rule.get("rejected", {}), rule.get("guard", {})
    accepted = next((word for word, value in ACCEPTED.items() if value == rule.get("accepted", "unknown")), "unknown")
    return {
        "action": rule.get("action", ""),
        "key": rule.get("key", ""),
        "accepted": accepted,
        "rejected": "\n".join(rejected.get("any", ())),
        "excused": "\n".join(rejected.get("none", ())),
        "guard_action": guard.get("action", ""),
        "guard_decision": guard.get("decision", ""),
    }
