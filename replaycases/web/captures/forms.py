"""The form by which a recorded run comes in."""

from __future__ import annotations

from typing import Any

from django import forms

from replaycases.accounts.models import User
from replaycases.accounts.roles import CAPTURES
from replaycases.cases import incoming, texts
from replaycases.cases.incoming import Incoming
from replaycases.cases.models import Origin
from replaycases.web.forms import ProjectForm, projects_where, validate_size
from replaycases.web.members import members_of


class CaptureForm(ProjectForm):
    """A trace, as a file or as text. `source` is the field that it came by."""

    roles = CAPTURES

    file = forms.FileField(
        required=False,
        validators=[validate_size],
        label="A file",
        help_text="As your stack wrote it: what it is is found by its content, not by its name.",
    )
    text = forms.CharField(
        required=False,
        strip=False,
        label="Or paste it",
        widget=forms.Textarea(attrs={"rows": 12, "class": "input mono", "spellcheck": "false"}),
        help_text="Up to 5 MB; upload what is larger. Line ends are kept as \\n, whatever the browser sends.",
    )
    reported_symptom = forms.CharField(
        required=False,
        max_length=texts.TEXT_CAP,
        label="What was reported",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="In whatever words. It decides nothing.",
    )
    trace_id = forms.CharField(
        required=False, max_length=texts.NAME_CAP, label="Trace id", help_text="Where the trace has one elsewhere."
    )
    on_behalf_of = forms.ModelChoiceField(
        queryset=User.objects.none(),
        required=False,
        empty_label="nobody else",
        label="Captured on behalf of",
        help_text="They approve nothing of what is made of it, as you do not.",
    )
    evidence_days = forms.IntegerField(
        required=False,
        min_value=1,
        label="Keep it for",
        help_text="Days. Left empty: as long as the project keeps raw evidence, and never longer than that.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        colleagues = members_of(projects_where(user, self.roles)).exclude(pk=user.pk)
        self.fields["on_behalf_of"].queryset = colleagues  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or self.cleaned_data
        has_file, has_text = bool(said.get("file")), bool((said.get("text") or "").strip())
        if has_file and has_text:
            self.add_error("text", "There is a file and a text. Send one of them.")
        elif not (has_file or has_text or self.errors):
            self.add_error("file", "Choose a file, or paste the trace.")
        return said

    @property
    def source(self) -> str:
        return "file" if self.cleaned_data.get("file") else "text"

    @property
    def origin(self) -> Origin:
        return Origin.UPLOAD if self.source == "file" else Origin.PASTE

    def data_of_trace(self) -> bytes | Incoming:
        file = self.cleaned_data.get("file")
        # A browser sends each line end of a text as \r\n; a file that was copied from had \n, and its digest is wanted.
        text = self.cleaned_data["text"].replace("\r\n", "\n") if not file else ""
        return incoming.held(file) if file else text.encode("utf-8", "surrogatepass")

    def name_of_trace(self) -> str:
        file = self.cleaned_data.get("file")
        return str(file.name or "")[: texts.NAME_CAP] if file else ""
