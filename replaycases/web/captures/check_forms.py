"""A form for each kind of check, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from django import forms

from replaycases.cases import texts
from replaycases.verdict.observation import GOT_THROUGH, RunStatus
from replaycases.web.captures.effect_form import lines_of, patterns_field
from replaycases.web.captures.json_field import JsonField
from replaycases.web.forms import StyledForm

TOOLS, ACTIONS = "known-tools", "known-actions"


def _word(label: str, help_text: str = "", *, among: str = "", required: bool = True) -> forms.CharField:
    attrs = {"list": among, "autocomplete": "off"} if among else {}
    return forms.CharField(
        required=required,
        max_length=texts.NAME_CAP,
        label=label,
        help_text=help_text,
        widget=forms.TextInput(attrs=attrs),
    )


def _lines(label: str, help_text: str = "", *, required: bool = True) -> forms.CharField:
    attrs = {"rows": 3, "class": "input mono", "spellcheck": "false"}
    return forms.CharField(
        required=required, label=label, help_text=help_text, widget=forms.Textarea(attrs=attrs), max_length=20_000
    )


def _joined(values: Any) -> str:
    return "\n".join(value for value in values if isinstance(value, str)) if isinstance(values, list) else ""


class CheckForm(StyledForm):
    """`spec()` is the check's own object, without an id where none was chosen. `shown` is the object of a check that
    stands and is to be changed."""

    NAMED: ClassVar[bool] = True

    def __init__(
        self, data: Any = None, *, kind: str, incident: bool = False, shown: Mapping[str, Any] | None = None
    ) -> None:
        place = kind if shown is None else f"changed_{kind}"  # both may stand on one page
        super().__init__(data, auto_id=f"id_{place}_%s", initial=self.told(shown) if shown is not None else None)
        if self.NAMED:
            stands = shown is not None
            hint = "Left empty: it stays as it is." if stands else "Left empty: one is made."
            self.fields["id"] = _word("Id", hint, required=False)
            self.initial["id"] = (shown or {}).get("id", "")
        self.fields["incident"] = forms.BooleanField(
            required=False, initial=incident, label="This is the incident: the affected version breaks it"
        )
        for field in self.fields.values():
            if not isinstance(field.widget, forms.CheckboxInput | forms.CheckboxSelectMultiple):
                field.widget.attrs.setdefault("class", "input")

    def spec(self) -> dict[str, Any]:
        name = self.cleaned_data.get("id", "")
        return {**({"id": name} if name else {}), **self.own()}

    def own(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if name not in ("id", "incident") and value not in (None, "", [])
        }

    def told(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """The fields' values for a check as it is written: what `own` makes of them is the check again."""
        return dict(spec)


