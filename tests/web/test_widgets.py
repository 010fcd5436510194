"""Fields that we draw ourselves say what Django's own say."""

from __future__ import annotations

import pytest
from django import forms

from replaycases.web.widgets import Select

CHOICES = [
    ("", "any"),
    (7, "in 7 days"),
    ("me", 'me & "mine"'),
    ("Teams", [("team:1", "<b>"), ("team:2", "Two")]),
    ("People", []),
]


@pytest.mark.parametrize("value", [None, "", "7", 7, "me", "team:2", "unknown"])
def test_a_select_is_djangos_without_the_space_between(value: object) -> None:
    attrs = {"class": "input", "id": "id_owner", "required": True, "disabled": False}
    ours, theirs = (widget(choices=CHOICES).render("owner", value, attrs) for widget in (Select, forms.Select))
    assert ours == "".join(line.strip() for line in theirs.splitlines())
