"""Recorded text on a page: every character that cannot be seen, or that moves its neighbours, is drawn.

Control characters, bidirectional overrides, zero-width characters, lone surrogates and look-alike spaces become
their code point, so that what a reviewer reads is what was recorded. Line feeds and tabs stay themselves.
"""

from __future__ import annotations

import html
import re
import unicodedata

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from replaycases.web import words
from replaycases.web.words import Segment, Shown

register = template.Library()

# Drawn whatever their category: default-ignorable letters and marks (Unicode DerivedCoreProperties).
_IGNORABLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
)
_SUSPECT = re.compile(rf"[^\x21-\x7e \n\t]|[{_IGNORABLE}]")
_IGNORABLE_ONE = re.compile(f"[{_IGNORABLE}]")
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


def is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN_CATEGORIES or bool(_IGNORABLE_ONE.match(character))


def _drawn(match: re.Match[str]) -> str:
    character = match.group()
    if not is_hidden(character):
        return character
    point = f"U+{ord(character):04X}"
    name = escape(unicodedata.name(character, "control character or unassigned"))
    return f'<span class="cc" title="{name}">{point}</span>'


def _plainly(match: re.Match[str]) -> str:
    character = match.group()
    return f"[U+{ord(character):04X}]" if is_hidden(character) else character


def visible_html(text: str) -> SafeString:
    """`text` escaped for HTML, hidden characters drawn. Safe in element content, not in attributes."""
    # Without Django's wrappers, which look for lazy text: long lists call this a thousand times a page.
    return SafeString(_SUSPECT.sub(_drawn, html.escape(text)))


@register.filter(is_safe=True)
def visible(value: object) -> SafeString:
    """`{{ text|visible }}`: recorded text in element content."""
    return visible_html(str(value))


@register.filter
def visible_plain(value: object) -> str:
    """`{{ text|visible_plain }}`: recorded text where markup is not possible (titles, attributes)."""
    return _SUSPECT.sub(_plainly, str(value)).replace("\n", " ")


@register.simple_tag
def shown(text: Shown, side: str = "", download: str = "") -> SafeString:
    """A text with its marks, and in words what of it was left out. A tag, not a template: a template's own line ends
    would stand in recorded text. `side` is "o" or "n"; without it nothing is marked."""
    before = f"{text.skipped} characters before this left out" if text.skipped else ""
    parts = [_cut(before, "")] + [_marked(part, side) for part in text.segments]
    if text.cut:
        parts.append(_cut(f"cut: the whole has {text.cut} characters", download))
    return mark_safe("".join(parts))  # noqa: S308  each part was escaped where it was made


@register.simple_tag
def brief(text: Shown, side: str = "", download: str = "") -> SafeString:
    """As `shown`, of a long text the part that decides first: the rest is opened, and its differences are counted."""
    short = words.brief(text)
    if short is None:
        return shown(text, side, download)
    more = text.marks - short.marks
    note = f", {more} more difference{'' if more == 1 else 's'}" if more > 0 and side else ""
    size = f"{text.cut or text.length:,} characters"
    summary = f"all {size}{note}" if not text.cut else f"{text.length:,} of {size}{note}"
    parts = ["… " if short.skipped else "", *(_marked(part, side) for part in short.segments), " …"]
    return format_html(
        '<span class="brief">{}</span><details class="whole"><summary>{}</summary>{}</details>',
        mark_safe("".join(parts)),  # noqa: S308  each part was escaped where it was made
        summary,
        shown(text, side, download),
    )


def _marked(part: Segment, side: str) -> SafeString:
    told = visible_html(part.text)
    return format_html('<mark class="{}">{}</mark>', part.mark or side, told) if part.marked and side else told


def _cut(note: str, download: str) -> SafeString:
    if not note:
        return SafeString()
    link = format_html(', <a href="{}" download>download</a>', download) if download else ""
    return format_html('<span class="cut">{}{}</span>', note, link)
