"""Fields of forms that a page draws often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString


class Select(forms.Select):
    """Django's own asks two templates for each option. With teams and people to choose from that is a tenth of the time
    that a page takes."""

    def render(
        self, name: str, value: Any, attrs: Mapping[str, Any] | None = None, renderer: object = None
    ) -> SafeString:
        chosen = set(self.format_value(value))
        return format_html(
            '<select name="{}"{}>{}</select>',
            name,
            flatatt(self.build_attrs(self.attrs, dict(attrs or {}))),
            format_html_join("", "{}", ((_drawn(key, label, chosen),) for key, label in self.choices)),
        )


def _drawn(key: Any, label: Any, chosen: set[str]) -> SafeString:
    """An option, or a group of them: then `key` is its name and `label` its options."""
    if isinstance(label, list | tuple):
        return format_html('<optgroup label="{}">{}</optgroup>', key, _options(label, chosen))
    return _options([(key, label)], chosen)


def _options(choices: Iterable[tuple[Any, Any]], chosen: set[str]) -> SafeString:
    rows = ((key, SafeString(" selected") if str(key) in chosen else "", label) for key, label in choices)
    return format_html_join("", '<option value="{}"{}>{}</option>', rows)
