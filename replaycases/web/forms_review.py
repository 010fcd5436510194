"""Forms for revisions, comments and decisions. They check shape; the domain functions decide."""

from __future__ import annotations

from typing import Any

from django import forms

from replaycases.accounts.models import User
from replaycases.cases import control_rules, texts
from replaycases.cases.models import Case, FixtureRevision
from replaycases.web.forms import NamedControlForm, StyledForm, detect_field, validate_size
from replaycases.web.members import members_of

EDITED_BYTES = 1_000_000
"""A larger document is not put into a page to be edited: it is uploaded."""


def json_field(label: str, *, rows: int, required: bool = True, help_text: str = "") -> forms.CharField:
    """A document that is edited as text."""
    return forms.CharField(
        required=required,
        strip=False,
        max_length=EDITED_BYTES,
        label=label,
        help_text=help_text,
        widget=forms.Textarea(attrs={"rows": rows, "class": "input mono", "spellcheck": "false", "wrap": "off"}),
    )


def bytes_of(text: str) -> bytes:
    """What was typed. A browser sends text with its own line ends; JSON strings hold none."""
    return text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")


class RevisionForm(StyledForm):
    """A whole new fixture, as text or as a file, which takes the text's place. `seen` is the number of the
    revision it was started from."""

    seen = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    text = json_field("Fixture as JSON", rows=28, required=False)
    fixture = forms.FileField(
        required=False, validators=[validate_size], label="Fixture file", help_text="JSON, schema 1.0 or 2.0."
    )
    detect = detect_field()
    keep_detect = forms.BooleanField(
        required=False, label="Keep the detect rules", help_text="Those beside the current revision, as they are."
    )
    changed = forms.CharField(
        max_length=texts.TEXT_CAP,
        label="What is changed",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="For the reviewer. Quote nothing that had to be redacted.",
    )
    on_behalf_of = forms.ModelChoiceField(
        queryset=User.objects.none(),
        required=False,
        empty_label="Nobody: it is my own work",
        label="On behalf of",
        help_text="Who is named here may not approve it either.",
    )

    def __init__(self, *args: Any, case: Case, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        colleagues = members_of([case.project]).exclude(pk=user.pk)
        self.fields["on_behalf_of"].queryset = colleagues  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        if not said.get("fixture") and not said.get("text") and "text" in said:
            raise forms.ValidationError("Send the fixture as a file or as text.")
        return said

    def document(self) -> bytes:
        """The bytes that were sent."""
        said = self.cleaned_data
        if said["fixture"]:
            data: bytes = said["fixture"].read()
            return data
        return bytes_of(said["text"])


class WrittenControlForm(NamedControlForm):
    """A control as text, written from the revision with the number `seen`. Of which tool and kind it is was chosen
    before; what its author has not filled in yet is said beside the text."""

    seen = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    text = json_field("Fixture as JSON", rows=28)
    mutation = json_field(
        "Mutation as JSON Patch",
        rows=14,
        help_text="On recorded answers alone. Once applied, the fixed version must violate one of the checks.",
    )

    def __init__(self, *args: Any, revision: FixtureRevision, **kwargs: Any) -> None:
        super().__init__(*args, revision=revision, **kwargs)
        for name in ("outcome_type", "tool"):
            if name in self.fields:
                self.fields[name].widget = forms.HiddenInput()

    def clean_text(self) -> str:
        text = str(self.cleaned_data["text"]).replace("\r\n", "\n")
        left = control_rules.unfilled(text)
        if left:
            raise forms.ValidationError(left)
        return text


class CommentForm(StyledForm):
    pointer = forms.CharField(required=False, strip=False, widget=forms.HiddenInput)
    text = forms.CharField(max_length=texts.TEXT_CAP, label="Comment", widget=forms.Textarea(attrs={"rows": 3}))


class ResolutionForm(StyledForm):
    resolution = forms.CharField(
        required=False,
        max_length=texts.TEXT_CAP,
        label="How it was resolved",
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class DecisionForm(StyledForm):
    """A decision about exactly what was shown: the hashes are those of the page that was read."""

    revision = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    content_hash = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput)
    fixture_hash = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput)
    checks_hash = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput)
    note = forms.CharField(
        required=False, max_length=texts.TEXT_CAP, label="Note", widget=forms.Textarea(attrs={"rows": 2})
    )


class ReturnForm(DecisionForm):
    note = forms.CharField(
        max_length=texts.TEXT_CAP,
        label="Reason",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What is wrong and where, so that its author can mend it.",
    )
