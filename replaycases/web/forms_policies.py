"""The form of a project's redaction policy. It checks shape; the domain function decides."""

from __future__ import annotations

from django import forms

from replaycases.cases import texts
from replaycases.web.forms import StyledForm
from replaycases.web.forms_review import EDITED_BYTES


class RedactionPolicyForm(StyledForm):
    """A whole policy as text, kept as a version or tried on a case. `seen` is the number of the version that it was
    started from, 0 for the built-in one."""

    seen = forms.IntegerField(min_value=0, max_value=2**31 - 1, widget=forms.HiddenInput)
    text = forms.CharField(
        strip=False,
        max_length=EDITED_BYTES,
        label="Policy as JSON",
        widget=forms.Textarea(attrs={"rows": 22, "class": "input mono", "spellcheck": "false", "wrap": "off"}),
    )
    note = forms.CharField(
        max_length=texts.TEXT_CAP,
        label="What is new, and why",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="It stands in the list of versions. Quote nothing that has to be redacted.",
    )
    case = forms.CharField(
        max_length=40,
        required=False,
        label="Try it on case",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="By its id. Nothing is kept.",
    )

    def document(self) -> bytes:
        """A browser sends text with its own line ends; JSON strings hold none."""
        return str(self.cleaned_data["text"]).replace("\r\n", "\n").encode("utf-8", "surrogatepass")
