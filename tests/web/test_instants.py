"""Instants on pages: what is read, and what is there to hover over."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from replaycases.web.templatetags.ui import when

AT = datetime(2026, 3, 9, 0, 5, 7, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(("style", "read"), [("minute", "8 Mar 2026 22:05"), ("time", "22:05"), ("day", "8 Mar 2026")])
def test_an_instant_is_read_in_the_zone_of_the_pages(style: str, read: str) -> None:
    assert when(AT, style).endswith(f">{read}</time>")


def test_an_instant_has_its_full_time_and_zone_beside_it() -> None:
    assert when(AT).startswith('<time datetime="2026-03-08T22:05:07+00:00" title="2026-03-08 22:05:07 UTC, UTC+0000">')


def test_what_did_not_happen_is_said_so() -> None:
    assert when(None) == '<span class="mute">not yet</span>'
