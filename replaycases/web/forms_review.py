"""Forms for revisions, comments and decisions. They check shape; the domain functions decide."""

from __future__ import annotations

from typing import Any

from django import forms

from replaycases.accounts.models import User
from replaycases.cases import texts
from replaycases.cases.models import Case
from replaycases.web.forms import StyledForm, detect_field, validate_size
from replaycases.web.members import members_of

EDITED_BYTES = 1_000_000
"""A larger document is not put into a page to be edited: it is uploaded."""


class RevisionForm(StyledForm):
    """A whole new fixture, as text or as a file, which takes the text's place. `seen` is the number of the
    revision it was started from."""

    seen = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    text = forms.CharField(
        required=False,
        strip=False,
        max_length=EDITED_BYTES,
        label="Fixture as JSON",
        widget=forms.Textarea(attrs={"rows": 28, "class": "input mono", "spellcheck": "false", "wrap": "off"}),
    )
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
        """The bytes that were sent. A browser sends text with its own line ends; JSON strings hold none."""
        said = self.cleaned_data
        if said["fixture"]:
            data: bytes = said["fixture"].read()
            return data
        return str(said["text"]).replace("\r\n", "\n").encode("utf-8", "surrogatepass")


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
