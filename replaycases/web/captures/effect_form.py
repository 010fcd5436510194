"""What the calls of one tool do in the world, as a row of a form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from replaycases.cases import texts
from replaycases.fixture.patterns import PatternInvalid, compile_pattern
from replaycases.web.forms import StyledForm

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
    for number, pattern in enumerate(lines_of(text), 1):
        try:
            compile_pattern(pattern)
        except PatternInvalid as invalid:
            raise forms.ValidationError(f"Pattern {number} is not RE2: {invalid}") from None


class EffectForm(StyledForm):
    """Without an action the tool does nothing in the world."""

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

    def __init__(self, data: Any, *, prefix: str, tool: str, rule: Mapping[str, Any]) -> None:
        super().__init__(data, prefix=prefix, initial=_initial(rule))
        self.tool = tool
        for name, field in self.fields.items():
            field.widget.attrs["aria-label"] = f"{field.label}, {tool[:60]}"
            if name in ("action", "key", "guard_action"):
                field.widget.attrs["size"] = 12

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if said.get("key") and not said["key"].startswith("/"):
            self.add_error("key", "A pointer into the arguments begins with /.")
        if not said.get("action") and any(said.get(name) for name in ("key", "rejected", "guard_action")):
            self.add_error("action", "Name the action, or leave the row empty.")
        if bool(said.get("guard_action")) != bool(said.get("guard_decision")):
            self.add_error("guard_decision", "Name the action and the decision, or neither.")
        if said.get("excused") and not said.get("rejected"):
            self.add_error("rejected", "Say which answers are refusals first.")
        return said

    def rule(self) -> dict[str, Any] | None:
        said = self.cleaned_data
        if not said["action"]:
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
    found = {form.tool: form.rule() for form in forms_of_tools}
    return {tool: rule for tool, rule in found.items() if rule is not None}


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