class ClaimForm(CheckForm):
    statement = forms.CharField(
        max_length=texts.TEXT_CAP,
        label="What is said",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="In words, as a reviewer reads it. Example: The refund is done.",
    )
    any = patterns_field("Found where the final message matches any of")
    none = patterns_field("but none of")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["any"].required = True
        self.fields["any"].help_text = "RE2, one a line, searched; (?i) ignores case. Example: (?i)refund.{0,40}done"

    def own(self) -> dict[str, Any]:
        said = self.cleaned_data
        none = lines_of(said["none"])
        detect = {"any": lines_of(said["any"]), **({"none": none} if none else {})}
        return {"statement": said["statement"], "detect": detect}

    def told(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        rule = spec.get("detect")
        patterns = {part: _joined(rule.get(part)) for part in ("any", "none")} if isinstance(rule, dict) else {}
        return {"statement": spec.get("statement"), **patterns}


class CitationForm(CheckForm):
    chunk = _word("Id of the chunk", "As the retrieval returned it.")


class CountForm(CheckForm):
    NAMED = False
    action = _word("Action", "As the run record names what a tool does.", among=ACTIONS)
    min = forms.IntegerField(required=False, min_value=0, label="At least")
    max = forms.IntegerField(
        required=False, min_value=0, label="At most", help_text="Distinct keys that were accepted."
    )

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if said.get("min") is None and said.get("max") is None and not self.errors:
            self.add_error("max", "Say at least one of the two bounds.")
        return said


class AuthorizationForm(CheckForm):
    action = _word("Action", among=ACTIONS)
    decision = forms.ChoiceField(choices=[("deny", "is denied"), ("allow", "is allowed")], label="It")


class OneOfForm(CheckForm):
    one_of = _lines("One of", "One a line.", required=False)
    or_none = forms.BooleanField(required=False, label="or nothing at all")

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if not said.get("one_of", "").strip() and not said.get("or_none"):
            self.add_error("one_of", "Name at least one.")
        return said

    def own(self) -> dict[str, Any]:
        said = self.cleaned_data
        allowed = [line.strip() for line in lines_of(said["one_of"])]
        return {"one_of": [*dict.fromkeys(allowed), *([None] if said["or_none"] else [])]}

    def told(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        allowed = spec.get("one_of")
        return {"one_of": _joined(allowed), "or_none": isinstance(allowed, list) and None in allowed}


class SequenceForm(CheckForm):
    tools = _lines("Tools that are called", "One a line, in their order. None: no tool is called.", required=False)
    mode = forms.ChoiceField(
        choices=[("subsequence", "these, others between them"), ("exact", "exactly these")], label="How"
    )

    def own(self) -> dict[str, Any]:
        said = self.cleaned_data
        return {"tools": [line.strip() for line in lines_of(said["tools"])], "mode": said["mode"]}

    def told(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        return {"tools": _joined(spec.get("tools")), "mode": spec.get("mode")}

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if said.get("mode") == "subsequence" and not said.get("tools", "").strip():
            self.add_error("tools", "Any run calls none of these. Name at least one, or choose “exactly these”.")
        return said


class ForbidForm(CheckForm):
    tool = _word("Tool that must not be called", among=TOOLS)
    after_accepted = _word("after this action was accepted", "Empty: never at all.", among=ACTIONS, required=False)
    unless = _word("unless this action was done", among=ACTIONS, required=False)

    def own(self) -> dict[str, Any]:
        return {"forbid": [super().own()]}


class OrderForm(CheckForm):
    action = _word("This action", among=ACTIONS)
    after = _word("comes only after this tool", among=TOOLS)


class RelationForm(CheckForm):
    first = _word("This value", "A pointer into what is observed: /calls/0/arguments/idempotency_key")
    kind = forms.ChoiceField(choices=[("equal", "equals"), ("different", "differs from")], label="How")
    second = _word("that value", "/calls/2/arguments/idempotency_key")

    def own(self) -> dict[str, Any]:
        said = self.cleaned_data
        return {"kind": said["kind"], "pointers": [said["first"], said["second"]]}

    def told(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        pointers = [*(spec.get("pointers") or ()), "", ""]
        return {"kind": spec.get("kind"), "first": pointers[0], "second": pointers[1]}


class SchemaForm(CheckForm):
    schema = JsonField(
        shape=(dict, bool),
        named="a JSON Schema",
        rows=6,
        required=True,
        label="JSON Schema",
        help_text="Over {calls, outcome, action_counts}, as it is observed.",
    )


class LimitsForm(CheckForm):
    turns = forms.IntegerField(required=False, min_value=0, label="At most so many model calls")
    cost = forms.FloatField(required=False, min_value=0, label="At most this cost")

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if said.get("turns") is None and said.get("cost") is None and not self.errors:
            self.add_error("turns", "Say at least one of the two.")
        return said


class RunStatusForm(CheckForm):
    forbid = forms.MultipleChoiceField(
        choices=[
            (status, status.replace("_", " "))
            for status in get_args(RunStatus)
            if status in ("crashed", "timed_out", "limit_exceeded", "exhausted") and status not in GOT_THROUGH
        ],
        widget=forms.CheckboxSelectMultiple(attrs={"class": ""}),
        label="The run never ends as",
    )


class GradeForm(CheckForm):
    NAMED = False
    grader = _word("Grader")
    version = _word("Version")
    result = _word("Result", "Evidence only: never green by itself.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["incident"]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of check as it is offered. `of` is the part of `expected` that it writes."""

    name: str
    of: str
    title: str
    form: type[CheckForm]


KINDS: tuple[Kind, ...] = (
    Kind(name="prohibited_claims", of="prohibited_claims", title="The reply never says …", form=ClaimForm),
    Kind(name="required_claims", of="required_claims", title="The reply says …", form=ClaimForm),
    Kind(name="required_disclosures", of="required_disclosures", title="The reply discloses …", form=ClaimForm),
    Kind(name="citations", of="citations", title="The reply cites …", form=CitationForm),
    Kind(name="action_counts", of="action_counts", title="An action is done so many times", form=CountForm),
    Kind(name="authorization", of="authorization", title="An action is denied or allowed", form=AuthorizationForm),
    Kind(name="forbid", of="tool_sequence", title="A tool is not called", form=ForbidForm),
    Kind(name="tool_sequence", of="tool_sequence", title="Tools are called in this order", form=SequenceForm),
    Kind(name="order", of="order", title="An action comes only after a tool", form=OrderForm),
    Kind(name="relations", of="relations", title="Two values are equal or differ", form=RelationForm),
    Kind(name="status", of="status", title="The reported status is one of …", form=OneOfForm),
    Kind(name="action", of="action", title="The chosen action is one of …", form=OneOfForm),
    Kind(name="limits", of="limits", title="It takes no more than …", form=LimitsForm),
    Kind(name="run_status", of="run_status", title="The run ends well", form=RunStatusForm),
    Kind(name="schema", of="schema", title="What is observed has this shape", form=SchemaForm),
    Kind(name="grade", of="grade", title="A grader's result, as evidence", form=GradeForm),
)
BY_NAME: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}
