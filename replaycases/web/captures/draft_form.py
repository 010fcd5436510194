"""The run record as a form: what no trace holds, and what this one lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.core.validators import URLValidator

from replaycases.cases import texts
from replaycases.importers import run_record
from replaycases.web.captures.effect_form import EffectForm, rules_of
from replaycases.web.captures.json_field import JsonField
from replaycases.web.captures.record_rules import (
    rule_faults,
    texts_of,
    validate_instant,
    validate_locale,
    validate_zone,
)
from replaycases.web.forms import StyledForm

SERVING = ("provider", "requested_model", "returned_model", "api_version")
RECORDER = ("commit", "recorder", "version")
PLAIN = ("case_id", "incident_id", "frozen_at", "time_zone", "locale", "workflow_version", "prompt_version")
RECORD = "record_"
JSON_PARTS = ("identity", "tools", "policies", "templates", "alternatives")
PARTS = (*PLAIN, *JSON_PARTS, "ignore", "optional", "none", "serving", "record", "recorded_by", "effects")
"""Of the choices those that the form shows and sets, all of them."""


def _text(label: str, help_text: str = "", *validators: Callable[[str], None]) -> forms.CharField:
    return forms.CharField(
        required=False, max_length=texts.NAME_CAP, label=label, help_text=help_text, validators=validators
    )


def _record_field(part: run_record.RecordPart) -> forms.CharField:
    made = forms.CharField(required=False, max_length=run_record.CAP, label=part.label)
    if part.name.endswith("_url"):
        made.validators.append(URLValidator(schemes=["http", "https"], message="Give a full address: https://…"))
    made.widget.attrs["class"] = "input"
    return made


class RunRecordForm(StyledForm):
    """Fields bear the names of the parts of `importers.supplied.Supplied`; what belongs to one part is prefixed."""

    case_id = _text("Case id", "A name that stays. Example: refund-claimed-after-timeout.")
    incident_id = _text("Incident", "The incident's own id.")
    frozen_at = _text("Frozen time", "ISO 8601 with an offset: 2026-11-01T09:00:00+01:00.", validate_instant)
    time_zone = _text("Time zone", "Example: Europe/Berlin.", validate_zone)
    locale = _text("Locale", "Example: de-DE.", validate_locale)
    workflow_version = _text("Workflow version", "The affected code: a commit or a release.")
    prompt_version = _text("Prompt version")
    identity = JsonField(
        shape=(dict, list, str),
        named="a JSON value",
        label="Identity claims",
        help_text="Who asked, with which rights.",
    )
    serving_provider = _text("Provider")
    serving_requested_model = _text("Model asked for")
    serving_returned_model = _text("Model that answered")
    serving_api_version = _text("API version")
    serving_settings = JsonField(
        shape=dict,
        named="a JSON object",
        rows=3,
        label="Settings",
        help_text='Example: {"temperature": 0}. {} for none.',
    )
    tools = JsonField(shape=list, named="a JSON list", label="Tool catalogue", help_text="As the model was offered it.")
    none = forms.MultipleChoiceField(
        required=False,
        choices=[("clock", "reads no clock"), ("random", "draws nothing at random"), ("retrieval", "looks nothing up")],
        widget=forms.CheckboxSelectMultiple(attrs={"class": ""}),
        label="The workflow",
        help_text="Declared where the trace cannot show it.",
    )
    policies = JsonField(
        shape=list,
        named="a JSON list",
        rows=3,
        label="Policies",
        help_text='[{"name", "version", "sha256", "content"?}]: by hash. Where the content is given, it is computed.',
    )
    templates = JsonField(
        shape=list,
        named="a JSON list",
        rows=3,
        label="Further templates",
        help_text="The same shape. The system prompt and the tool catalogue are taken from the trace.",
    )
    ignore = forms.CharField(
        required=False,
        label="Not compared",
        widget=forms.Textarea(attrs={"rows": 3, "class": "input mono", "spellcheck": "false"}),
        help_text="One rule a line: a tool, or @model, and a pointer. Example: refund /created_at. Hits are counted.",
    )
    optional = _text("Steps that another run may leave out", "Numbers with commas. Example: 3, 7.")
    alternatives = JsonField(
        shape=dict,
        named="a JSON object",
        label="Other calls that are right",
        help_text='{"4": [{"tool", "arguments", "outcome", "origin"}]}: by step. "origin" is "recorded" or "authored".',
    )
    recorded_by_commit = _text("Commit of the recorder")
    recorded_by_recorder = _text("Recorder")
    recorded_by_version = _text("Recorder's version")

    def __init__(
        self, data: Any = None, *, choices: Mapping[str, Any], called: Sequence[str], boundaries: Sequence[str] = ()
    ) -> None:
        super().__init__(data, initial=dict(_initial(choices)))
        self.fields |= {f"{RECORD}{part.name}": _record_field(part) for part in run_record.PARTS.values()}
        self.called, self.boundaries = called, boundaries
        kept = choices.get("effects", {}).get("tools", {})
        self.effects = [
            EffectForm(data, prefix=f"tool{number}", tool=tool, said=tool in kept, rule=kept.get(tool))
            for number, tool in enumerate(called)
        ]
        # Rules for tools that the run does not call, as they came in by another way.
        self.other_rules = {tool: rule for tool, rule in kept.items() if tool not in called}

    @property
    def leniency_is_open(self) -> bool:
        return self._is_said("ignore", "alternatives", "optional")

    @property
    def recorder_is_open(self) -> bool:
        return self._is_said(*(f"recorded_by_{name}" for name in RECORDER))

    def _is_said(self, *names: str) -> bool:
        return any(self[name].value() or self[name].errors for name in names)

    def is_valid(self) -> bool:
        # Each is asked, so that each shows what is wrong with it.
        return all([super().is_valid(), *(effect.is_valid() for effect in self.effects)])

    def clean_ignore(self) -> list[dict[str, str]]:
        rules = [_ignore_rule(line) for line in self.cleaned_data["ignore"].splitlines() if line.strip()]
        faults = rule_faults(rules, self.called, self.boundaries)
        if faults:
            raise forms.ValidationError(faults)
        return rules

    def clean_policies(self) -> list[Any] | None:
        return self._texts("policies")

    def clean_templates(self) -> list[Any] | None:
        return self._texts("templates")

    def _texts(self, name: str) -> list[Any] | None:
        said = self.cleaned_data[name]
        return None if said is None else texts_of(said)

    def clean_optional(self) -> list[int]:
        said = [part.strip() for part in self.cleaned_data["optional"].split(",") if part.strip()]
        if not all(part.isascii() and part.isdecimal() and len(part) <= 6 for part in said):
            raise forms.ValidationError("Numbers of steps, with commas between them.")
        return sorted({int(part) for part in said})

    def parts(self) -> dict[str, Any]:
        """What was said, as parts of the choices. What is empty is not supplied."""
        said = self.cleaned_data
        serving = {name: said[f"serving_{name}"] for name in SERVING if said[f"serving_{name}"]}
        if said["serving_settings"] is not None:
            serving["settings"] = said["serving_settings"]
        rules = {**self.other_rules, **rules_of(self.effects)}
        return {
            **{name: said[name].strip() for name in PLAIN},
            **{name: said[name] for name in (*JSON_PARTS, "ignore", "optional", "none")},
            "serving": serving,
            "record": {name: said[f"{RECORD}{name}"] for name in run_record.PARTS if said[f"{RECORD}{name}"]},
            "recorded_by": {name: said[f"recorded_by_{name}"] for name in RECORDER if said[f"recorded_by_{name}"]},
            "effects": {"tools": rules} if rules else {},
        }


def _initial(choices: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from ((name, choices.get(name)) for name in (*PLAIN, *JSON_PARTS, "none"))
    yield from ((f"serving_{name}", choices.get("serving", {}).get(name)) for name in (*SERVING, "settings"))
    yield from ((f"recorded_by_{name}", choices.get("recorded_by", {}).get(name)) for name in RECORDER)
    yield from ((f"{RECORD}{name}", said) for name, said in choices.get("record", {}).items())
    yield "optional", ", ".join(map(str, choices.get("optional", ())))
    yield "ignore", "\n".join(_ignore_line(rule) for rule in choices.get("ignore", ()))


def _ignore_rule(line: str) -> dict[str, str]:
    of, _, pointer = line.strip().rpartition(" ")
    if not of.strip() or not pointer.startswith("/"):
        raise forms.ValidationError(f"“{line.strip()[:80]}” is no rule: name a tool, or @model, and then a pointer.")
    of = of.strip()
    return {"boundary": of[1:], "pointer": pointer} if of.startswith("@") else {"tool": of, "pointer": pointer}


def _ignore_line(rule: Mapping[str, str]) -> str:
    return f"{rule['tool'] if 'tool' in rule else '@' + rule['boundary']} {rule['pointer']}"
