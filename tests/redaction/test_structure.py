"""The frame of a fixture stays as it is; what a workflow was given, said and answered may change."""

from __future__ import annotations

import pytest

from replaycases.redaction.structure import Frame


@pytest.mark.parametrize(
    "pointer",
    [
        "/input",
        "/input/customer/0",
        "/events/3/arguments/a~1b",
        "/events/12/outcome/value",
        "/events/1/alternatives/0/then/4/value/x",
        "/events/0/chunks/2/text",
        "/expected/prohibited_claims/0/detect/any/1",
    ],
)
def test_what_a_workflow_was_given_said_or_answered_may_change(pointer: str) -> None:
    assert Frame({"schema_version": "2.0"}).may_change(pointer)


@pytest.mark.parametrize(
    "pointer",
    ["/case_id", "/events/3/tool", "/events/3/effect/key", "/events/0/outcome/type", "/expected/boundary/0", ""],
)
def test_the_frame_stays(pointer: str) -> None:
    assert not Frame({"schema_version": "2.0"}).may_change(pointer)


@pytest.mark.parametrize(
    ("pointer", "may_change"),
    [
        ("/input", False),
        ("/input/jane@corp.test", True),
        ("/events/0/arguments", False),
        ("/events/0/arguments/x/y", True),
        ("/events/0/chunks/0/id", False),
        ("/expected/action_counts/refund", False),
    ],
)
def test_only_names_that_a_workflow_chose_may_change(pointer: str, may_change: bool) -> None:
    assert Frame({"schema_version": "2.0"}).may_change(pointer, in_key=True) is may_change


def test_an_older_fixture_has_its_own_frame() -> None:
    frame = Frame({"schema_version": "1.0"})
    assert frame.may_change("/tool_events/0/arguments/id")
    assert not frame.may_change("/tool_events/0/tool")


@pytest.mark.parametrize("document", [{"input": "x"}, ["x"], "x", {"schema_version": ["2.0"]}])
def test_a_document_that_is_no_fixture_is_content_throughout(document: object) -> None:
    assert Frame(document).may_change("/anything", in_key=True)
