"""A JSON value as text in a form."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from replaycases.fixture import strict_json
from replaycases.fixture.findings import FixtureInvalid


class JsonField(forms.CharField):
    """None for an empty text. `shape` is the type that the value must have, `named` its name in words."""

    def __init__(self, *, shape: type | tuple[type, ...], named: str, rows: int = 4, **kwargs: Any) -> None:
        attrs = {"rows": rows, "class": "input mono", "spellcheck": "false"}
        super().__init__(**{"required": False, "strip": False, "widget": forms.Textarea(attrs=attrs), **kwargs})
        self.shape, self.named = shape, named

    def to_python(self, value: Any) -> Any:
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        if not isinstance(value, str):
            return value
        try:
            parsed = strict_json.parse(value.encode())
        except (FixtureInvalid, UnicodeEncodeError) as invalid:
            raise forms.ValidationError(_why(invalid)) from None
        if not isinstance(parsed, self.shape):
            raise forms.ValidationError(f"This must be {self.named}.")
        return parsed

    def prepare_value(self, value: Any) -> Any:
        return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)

    def validate(self, value: Any) -> None:
        """An empty object is a value, and so is false."""
        if self.required and value is None:
            raise forms.ValidationError(self.error_messages["required"], code="required")


def _why(invalid: Exception) -> list[str]:
    if not isinstance(invalid, FixtureInvalid):
        return ["The text holds a character that no JSON may have."]
    places = [(found, f" (at {found.pointer})" if found.pointer else "") for found in invalid.findings[:3]]
    return [f"{found.message[:1].upper()}{found.message[1:]}{place}. {found.hint}" for found, place in places]
