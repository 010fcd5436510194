from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaycases.fixture.findings import FixtureInvalid
from replaycases.fixture.load import load_fixture
from replaycases.importers.findings import ImportRefused
from replaycases.importers.registry import formats, import_run, open_recording
from replaycases.importers.supplied import supplied_from
from tests.importers.transcripts import SUPPLIED, answers, asks, call, says, supplied, transcript, user

RUN = transcript(user("hi"), asks(call("look")), answers("one"), says("It is one."))
EXPECTED = {"boundary": ["looked"], "tool_sequence": {"id": "looked", "tools": ["look"], "mode": "exact"}}


def test_a_file_becomes_a_fixture_that_the_loader_accepts_as_it_stands() -> None:
    imported = import_run(RUN, supplied=supplied(expected=EXPECTED))
    assert imported.fixture is not None
    assert load_fixture(imported.as_bytes()).fixture_hash == imported.fixture.fixture_hash


def test_without_an_expectation_it_is_a_draft() -> None:
    imported = import_run(RUN, supplied=supplied())
    assert imported.fixture is None
    assert "expected" not in imported.document


def test_a_malformed_expectation_never_becomes_a_fixture() -> None:
    with pytest.raises(FixtureInvalid):
        import_run(RUN, supplied=supplied(expected={"boundary": ["nothing"]}))


@pytest.mark.parametrize("data", [b"", b'{"messages": [', b'[{"a": "\xff"}]', b'{"a": nan}', b"[" * 200])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ImportRefused) as caught:
        import_run(data, supplied=supplied())
    assert caught.value.finding.id == "import.not-json"


@pytest.mark.parametrize("data", [b"hello", b"\xff\xfe", b"{}", b"[]"])
def test_what_looks_like_nothing_known_is_refused(data: bytes) -> None:
    with pytest.raises(ImportRefused) as caught:
        import_run(data, supplied=supplied())
    assert caught.value.finding.id == "import.unknown-format"


def test_an_unknown_format_lists_the_known_ones() -> None:
    with pytest.raises(ImportRefused) as caught:
        import_run(b'{"readings": []}', supplied=supplied())
    assert caught.value.finding.id == "import.unknown-format"
    assert all(name in caught.value.finding.hint for name in formats())


@pytest.mark.parametrize(("data", "format"), [(RUN, "nonsense"), (b"{}", "chat-transcript")])
def test_a_format_given_by_name_must_exist_and_fit(data: bytes, format: str) -> None:
    with pytest.raises(ImportRefused) as caught:
        import_run(data, format=format, supplied=supplied())
    assert caught.value.finding.id == "import.format"


def test_a_part_that_cannot_be_supplied_is_named() -> None:
    with pytest.raises(ImportRefused, match="/servings"):
        supplied_from({**SUPPLIED, "servings": {}})


def test_what_was_not_taken_over_is_listed() -> None:
    data = json.dumps({**json.loads(RUN), "reward": 0, "info": {}}).encode()
    assert import_run(data, supplied=supplied()).left_out == ("/info", "/reward")


WRONG = st.sampled_from([None, True, 1, "x", [], {}, ["x"], {"role": "user"}, "tool", "assistant"])
MESSAGES = [user("hi"), says("well"), asks(call("look")), asks(call("look"), call("book", id="d")), answers("one")]
SPOILT = st.tuples(st.sampled_from(["role", "content", "tool_calls", "tool_call_id", "name"]), WRONG)


@given(st.lists(st.tuples(st.sampled_from(MESSAGES), st.none() | SPOILT), max_size=7))
def test_whatever_the_messages_hold_they_are_imported_or_refused_and_nothing_else(
    drawn: list[tuple[dict[str, object], tuple[str, object] | None]],
) -> None:
    messages = [{**message, spoilt[0]: spoilt[1]} if spoilt else message for message, spoilt in drawn]
    try:
        imported = import_run(transcript(user("hi"), *messages), supplied=supplied(expected=EXPECTED))
    except (ImportRefused, FixtureInvalid):
        return
    assert imported.fixture is not None


@pytest.mark.parametrize(
    "part", [{"none": "clock"}, {"none": ["tools"]}, {"run": "1"}, {"run": True}, {"serving": "m"}, {"case_id": 1}]
)
def test_a_part_of_the_wrong_type_is_refused(part: dict[str, object]) -> None:
    with pytest.raises(ImportRefused) as caught:
        supplied_from({**SUPPLIED, **part})
    assert caught.value.finding.pointer == f"/{next(iter(part))}"


@pytest.mark.parametrize("time", ["2026-01-01", "2026-01-01T09:00:00", "yesterday"])
def test_a_frozen_time_without_its_offset_is_refused(time: str) -> None:
    with pytest.raises(ImportRefused, match="/frozen_at: the time is no instant with an offset"):
        supplied_from({**SUPPLIED, "frozen_at": time})


def test_a_file_of_several_runs_is_read_only_once_one_is_chosen() -> None:
    several = open_recording(b"[" + RUN + b"," + RUN + b"]")
    with pytest.raises(ImportRefused, match="2 runs"):
        several.read()
    with pytest.raises(ImportRefused, match="no run 2"):
        several.read(2)
    with pytest.raises(ImportRefused, match="no run 1"):
        open_recording(RUN).read(1)
    assert several.read(1).input == open_recording(RUN).read().input
