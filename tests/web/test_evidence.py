"""Recorded text on a page: nothing that cannot be seen stays unseen, and nothing in it becomes markup."""

from __future__ import annotations

import html
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.web import words
from replaycases.web.templatetags.evidence import brief, shown, visible_html, visible_plain

TRICKY = st.text(
    st.sampled_from("a<>&\"' \n\t\r\x00\x1b\u200b\u202e\u2066\u2028\u00a0\u00ad\ufe0f\u3164\ud800é漢"), max_size=20
)


HIDDEN = (
    *("\x00", "\x07", "\x1b", "\r", "\x7f", "\x85", "\u00a0", "\u00ad", "\u034f", "\u061c", "\u115f", "\u200b"),
    *("\u200d", "\u200e", "\u202a", "\u202e", "\u2028", "\u2029", "\u2060", "\u2066", "\u2069", "\u3000", "\u3164"),
    *("\ufe0f", "\ufeff", "\uffa0", "\ud800", "\ue000", "\U000e0041", "\U0001d173"),
)


@pytest.mark.parametrize("character", HIDDEN, ids=lambda character: f"U+{ord(character):04X}")
def test_a_hidden_character_is_drawn_as_its_code_point(character: str) -> None:
    shown = visible_html(f"a{character}b")
    assert character not in shown
    assert f">U+{ord(character):04X}</span>" in shown
    assert visible_plain(character) == f"[U+{ord(character):04X}]"


@pytest.mark.parametrize("text", ["plain", "two\nlines\tand a tab", "Müller 漢字 مرحبا", "naïve — “quoted”", "👍"])
def test_what_can_be_seen_stays_itself(text: str) -> None:
    assert visible_html(text) == text


@given(TRICKY)
def test_only_our_own_markup_comes_out(text: str) -> None:
    outside = re.sub(r'<span class="cc" title="[^"<>]*">U\+[0-9A-F]{4,6}</span>', "", visible_html(text))
    assert not set("<>\"'") & set(outside)
    assert all(c in "\n\t " or unicodedata.category(c)[0] not in "CZ" for c in html.unescape(outside))


@given(TRICKY, TRICKY)
def test_texts_that_differ_look_different(one: str, other: str) -> None:
    assert (visible_html(one) == visible_html(other)) is (one == other)


def test_a_cut_text_says_how_long_it_is_and_where_the_whole_is() -> None:
    long = words.whole("x" * (words.SHOWN + 1))
    assert '<a href="/whole" download>download</a>' in shown(long, download="/whole")
    assert f"cut: the whole has {words.SHOWN + 1} characters" in shown(long)


def test_a_text_is_shown_with_nothing_added_to_it() -> None:
    assert shown(words.whole("line\n")) == "line\n"


def test_the_whole_of_a_long_text_is_opened_in_its_cell_with_its_size_and_what_else_differs() -> None:
    old, _ = words.differing("x " * 700 + "<old>" + " y" * 300 + " more", "x " * 700 + "<new>" + " y" * 300 + " else")
    html = brief(old, "o")
    assert html.startswith('<span class="brief">…  x')
    assert "<summary>all 2,010 characters, 1 more difference</summary>" in html
    assert html.count('<mark class="o">') == 3
    assert "<old>" not in html
    assert brief(words.whole("short")) == "short"
