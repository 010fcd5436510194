"""Small parts that every page uses."""

from __future__ import annotations

from datetime import datetime
from functools import cache

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from replaycases.cases.lifecycle import STEPS
from replaycases.cases.models import Stage
from replaycases.web import labels, topbar

register = template.Library()

_HASH = (
    '<span class="hash" title="{value}"><span class="short">{short}</span><span class="printed">{value}</span></span>'
    '<button class="copy" type="button" data-copy="{value}" aria-label="Copy {name} {short}">'
    '<svg class="i" aria-hidden="true"><use href="#i-copy"/></svg></button>'
)
# Python's own formats: a page shows dozens of instants, and Django looks a translation up for each part of each.
_STYLES = {"minute": "{0.day} {0:%b %Y %H:%M}", "time": "{0:%H:%M}", "day": "{0.day} {0:%b %Y}"}


@register.simple_tag
@cache
def icon(name: str) -> SafeString | str:
    """An icon of the sprite in parts/icons.html; always beside a word, so hidden from screen readers."""
    if not name:
        return ""
    return format_html('<svg class="i" aria-hidden="true"><use href="#i-{}"/></svg>', name)


@register.simple_tag
def case_url(route: str, readable_id: str) -> str:
    """`{% url route readable_id %}` for pages with many cases: Django looks for the route anew for each of them."""
    before, after = _around_id(route)
    return f"{before}{readable_id}{after}"


@cache
def _around_id(route: str) -> tuple[str, str]:
    before, _, after = reverse(route, args=["X-1"]).partition("X-1")
    return before, after


def _worded(css: str, look: labels.Look) -> SafeString:
    return format_html('<span class="{} {}">{}{}</span>', css, look.css, icon(look.icon), look.word)


@register.simple_tag
def verdict_badge(label: str, size: str = "") -> SafeString:
    return _worded(f"badge {size}".strip(), labels.verdict_look(label))


@register.simple_tag
def verdict_word(label: str) -> SafeString:
    """A verdict without its box: what was, beside what is."""
    return _worded("st", labels.verdict_look(label))


@register.simple_tag(takes_context=True)
def topbar_of(context: Context) -> topbar.Bar:
    """What the bar shows of the signed-in person; a page that knows it already says so as `bar`."""
    known: topbar.Bar | None = context.get("bar")
    return known or topbar.of(context["user"])


@register.filter
def stage_word(stage: str) -> str:
    return Stage(stage).label.lower()


@register.simple_tag
def look_badge(look: labels.Look) -> SafeString:
    return _worded("badge", look)


@register.simple_tag
def state(value: object) -> SafeString:
    """A check result, a boundary value or a surface, for table cells."""
    return _worded("st", labels.state_look(value))


@register.simple_tag
def run_state(value: str) -> SafeString:
    return _worded("st", labels.run_state_look(value))


@register.simple_tag
def hash_of(value: str, name: str = "hash", length: int = 10) -> SafeString:
    """A digest, cut on screen, whole in print and in the copy button; `name` says what is copied."""
    prefix, _, hexadecimal = value.rpartition(":")
    shown = hexadecimal[:length] if len(hexadecimal) > length else hexadecimal
    short = f"{prefix}:{shown}" if prefix else shown
    return format_html(_HASH, value=value, short=short, name=name)


@register.filter
def short_commit(commit: str) -> str:
    """The first seven digits of a commit hash; another name of a version stays whole."""
    return commit[:7] if len(commit) == 40 and set(commit) <= set("0123456789abcdef") else commit


@register.simple_tag
def when(at: datetime | None, style: str = "minute") -> SafeString:
    """An instant, with the full time and zone on hover. `style` is "minute", "time" or "day"."""
    if at is None:
        return format_html('<span class="mute">{}</span>', "not yet")
    local = timezone.localtime(at)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        local.isoformat(),
        f"{local:%Y-%m-%d %H:%M:%S %Z, UTC%z}",
        _STYLES[style].format(local),
    )


@register.simple_tag
@cache
def stage_of(stage: str) -> SafeString:
    """Four squares and a word, in ink: a stage is not an outcome."""
    reached = STEPS.index(Stage(stage)) + 1 if stage in STEPS else 0
    squares = [{"x": x, "on": index < reached} for index, x in enumerate(("0.5", "11.5", "22.5", "33.5"))]
    return render_to_string("parts/stage.html", {"word": Stage(stage).label.lower(), "squares": squares})
