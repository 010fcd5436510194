"""Words for gates."""

from __future__ import annotations

from django import template

from replaycases.cases import gates

register = template.Library()


@register.filter
def gate_title(name: str) -> str:
    """The gate's title as the checklist shows it; a name that there is no gate of stays as it is."""
    return {str(known): title for known, title in gates.TITLES.items()}.get(name, name)
