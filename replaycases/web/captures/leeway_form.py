"""Another call that is right in a step's place, as a form; and the steps that another run may leave out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from replaycases.cases import texts
from replaycases.importers.outline import StepLine
from replaycases.web.captures.effect_form import ACCEPTED
from replaycases.web.captures.json_field import JsonField
from replaycases.web.captures.steps_form import numbers_in
from replaycases.web.forms import StyledForm

JSON = Any
ORIGINS = (
    ("authored", "written by hand: nobody recorded this answer, and the dependency's owner confirms it"),
    ("recorded", "recorded in another run: its owner confirms that, unless this run holds the same call and answer"),
)
ANY_JSON = (dict, list, str, int, float, bool)


def _word(label: str, help_text: str = "", **attrs: str) -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=texts.NAME_CAP,
        label=label,
        help_text=help_text,
        widget=forms.TextInput(attrs={"autocomplete": "off", **attrs}),
    )


class AlternativeForm(StyledForm):
    step = forms.IntegerField(min_value=1, label="In place of step", help_text="The number of a call of a tool.")
    tool = _word("Tool that is called", list="known-tools")
    arguments = JsonField(
        shape=ANY_JSON, named="a JSON value", rows=5, label="Arguments", help_text="Compared exactly, as all are."
    )
    kind = forms.ChoiceField(choices=[("result", "a result"), ("error", "an error")], label="It answers with")
    value = JsonField(shape=ANY_JSON, named="a JSON value", rows=5, label="Result", help_text="JSON; null if empty.")
    error_kind = _word("Kind of the error", "Example: timeout.")
    error_message = _word("Its message")
    action = _word("Action", "What it does in the world. Empty: nothing.", list="known-actions")
    key = _word("Key", "A pointer into the arguments: /idempotency_key")
    accepted = forms.ChoiceField(
        choices=[("yes", "accepted"), ("unknown", "not known"), ("no", "refused")],
        required=False,
        label="The action is",
    )
    origin = forms.ChoiceField(
        choices=ORIGINS, initial="authored", widget=forms.RadioSelect(attrs={"class": ""}), label="Where it comes from"
    )

    def __init__(
        self, data: Any = None, *, steps: Sequence[StepLine], initial: Mapping[str, JSON] | None = None
    ) -> None:
        super().__init__(data, initial=dict(initial or {}))
        self.calls = {line.number for line in steps if line.boundary == "tool"}

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if "step" in said and said["step"] not in self.calls:
            self.add_error("step", "That step calls no tool, so that no other call stands in its place.")
        if not said.get("tool"):
            self.add_error("tool", "Name the tool.")
        if said.get("kind") == "error" and not said.get("error_kind"):
            self.add_error("error_kind", "Name the kind of the error.")
        if said.get("key") and not said["key"].startswith("/"):
            self.add_error("key", "A pointer into the arguments begins with /.")
        if said.get("key") and not said.get("action"):
            self.add_error("action", "Name the action, or leave the key empty.")
        return said

    def alternative(self) -> dict[str, JSON]:
        said = self.cleaned_data
        error = {"kind": said["error_kind"], "message": said["error_message"]}
        is_error = said["kind"] == "error"
        outcome = {"type": "error", "error": error} if is_error else {"type": "result", "value": said["value"]}
        effect: dict[str, JSON] = {}
        if said["action"]:
            key = {"key": said["key"]} if said["key"] else {}
            effect = {"effect": {"action": said["action"], **key, "accepted": ACCEPTED[said["accepted"] or "unknown"]}}
        arguments = {} if said["arguments"] is None else said["arguments"]
        return {"tool": said["tool"], "arguments": arguments, "outcome": outcome, **effect, "origin": said["origin"]}


class OptionalForm(StyledForm):
    optional = forms.CharField(
        required=False,
        max_length=20_000,
        label="Steps that another run may leave out",
        help_text="Numbers and ranges: 3, 7-9. They are counted in every run that skips them.",
    )

    def __init__(
        self, data: Any = None, *, steps: Sequence[StepLine], initial: Mapping[str, JSON] | None = None
    ) -> None:
        super().__init__(data, initial=dict(initial or {}))
        self.steps = len(steps)

    def clean_optional(self) -> list[int]:
        return sorted(numbers_in(self.cleaned_data["optional"], self.steps))
