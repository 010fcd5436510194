"""What a run record says of the trace before anybody gave a reason."""

from __future__ import annotations

from typing import Any

import pytest

from replaycases.cases.outlines import RunRecord
from replaycases.web.captures.draft_form import RunRecordForm
from replaycases.web.captures.draft_page import parts_of


def said_of(settings: Any) -> str:
    record = RunRecord(
        started_at=None,
        workflow_version=None,
        trace_id=None,
        serving={"settings": settings},
        offered=None,
        identity=False,
        system=False,
        prompt_version=None,
        time_zone=None,
        locale=None,
        recorded_by={},
        tells_tools=False,
        record={},
    )
    form = RunRecordForm(None, choices={}, called=())
    return parts_of(form, record, None, {})["serving_settings"].note


def test_settings_are_shown_as_numbers_and_switches() -> None:
    assert said_of({"temperature": 0.2, "parallel_tool_calls": False}) == "temperature 0.2, parallel_tool_calls false"


@pytest.mark.parametrize("name", ["user", "stop", "metadata", "temperature", "a name that quotes somebody"])
def test_a_setting_that_may_quote_somebody_is_only_counted(name: str) -> None:
    assert said_of({"top_p": 1, name: "jane"}) == "top_p 1, 1 more"


def test_a_number_under_an_unknown_name_is_only_counted() -> None:
    assert said_of({"4711": 4711}) == "1 set"
