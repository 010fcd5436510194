"""Whatever is done to a file of any format: it is read or refused, no call goes by unseen, and nothing is quoted."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replaycases.importers.completeness import report_of
from replaycases.importers.findings import ImportRefused
from replaycases.importers.neutral import ModelStep, NeutralRun, ToolStep
from replaycases.importers.registry import FORMATS, Recording, open_recording, to_case
from tests.importers.damage import EDITS, closed, edit, opened, spliced
from tests.importers.samples import ANSWERS, SAMPLES, WORDS
from tests.importers.transcripts import supplied

JSON = Any
NAMES = sorted(SAMPLES)
WORD = re.compile(r"(?:CALL|TOLD|SAID)-\d")
ANY = settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow])


def runs(data: bytes) -> list[NeutralRun]:
    """Every run of a file, each put into a document; [] for a file that is refused."""
    try:
        recording = open_recording(data)
        return [one for head in recording.runs for one in read(recording, head.index)]
    except ImportRefused as refusal:
        quoted = WORD.search(str(refusal))
    assert quoted is None
    return []


def read(recording: Recording, index: int) -> Iterator[NeutralRun]:
    try:
        run = recording.read(index)
        to_case(run, supplied()).as_bytes()
        yield run
    except ImportRefused as refusal:
        quoted = WORD.search(str(refusal))
        if quoted:
            raise AssertionError("a refusal quotes the file") from refusal


def asked(value: JSON) -> list[str]:
    """The words of the calls in an answer: what stands under the names that arguments go by."""
    if isinstance(value, list):
        return [word for item in value for word in asked(item)]
    if not isinstance(value, dict):
        return []
    own = [word for name in ("arguments", "args", "input") for word in words(value.get(name))]
    return own or [word for item in value.values() for word in asked(item)]


def words(value: JSON) -> list[str]:
    return sorted(set(re.findall(r"CALL-\d", json.dumps(value))))


def assert_no_call_is_lost(run: NeutralRun) -> None:
    """A call that stands in an answer of the model is a step, or there is a note for it."""
    answers = [set(asked(step.response)) for step in run.steps if isinstance(step, ModelStep)]
    made = Counter(word for step in run.steps if isinstance(step, ToolStep) for word in words(step.arguments))
    lost = Counter(word for answer in answers for word in answer) - made
    assert sum(bool(answer & set(lost)) for answer in answers) <= len(run.notes) or lost.total() <= len(run.notes), lost


def assert_sound(data: bytes) -> None:
    for run in runs(data):
        assert_no_call_is_lost(run)
        assert not any(WORD.search(f"{note.text} {note.cost}") for note in run.notes)
        report_of(run, ())


def how_written(name: str) -> str:
    lines = name.endswith(":lines") or name == "claude-code"
    return "lines" if lines else "yaml" if name.startswith("vcr") else "json"


STRUCTURED = [name for name in NAMES if name not in ("otlp:protobuf", "provider-response:stream")]


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_read_whole(name: str) -> None:
    for run in runs(SAMPLES[name]):
        tools = [step for step in run.steps if isinstance(step, ToolStep)]
        alone = name.startswith("provider-response")
        asked = WORDS[: len(tools)] if alone else WORDS
        assert [step.arguments["word"] for step in tools] == list(asked)
        assert [step.value for step in tools] == ([None] * len(tools) if alone else list(ANSWERS))
        assert alone or report_of(run, ()).mode == "replay"
    assert runs(SAMPLES[name])


def test_every_format_has_a_sample() -> None:
    assert {name.split(":")[0] for name in NAMES} == {format.name for format in FORMATS}


@pytest.mark.parametrize("name", STRUCTURED)
@given(data=st.data())
@ANY
def test_values_dropped_doubled_moved_and_retyped(name: str, data: st.DataObject) -> None:
    how = how_written(name)
    document = opened(SAMPLES[name], how)
    for kind in data.draw(st.lists(EDITS, min_size=1, max_size=5)):
        edit(document, kind, data.draw)
    assert_sound(closed(document, how))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
@ANY
def test_bytes_cut_doubled_and_replaced(name: str, data: st.DataObject) -> None:
    assert_sound(spliced(SAMPLES[name], data.draw))


@pytest.mark.parametrize("name", NAMES)
@given(cut=st.floats(0, 1))
@ANY
def test_a_file_that_breaks_off(name: str, cut: float) -> None:
    assert_sound(SAMPLES[name][: int(len(SAMPLES[name]) * cut)])


def _observation(at: int, above: int) -> JSON:
    kind = ("TOOL", "GENERATION", "SPAN")[at % 3]
    return {"id": f"o{at}", "type": kind, "traceId": "t", "parentObservationId": f"o{above}", "startTime": "x"}


def _run(at: int, above: int) -> JSON:
    return {"id": f"o{at}", "run_type": ("tool", "llm", "chain")[at % 3], "parent_run_id": f"o{above}"}


def _line(at: int, above: int) -> JSON:
    return {"type": "assistant", "uuid": f"o{at}", "parentUuid": f"o{above}", "message": {"content": []}}


@pytest.mark.parametrize(
    "above", [lambda at: at, lambda at: (at + 1) % 1500, lambda at: at + 1, lambda at: at - 1, lambda at: 7]
)
@pytest.mark.parametrize("row", [_observation, _run, _line])
def test_parents_in_a_circle_in_a_long_chain_and_all_the_same_come_to_an_end(row: Any, above: Any) -> None:
    rows = [row(at, above(at)) for at in range(1500)]
    found = runs(json.dumps(rows).encode())
    assert sum(len(run.steps) + len(run.notes) + len(run.left_out) for run in found) > 0
